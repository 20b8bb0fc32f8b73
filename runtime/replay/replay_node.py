"""What a replay has in place of a process: nothing of it reads or writes anything."""

import asyncio
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from actors.ports import Cases, Documents, Entry, Knowledge, Memory, Model, PortFailed, Statutes, Tickets
from actors.workflow.outcome import Outcome, Spent
from actors.workflow.tables import Case, Workflow
from runtime import families
from runtime.agent_folder import load_roster
from runtime.families.limits import configure_all
from runtime.replay.recorded_port import record_port
from runtime.replay.replayer import Replayer
from runtime.settings import Settings
from runtime.storage.background import Then
from runtime.storage.errors import UnknownRun
from runtime.storage.records import StoredEvent
from runtime.tools.tool_registry import load_tools
from runtime.tools.toolbox import Toolbox
from runtime.tracing.run_trace import Traces

if TYPE_CHECKING:
    from runtime.search.source_registry import Sources

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
    """In place of `runtime.replay.recorder.Recorders`."""

    replayer: Replayer | None = None

    def begin(self, run: str) -> Replayer | None:  # noqa: ARG002 - there is one run
        return self.replayer

    def end(self, run: str) -> None: ...


class ReplayNode:
    """In place of `runtime.node.Node`, for `Wiring` and the families."""

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
