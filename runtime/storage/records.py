"""What storage keeps, as it hands it out: runs, events, what was asked, and records of whoever needs one more."""

import datetime
from typing import NamedTuple

import msgspec

ACTION = "action"
"""The kind of the records that hold an `Action`."""
SUBMITTER = "submitter"
"""The kind of the records that say whose a run is; their id is `BY`, a line end, and the run."""
FEED_END = -1
"""Stands for the end of a run in the feed."""
RUN_PREFIX = "run:"
"""Where a ticket and a run have the same id, this before it means the run."""


class NewRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that begins."""

    id: str
    ticket: str
    workflow: str
    version: str
    """Of its table, as `actors.workflow.codec` says; empty where an earlier version of this program began it."""
    initial: bytes
    """Its case, encoded."""
    started: float
    """Seconds since 1970."""
    boot: str
    uptime: float
    """When it begins, as `boot_clock.since_boot` tells."""
    owner: str
    """The process that works on it."""
    trace: str = ""
    """
    Its id, 32 hexadecimal digits, and 16 of the caller's span where there is one, with `trace_id.UNSAMPLED` where the
    caller does not sample it. Empty: of a run within a run, and of one that a version without traces began.
    """


class StoredRun(NewRun, frozen=True, kw_only=True):
    """A run, as it was begun and as it stands."""

    cancel: int
    """How often somebody asked to cancel it."""
    ended: float | None
    status: str
    ending: bytes | None
    """The encoded outcome; of an earlier version of this program, a `RunEnd`, which has some of its fields."""
    seq: int
    """The order of runs."""
    intent: str = ""
    """What it was found to ask for; empty as long as nobody knows."""

    @property
    def ref(self) -> str:
        """Means this run, whatever tickets are called."""
        return f"{RUN_PREFIX}{self.id}"


class StoredEvent(NamedTuple):
    """One accepted input of a run, encoded; what stands there may be damaged."""

    n: int
    at: float
    sender: str
    number: int
    body: bytes


class FeedPlace(NamedTuple):
    """That something became durable, in the order of all runs."""

    seq: int
    """Its place."""
    run: str
    n: int
    """The number of an event; 0: the run was accepted, `FEED_END`: it ended."""


class RunEnding(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ends, as it is written."""

    run: str
    ticket: str
    at: float
    """Seconds since 1970."""
    status: str
    note: str
    """For the ticket; empty: its note stays."""
    outcome: bytes
    seconds: float = 0.0
    """How long it took."""


ORIGIN = "origin"
"""The kind of what an intake keeps with a run; its id is `TICKET/RUN`."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is kept in one transaction with a ticket or an end: an origin, a delivery, a message."""

    kind: str
    id: str
    """Among those of its kind."""
    body: bytes
    run: str = ""
    """It goes when this run is purged."""
    replaces: bool = False
    """One of the same kind and id may be there; otherwise that is a `Conflict`."""
    packed: bool = False
    """It is stored compressed where that is shorter: `packing.unpack` reads what is given out."""


class RecordKey(NamedTuple):
    """Names a record."""

    kind: str
    id: str


class Action(msgspec.Struct, frozen=True):
    """What somebody did to a run."""

    what: str
    """`submitted`, `answered`, `resumed`, `cancelled`, `called right`, `called wrong` or `taught`."""
    by: str
    """`token:NAME`, `user:NAME` of a proxy, `server-token`, `local` over HTTP without a token, `shell:USER`."""
    at: datetime.datetime
    """The last time."""


class Asked(msgspec.Struct, frozen=True):
    """What a run was asked, and by whom."""

    question: str
    """The text as it came in, without the subject."""
    subject: str
    requester: str
    created: float
    """Seconds since 1970 when the ticket came in for the first time."""
    note: str = ""
    """What was noted on the ticket when its latest run ended."""
    actions: tuple[Action, ...] = ()
    """Who did what to the run, the first first; not told in lists."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs are listed: all of this must hold."""

    search: str = ""
    """Stands in the question, the subject, the requester or an id, whatever its case."""
    status: str = ""
    """As `StoredRun` has it."""
    failed: bool = False
    """It was ended by a limit, a failure or a person."""
    workflow: str = ""
    since: float = 0.0
    """It began no earlier than these seconds since 1970."""
    intent: str = ""
    """It was found to ask for this."""
    slow: float = 0.0
    """It took so many seconds or more, or has been going on for as long."""
    agent: str = ""
    """This agent was asked."""
    latest: bool = False
    """It is the latest run of its ticket."""
    by: str = ""
    """It is this principal's."""
    before: int = 0
    """Its `seq` is below this; 0: whatever it is."""
    looks: int = 0
    """So many of those that fit otherwise are searched for a text; 0: as many as the store allows."""
    count: int = 20


class Listed(NamedTuple):
    """The latest runs that are as wanted, the newest first."""

    runs: list[tuple[StoredRun, Asked]]
    stopped: bool
    """There are older runs that nobody looked at."""
    last: int = 0
    """The `seq` of the oldest that was looked at."""


class Pulse(NamedTuple):
    """How writing goes."""

    alive: bool
    """The thread that writes is there."""
    commit_seconds: float | None
    """Seconds since the last commit."""
    failure: str
    """What the store said when the last write failed; empty when it did not."""
    waited: float
    """Seconds that the oldest write which is not finished has waited."""


class Served(NamedTuple):
    """An answer that memory holds."""

    ticket: str
    resolution: bytes
    state: str
    """`confirmed` or `unconfirmed`."""
    origin: str = ""
    """As of `Remembered`."""
    person: str = ""
    created: float = 0.0
    text: str = ""
    """Of the ticket that it answered."""


class Remembered(NamedTuple):
    """A solved ticket, as memory keeps it."""

    ticket: str
    text: str
    same: bytes
    """Digest of the text."""
    resolution: bytes
    answer: bytes
    """Digest of the resolution's text."""
    state: str
    """`unconfirmed`, `confirmed` or `rejected`."""
    key: str
    origin: str = ""
    """Who made the answer: `rules`, `model` or `person`, or a person chose its `places`; empty: nobody knows."""
    person: str = ""
    """Who gave the answer, where that is known."""
    created: float = 0.0
    """When the answer was made, in seconds since 1970; 0: nobody knows."""


class _Handoff(msgspec.Struct):
    source: str
    target: str


class _Ending(msgspec.Struct):
    handoffs: list[_Handoff] = []
    children: "list[_Ending]" = []


def list_agents(ending: bytes) -> list[str]:
    """
    The agents of a run and of the runs within it, each once, in the order in which they came in.

    :param ending: as `StoredRun` has it.
    :raises msgspec.MsgspecError: it cannot be read.
    """
    return list(dict.fromkeys(_walk(msgspec.msgpack.decode(ending, type=_Ending))))


def _walk(ending: _Ending) -> list[str]:
    own = [name for each in ending.handoffs for name in (each.source, each.target)]
    return own + [name for child in ending.children for name in _walk(child)]
