"""A research as its state file holds it."""

from typing import Literal, get_args

import msgspec

from actors.research.workflow import ResearchCase
from actors.text.truncate import shorten
from actors.workflow.outcome import EndReason, Outcome

Status = Literal[
    "planning", "searching", "extracting", "analyzing", "deepening", "reporting", "completed", "cancelled", "failed"
]
OVER: frozenset[Status] = frozenset({"completed", "cancelled", "failed"})
STATUSES: tuple[Status, ...] = get_args(Status)
TITLE_CHARACTERS = 120


class Project(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One research at one moment. Its id is its ticket's."""

    case: ResearchCase
    title: str
    status: Status = "planning"
    progress: int = 0
    """Percent."""
    message: str = ""
    """What is being done, for a person."""
    created: str
    """ISO time in UTC, as `updated`."""
    updated: str
    run: str = ""
    edited: bool = False
    """Somebody changed the file after Terminus wrote it."""

    @property
    def id(self) -> str:
        return self.case.ticket_id

    @property
    def over(self) -> bool:
        return self.status in OVER


def title_of(question: str) -> str:
    """The first line of a question that says anything, shortened."""
    return shorten(next((each for each in question.splitlines() if each.strip()), ""), TITLE_CHARACTERS)


def status_of(state: str, outcome: Outcome | None) -> Status:
    """Where a project stands, by its run's state and end."""
    if outcome is None:  # its last event may have come, but it is the end of the run that is durable
        return next((each for each in STATUSES if each == state and each not in OVER), "reporting")
    if outcome.why is EndReason.CANCELLED:
        return "cancelled"
    # A report that was written before time ran out may be good, but the research did not come to its end.
    well = outcome.why is EndReason.COMPLETED and outcome.status not in {"error", "cancelled"}
    return "completed" if well else "failed"
