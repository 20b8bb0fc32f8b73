"""Runs the workflow of a finished run again on what it got from outside then, and says where it goes another way."""

import asyncio
import contextlib
from typing import Any, NamedTuple

import msgspec

from actors.workflow.outcome import Outcome
from actors.workflow.tables import RunStopped
from runtime.replay.differences import Difference, find_differences, read_events
from runtime.replay.port_call import FILL
from runtime.replay.recorded_run import Recording
from runtime.replay.replay_loop import ReplayLoop, ReplayStalled
from runtime.replay.replay_node import ReplayNode
from runtime.replay.replayer import EventTimes, NotAsked, Replayer
from runtime.run import LiveRun
from runtime.service_error import ServiceError
from runtime.settings import Settings
from runtime.wiring import Wiring


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a replay."""

    run: str
    ticket: str
    then: Outcome
    now: Outcome | None
    """None: it came to no end."""
    events: int
    """How many the recording has, those of the runs within it included."""
    asked: tuple[NotAsked, ...] = ()
    """What was asked of the world that was not asked then."""
    differences: tuple[Difference, ...] = ()

    @property
    def is_same(self) -> bool:
        """Events and end are those of then, byte for byte."""
        return self.now is not None and not self.differences and not self.asked

    def describe(self) -> dict[str, Any]:
        """The same for a program."""
        ended = {
            name: {"status": each.status, "answer": each.resolution.text if each.resolution else each.detail}
            for name, each in (("then", self.then), ("now", self.now))
            if each is not None
        }
        asked, differences = msgspec.to_builtins(self.asked), msgspec.to_builtins(self.differences)
        return {
            "ticket": self.ticket, "run": self.run, "same": self.is_same, "events": self.events, "now": None, **ended,
            "asked": asked, "differences": differences,
        }  # fmt: skip


def replay(recording: Recording, settings: Settings) -> Replay:
    """
    Run it again: blocking, in a loop of its own, without disk, network and real time.

    :raises ServiceError: this version does not know its workflow.
    """
    loop = ReplayLoop()
    asyncio.set_event_loop(loop)
    try:
        begun = loop.run_until_complete(_begin(recording, settings, loop))
        now = None
        with contextlib.suppress(ReplayStalled):
            now = loop.run_until_complete(begun.live.outcome())
        loop.run_until_complete(begun.node.models.close())
        return _compare(recording, begun, now)
    finally:
        _let_go(loop)
        asyncio.set_event_loop(None)
        loop.close()


class _StartedReplay(NamedTuple):
    node: ReplayNode
    replayer: Replayer
    live: LiveRun


async def _begin(recording: Recording, settings: Settings, loop: ReplayLoop) -> _StartedReplay:
    then = msgspec.msgpack.decode(recording.runs[0].outcome, type=Outcome)
    has_model = any(call.name == FILL for call in recording.calls)
    node = ReplayNode(settings, has_model=has_model, spent=then.spent)
    flow = node.flows.get(then.workflow)
    if flow is None:
        raise ServiceError(f"{recording.ticket} is of the workflow {then.workflow!r}, which this version has not.")
    entries = {run.id: read_events(run.events, node.flows[run.workflow]) for run in recording.runs}
    replayer = Replayer(recording, EventTimes(entries, {run.id for run in recording.runs if run.outcome}), loop)
    node.recorders.replayer = replayer
    case = msgspec.msgpack.decode(recording.runs[0].case, type=flow.case)
    node.journal.begin(recording.run, flow, case)
    faked: Any = node
    live = await Wiring(faked, follows=False).begin(recording.run, flow, case, None, "")
    for entry in entries[recording.run]:
        if isinstance(entry.event, RunStopped):
            loop.call_at(entry.at, live.cancel)
    return _StartedReplay(node, replayer, live)


def _compare(recording: Recording, begun: _StartedReplay, now: Outcome | None) -> Replay:
    then = msgspec.msgpack.decode(recording.runs[0].outcome, type=Outcome)
    return Replay(
        run=recording.run, ticket=recording.ticket, then=then, now=now, asked=tuple(begun.replayer.unknown),
        events=sum(len(run.events) for run in recording.runs),
        differences=tuple(find_differences(recording, begun.node.journal, begun.node.flows)),
    )  # fmt: skip


def _let_go(loop: ReplayLoop) -> None:
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        with contextlib.suppress(ReplayStalled):
            loop.run_until_complete(asyncio.wait(left, timeout=1.0))
