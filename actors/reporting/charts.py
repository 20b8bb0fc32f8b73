"""Charts of amounts and years that the sources of a report name, and of nothing else. Pure."""

from collections.abc import Iterator, Sequence

from actors.reporting.measures import Cited, Series, comparison_series, find_years, series
from actors.reporting.report import Chart, Report, ReportSentence, SourceEntry, Table
from actors.text.catalogue import every_form, say
from actors.text.sentences import split_sentences
from actors.text.source_text import flat, pieces
from actors.text.truncate import shorten

SIGNS = {"%": "percent", "$": "dollars"}
"""In words, as the catalogue names them."""
YES = frozenset(["yes", "ja", "oui", "✓", "✔", "✅", "有", "是", "支持", "예", "있음"])
"""How tables say that a product has something."""
ENTRIES, ENTRY_CHARACTERS = 6, 70
"""Of a quadrant, in a map."""
SUBJECTS = 3
"""Charts of the topic itself."""
MOMENTS = 12
YEARS = 3
"""Fewer make no timeline."""
LABEL_CHARACTERS, YEAR_CHARACTERS = 60, 8
LATER_YEARS = 10
"""A year so far beyond the reading is taken for a number."""


def charts(
    lines: Sequence[ReportSentence],
    passages: Sequence[Cited],
    sources: Sequence[SourceEntry],
    comparison: Table | None = None,
    language: str = "",
) -> tuple[Chart, ...]:
    """
    Charts of what the report is about, where its sources hold amounts of one measure, or name years.

    :param passages: those that the report cites.
    """
    rows = [comparison_series(comparison.head, row) for row in comparison.rows] if comparison else []
    found = [made for made in rows if made is not None]
    found += series(((line.text, line.numbers) for line in lines), passages)
    drawn = [_drawn(each, language) for each in dict.fromkeys(found)][:SUBJECTS]
    latest = max((int(each.read_at[:4]) for each in sources if each.read_at[:4].isdecimal()), default=0)
    moments = sorted(
        {each: None for line in lines for each in _moments(line, latest, language)}, key=lambda each: each[1]
    )
    if len({year for _, year in moments}) >= YEARS:
        drawn.append(Chart("timeline", say("years_named", language), tuple(moments[:MOMENTS])))
    return tuple(drawn)


def draw_product(report: Report, product: str) -> tuple[Chart, ...]:
    """What a product analysis has: its SWOT as a map, and how many of the compared features each product has."""
    language, made = report.language, list[Chart]()
    blocks = [each for each in report.swot if each.lines and each.title not in {"", say("unsorted", language)}]
    entries = [
        (f"{shorten(flat(line.text), ENTRY_CHARACTERS)} ({_marks(line.numbers, language)})", place)
        for place, block in enumerate(blocks)
        for line in block.lines[:ENTRIES]
    ]
    if entries:
        title = f"{product}: {say('swot', language)}" if product else say("swot", language)
        made.append(Chart("mindmap", title, tuple(entries), branches=tuple(each.title for each in blocks)))
    if table := report.comparison:
        answers = every_form("yes") | YES
        columns = list(zip(*(row[1:] for row in table.rows), strict=True))
        counts = [sum(cell.short.casefold() in answers for cell in column) for column in columns]
        if sum(map(bool, counts)) and len(counts) > 1:
            title = say("features_counted", language, count=len(table.rows))
            bars = tuple(
                (shorten(name, LABEL_CHARACTERS), count) for name, count in zip(table.head[1:], counts, strict=True)
            )
            made.append(Chart("bar", title, bars, say("features", language)))
    return tuple(made)


def _drawn(made: Series, language: str) -> Chart:
    """Bars; where all amounts are of one source, the title names it, else each label its own."""
    places = {numbers for _, _, numbers in made.items}
    unit, amount = _spell_unit(made.unit, language), say("amount", language)
    if len(places) == 1:
        title = f"{made.title} ({', '.join(filter(None, (unit, _marks(places.pop(), language))))})"
        return Chart("bar", title, tuple((label, value) for label, value, _ in made.items), unit or amount)
    items = tuple((f"{label} ({_marks(numbers, language)})", value) for label, value, numbers in made.items)
    return Chart("bar", f"{made.title} ({unit})" if unit else made.title, items, unit or amount)


def _spell_unit(unit: str, language: str) -> str:
    """A unit in words: its sign may mean something in a diagram."""
    sign, _, more = unit.partition(" ")
    return f"{more} {say(SIGNS[sign], language)}".strip() if sign in SIGNS else unit


def _marks(numbers: Sequence[int], language: str) -> str:
    return say("source_numbers", language, numbers=", ".join(map(str, numbers)))


def _moments(line: ReportSentence, latest: int, language: str) -> Iterator[tuple[str, int]]:
    marks = f"({_marks(line.numbers, language)})" if line.numbers else ""
    seen: set[int] = set()
    for sentence in (each for piece in pieces(line.text) for each in split_sentences(flat(piece.text))):
        for year, place in find_years(sentence):
            if year not in seen and (not latest or year <= latest + LATER_YEARS):
                seen.add(year)
                yield f"{_around(sentence, place)} {marks}".strip(), year


def _around(sentence: str, place: int) -> str:
    """What a sentence says where a year stands in it, cut between words."""
    if len(shorten(sentence, len(sentence))) <= LABEL_CHARACTERS or place < LABEL_CHARACTERS - YEAR_CHARACTERS:
        return shorten(sentence, LABEL_CHARACTERS)
    start = sentence.find(" ", max(0, place - LABEL_CHARACTERS * 2 // 3)) + 1
    return f"…{shorten(sentence[start:], LABEL_CHARACTERS - 1)}"
