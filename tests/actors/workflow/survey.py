"""A workflow of another family: a plan, three who look at once, a judge who may send all back, a clerk who ends it."""

from typing import Any

from actors.workflow.outcome import Status
from actors.workflow.tables import Case, FanOut, Limits, MemberResult, RetryStage, Step, Workflow
from actors.workflow.verify import verify
from bus import Event, Request


class Planned(Event, frozen=True):
    plan: str


class Seen(Event, frozen=True):
    sight: str


class SurveyCase(Case, frozen=True, kw_only=True, gc=False):
    plan: str = ""
    team: tuple[str, ...] = ()
    found: tuple[MemberResult[Seen], ...] = ()
    notes: int = 0


class Judged(Event, frozen=True):
    summary: str


class Unsure(Event, frozen=True):
    notes: int


class SurveyClosed(Event, frozen=True):
    status: Status


class Plan(Request[Planned], frozen=True):
    notes: int


class Look(Request[Seen], frozen=True):
    plan: str


class Judge(Request[Judged | Unsure], frozen=True):
    found: tuple[MemberResult[Seen], ...]


class Settle(Request[Judged], frozen=True):
    """Judge, and nothing is sent back."""

    found: tuple[MemberResult[Seen], ...]


class CloseSurvey(Request[SurveyClosed], frozen=True):
    reason: str
    detail: str


TEAM = ("north", "south", "east")
AGAIN = 3


def survey(**changed: Any) -> Workflow:
    flow = Workflow(
        **{
            "name": "survey", "case": SurveyCase, "terminator": "clerk", "close": CloseSurvey, "closed": SurveyClosed,
            "final": "over", "max_handoffs": 80, "default_limits": Limits(within=60.0, retries=1),
            "steps": {
                "planning": Step("planner", Plan, {Planned: "looking"}, returns_partial=True),
                "looking": FanOut(TEAM, Look, Seen, "found", "judging", "judging", "judging", pick="team"),
                "judging": Step("judge", Judge, {Judged: "closing", Unsure: RetryStage("planning", AGAIN, "closing")}),
                "closing": Step("clerk", CloseSurvey, {SurveyClosed: "over"}),
            },
            **changed,
        }
    )  # fmt: skip
    verify(flow, every_way=False)
    return flow
