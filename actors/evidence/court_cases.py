"""Decided cases as agents know them. Frozen values."""

import msgspec


class CourtCase(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What was decided in one case, and on what it rests."""

    id: str
    """The court's own number of it, as written: （2021）京01民终234号."""
    summary: str
    """What happened, and what was decided."""
    title: str = ""
    court: str = ""
    date: str = ""
    """Of the judgment, as YYYY-MM-DD; empty: not known."""
    cause: str = ""
    """What it was about, as courts name it: 劳动合同纠纷."""
    key_points: tuple[str, ...] = ()
    """What the judgment turns on, a statement each."""
    cited_articles: tuple[str, ...] = ()
    """Articles that it rests on, in their standard form: 《劳动合同法》第三十九条."""


class FoundCase(msgspec.Struct, frozen=True, gc=False):
    """A case that bears on a question."""

    case: CourtCase
    score: float
    """1.0: the question names it, and it was looked up; else below 1, how much of the question's words it says."""


class FoundCases(msgspec.Struct, frozen=True, gc=False):
    """What a search of the cases found."""

    cases: tuple[FoundCase, ...] = ()
    """Those that the question names first, then the best fitting."""
    total: int = 0
    """How many cases there are to search; 0: none were read yet."""
