"""What a research case holds: its brief, plan, answers, analysis and report. Frozen values."""

from typing import Literal

import msgspec

from actors.research.ports import Missed, Statement


class Brief(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What was ordered."""

    breadth: int = 5
    """URLs a round."""
    depth: int = 2
    """Rounds at most."""
    round: int = 1
    """Which round this run is, from 1."""
    sources: tuple[str, ...] = ()
    """Names of sources to use; empty: all that are configured."""
    urls: tuple[str, ...] = ()
    """Pages that must be read, whatever is found."""
    direction: str = ""
    """What this round explores; empty in the first, which explores the question itself."""


class Plan(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Queries, sources and quality thresholds (PR-3)."""

    questions: tuple[str, ...]
    queries: tuple[str, ...]
    sources: tuple[str, ...]
    sides: tuple[str, ...] = ()
    """What is compared with what."""
    criteria: tuple[str, ...] = ()
    """On what it is compared, where the task says so."""
    least_results: int = 1
    """With fewer results the search has fallen short."""
    least_pages: int = 1
    """With fewer pages read the extraction has fallen short."""
    least_quality: float = 0.2
    """Results below it are only read when there is nothing better."""


class Section(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One question and what the sources say on it."""

    question: str
    statements: tuple[Statement, ...] = ()
    answered: bool = False
    note: str = ""
    """Why there is nothing, in a sentence for the user."""
    round: int = 1


class Rated(msgspec.Struct, frozen=True, gc=False):
    """A statement with the heading in its source that puts it where it stands."""

    statement: Statement
    heading: str


class Competitor(msgspec.Struct, frozen=True, gc=False):
    name: str
    statements: tuple[Statement, ...]


class Swot(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    strengths: tuple[Rated, ...] = ()
    weaknesses: tuple[Rated, ...] = ()
    opportunities: tuple[Rated, ...] = ()
    threats: tuple[Rated, ...] = ()


class Row(msgspec.Struct, frozen=True, gc=False):
    """One attribute of a comparison, with a statement for each side that has one."""

    attribute: str
    cells: tuple[Statement | None, ...]


class Comparison(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    sides: tuple[str, ...]
    rows: tuple[Row, ...]
    asked: bool = False
    """The attributes are those that the task named: one without a statement is told, too."""


class Contradiction(msgspec.Struct, frozen=True, gc=False):
    """Two sources that say different numbers or dates of the same thing."""

    subject: str
    one: Statement
    other: Statement


class Analysis(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What follows from all that was read. Empty parts are "not found in the sources"."""

    overview: tuple[Statement, ...] = ()
    competitors: tuple[Competitor, ...] = ()
    features: tuple[Statement, ...] = ()
    swot: Swot = Swot()
    comparison: Comparison | None = None
    contradictions: tuple[Contradiction, ...] = ()
    summary: str = ""
    """Markdown: overview of less than 500 characters, features, competitors, SWOT (PR-19). The Reporter gets it."""


class Line(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A sentence of the report with the numbers of the sources that it rests on."""

    text: str
    numbers: tuple[int, ...] = ()
    quote: str = ""
    """The words of the source, where the sentence is not these words itself."""
    under: str = ""
    """The heading in the source under which the words stand."""


class Block(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    title: str
    lines: tuple[Line, ...] = ()
    note: str = ""
    """What stands there instead of lines, such as "Not found in the sources."."""


class Listed(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
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


class Table(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A comparison: the first column names the attribute."""

    head: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    asked: bool = False
    """The task named the attributes: each cell is the answer to a question."""


class Chart(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Counted facts and amounts that sources name, never estimates."""

    kind: Literal["pie", "bar", "timeline"]
    title: str
    items: tuple[tuple[str, float], ...]
    """(label, count or amount); of a timeline (event, year)."""
    unit: str = "Citations"
    """What bars count."""


class Report(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A finished report, before it is Markdown, HTML, DOCX or PDF."""

    title: str
    question: str
    overview: tuple[Line, ...] = ()
    key_points: tuple[Line, ...] = ()
    sections: tuple[Block, ...] = ()
    comparison: Table | None = None
    competitors: tuple[Block, ...] = ()
    features: Block | None = None
    swot: tuple[Block, ...] = ()
    contradictions: tuple[tuple[Line, Line], ...] = ()
    unanswered: tuple[str, ...] = ()
    further: tuple[str, ...] = ()
    """What is still open: "further exploration needed". Empty exactly when the case is complete."""
    missed: tuple[Missed, ...] = ()
    sources: tuple[Listed, ...] = ()
    charts: tuple[Chart, ...] = ()
    partial: str = ""
    """Why less was done than ordered, in a sentence; empty when all was."""
    notes: tuple[str, ...] = ()
    """How it was made: rounds, model or none, what was unavailable."""
