"""What a research case holds: its brief, plan, searches, answers, analysis and report. Frozen values."""

from typing import Literal

import msgspec

from actors.evidence.sources import Statement


class ResearchOptions(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
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


class SearchTask(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One query to one source, and how far it has come (RE-14)."""

    query: str
    source: str
    status: Literal["pending", "done", "failed"] = "pending"
    found: int = 0
    """Results that it brought, those that were known already included."""
    detail: str = ""
    """Why it failed, in a sentence for the user."""
    round: int = 1


class Section(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One question and what the sources say on it."""

    question: str
    statements: tuple[Statement, ...] = ()
    answered: bool = False
    note: str = ""
    """Why there is nothing, in a sentence for the user."""
    round: int = 1


class Competitor(msgspec.Struct, frozen=True, gc=False):
    name: str
    """Empty: places that speak of competitors, without a model that would name one."""
    statements: tuple[Statement, ...]


class Swot(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    strengths: tuple[Statement, ...] = ()
    weaknesses: tuple[Statement, ...] = ()
    opportunities: tuple[Statement, ...] = ()
    threats: tuple[Statement, ...] = ()
    unsorted: tuple[Statement, ...] = ()
    """Places that praise, warn, or both; nobody has judged which."""

    @property
    def lists(self) -> dict[str, tuple[Statement, ...]]:
        """Each by its name."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


class Cell(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    said: Statement
    verdict: str = ""
    """What a table shows: "yes", "no", or as a table of the source has it; empty: the statement."""


class Row(msgspec.Struct, frozen=True, gc=False):
    """One criterion or feature of a comparison, with a cell for each side that something is known of."""

    attribute: str
    cells: tuple[Cell | None, ...]


class Comparison(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    sides: tuple[str, ...]
    rows: tuple[Row, ...]


class Profile(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What stands of a product, in the parts that were asked for."""

    product: str
    parts: tuple[str, ...]
    competitors: tuple[Competitor, ...] = ()
    features: tuple[Statement, ...] = ()
    swot: Swot = Swot()
    comparison: Comparison | None = None


class Contradiction(msgspec.Struct, frozen=True, gc=False):
    """Two sources that say different numbers or dates of the same thing."""

    subject: str
    one: Statement
    other: Statement


class Analysis(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What follows from all that was read. Empty parts are "not found in the sources"."""

    overview: tuple[Statement, ...] = ()
    comparison: Comparison | None = None
    """Of the sides that the task names."""
    profile: Profile | None = None
    contradictions: tuple[Contradiction, ...] = ()
    summary: str = ""
    """Markdown: overview of less than 500 characters, features, competitors, SWOT (PR-19). The Reporter gets it."""
