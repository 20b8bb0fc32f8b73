"""
Runs the workflow of a finished run again on what it got from outside then, and says where it goes
another way.

The run is read from its journal and its recording; its ports answer in the order and at the time of
then, on an event loop without a network whose time jumps to the next timer; nothing of it reads or
writes anything else.
"""

import asyncio
import contextlib
import inspect
import itertools
import selectors
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import msgspec

from actors.ports import Cases, Documents, Entry, Knowledge, Memory, Model, PortFailed, Statutes, Tickets
from actors.workflow.codec import decoder
from actors.workflow.outcome import Outcome, Spent
from actors.workflow.tables import Case, RunStopped, TimeUp, Workflow
from bus import Actor, Clock, Context, Timer
from runtime import families
from runtime.agent_folder import load_roster
from runtime.engine.run import LiveRun
from runtime.engine.wiring import Wiring
from runtime.families.limits import configure_all
from runtime.observe.recording import (
    BEGAN,
    CALLER,
    FILL,
    Caller,
    PortCall,
    PortMethod,
    Question,
    RecordedActor,
    decode,
    make_failure,
    put_in,
    record_port,
)
from runtime.observe.run_trace import Traces, find_outermost
from runtime.service_error import ServiceError
from runtime.settings import Settings
from runtime.storage.background import Then
from runtime.storage.errors import UnknownRun
from runtime.storage.journal import RunJournal
from runtime.storage.packing import unpack
from runtime.storage.port import RecordingStore
from runtime.storage.records import StoredEvent, StoredRun
from runtime.tools.tool_registry import load_tools
from runtime.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from runtime.search.source_registry import Sources


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


class NetworkOff(OSError):
    """Something wanted to reach the network during a replay."""


class ReplayStalled(RuntimeError):
    """Nothing is to be done, and nothing waits for time: what is awaited never comes."""


class _Selector(selectors.DefaultSelector):
    """Never waits, but lets the loop's time pass instead."""

    passed = 0.0
    """Seconds of the loop's time."""

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise ReplayStalled
            self.passed += max(0.0, timeout)
        return ready


