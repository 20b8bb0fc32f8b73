"""What a value must be to stand in a document, and how it is written there so that it stays a value."""

import datetime
import re

from actors.documents.template import Field
from actors.text.catalogue import say
from actors.text.normalize import casefold, remove_controls
from actors.text.quote_matching import find_quote

MOST_CHARACTERS = 4_000
_DATES = (
    re.compile(r"(?P<y>\d{4})\s*[年년]\s*(?P<m>\d{1,2})\s*[月월]\s*(?P<d>\d{1,2})\s*[日号일]"),
    re.compile(r"(?P<y>\d{4})(?P<sep>[-/.])(?P<m>\d{1,2})(?P=sep)(?P<d>\d{1,2})"),
    re.compile(r"(?P<d>\d{1,2})(?:st|nd|rd|th)?\s+(?P<name>[A-Za-z]{3,9})\.?,?\s+(?P<y>\d{4})"),
    re.compile(r"(?P<name>[A-Za-z]{3,9})\.?\s+(?P<d>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<y>\d{4})"),
)
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_BEFORE = r"(?:(?:人民币|人民幣|RMB|CNY|USD|EUR|GBP|KRW|US\$|[¥￥$€£₩])\s*)?"
_BEHIND = (
    r"(?:\s*[万萬千亿億만천억]{0,2}\s*"
    r"(?:元|圆|美元|欧元|원|yuan|dollars?|euros?|pounds?|won|RMB|CNY|USD|EUR|GBP|KRW)整?)?"
)
MONEY = re.compile(rf"{_BEFORE}(?:\d{{1,3}}(?:[,，]\d{{3}}){{1,6}}|\d{{1,15}})(?:\.\d{{1,4}})?{_BEHIND}", re.IGNORECASE)
"""An amount in digits, with its currency where one is said."""
_CURRENCY = re.compile(r"[^\d\s.,，]")
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#{}!])")
_START = re.compile(r"^(\s*)([-+=:]|\d{1,9}[.)])", re.MULTILINE)


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
    said = casefold(text[place[0] : place[1]])
    before = r"(?<![a-z\d])" if value[0].isascii() and value[0].isalnum() else ""
    behind = r"(?![a-z\d])" if value[-1].isascii() and value[-1].isalnum() else ""
    return re.search(f"{before}{re.escape(value)}{behind}", said) is not None


def is_date(value: str) -> bool:
    """Whether it is one day of the calendar, however it is written."""
    return any((found := each.fullmatch(value.strip())) is not None and _is_day(found) for each in _DATES)


def find_dates(text: str) -> list[re.Match[str]]:
    """The days that are named in a text."""
    return [found for each in _DATES for found in each.finditer(text) if _is_day(found)]


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
    return MONEY.fullmatch(value.strip()) is not None


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
    mark = found[2]
    return f"{found[1]}{mark[:-1]}\\{mark[-1]}"
