"""The research workflow. Read the table top to bottom: it is the whole process of one round."""

import enum

from actors.evidence.passages import Passage
from actors.evidence.sources import FailedSource, Page, SearchResult, Statement
from actors.reporting.report import Report
from actors.research import messages as m
from actors.research.models import Analysis, Plan, ResearchOptions, SearchTask, Section
from actors.workflow.tables import MAX_SECONDS, Case, Limits, RetryStage, Step, Workflow
from actors.workflow.verify import verify


class State(enum.StrEnum):
    PLANNING = "planning"
    SEARCHING = "searching"
    EXTRACTING = "extracting"
    ANALYZING = "analyzing"
    DEEPENING = "deepening"
    REPORTING = "reporting"
    COMPLETED = "completed"


class ResearchCase(Case, frozen=True, kw_only=True, gc=False):
    """All that is known about one question: the shared state that each agent reads and adds to (PR-2)."""

    text: str
    brief: ResearchOptions = ResearchOptions()
    plan: Plan | None = None
    searches: tuple[SearchTask, ...] = ()
    """Every query to every source, those of the rounds above this one included (RE-14)."""
    results: tuple[SearchResult, ...] = ()
    pages: tuple[Page, ...] = ()
    read_before: int = 0
    """How many of them the rounds above this one have read."""
    missed: tuple[FailedSource, ...] = ()
    sections: tuple[Section, ...] = ()
    learnings: tuple[Statement, ...] = ()
    """At most 20, none twice (DR-6)."""
    passages: tuple[Passage, ...] = ()
    """Those that statements rest on."""
    directions: tuple[str, ...] = ()
    """Open questions, the most promising first (DR-5)."""
    analysis: Analysis | None = None
    is_complete: bool = False
    rounds: int = 1
    """The deepest that was begun."""
    shortfall: str = ""
    """What the stage before was short of; so that the agent that is asked again tries another way."""
    partial: str = ""
    report: Report | None = None


S = State
RETRIES = 1
"""
How often a stage is repeated for quality: with it a run takes at most 19 of its 20 handoffs.

Three would be allowed (PR-9); more pages come cheaper from a deeper round, which has handoffs of its own.
"""

RESEARCH = Workflow(
    name="research",
    case=ResearchCase,
    terminator="reporter",
    close=m.CloseResearch,
    closed=m.ResearchClosed,
    final=S.COMPLETED,
    steps={
        S.PLANNING: Step("planner", m.MakePlan, {m.PlanMade: S.SEARCHING}),
        S.SEARCHING: Step(
            "searcher",
            m.RunSearches,
            {
                m.SearchCompleted: S.EXTRACTING,
                m.SearchFellShort: RetryStage(S.PLANNING, at_most=RETRIES, otherwise=S.EXTRACTING),
            },
            returns_partial=True,
        ),
        S.EXTRACTING: Step(
            "extractor",
            m.ReadSources,
            {
                m.ExtractionCompleted: S.ANALYZING,
                m.ExtractionFellShort: RetryStage(S.SEARCHING, at_most=RETRIES, otherwise=S.ANALYZING),
            },
            returns_partial=True,
        ),
        S.ANALYZING: Step(
            "analyzer",
            m.AnalyzeSources,
            {m.AnalysisCompleted: S.REPORTING, m.DirectionsFound: S.DEEPENING},
            returns_partial=True,
        ),
        S.DEEPENING: Step(
            "round",
            m.ExploreDirections,
            {m.RoundCompleted: S.REPORTING},
            limits=Limits(MAX_SECONDS, 0),
            returns_partial=True,
        ),
        S.REPORTING: Step("reporter", m.CloseResearch, {m.ResearchClosed: S.COMPLETED}, returns_partial=True),
    },
)
verify(RESEARCH)