class ReplayLoop(asyncio.SelectorEventLoop):
    """Deterministic: the same calls and timers happen in the same order and at the same time, however fast."""

    def __init__(self) -> None:
        self._passing = _Selector()
        super().__init__(self._passing)

    def time(self) -> float:
        return self._passing.passed

    def run_in_executor(  # type: ignore[override] # its own has a type variable for each argument
        self, _: Any, func: Callable[..., Any], *args: Any
    ) -> Any:
        """At once, for no time passes while a thread works."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done

    async def create_connection(self, *_: Any, **__: Any) -> NoReturn:
        raise NetworkOff("the network is off during a replay")

    sock_connect = getaddrinfo = create_connection


AHEAD_SECONDS = 0.002
"""How much earlier than then an answer comes, so that the event which rests on it is never late."""
LATE_SECONDS = 5.0
"""How late a timer of a busy process may have rung."""


class NotAsked(msgspec.Struct, frozen=True):
    """Where a run asks the world for something else than then."""

    run: str
    agent: str
    name: str
    """Of the port and its method."""
    now: str
    """What it asks."""
    then: str
    """What was asked then in its place; empty: nothing."""


class Replayer:
    """`recorded_port.Interceptor` of an outermost run that is replayed. Times are the loop's, which passes as then."""

    def __init__(self, recording: Recording, times: "EventTimes", loop: ReplayLoop) -> None:
        """:param times: when each event came then."""
        self._loop = loop
        self._times = times
        self._calls: defaultdict[str, list[PortCall]] = defaultdict(list)
        self._used: set[int] = set()
        self._parts = recording.parts
        self._began = {call.run: call.begin for call in recording.calls if call.name == BEGAN}
        self._started: dict[str, float] = {}
        self.unknown: list[NotAsked] = []
        for call in recording.calls:
            self._calls[call.name].append(call)

    async def start(self, run: str) -> None:
        """As `Interceptor.start`."""
        await self._wait_until(self._began.get(run, 0.0))
        self._started[run] = self._loop.time()

    def wrap_actor(self, caller: Caller, actor: Actor[Any]) -> Actor[Any]:
        """As `Interceptor.wrap_actor`."""
        return _ReplayedActor(actor, caller, self)

    def make_clock(self, run: str) -> Clock | None:
        """As `Interceptor.make_clock`."""
        return _Clock(self._loop, self._loop.time(), self._times.list_timeouts(run))

    async def wait_for_event(self, caller: Caller, number: int) -> None:
        """Wait until it is the time at which an agent's answer to this handoff came."""
        at = self._times.take(caller.run, caller.agent, number)
        if at is not None:
            await self._wait_until(self._started[caller.run] + at)

    async def ask(
        self,
        caller: Caller,
        method: PortMethod,
        real: Any,  # noqa: ARG002 - a replay asks nothing of the world
        arguments: tuple[Any, ...],
        named: Any,
    ) -> Any:
        """As `Interceptor.ask`."""
        asked = method.bind(arguments, named)
        if self._times.is_cut_off(caller.run, caller.number) and not self._knows(caller, method, asked):
            await self._loop.create_future()  # the run was ended before it came so far
        call = self._find(caller, method, asked)
        for at, name, body in call.heard:
            await self._wait_until(at - AHEAD_SECONDS)
            named[name](decode(body, method.listeners[name]))
        if call.end is None:
            await self._loop.create_future()  # it never came
        else:
            await self._wait_until(call.end - AHEAD_SECONDS)
        if call.failure is not None:
            raise make_failure(call.failure)
        if call.omitted:
            raise PortFailed(f"The answer to {call.name} was too large to be recorded.")
        return self._decode(call, method, arguments)

    def look(self, caller: Caller, method: PortMethod, real: Any, arguments: tuple[Any, ...]) -> Any:  # noqa: ARG002
        """As `Interceptor.look`."""
        return self._decode(self._find(caller, method, method.bind(arguments, {})), method, arguments)

    def _decode(self, call: PortCall, method: PortMethod, arguments: tuple[Any, ...]) -> Any:
        try:
            return put_in(method.decode(call.answer, arguments), self._parts)
        except (KeyError, msgspec.MsgspecError):
            raise PortFailed(f"What was recorded of {call.name} cannot be read any more.") from None

    def _knows(self, caller: Caller, method: PortMethod, asked: Question) -> bool:
        return any(
            call.digest == asked.digest and call.run == caller.run and call.order not in self._used
            for call in self._calls[method.name]
        )

    def _find(self, caller: Caller, method: PortMethod, asked: Question) -> PortCall:
        """
        The same question, whoever asked it then; where nobody did, the agent's next of its kind, so that a run goes on.

        :raises PortFailed: it asked nothing more of the kind then.
        """
        kind = self._calls[method.name]
        left = [call for call in kind if call.order not in self._used]
        own = [call for call in left if (call.run, call.agent) == (caller.run, caller.agent)]
        same = (call for calls in (own, left, kind) for call in calls if call.digest == asked.digest)
        call = next(same, None)
        if call is None or call.order in self._used:
            call = call or next(iter(own), None)
            self.unknown.append(
                NotAsked(caller.run, caller.agent, method.name, asked.about, call.about if call else "")
            )
        if call is None:
            raise PortFailed(f"Nothing is recorded of what {method.name} answers to this.")
        self._used.add(call.order)
        return call

    async def _wait_until(self, at: float) -> None:
        if (left := at - self._loop.time()) > 0:
            await asyncio.sleep(left)


class EventTimes:
    """When each event of a recording came, in seconds since its run began."""

    def __init__(self, events: Mapping[str, Sequence[Entry]], whole: Container[str]) -> None:
        """
        :param events: by run.
        :param whole: runs that came to an end of their own; others ended with the run above them.
        """
        self._known: defaultdict[tuple[str, int], list[Entry]] = defaultdict(list)
        self._rang: defaultdict[str, list[float]] = defaultdict(list)
        self._answered = {(run, entry.number) for run, entries in events.items() for entry in entries}
        self._ended_early = {
            run
            for run, entries in events.items()
            if run not in whole or any(isinstance(entry.event, RunStopped | TimeUp) for entry in entries)
        }
        for run, entries in events.items():
            for entry in entries:
                self._known[run, entry.number].append(entry)
                if isinstance(entry.event, TimeUp):
                    self._rang[run].append(entry.at)

    def take(self, run: str, sender: str, number: int) -> float | None:
        """When the answer to this handoff came, by whomever if this agent gave none; None: nobody answered."""
        known = self._known[run, number]
        entry = next((each for each in known if each.sender == sender), next(iter(known), None))
        if entry is not None:
            known.remove(entry)
        return entry.at if entry else None

    def is_cut_off(self, run: str, number: int) -> bool:
        """Whether the answer to this handoff never came, for the run was stopped or its time was up."""
        return run in self._ended_early and (run, number) not in self._answered

    def list_timeouts(self, run: str) -> list[float]:
        """When a run's own timer rang."""
        return self._rang[run]


class _ReplayedActor(RecordedActor):
    """An actor that answers when it did then."""

    __slots__ = ("_replayer",)

    def __init__(self, actor: Actor[Any], caller: Caller, replayer: Replayer) -> None:
        super().__init__(actor, caller)
        self._replayer = replayer

    async def receive(self, message: Any, ctx: Context) -> Any:
        CALLER.set(self._caller._replace(number=ctx.number))
        try:
            answer = self._actor.receive(message, ctx)
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception:
            await self._replayer.wait_for_event(self._caller, ctx.number)
            raise
        if answer is not None:
            await self._replayer.wait_for_event(self._caller, ctx.number)
        return answer


