"""What may be asked and what is answered, as types."""

from typing import Any, Literal

import msgspec

from actors.evidence.claims import Resolution
from actors.evidence.passages import Passage
from actors.workflow.outcome import Outcome
from runtime import families
from runtime.families.limits import AgentRecord
from runtime.knowledge.index import IndexedDocument, IndexedFolder, MeaningState
from runtime.knowledge.indexing import IndexingState
from runtime.run_record import Moment, Record
from runtime.storage.records import NewRun
from runtime.tickets import HELPDESK

WAIT_SECONDS = 600.0
"""The longest `?wait`; a longer one is shortened."""
KEY_CHARACTERS = 200
JSON = "application/json"
TEXTS = ("text/plain", "text/markdown")


class NewTicket(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A ticket as its requester wrote it."""

    text: str = ""
    """What is wrong, in a sentence or more; needed unless there is a subject."""
    subject: str = ""
    id: str = ""
    """Its id in your helpdesk: letters, digits, dots, dashes, underscores. The same again gives the same run."""
    requester: str = ""
    """Who asks; where it is empty and a proxy tells who sent it, that person."""
    workflow: str = HELPDESK
    """Who works on it."""
    options: dict[str, Any] | None = None
    """How it is to be done, by the names that its workflow knows; null: as configured."""
    research: bool | dict[str, Any] = False
    """Short for the workflow `research`: true, or {}, as configured; else its options."""


class Feedback(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person says of a resolution: whether it was right, or what is."""

    right: bool | None = None
    places: tuple[int, ...] = ()
    """The numbers of the places that were right; needed where the answer shows several: only they are remembered."""
    answer: str = ""
    """The right one, in your words: the same ticket, and similar ones, get it from then on."""
    person: str = ""
    """Who gives the answer; where a proxy tells who asks, that person."""


class ApprovedText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """With which words a suggestion is approved."""

    text: str | None = None
    """What the customer is told instead, as plain text; null: what was suggested."""
    run: str = ""
    """The run whose suggestion was read; empty: the ticket's latest."""


class AnswersGiven(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person answers to the questions of a ticket."""

    answers: dict[str, str | int | float] = {}
    """By the names of the questions. Each that is not optional is answered, unless there is a text."""
    text: str = ""
    """What is known, in free words: beside the answers, or instead of them."""
    run: str = ""
    """Whose questions they are; empty: those of the latest run."""


class NewShare(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A link that is to be made."""

    days: float | None = None
    """How long it opens the ticket; null: as long as `[server] share_days` lets it."""


class ListedShare(msgspec.Struct, frozen=True):
    """A link that opens a ticket."""

    id: str
    ticket: str
    by: str
    """Who made it."""
    created: Moment
    expires: Moment


class MadeShare(ListedShare, frozen=True):
    """A link that was just made."""

    link: str
    """Its address, whose last part is told this once."""


class ShareList(msgspec.Struct, frozen=True):
    """The links to a ticket."""

    shares: tuple[ListedShare, ...]


class Links(msgspec.Struct, frozen=True):
    """Where to go on."""

    ticket: str
    run: str
    events: str
    cancel: str
    feedback: str
    answers: str
    trace: str
    report: str = ""
    """Where its workflow writes one."""


class Receipt(msgspec.Struct, frozen=True):
    """The ticket is durable and its run has begun."""

    ticket: str
    run: str
    status: str
    """`running`, or how it ended."""
    question: str
    """The text of the ticket as it came in, without its subject."""
    subject: str
    requester: str
    created: Moment
    """When the ticket came in for the first time."""
    links: Links


class RunStatus(Record, frozen=True, kw_only=True):
    """Where a run stands."""

    outcome: Outcome | None
    """Once it has ended."""
    links: Links


class ListedTicket(Record, frozen=True, kw_only=True):
    """A ticket by its latest run."""

    links: Links
    agents: tuple[str, ...] = ()
    """Who worked on it, in the order in which they came in; empty as long as it goes on."""


class TicketPage(msgspec.Struct, frozen=True):
    """Tickets as they were looked for, the one that came in last first."""

    tickets: tuple[ListedTicket, ...]
    next: str = ""
    """Where the older ones are; empty: there are none."""
    stopped: bool = False
    """No more tickets were looked through at once: `next` goes on, even where none was found on this page."""


class FoundTraces(msgspec.Struct, frozen=True):
    """Runs as they were looked for."""

    traces: tuple[Record, ...]
    """The newest first."""
    stopped: bool
    """Older runs were not looked through."""


class KnowledgeState(msgspec.Struct, frozen=True):
    """What can be searched."""

    folders: tuple[IndexedFolder, ...]
    megabytes: float
    """Size of the index."""
    indexing: IndexingState
    meaning: MeaningState | None = None
    """How far the texts of the documents can be found by what they mean; null: by their words only."""


class DocumentPage(msgspec.Struct, frozen=True):
    """Documents by their names."""

    documents: tuple[IndexedDocument, ...]
    next: str = ""
    """Where the others are; empty: there are none."""


class FoundPassages(msgspec.Struct, frozen=True):
    """What a search found."""

    passages: tuple[Passage, ...]
    """The best first, with their scores."""
    abstain: str
    """Why there are none; empty when there are."""
    words_only: str
    """Why it went by words alone, where meaning was to be looked at, too."""


class IndexOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which folders are to be read."""

    folders: tuple[str, ...] = ()
    """By their names in the index, or their paths; empty: those of the settings."""


class RemovedFolder(msgspec.Struct, frozen=True):
    """A folder is out of the index."""

    folder: str
    documents: int
    """How many it held."""


class DescribedAgent(AgentRecord, frozen=True, kw_only=True):
    """An agent as it works here, with the model that thinks for it."""

    model: str
    """Empty: rules or the documents' own words answer."""


class AgentList(msgspec.Struct, frozen=True):
    """All agents."""

    agents: tuple[DescribedAgent, ...]


class Recalled(msgspec.Struct, frozen=True):
    """What memory would tell the agents of a ticket."""

    verdict: Literal["hit", "suggestion", "miss"]
    why: str
    ticket: str
    """The earlier ticket that it comes from; empty: none."""
    resolution: Resolution | None
    stale: str
    """Why a suggestion is not to be repeated as it is."""
    answered: str
    """The day of the earlier answer; empty: nobody knows."""
    rejected: tuple[str, ...]
    """Answers to this very text that a person called wrong."""


class FeedbackReceipt(msgspec.Struct, frozen=True, omit_defaults=True):
    """Feedback was stored."""

    ticket: str
    right: bool
    answers: int
    """Remembered answers that it concerns."""
    question: str
    """What was asked."""
    subject: str
    requester: str
    answer: str
    """What was judged, or given."""
    places: tuple[int, ...] = ()
    """Those of its places that are remembered; empty: all of it."""


class Health(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the process is. Counts are told only to those who may use the rest."""

    live: bool
    ready: bool
    """It takes tickets: what was running has been resumed, it is not stopping, and what it accepts can be written."""
    why: str = ""
    """Why it is not ready, with what to do."""
    runs: int | None = None
    """In progress here."""
    dead_letters: int | None = None
    """Messages that no actor will read."""
    abandoned: int | None = None
    """Turns of actors that did not end when they had to."""
    workers_killed: int | None = None
    unattended: int | None = None
    """Runs without an end that nobody works on: their process is gone, or their end was not recorded."""
    commits: int | None = None
    last_commit_seconds: float | None = None
    """Seconds since the last commit; left out before the first."""
    last_write_failed: bool | None = None
    free_megabytes: int | None = None
    """Of the disk that the database is on."""
    streams: int | None = None
    """Clients that listen to events."""
    mute_models: tuple[str, ...] = ()
    """Models that are left alone for a while, for they gave no answer as JSON; what needs none answers meanwhile."""


def links(run: NewRun) -> Links:
    at = f"/tickets/{run.ticket}"
    report = f"{at}/report" if families.writes_report(run.workflow) or families.makes_document(run.workflow) else ""
    return Links(
        at, f"/runs/{run.id}", f"{at}/events", f"{at}/cancel", f"{at}/feedback", f"{at}/answers", f"{at}/trace",
        report,
    )  # fmt: skip
