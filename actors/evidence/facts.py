"""What must not be invented in a statement: numbers with their units, dates, identifiers and negations. Pure."""

import functools
import re
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from actors.evidence.negation import has_negation
from actors.evidence.number_words import ENGLISH, FACTORS, WORDS, find_exclusive, spell_numbers
from actors.text.languages import guess_language
from actors.text.normalize import casefold

_MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sep sept", "october oct", "november nov", "december dec"), 1)
    for name in names.split()
}  # fmt: skip
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATES = (
    re.compile(r"\b(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})\b"),
    re.compile(r"(?P<y>\d{4})\s*[年년]\s*(?P<m>\d{1,2})\s*[月월]\s*(?P<d>\d{1,2})\s*[日일]"),
    re.compile(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<n>{_MONTH})\b\.?,?\s+(?P<y>\d{{4}})\b"),
    re.compile(rf"\b(?P<n>{_MONTH})\b\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})\b"),
)
_UNIT = "|".join(sorted(map(re.escape, FACTORS), key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?P<front>[$€£¥])?\s?(?<![A-Za-z0-9_.])(?P<n>\d+(?:[.,:]\d+)*)(?:[\s-]?(?P<unit>{_UNIT})(?![a-z]))?",
    re.IGNORECASE,
)
_WORD_NUMBER = re.compile(rf"\b(?P<n>{'|'.join(WORDS)})\b(?:[\s-](?P<unit>{_UNIT})(?![a-z]))?", re.IGNORECASE)
_IDENTIFIER = re.compile(
    r"https?://[^\s)\]>\"'，。]+|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w-])--?[a-z][\w-]*(?<=[a-z]{2})|"
    r"\b\w+(?:_\w+)+\b|(?<![\w/])/\w+(?:/[\w.-]+)+|\b(?:[a-z]+\d|\d+[a-z]+\d)[a-z\d]*\b",
    re.ASCII | re.IGNORECASE,
)
_LIST_MARKER = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s+|\[\d+\]")


class Quantity(NamedTuple):
    """A number in its family's smallest unit, or a bare one."""

    value: Decimal
    family: str


class Facts(NamedTuple):
    quantities: frozenset[Quantity]
    dates: frozenset[tuple[int, int, int]]
    identifiers: frozenset[str]
    negated: bool


@functools.lru_cache(256)
def facts(text: str) -> Facts:
    """What a text states that can be compared."""
    text = spell_numbers(_LIST_MARKER.sub(" ", casefold(text)))
    dates = set()
    for form in _DATES:
        for found in form.finditer(text):
            part = found.groupdict()
            month = int(part["m"]) if part.get("m") else _MONTHS[part["n"]]
            dates.add((int(part["y"]), month, int(part["d"])))
        text = form.sub(" ", text)
    identifiers = {found.group().rstrip(".,;:") for found in _IDENTIFIER.finditer(text)}
    rest = _IDENTIFIER.sub(" ", text)
    quantities = {_quantity(found["n"], found["unit"] or found["front"]) for found in _NUMBER.finditer(rest)}
    quantities |= {
        _quantity(str(WORDS[found["n"]]), found["unit"])
        for found in _WORD_NUMBER.finditer(rest)
        if (found["n"] != "one" or found["unit"]) and (found["n"] in ENGLISH or guess_language(text) != "en")
    }
    quantities |= {Quantity(Decimal(number), family) for family, number in find_exclusive(rest)}
    return Facts(frozenset(quantities), frozenset(dates), frozenset(identifiers), has_negation(text))


def supplies(have: frozenset[Quantity], wanted: Quantity) -> bool:
    """Whether a quantity is among these; a bare number matches one with any unit, and a month is thirty days."""
    return (
        wanted in have
        or (not wanted.family and any(_bare(each, wanted.value) for each in have))
        or any(_days(each) == _days(wanted) for each in have if {each.family, wanted.family} == {"time", "month"})
    )


def _quantity(number: str, unit: str | None) -> Quantity:
    thousands = re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", number)
    try:
        value = Decimal(number.replace(",", "" if thousands else ".")).normalize()
    except InvalidOperation:  # 10:30, 192.168.0.1
        return Quantity(Decimal(0), number)
    family, factor = FACTORS.get((unit or "").casefold(), ("", Decimal(1)))
    return Quantity((value * factor).normalize(), family)


def _days(each: Quantity) -> Decimal:
    return each.value * 30 if each.family == "month" else each.value / 86_400


def _bare(each: Quantity, value: Decimal) -> bool:
    return any(each.value == value * factor for family, factor in FACTORS.values() if family == each.family)
