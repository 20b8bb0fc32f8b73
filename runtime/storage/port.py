"""
The port to what is stored: operations on tickets, runs, memory and effects. `runtime.storage.sqlite` implements it.

All of it is awaited, but for what a run writes at each step: those calls return at once, are carried out in their
order, and say `then` on the loop how it went. Every error is one of `runtime.storage.errors`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from runtime.storage.background import Then
from runtime.storage.records import (
    Asked,
    FeedPlace,
    Listed,
    NewRun,
    Pulse,
    Record,
    RecordKey,
    Remembered,
    RunEnding,
    Served,
    StoredEvent,
    StoredRun,
    Wanted,
)
from runtime.tickets import Ticket


class RunStore(Protocol):
    """Tickets, their runs, the events of those, and records beside them."""

    async def accept(
        self, run: NewRun, ticket: Ticket | None = None, *, seen: int | None = None, new: bool = False,
        besides: Sequence[Record] = (),
    ) -> None:  # fmt: skip
        """
        Return when a run is durable, with its ticket and with what belongs to it: all or none.

        :param ticket: nothing for a run within a run.
        :param seen: the latest run of the ticket that the caller knows of, by `seq`; None: whatever there is.
        :param new: the ticket's id was made up, and must be nobody's.
        :raises Conflict: it has an open run, or a later one than was seen; an id is taken; a record is there already.
        """

    def record(
        self, run: str, event: StoredEvent, then: Then, besides: Sequence[Record] = (), intent: str = ""
    ) -> None:
        """
        Keep one event of a run, and records with it that replace what is there; the same number is a `Conflict`.

        :param intent: what the run asks for, where this event tells it.
        """

    def finish(self, event: StoredEvent, ending: RunEnding, then: Then, besides: Sequence[Record] = ()) -> None:
        """Keep the last event with the end that it led to, unless the run has one. `besides` replace what is there."""

    def overrule(self, ending: RunEnding, events: int, then: Then, besides: Sequence[Record] = ()) -> None:
        """End a run after so many events, whatever came later or is written of its end."""

    def close_ticket(self, run: str, key: str, ticket: str, status: str, note: str) -> None:
        """Mark a ticket, once for each key, unless the run has ended; with the next write of the run at the latest."""

    async def find(self, some_id: str) -> StoredRun | None:
        """The latest run of the ticket of this id, or else the run of this id; `run:ID` is a run in any case."""

    async def find_trace(self, trace: str) -> StoredRun | None:
        """The latest run of a trace, by its 32 hexadecimal digits."""

    async def run(self, run_id: str) -> StoredRun | None: ...
    async def latest_of(self, ticket: str) -> StoredRun | None:
        """The latest run of a ticket."""

    async def latest(self, count: int) -> list[StoredRun]: ...
    async def list_open(self, ticket: str = "") -> list[StoredRun]:
        """Runs without an end, of one ticket or of all, the oldest first, whoever owns them."""

    async def within(self, run: str) -> list[StoredRun]:
        """The runs within a run, and those within them."""

    async def events(self, run: str, most: int | None = None) -> list[StoredEvent]:
        """
        The events of a run in their order.

        :raises JournalDamaged: one is missing.
        """

    async def feed(self, after: int, most: int) -> list[FeedPlace]:
        """What became durable after a place, in its order: so many places. Runs that were purged have none."""

    async def feed_end(self) -> int:
        """The last place so far; 0: there is none."""

    async def feed_place(self, run: str, n: int) -> int | None:
        """The place of what a run has there; nothing when that is unknown or too long ago."""

    async def trim_feed(self) -> None:
        """Let go of the oldest places: nobody who listens has been away for so long."""

    async def claim(self, run: StoredRun, owner: str) -> bool:
        """Become the owner of a run whose owner is dead; false when another process was faster."""

    async def release(self, owner: str, but: Sequence[str] = ()) -> None:
        """Let go of all that a process has not ended."""

    async def ask_to_cancel(self, run: str) -> None:
        """Leave word for the process that owns a run."""

    async def cancel_requests(self, owner: str) -> dict[str, int]:
        """Runs of this owner that somebody asked to cancel, and how often."""

    async def open_runs(self) -> dict[str, int]:
        """How many runs without an end each owner has."""

    async def read_question(self, run: StoredRun) -> Asked:
        """What a run was asked. A ticket that came in again with another text changes nothing of its older runs."""

    async def read_both(self, run_id: str) -> tuple[StoredRun, Asked] | None:
        """A run and what it was asked, in one look."""

    async def search(self, wanted: Wanted) -> Listed:
        """Runs as wanted; their notes are those of their tickets."""

    async def list_intents(self) -> list[str]:
        """What runs were found to ask for, by name."""

    async def latest_ids(self, most: int) -> list[str]:
        """The ids of the latest tickets and runs, the newest first."""

    async def put(self, *records: Record, remove: Sequence[RecordKey] = ()) -> None:
        """
        Return when all these records are kept and those are gone, all or none.

        :raises Conflict: one is there already that was not to be replaced.
        """

    async def records(self, kind: str, *, run: str = "", after: str = "", most: int = 100) -> list[Record]:
        """Records of a kind by their ids, those of one run or of all."""

    async def records_of(self, runs: Sequence[str], *kinds: str) -> list[Record]:
        """All records of these kinds that many runs have, in one look."""

    def pulse(self) -> Pulse:
        """How writing goes at the moment."""

    def try_to_write(self) -> None:
        """Write something and take it back, at once: it only shows whether the disk takes it."""


class EffectStore(Protocol):
    """What runs did to the world and got from it, by run, kind and key."""

    async def load(self, run: str) -> list[tuple[str, str, bytes]]:
        """All of a run: kind, key, value."""

    async def put(self, run: str, kind: str, key: str, value: bytes) -> None:
        """Return when it is durable; the same key again changes nothing."""

    def put_lazily(self, run: str, kind: str, key: str, value: bytes, then: Then) -> None:
        """With the next commit: nobody waits for it."""

    def forget(self, run: str, then: Then) -> None:
        """Let go of those of a run that has ended, and of the runs within it, with the next commit."""

    async def sweep(self, most: int) -> None:
        """Let go of what a process left that died between the end of a run and its last word: so many."""


class RecordingStore(Protocol):
    """What runs got from outside, so that they can be run again; it goes with the run."""

    def keep(self, run: str, body: bytes, parts: Mapping[bytes, bytes]) -> None:
        """
        With the next commit: nobody waits for it.

        :param parts: what `body` refers to by its digest; what several runs have alike is kept once.
        """

    async def load(self, run: str) -> bytes:
        """Empty: nothing was recorded."""

    async def forget(self, before: float) -> int:
        """
        Let go of what is recorded of runs that ended before this moment, and of parts that nothing refers to then.

        :returns: of how many runs.
        """

    async def load_parts(self, digests: Iterable[bytes]) -> dict[bytes, bytes]:
        """Those that are there."""


class MemoryStore(Protocol):
    """Answers that are remembered, and what people said of them. A rejected answer is served to nobody."""

    @property
    def path(self) -> Path:
        """What is learnt is kept in a file beside this one."""

    @property
    def counts_at_start(self) -> tuple[int, int]: ...
    @property
    def learnt(self) -> tuple[int, int] | None:
        """The counts of what was learnt from last, when this process started."""

    async def counts(self) -> tuple[int, int]:
        """Tickets that are remembered, and those that people have judged."""

    async def same(self, digest: bytes, most: int) -> list[Served]:
        """Answers to a text of this digest, the best first: those that were confirmed, then the newest."""

    async def row(self, number: int, answer: bytes) -> Served | None:
        """The answer of this number, if it is still that one."""

    async def wrong_answers(self, digest: bytes, most: int) -> list[bytes]:
        """Wrong answers to a text, the newest first."""

    async def remember(self, *tickets: Remembered) -> None:
        """All or none; the same key again changes nothing."""

    async def teach(self, ticket: Remembered) -> None:
        """Put a person's answer in the place of what a ticket was answered last, unless that is kept as a wrong one."""

    async def judge(self, ticket: str, state: str) -> int:
        """
        How many answers of a ticket are in this state from now on.

        Where a person has answered it, what was said of answers before that one stays.
        """

    async def forget_unjudged(self, ticket: str) -> int:
        """Forget the answers to a ticket of which nobody has said anything; returns how many there were."""

    async def judgement(self, ticket: str) -> tuple[str, bytes, str] | None:
        """
        `confirmed` or `rejected`, as a person said of the last answer of a ticket that anybody judged.

        With it the digest of that answer if a person gave it, or chose its places; else nothing. And its origin.
        """

    async def lacking_vectors(self, embedder: str, after: bytes, most: int) -> list[tuple[bytes, str]]:
        """Digests of texts above this one that have no vector made by an embedder, in order, each with the text."""

    async def keep_vectors(self, embedder: str, vectors: Sequence[tuple[bytes, bytes]]) -> None:
        """Keep vectors by the digests of their texts, as long as these are remembered; others of theirs go."""

    async def note_learnt(self, counts: tuple[int, int]) -> None: ...


MOST_IDS = 5_000
"""So many of the latest runs have ids that a mistyped one is compared with."""
MOST_NEAREST = 3
ID_CHARACTERS = 100
ALIKE = 0.75
"""Made-up ids share about half of their characters by chance."""


async def nearest_ids(runs: RunStore, some_id: str) -> list[str]:
    """Ids of tickets and runs that begin so, else those that are alike."""
    import difflib  # only a mistake leads here

    given = some_id[:ID_CHARACTERS].casefold()
    known = {each.casefold(): each for each in reversed(await runs.latest_ids(MOST_IDS))}
    begin = [folded for folded in reversed(known) if given and folded.startswith(given)]
    near = begin[:MOST_NEAREST] or difflib.get_close_matches(given, known, MOST_NEAREST, ALIKE)
    return [known[folded] for folded in near]
