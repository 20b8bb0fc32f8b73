"""What the research agents are asked (imperative) and report (past tense)."""

from actors.evidence.claims import Resolution
from actors.evidence.passages import Passage
from actors.evidence.shortfalls import Searched
from actors.evidence.sources import FailedSource, Page, SearchResult, Statement
from actors.reporting.report import Report
from actors.research.models import Analysis, Plan, ResearchOptions, SearchTask, Section
from actors.workflow.outcome import TERMINATE, Status
from bus import Event, Request


class PlanMade(Event, frozen=True):
    plan: Plan
    degraded: str | None
    """None where nothing is to be said: what was said of an earlier round stays."""
    partial: str | None = None
    searches: tuple[SearchTask, ...] | None = None
    """All of the research, those of this plan pending."""


class SearchCompleted(Event, Searched, frozen=True):
    results: tuple[SearchResult, ...]
    missed: tuple[FailedSource, ...]
    unavailable: tuple[str, ...]
    shortfall: str = ""
    """What was missing, for the one who is asked again."""
    searches: tuple[SearchTask, ...] | None = None


class SearchFellShort(SearchCompleted, frozen=True):
    """Too little was found: the plan should be made anew."""


class ExtractionCompleted(Event, frozen=True):
    pages: tuple[Page, ...]
    missed: tuple[FailedSource, ...]
    partial: str
    shortfall: str = ""


class ExtractionFellShort(ExtractionCompleted, frozen=True):
    """Too few pages could be read: others should be searched for."""


class Analyzed(Event, Searched, frozen=True):
    """What both ends of an analysis say."""

    sections: tuple[Section, ...]
    learnings: tuple[Statement, ...]
    passages: tuple[Passage, ...]
    directions: tuple[str, ...]
    analysis: Analysis
    is_complete: bool
    partial: str
    degraded: str


class AnalysisCompleted(Analyzed, frozen=True):
    """Nothing more is to be explored: complete, at full depth, or this round added nothing."""


class DirectionsFound(Analyzed, frozen=True):
    """What stays open is explored by another round."""


class AllSearches(Searched, frozen=True, kw_only=True, gc=False):
    """What knows all searches of the research, with how far each has come."""

    searches: tuple[SearchTask, ...] = ()


class ResearchState(AllSearches, frozen=True, gc=False):
    """All that is known by now: what a deeper round begins with and hands back, and what a report is made of."""

    results: tuple[SearchResult, ...]
    pages: tuple[Page, ...]
    missed: tuple[FailedSource, ...]
    sections: tuple[Section, ...]
    learnings: tuple[Statement, ...]
    passages: tuple[Passage, ...]
    directions: tuple[str, ...]
    analysis: Analysis | None
    partial: str
    unavailable: tuple[str, ...]
    degraded: str


class RoundCompleted(Event, ResearchState, frozen=True):
    """All that a deeper round knows, what was known before it included."""

    is_complete: bool
    rounds: int


class ResearchClosed(Event, frozen=True, tag=TERMINATE):
    """The terminator's word, and only from its address: the end of the run."""

    status: Status
    report: Report | None = None
    resolution: Resolution | None = None
    summary: str | None = None
    partial: str | None = None


class RoundRequest(Searched, frozen=True, gc=False):
    """What every stage of a round is told; `incomplete`: what the searches before it lacked."""

    text: str
    brief: ResearchOptions
    plan: Plan | None


class MakePlan(Request[PlanMade], RoundRequest, frozen=True):
    learnings: tuple[Statement, ...]
    directions: tuple[str, ...]
    shortfall: str
    searches: tuple[SearchTask, ...] = ()


class RunSearches(Request[SearchCompleted | SearchFellShort], RoundRequest, frozen=True):
    results: tuple[SearchResult, ...]
    pages: tuple[Page, ...]
    missed: tuple[FailedSource, ...]
    unavailable: tuple[str, ...]
    shortfall: str
    searches: tuple[SearchTask, ...] = ()


class ReadSources(Request[ExtractionCompleted | ExtractionFellShort], RoundRequest, frozen=True):
    results: tuple[SearchResult, ...]
    pages: tuple[Page, ...]
    read_before: int
    missed: tuple[FailedSource, ...]
    partial: str


class AnalyzeSources(Request[AnalysisCompleted | DirectionsFound], RoundRequest, frozen=True):
    pages: tuple[Page, ...]
    sections: tuple[Section, ...]
    learnings: tuple[Statement, ...]
    passages: tuple[Passage, ...]
    directions: tuple[str, ...]
    analysis: Analysis | None
    """Of the rounds above this one."""
    partial: str
    degraded: str
    language: str = ""


class ExploreDirections(Request[RoundCompleted], ResearchState, frozen=True):
    """A round deeper: answered by a child run of the same workflow."""

    ticket_id: str
    text: str
    brief: ResearchOptions
    language: str = ""


class CloseResearch(Request[ResearchClosed], ResearchState, frozen=True):
    """Write the report from what the case holds, and end the run."""

    ticket_id: str
    text: str
    brief: ResearchOptions
    rounds: int
    plan: Plan | None
    is_complete: bool
    reason: str
    """"completed", or why the run is cut short: then there is a second, and no model is asked."""
    detail: str
    language: str = ""