class _Clock:
    """The loop's time; a run's own timer rings as late as it did."""

    def __init__(self, loop: asyncio.AbstractEventLoop, started: float, rang: list[float]) -> None:
        self._loop = loop
        self._started = started
        self._rang = rang

    def time(self) -> float:
        return self._loop.time()

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> Timer:
        due = self._loop.time() + delay
        if args and type(args[0]) is TimeUp:
            at = next((at + self._started for at in self._rang if at + self._started >= due - 1e-6), due)
            if at - due < LATE_SECONDS:
                due = at
        return self._loop.call_at(due, callback, *args)


_encode = msgspec.msgpack.Encoder().encode


class ReplayJournal:
    """Keeps what a replayed run would write, in memory."""

    store = None

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.cases: dict[str, bytes] = {}
        self.workflows: dict[str, str] = {}
        self.events: dict[str, list[StoredEvent]] = {}
        self.outcomes: dict[str, bytes] = {}

    async def accept_child(self, run_id: str, flow: Workflow, case: Case, owner: str) -> None:  # noqa: ARG002
        """As `RunJournal.accept_child`."""
        self.begin(run_id, flow, case)

    def begin(self, run_id: str, flow: Workflow, case: Case) -> None:
        """A run of this case begins."""
        self.cases[run_id], self.workflows[run_id] = _encode(case), flow.name
        self.events[run_id] = []

    async def run(self, run_id: str) -> Any:
        """None is known before it begins."""
        raise UnknownRun(run_id)

    def record(self, entry: Entry, then: Then) -> None:
        """As `actors.ports.Journal`."""
        self.events[entry.run].append(StoredEvent(entry.n, entry.at, entry.sender, entry.number, _encode(entry.event)))
        self._loop.call_soon(then, None)

    def finish(self, entry: Entry, outcome: Outcome, then: Then) -> None:
        """As `actors.ports.Journal`."""
        self.outcomes[outcome.run] = _encode(outcome)
        self.record(entry, then)

    def keep(self, outcome: Outcome, events: int, then: Callable[[], None]) -> None:
        """As `actors.ports.Journal`."""
        self.outcomes[outcome.run] = _encode(outcome)
        del self.events[outcome.run][events:]
        self._loop.call_soon(then)


class _NoEffects:
    """`runtime.storage.port.EffectStore` that keeps nothing: what a run got from the world is recorded."""

    async def load(self, run: str) -> list[tuple[str, str, bytes]]:  # noqa: ARG002
        return []

    async def put(self, run: str, kind: str, key: str, value: bytes) -> None: ...

    def put_lazily(self, run: str, kind: str, key: str, value: bytes, then: Then) -> None: ...

    def forget(self, run: str, then: Then) -> None: ...


class _NoWorkers:
    """In place of `runtime.processes.pool.Workers`: no process is started."""

    def warm(self, *modules: str) -> None: ...

    async def run(self, *_: Any, **__: Any) -> Any:
        raise PortFailed("No process is started during a replay.")


class _Recorded:
    """In place of `runtime.llm.model_choice.Models`."""

    def __init__(self, model: Model, spent: Spent) -> None:
        self._model = model
        self._spent = spent

    def for_run(self, *_: Any, **__: Any) -> tuple[Model, Callable[[], Spent]]:
        return self._model, lambda: self._spent

    async def close(self) -> None: ...


class _OneReplayer:
    """In place of `runtime.observe.recording.Recorders`."""

    replayer: Replayer | None = None

    def begin(self, run: str) -> Replayer | None:  # noqa: ARG002 - there is one run
        return self.replayer

    def end(self, run: str) -> None: ...


class ReplayNode:
    """In place of `runtime.engine.node.Node`, for `Wiring` and the families."""

    def __init__(self, settings: Settings, *, has_model: bool, spent: Spent) -> None:
        """
        :param has_model: a model was asked then; otherwise the rules answer, which are run again.
        :param spent: what the run had spent in the end.
        """
        self.settings = settings
        self.folder = Path(settings.storage.folder)
        self.families = {family.name: family for family in families.FAMILIES}
        self.roster = load_roster(settings)
        self.flows = configure_all(self.families.values(), settings, self.roster)
        self.effects, self.workers, self.traces, self.runs = _NoEffects(), _NoWorkers(), Traces(), None
        self.journal = ReplayJournal()
        nothing: Any = None
        self.tickets: Tickets = record_port(nothing, Tickets)
        self.knowledge: Knowledge = record_port(nothing, Knowledge)
        self.documents: Documents = record_port(nothing, Documents)
        self.embedder = None
        self.memory: Memory = record_port(nothing, Memory)
        self.statutes: Statutes = record_port(nothing, Statutes)
        self.cases: Cases = record_port(nothing, Cases)
        self.recorders = _OneReplayer()
        ports: Any = self
        self.tools = Toolbox(ports, load_tools(settings))
        self.models = _Recorded(record_port(nothing, Model) if has_model else families.extractive(), spent)

    @property
    def owner(self) -> "ReplayNode":
        return self

    token = "replay"  # noqa: S105 - it is no secret

    @cached_property
    def sources(self) -> "Sources":
        """Those that are configured; none of them is opened."""
        from runtime.crawl.http_client import Client
        from runtime.search.source import SourcePorts
        from runtime.search.source_registry import Sources

        ports: Any = self.workers
        return Sources(SourcePorts(self.settings, self.knowledge, ports, Client(self.settings.fetch)))


