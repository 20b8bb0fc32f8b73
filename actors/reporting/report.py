"""A finished report, as values: its parts, sentences, sources and charts. Every format renders these."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from actors.evidence.sources import FailedSource


class ReportSentence(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A sentence of the report with the numbers of the sources that it rests on."""

    text: str
    numbers: tuple[int, ...] = ()
    quote: str = ""
    """The words of the source, where the sentence is not these words itself."""
    under: str = ""
    """The heading in the source under which the words stand."""
    short: str = ""
    """What a table shows in its place."""

    @property
    def in_table(self) -> str:
        return self.short or self.text


class ReportSection(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    title: str
    lines: tuple[ReportSentence, ...] = ()
    note: str = ""
    """What stands there below or instead of lines, such as "Not found in the sources."."""
    aside: bool = False
    """It leads on from the question, and is no part of it."""


class SourceEntry(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A source as the report lists it."""

    number: int
    title: str
    url: str
    source: str
    sha256: str
    read_at: str
    characters: int
    """Read, and thus quotable."""
    full_length: int
    published: str = ""
    cited: int = 0
    """How many sentences rest on it."""
    file: str = ""
    """Of an own document: where it lies on this machine."""
    anchor: str = ""
    """Of an own document: the section that holds all that is cited of it; empty where that are several, or none."""


class Table(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A comparison: a row a criterion or a feature, a column a side; the first column names the criterion."""

    head: tuple[str, ...]
    rows: tuple[tuple[ReportSentence, ...], ...]


class Chart(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Counted facts and amounts that sources name, never estimates."""

    kind: Literal["pie", "bar", "timeline", "mindmap"]
    title: str
    items: tuple[tuple[str, float], ...]
    """(label, count or amount); of a timeline (event, year); of a mindmap (entry, place of its branch)."""
    unit: str = "Citations"
    """What bars count."""
    branches: tuple[str, ...] = ()
    """Of a mindmap."""


class Report(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A finished report, before it is Markdown, HTML, DOCX or PDF."""

    title: str
    question: str
    overview: tuple[ReportSentence, ...] = ()
    sections: tuple[ReportSection, ...] = ()
    comparison: Table | None = None
    competitors: tuple[ReportSection, ...] = ()
    features: ReportSection | None = None
    swot: tuple[ReportSection, ...] = ()
    contradictions: tuple[tuple[ReportSentence, ReportSentence], ...] = ()
    unanswered: tuple[str, ...] = ()
    further: tuple[str, ...] = ()
    """What is still open: "further exploration needed". Empty exactly when the case is complete."""
    missed: tuple[FailedSource, ...] = ()
    sources: tuple[SourceEntry, ...] = ()
    charts: tuple[Chart, ...] = ()
    partial: str = ""
    """Why less was done than ordered, in a sentence; empty when all was."""
    notes: tuple[str, ...] = ()
    """How it was made: rounds, model or none, what was unavailable."""
    language: str = ""
    """ISO 639-1 code of its question; its headings and our own sentences are in it. Empty: unknown."""


def body(report: Report) -> Iterator[ReportSentence]:
    """All sentences of a report on its topic, in the order of reading."""
    yield from report.overview
    for block in report.sections:
        yield from block.lines
    for pair in report.contradictions:
        yield from pair
    for row in report.comparison.rows if report.comparison else ():
        yield from (cell for cell in row if cell.numbers)
    for block in (*report.competitors, *([report.features] if report.features else ()), *report.swot):
        yield from block.lines
