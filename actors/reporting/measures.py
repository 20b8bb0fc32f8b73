"""
Amounts that sources give of one measure, as series that can be drawn. Pure.

Nothing is computed and nothing is guessed: all values of a series have one unit and are where the source itself puts
them side by side, as in a list, in a table, year by year, or in sentences that say the same in the same words.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from actors.reporting.report import ReportSentence
from actors.text.source_text import flat
from actors.text.stop_words import CONNECTING
from actors.text.truncate import shorten

LEAST, MOST = 3, 20
"""Values of a series. Fewer are read faster than drawn, and more have no room."""
LABEL_CHARACTERS, TITLE_CHARACTERS = 40, 60
LABEL_WORDS = 4
COMMON_WORDS = 4
"""Sentences that share fewer words around their amounts do not speak of the same."""
SENTENCE_CHARACTERS = 600

_NUMBER = re.compile(r"(?<![\w.,:/+#&=–(-])(?P<front>[$€£¥]\s?)?(?P<n>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)")
_TAIL = re.compile(
    r"(?P<share>\s?(?:%|per ?cent\b))|(?P<scale>\s(?:thousand|million|billion|trillion)\b)?(?P<unit>\s?[A-Za-z²³µ]+)?",
    re.IGNORECASE,
)
_ODD = re.compile(r"[:/-]?\d|[:/]|-\w|[.,]\d|\s?(?:am|pm|a\.m|p\.m|o'clock|st|nd|rd|th)\b|\s?[–x×]\s?\d", re.IGNORECASE)
_ATTACHED = re.compile(r"(?:[kKMGT]i?B|ms|s|min|h|km|m|cm|mm|kg|g|mg|W|kW|MW|GW|kWh|MWh|V|Hz|[kMG]Hz|px|fps|hp|mph)$")
_NO_UNIT = CONNECTING - {"s", "t"}
_BESIDE_YEAR = re.compile(r"\s*(?:\w+\s+){0,3}?(?:in|by|during|for)\s+(?:early\s+|late\s+|the\s+)?$", re.IGNORECASE)
_NAME = r"[A-Z][\w+.#&'’-]{0,40}(?: (?:[A-Z0-9][\w+.#&'’-]{0,40}|of|and|the)){0,3}"
_LABELLED = re.compile(
    rf"(?P<label>{_NAME})(?:\s?[:–—-]|\s?\(|,? (?:with|at|has|had|holds?|held|costs?|is|was|took|gets?|got|scored))? ?$"
)
_NO_MEASURE = re.compile(
    r"(?:#|no\.?|nr\.?|nos?\.?|number|id|years?|date|rank(?:ing)?|pos(?:ition)?\.?|pages?|phone|tel|fax|zip|code|isbn|versions?|"
    r"season|weeks?|days?|month|chapter|port|time|rounds?|rating|item|sku|model|step|ref|episode|track|lane|seed|age)?",
    re.IGNORECASE,
)
_YEARS = range(1500, 2100)
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"  # noqa: E501
_YEAR = re.compile(
    rf"\b(?:{_MONTHS})\.?(?:\s+\d{{1,2}}(?:st|nd|rd|th)?,?)?\s+(?P<month>(?:1[5-9]|20)\d\d)\b"
    r"|\b(?:in|since|until|from|during|before|after|by|year)\s+(?:early\s+|late\s+)?(?P<word>(?:1[5-9]|20)\d\d)"
    r"(?=\s*(?:[.,;:)]|$|(?:and|or|but|to|the|this|that|with|when|which|as|it|they|we|there|both|again|by|for|at|on|in|"
    r"is|was|has)\b))"
    r"|\b(?:jahre?|seit|anfang|mitte|ende|frühjahr|sommer|herbst|winter|januar|februar|märz|mai|juni|juli|oktober|dezember)\s"
    r"(?P<german>(?:1[5-9]|20)\d\d)\b"
    r"|\b(?P<iso>(?:1[5-9]|20)\d\d)-(?:0[1-9]|1[0-2])-[0-3]\d\b"
    r"|(?P<cjk>(?:1[5-9]|20)\d\d)\s?[年년]",
    re.IGNORECASE,
)
_RULE = re.compile(r"\s*:?-{2,}:?\s*|\s*")
_CURRENCY = re.compile(r"[A-Z]{3}")


class Amount(NamedTuple):
    value: float
    unit: str
    """As the source writes it, a scale such as "million" included; empty for a bare number."""
    start: int
    end: int


class Series(NamedTuple):
    title: str
    unit: str
    items: tuple[tuple[str, float, tuple[int, ...]], ...]
    """(label, value, numbers of the sources)"""


Cited = tuple[str, tuple[int, ...]]
"""A sentence, or a passage, with the numbers of its sources."""


def amounts(text: str) -> list[Amount]:
    """The amounts that a sentence names; no dates, times, ranges, versions or numbers of parts of something."""
    found = []
    for match in _NUMBER.finditer(text):
        rest = text[match.end() : match.end() + 40]
        tail = _TAIL.match(rest)
        if _ODD.match(rest) or tail is None:
            continue
        unit, said = _unit(match["front"], tail)
        if unit is None:
            continue
        end = match.end() + (tail.end() if said else 0)
        found.append(Amount(float(match["n"].replace(",", "")), unit, match.start(), end))
    return found


def _unit(front: str | None, tail: re.Match[str]) -> tuple[str | None, bool]:
    """The unit of a number, and whether it stands behind it; None where letters follow that are none."""
    if tail["share"]:
        return "%", True
    word, scale = tail["unit"] or "", (tail["scale"] or "").strip().lower()
    if word and not word[0].isspace() and not _ATTACHED.match(word):
        return None, False
    name = "" if word.strip().lower() in _NO_UNIT else word.strip()
    if front and not _CURRENCY.fullmatch(name):  # what follows money is what it is paid for
        name = ""
    unit = " ".join(filter(None, ((front or "").strip(), scale, name)))
    return unit, bool(scale or name)


def find_years(text: str) -> Iterator[tuple[int, int]]:
    """Each year with its place."""
    for match in _YEAR.finditer(text):
        for name, year in match.groupdict().items():
            if year:
                yield int(year), match.start(name)


def series(sentences: Iterable[Cited], passages: Iterable[Cited]) -> Iterator[Series]:
    """What can be drawn, what a single source puts together first."""
    known = [(flat(text), numbers) for text, numbers in sentences]
    known = [(text, numbers) for text, numbers in known if len(text) <= SENTENCE_CHARACTERS]
    for text, numbers in passages:
        yield from _tables(text, numbers)
    for text, numbers in known:
        yield from filter(None, (_by_year(text, numbers) or _by_list(text, numbers),))
    yield from _alike(known)


def comparison_series(head: Sequence[str], row: Sequence[ReportSentence]) -> Series | None:
    """A row of a comparison, when each side has one amount of the same unit."""
    items, units = [], set[str]()
    for side, cell in zip(head[1:], row[1:], strict=True):
        found = amounts(flat(cell.in_table))
        if len(found) != 1:
            return None
        units.add(found[0].unit)
        items.append((shorten(side, LABEL_CHARACTERS), found[0].value, cell.numbers))
    return make_series(row[0].text, units.pop(), items) if len(units) == 1 else None


def make_series(title: str, unit: str, items: Sequence[tuple[str, float, tuple[int, ...]]]) -> Series | None:
    """A series, if it is worth drawing."""
    labels = {label.casefold() for label, _, _ in items}
    values = {value for _, value, _ in items}
    if not LEAST <= len(items) <= MOST or len(labels) < len(items) or len(values) < 2 or not all(labels):
        return None
    if all(value in _YEARS for value in values):
        return None
    return Series(shorten(title, TITLE_CHARACTERS), unit, tuple(items))


def _by_year(text: str, numbers: tuple[int, ...]) -> Series | None:
    """Amount and year by turns: "5,200 in 2012, 4,000 in 2015 and 3,100 in 2018"."""
    places = {place: year for year, place in find_years(text)}
    found = [each for each in amounts(text) if each.start not in places and int(each.value) not in _YEARS]
    if not LEAST <= len(found) == len(places):
        return None
    items = []
    for amount, (place, year) in zip(found, sorted(places.items()), strict=True):
        if amount.end > place or not _BESIDE_YEAR.fullmatch(text[amount.end : place]):
            return None
        items.append((str(year), amount.value, numbers))
    units = {each.unit for each in found} - {""}
    return make_series(text, next(iter(units), ""), items) if len(units) <= 1 else None


def _by_list(text: str, numbers: tuple[int, ...]) -> Series | None:
    """Names with amounts of one unit: "Oak (41 %), Ash (32 %) and Elm (7 %)"."""
    found, last, items = amounts(text.replace("(", " ")), 0, []
    for each in found:
        label = _LABELLED.search(text[last : each.start])
        if label is None:
            return None
        items.append((shorten(label["label"], LABEL_CHARACTERS), each.value, numbers))
        last = each.end
    units = {each.unit for each in found}
    return make_series(text, units.pop(), items) if len(units) == 1 and "" not in units else None


def _alike(sentences: Sequence[Cited]) -> Iterator[Series]:
    """One sentence a value: the same words, but for the amount and a name or a year."""
    groups: dict[tuple[str, ...], dict[str, tuple[float, tuple[int, ...]]]] = {}
    for text, numbers in sentences:
        found = amounts(text)
        years_ = [each for each in found if not each.unit and int(each.value) in _YEARS]
        values = [each for each in found if each not in years_]
        if len(values) != 1 or len(years_) > 1:
            continue
        (value,) = values
        words = f"{text[: value.start]} \0 {text[value.end :]}".split()
        for start in range(len(words)):
            for end in range(start + 1, min(start + LABEL_WORDS, len(words)) + 1):
                label = " ".join(words[start:end]).strip(" ,.;:")
                if "\0" in label or not re.search(r"[A-Z\d]", label) or len(words) - (end - start) - 1 < COMMON_WORDS:
                    continue
                key = (value.unit, *words[:start], "…", *words[end:])
                groups.setdefault(key, {}).setdefault(label, (value.value, numbers))
    best: dict[frozenset[tuple[float, tuple[int, ...]]], tuple[tuple[str, ...], Series]] = {}
    for key, of in groups.items():
        items = [(shorten(label, LABEL_CHARACTERS), value, numbers) for label, (value, numbers) in of.items()]
        items.sort(key=lambda each: (each[0] if each[0].isdecimal() else "", 0))
        title = " ".join("…" if each == "\0" else each for each in key[1:])
        if (made := make_series(title, key[0], items)) is not None:
            same = frozenset(of.values())
            if same not in best or len(key) > len(best[same][0]):  # the shortest label says it best
                best[same] = key, made
    yield from (made for _, made in best.values())


def _tables(text: str, numbers: tuple[int, ...]) -> Iterator[Series]:
    """The first column of each table whose cells are amounts of one unit, by the names in its first column."""
    rows: list[list[str]] = []
    for line in (*text.split("\n"), ""):
        if line.lstrip().startswith("|"):
            rows.append([flat(cell) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))])
            continue
        if len(rows) > LEAST and len({len(row) for row in rows}) == 1:
            yield from _columns(rows[0], rows[2:] if all(map(_RULE.fullmatch, rows[1])) else rows[1:], numbers)
        rows = []


def _columns(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: tuple[int, ...]) -> Iterator[Series]:
    if any(map(amounts, head[1:])) and not any(re.search(r"[^\W\d_]", each) for each in head[1:]):
        return  # that is no head, so nobody knows what the columns are
    named = next(filter(lambda n: all(map(_names, (row[n] for row in rows))), range(len(head))), -1)
    for column, title in enumerate(map(str.strip, head)):
        if named < 0 or column == named or _NO_MEASURE.fullmatch(title):
            continue
        cells = [amounts(row[column]) for row in rows]
        whole = all(len(cell) == 1 and _is_all(cell[0], row[column]) for cell, row in zip(cells, rows, strict=True))
        units = {cell[0].unit for cell in cells if cell}
        if whole and len(units) == 1:
            labels = (shorten(row[named], LABEL_CHARACTERS) for row in rows)
            items = [(label, cell[0].value, numbers) for label, cell in zip(labels, cells, strict=True)]
            by = f" by {head[named].strip()}" if head[named].strip() else ""
            if (made := make_series(f"{title}{by}", units.pop(), items)) is not None:
                yield made
                return


def _names(cell: str) -> bool:
    """Whether a cell says what its row is about, not how much of it."""
    return bool(re.search(r"[^\W\d_]", cell)) or (cell.strip().isdecimal() and int(cell) in _YEARS)


def _is_all(amount: Amount, cell: str) -> bool:
    """Whether a cell says nothing but its amount."""
    return not re.search(r"\w", cell[: amount.start] + cell[amount.end :])
