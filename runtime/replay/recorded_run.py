"""A run as it was: what it began with, what it got from outside, its events and its end. What a replay starts from."""

from collections.abc import Sequence

import msgspec

from runtime.replay.port_call import PortCall
from runtime.service_error import ServiceError
from runtime.storage.journal import RunJournal, StoredRun
from runtime.storage.packing import unpack
from runtime.storage.port import RecordingStore
from runtime.storage.records import StoredEvent
from runtime.tracing.run_trace import find_outermost


class RecordedRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a recording; bodies are encoded as the journal encodes them."""

    id: str
    workflow: str
    case: bytes
    events: tuple[StoredEvent, ...]
    outcome: bytes


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """A run with those within it."""

    ticket: str
    runs: tuple[RecordedRun, ...]
    """The outermost one first."""
    calls: tuple[PortCall, ...]
    """In the order in which they were asked."""
    parts: dict[bytes, bytes]
    """Passages that stand in answers, by digest."""

    @property
    def run(self) -> str:
        """The id of the outermost run."""
        return self.runs[0].id


async def load_recording(journal: RunJournal, store: RecordingStore, stored: StoredRun) -> Recording:
    """
    What is recorded of a run that has ended.

    :raises ServiceError: it goes on, or nothing is recorded of it.
    :raises JournalDamaged: it cannot be read.
    """
    outermost = stored if stored.id == find_outermost(stored.id) else await journal.run(find_outermost(stored.id))
    if outermost.ended is None:
        raise ServiceError(f"{stored.ticket} has not ended yet: only what is over can be replayed.", "conflict")
    calls = read_calls(await store.load(outermost.id))
    if calls is None:
        raise ServiceError(
            f"Nothing is recorded of what {stored.ticket} got from outside: an earlier version of this program ran it, "
            "a second process went on with it after a crash, [trace] replay was off, or it ended more than [trace] "
            "replay_days ago.", "not_found",
        )  # fmt: skip
    runs = [outermost, *sorted(await journal.store.within(outermost.id), key=lambda run: run.seq)]
    return Recording(
        ticket=outermost.ticket,
        runs=tuple([await _load_run(journal, run) for run in runs]),
        calls=tuple(sorted(calls, key=lambda call: call.order)),
        parts=await store.load_parts(digest for call in calls for digest in call.digests),
    )


def read_calls(body: bytes) -> Sequence[PortCall] | None:
    """The calls of a recording; None where there is none, it is damaged, or of a version that wrote others."""
    try:
        return msgspec.msgpack.decode(body, type=list[PortCall])
    except msgspec.MsgspecError:
        return None


async def _load_run(journal: RunJournal, run: StoredRun) -> RecordedRun:
    events = [each._replace(body=unpack(each.body)) for each in await journal.store.events(run.id)]
    return RecordedRun(
        id=run.id, workflow=run.workflow, case=run.initial, events=tuple(events), outcome=run.ending or b""
    )
