"""What a value must be to stand in a document, and how it is written there so that it stays a value."""

import datetime
import re

from actors.documents.template import Field
from actors.text.catalogue import say
from actors.text.normalize import casefold, remove_controls
from actors.text.quote_matching import find_quote

MOST_CHARACTERS = 4_000
_GAP = r"\s{0,3}"
"""White space within a day or an amount: bounded, so that no pattern looks at more than a few dozen letters."""
_DATES = (
    re.compile(rf"(?P<y>\d{{4}}){_GAP}[年년]{_GAP}(?P<m>\d{{1,2}}){_GAP}[月월]{_GAP}(?P<d>\d{{1,2}}){_GAP}[日号號일]"),
    re.compile(r"(?P<y>\d{4})(?P<sep>[-/.])(?P<m>\d{1,2})(?P=sep)(?P<d>\d{1,2})"),
    re.compile(rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s{_GAP}(?P<name>[A-Za-z]{{3,9}})\.?,?\s{_GAP}(?P<y>\d{{4}})"),
    re.compile(rf"(?P<name>[A-Za-z]{{3,9}})\.?\s{_GAP}(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s{_GAP}(?P<y>\d{{4}})"),
)
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_BEFORE = rf"(?:(?:人民币|人民幣|RMB|CNY|USD|EUR|GBP|KRW|US\$|[¥￥$€£₩]){_GAP})?"
_BEHIND = (
    rf"(?:{_GAP}[万萬千亿億만천억]{{0,2}}{_GAP}"
    r"(?:元|圆|美元|欧元|원|yuan|dollars?|euros?|pounds?|won|RMB|CNY|USD|EUR|GBP|KRW)整?)?"
)
_DIGITS = r"(?:\d{1,3}(?:[,，]\d{3}){1,6}|\d{1,15})(?:\.\d{1,4})?"
_MONEY = re.compile(rf"{_BEFORE}{_DIGITS}{_BEHIND}", re.IGNORECASE)
"""An amount in digits, with its currency where one is said."""
_CURRENCY = re.compile(r"[^\d\s.,，]")
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#{}!])")
_START = re.compile(r"^([-+=:]|\d{1,9}[.)])", re.MULTILINE)


def check_value(field: Field, value: str, language: str) -> str:
    """Why a value cannot stand for a field, in a sentence for the person who gave it; empty when it can."""
    said = {"value": value[:80]}
    if len(value) > MOST_CHARACTERS:
        return say("value_too_long", language, most=MOST_CHARACTERS)
    if field.kind == "date" and not is_date(value):
        return say("value_no_date", language, **said)
    if field.kind == "money" and not is_amount(value):
        return say("value_no_amount", language, **said)
    if field.kind == "choice" and value not in field.choices:
        return say("value_no_choice", language, **said)
    if field.pattern and not re.fullmatch(field.pattern, value):
        return say("value_of_other_form", language, **said)
    return ""


def stands_in(value: str, quote: str, text: str) -> bool:
    """Whether a quote that really stands in a text says a value, as whole words: nothing is invented into a blank."""
    place, value = find_quote(quote, text), casefold(value.strip())
    if place is None or not value:
        return False
    said, at = casefold(text[place[0] : place[1]]), 0
    if len(value) > MOST_CHARACTERS:
        return False
    while (at := said.find(value, at)) >= 0:
        if not _splits_word(said, at) and not _splits_word(said, at + len(value)):
            return True
        at += 1
        while at < len(said) and _splits_word(said, at):
            at += 1
    return False


def _splits_word(text: str, at: int) -> bool:
    """Whether a word or number of Latin letters goes on over this place."""
    return 0 < at < len(text) and _is_latin(text[at - 1]) and _is_latin(text[at])


def _is_latin(character: str) -> bool:
    return character.isascii() and character.isalnum()


def is_date(value: str) -> bool:
    """Whether it is one day of the calendar, however it is written."""
    value = value.strip()
    return any((found := each.fullmatch(value)) is not None and _is_day(found) for each in _DATES)


def read_date(text: str) -> str:
    """The day with which a text begins; empty where it begins with none."""
    found = [each.match(text) for each in _DATES]
    return max((each[0] for each in found if each is not None and _is_day(each)), key=len, default="")


def _is_day(found: "re.Match[str]") -> bool:
    parts = found.groupdict()
    name = (parts.get("name") or "").casefold()
    month = next((n for n, each in enumerate(MONTHS, 1) if each.startswith(name)), 0) if name else int(parts["m"])
    try:
        datetime.date(int(parts["y"]), month, int(parts["d"]))
    except ValueError:
        return False
    return True


def is_amount(value: str) -> bool:
    return _MONEY.fullmatch(value.strip()) is not None


def read_amount(text: str) -> str:
    """The amount with which a text begins; empty where it begins with none."""
    found = _MONEY.match(text)
    return found[0] if found is not None else ""


def names_currency(value: str) -> bool:
    """Whether an amount says what it is of: a bare number may be anything."""
    return _CURRENCY.search(value) is not None


def clean_value(field: Field, value: str) -> str:
    """A value without control characters and white space around it; only a text keeps its paragraphs."""
    lines = [" ".join(line.split()) for line in remove_controls(value).split("\n")]
    if field.kind != "text":
        return " ".join(filter(None, lines))
    return "\n\n".join(filter(None, lines))


def escape_value(value: str) -> str:
    """A clean value for Markdown: every character of it is shown, and none of them is structure."""
    escaped = _SPECIAL.sub(r"\\\1", value.replace("&", "&amp;"))
    return _START.sub(_escape_start, escaped)


def _escape_start(found: "re.Match[str]") -> str:
    mark = found[1]
    return f"{mark[:-1]}\\{mark[-1]}"
