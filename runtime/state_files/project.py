"""A research as its state file holds it, and by which names it goes in the file system."""

import hashlib
from typing import Literal, get_args
from urllib.parse import quote

import msgspec

from actors.research.workflow import ResearchCase
from actors.workflow.outcome import EndReason, Outcome

Status = Literal[
    "planning", "searching", "extracting", "analyzing", "deepening", "reporting", "completed", "cancelled", "failed"
]
OVER: frozenset[Status] = frozenset({"completed", "cancelled", "failed"})
STATUSES: tuple[Status, ...] = get_args(Status)
TITLE_CHARACTERS = 120
NAME_CHARACTERS = 100


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
    line = next((" ".join(each.split()) for each in question.splitlines() if each.strip()), "")
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1].rstrip() + "…"


def name_of(project_id: str) -> str:
    """
    The name of a project's file, without suffix, and of its folder of backups: one name in one folder, whatever the id.

    An id of letters, digits, dots, dashes and underscores is its own name.
    """
    name = quote(project_id, safe="", errors="replace")
    if name.startswith("."):
        name = f"%2E{name[1:]}"
    return name if name and len(name) <= NAME_CHARACTERS else other_name_of(project_id)


def other_name_of(project_id: str) -> str:
    """The name of a project whose own is too long, or taken by a file of somebody else's."""
    return f"%{hashlib.sha256(project_id.encode('utf-8', 'surrogatepass')).hexdigest()}"


def status_of(state: str, outcome: Outcome | None) -> Status:
    """Where a project stands, by its run's state and end."""
    if outcome is None:  # its last event may have come, but it is the end of the run that is durable
        return next((each for each in STATUSES if each == state and each not in OVER), "reporting")
    if outcome.why is EndReason.CANCELLED:
        return "cancelled"
    # A report that was written before time ran out may be good, but the research did not come to its end.
    well = outcome.why is EndReason.COMPLETED and outcome.status not in {"error", "cancelled"}
    return "completed" if well else "failed"