VALUE_CHARACTERS = 200
NOTHING = "nothing"


class Difference(msgspec.Struct, frozen=True):
    """One value that is another one than then."""

    run: str
    event: int
    """Its number in the run; 0: the outcome."""
    sender: str
    kind: str
    """Of the event, as it was then, or is now where there was none; `outcome`."""
    field: str
    """Where in it, such as `resolution.text`; empty: all of it."""
    then: str
    now: str


def read_events(events: Sequence[StoredEvent], flow: Workflow) -> list[Entry]:
    """Events of a run, decoded."""
    decode = decoder(flow).decode
    return [Entry("", n, at, sender, number, decode(body)) for n, at, sender, number, body in events]


def find_differences(
    recording: Recording, journal: "ReplayJournal", flows: Mapping[str, Workflow]
) -> Iterator[Difference]:
    """Everything that is not byte for byte as then, in the order of the runs and their events."""
    for run in recording.runs:
        now = journal.events.get(run.id, [])
        yield from _compare_events(run, now, flows[run.workflow])
        ended = journal.outcomes.get(run.id, b"")
        if ended != run.outcome:
            yield from _compare(run.id, 0, "", "outcome", _to_builtins(run.outcome), _to_builtins(ended))
    for new in journal.events.keys() - {run.id for run in recording.runs}:
        yield Difference(new, 1, "", journal.workflows[new], "", "no such run", "it runs")


def _compare_events(run: RecordedRun, now: Sequence[StoredEvent], flow: Workflow) -> Iterator[Difference]:
    for then, new in itertools.zip_longest(run.events, now):
        if then == new:
            continue
        at = then or new
        kind = _name_kind(at, flow)
        if then is None or new is None or (then.sender, kind) != (new.sender, _name_kind(new, flow)):
            yield Difference(run.id, at.n, at.sender, kind, "", _describe_event(then, flow), _describe_event(new, flow))
            continue
        yield from _compare(run.id, at.n, at.sender, kind, _read_values(then), _read_values(new))


def _name_kind(event: StoredEvent, flow: Workflow) -> str:
    return type(decoder(flow).decode(event.body)).__name__


def _describe_event(event: StoredEvent | None, flow: Workflow) -> str:
    return NOTHING if event is None else f"{event.sender or 'outside'}: {_name_kind(event, flow)}"


def _read_values(event: StoredEvent) -> Any:
    return {"at": event.at, "handoff": event.number, **_to_builtins(event.body)}


def _to_builtins(body: bytes) -> Any:
    return msgspec.msgpack.decode(body) if body else {}


def _compare(run: str, number: int, sender: str, kind: str, then: Any, now: Any) -> Iterator[Difference]:
    for field, before, after in _differ("", then, now):
        yield Difference(run, number, sender, kind, field, show(before), show(after))


_MISSING = object()


def _differ(name: str, then: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    """The innermost values that are not alike, each with its place."""
    if then == now and type(then) is type(now):
        return
    pairs: Iterator[tuple[Any, Any, Any]]
    if isinstance(then, dict) and isinstance(now, dict):
        keys = {**then, **now}
        pairs = ((key, then.get(key, _MISSING), now.get(key, _MISSING)) for key in keys)
    elif isinstance(then, list) and isinstance(now, list):
        both = itertools.zip_longest(then, now, fillvalue=_MISSING)
        pairs = ((number, *pair) for number, pair in enumerate(both, start=1))
    else:
        yield name, then, now
        return
    for key, before, after in pairs:
        yield from _differ(f"{name}.{key}" if name else str(key), before, after)


def show(value: Any) -> str:
    """A value in a line."""
    if value is _MISSING or value in (None, "", [], {}):
        return NOTHING
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= VALUE_CHARACTERS else f"{text[:VALUE_CHARACTERS]}…"


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
        return _conclude(recording, begun, now)
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


def _conclude(recording: Recording, begun: _StartedReplay, now: Outcome | None) -> Replay:
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
