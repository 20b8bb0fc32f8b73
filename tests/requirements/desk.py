"""The two front doors that the requirements are held to, and what a test may put behind them."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import structlog

from actors.workflow.outcome import Outcome
from bus import Actor, Context
from runtime.__main__ import main
from runtime.engine.node import Node
from runtime.engine.wiring import Wiring
from runtime.families.family import FamilyRuns, RunDependencies
from runtime.families.research_runs import ResearchPorts, ResearchRuns
from runtime.settings import Settings
from runtime.storage.journal import RunJournal
from tests.fakes import Knows, Remembers, Thinks
from tests.runtime.http.kit import Interface, OneModel, interface
from tests.runtime.http.test_stream import told

TEXT = "My VPN drops every hour."
PLAIN = [
    "memory", "orchestrator", "ticketing", "orchestrator", "worker", "orchestrator", "memory", "orchestrator",
    "summarization", "orchestrator", "ticketing",
]  # fmt: skip
"""Whom a ticket is handed to when all goes well."""
Make = Callable[[RunDependencies], Actor[Any]]
"""Plays a role in one run."""


class Wraps(Actor[Any]):
    """Plays a role as the real agent does; what it is asked and what it answers can be seen, and changed."""

    def __init__(self, real: Actor[Any]) -> None:
        self.real = real
        self.asked: list[Any] = []
        self.contexts: list[Context] = []

    async def receive(self, message: Any, ctx: Context) -> Any:
        self.asked.append(message)
        self.contexts.append(ctx)
        return await self.answer(message, ctx)

    async def answer(self, message: Any, ctx: Context) -> Any:
        answer = self.real.receive(message, ctx)
        return await answer if asyncio.iscoroutine(answer) else answer


class Done:
    """How a command ended."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Desk:
    """A folder with a storage of its own. What stands behind its doors is put in before one is opened."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self.folder, self._patch, self._capture = folder, patch, capture
        self.roles: dict[str, Callable[[Make, RunDependencies], Actor[Any]]] = {}
        """By role: who plays it instead, made from who really does."""
        self.played: dict[str, list[Any]] = {}
        """By role: those who were made so, run after run."""
        self._closed: list[tuple[str, str]] = []
        self.ports: ResearchPorts | None = None
        """The web of every research, instead of the real one."""
        patch.chdir(folder)
        known, desk = Wiring.runs_of, self

        def runs_of(wiring: Wiring, workflow: str) -> FamilyRuns:
            runs = known(wiring, workflow)
            runs.roles = desk._replace(runs.roles)
            return runs

        def make_ports(runs: ResearchRuns, *given: Any) -> ResearchPorts:
            return desk.ports or real_ports(runs, *given)

        async def close(journal: RunJournal, key: str, ticket: str, status: str, note: str) -> None:
            desk._closed.append((status, note))
            await real_close(journal, key, ticket, status, note)

        real_ports, real_close = ResearchRuns.make_ports, RunJournal.close
        patch.setattr(RunJournal, "close", close)
        patch.setattr(Wiring, "runs_of", runs_of)
        patch.setattr(ResearchRuns, "make_ports", make_ports)

    def _replace(self, roles: Mapping[str, Make]) -> dict[str, Make]:
        return {role: self._instead(role, make) for role, make in roles.items()}

    def _instead(self, role: str, make: Make) -> Make:
        if role not in self.roles or hasattr(make, "replaced"):
            return make

        def replaced(own: RunDependencies) -> Actor[Any]:
            actor = self.roles[role](make, own)
            self.played.setdefault(role, []).append(actor)
            return actor

        replaced.replaced = True  # type: ignore[attr-defined]
        return replaced

    def plays(self, role: str, make: Callable[[], Actor[Any]]) -> None:
        """Have a role played by another actor."""
        self.roles[role] = lambda *_: make()

    def wraps(self, role: str, kind: Callable[[Actor[Any]], Actor[Any]] = Wraps) -> None:
        """Have a role played by the real agent, with something around it."""
        self.roles[role] = lambda make, own: kind(make(own))

    @contextlib.asynccontextmanager
    async def serve(self, model: Any = None, **more: Any) -> AsyncIterator[Interface]:
        """The HTTP interface of a node. `memory`: the real one; other words are settings of [server] and `run`."""
        async with interface(self.folder, model=model, **more) as web:
            yield web

    def shell(self, *words: str, model: Any = None) -> Done:
        """Carry out a command as the command line does, in this process; with a model: a small world in memory."""
        self._capture.readouterr()
        with self._patch.context() as patch:
            if model is not None:
                known = Node.__init__

                def begin(node: Any, settings: Settings) -> None:
                    known(node, settings)
                    node.models, node.knowledge, node.memory = OneModel(model), Knows(), Remembers()

                patch.setattr(Node, "__init__", begin)
            status = main(words)
        structlog.reset_defaults()
        return Done(status, *self._capture.readouterr())

    def submit(self, text: str = TEXT, *words: str, model: Any = None) -> Any:
        """The outcome of a ticket, as the command line prints it."""
        return self.shell("submit", "--json", "--quiet", text, *words, model=model or Thinks()).json

    def events(self, outcome: Any) -> list[Any]:
        """The events of a run, as its journal has them."""
        events: list[Any] = self.shell("trace", outcome["run"], "--json").json["events"]
        return events

    def lines(self) -> list[Any]:
        """The lines of the log, as objects."""
        lines = (self.folder / "task-data" / "logs" / "terminus.log").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def log(self, event: str) -> list[Any]:
        """Those of them with this event."""
        return [line for line in self.lines() if line["event"] == event]

    def closed(self) -> list[tuple[str, str]]:
        """(status, note) with which tickets were closed, in order."""
        return self._closed


async def watch(web: Interface, ticket: str) -> list[tuple[str, Any]]:
    """(name, data) of all that is told of a ticket's run, to its end."""
    return await told(web, f"/tickets/{ticket}/events")


QUIET_SECONDS = 0.002
LONGEST_SECONDS = 3_600.0
"""Of virtual time: what has not ended by then never ends."""


@contextlib.contextmanager
def jumping(node: Node) -> Iterator[None]:
    """
    Let this loop's time stand still, and jump to the next timer whenever loop and disk have nothing to do.

    So what is said of seconds is exact, however slow this machine is.
    """
    loop: Any = asyncio.get_running_loop()
    select, now = loop._selector.select, loop.time()

    def jump(timeout: float | None = None) -> Any:
        nonlocal now
        if timeout == 0:
            return select(0)
        ready = select(QUIET_SECONDS)
        if not ready and timeout is not None:
            is_idle = node.journal.store.pulse().waited == 0
            now += timeout if is_idle else min(timeout, QUIET_SECONDS)
        return ready

    loop._selector.select, loop.time = jump, lambda: now
    try:
        yield
    finally:
        del loop._selector.select, loop.time


async def end(web: Interface, ticket: str) -> Outcome:
    """How a ticket's run ends, in time that jumps."""
    with jumping(web.node):
        async with asyncio.timeout(LONGEST_SECONDS):
            return await web.handle(ticket).outcome()
