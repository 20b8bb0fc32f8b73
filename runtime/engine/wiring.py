"""Puts runs to work: the ports and agents of their family, and the runs within them."""

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import msgspec
import structlog

from actors.workflow.outcome import Outcome
from actors.workflow.tables import Case, Run, Workflow
from bus import ActorFactories, Cast, Request
from bus.turns import TURNS
from runtime.engine.run import Children, ChildRun, LiveRun, ResumeState
from runtime.families.family import ChildRole, FamilyRuns, RunDependencies, SharedPorts
from runtime.observe.recording import RecordedActors, RecordedSharedPorts, record_ports
from runtime.observe.run_trace import RunTrace, load_steps
from runtime.observe.trace_export import TraceExporter
from runtime.observe.trace_id import TRACE_DIGITS
from runtime.settings import ConfigError
from runtime.storage.effects import Effects, ModelAccount
from runtime.storage.errors import UnknownRun

if TYPE_CHECKING:
    from runtime.engine.node import Node


class Wiring:
    """One per process."""

    def __init__(self, node: "Node", *, follows: bool = True) -> None:
        """:param follows: what is kept of runs besides the journal is kept, and their traces are exported."""
        self._node = node
        self._follows = follows
        self._runs: dict[str, FamilyRuns] = {}
        self._exporter = TraceExporter(node) if follows and node.settings.trace.otlp else None
        self._log = structlog.get_logger().bind()

    def runs_of(self, workflow: str) -> FamilyRuns:
        """What the runs of a family share; most tickets need one family only, and do without loading the others."""
        if (runs := self._runs.get(workflow)) is None:
            family = self._node.families[workflow]
            runs = self._runs[workflow] = family.load()(cast("SharedPorts", RecordedSharedPorts(self._node)))
            children = {role: partial(self._child, workflow, child) for role, child in family.children.items()}
            runs.roles = {**runs.roles, **children}
        return runs

    async def load_families(self) -> None:
        """Have what runs of any family need, so that no ticket waits for it."""
        for workflow in self._node.families:
            with contextlib.suppress(ConfigError):  # its first ticket says so
                await self._prepare(workflow)

    async def _prepare(self, workflow: str) -> None:
        if workflow not in self._runs:
            await asyncio.to_thread(self._node.families[workflow].prepare, self._node.settings)

    async def begin(
        self, run_id: str, flow: Workflow, case: Case, replayed: ResumeState | None, trace_id: str
    ) -> LiveRun:
        """Put an outermost run to work that is durable."""
        await self._prepare(flow.name)
        runs, effects = self.runs_of(flow.name), await self._open_effects(run_id, replayed)
        trace = await self._open_trace(run_id, replayed)
        interceptor = None if replayed else self._node.recorders.begin(run_id)
        model, spent = self._node.models.for_run(
            run_id, ModelAccount(effects), money=runs.money, held_back=runs.held_back, trace=trace, effects=effects
        )
        children = Children(replayed.children if replayed else ())
        ports = record_ports(runs.make_ports(run_id, case.ticket_id, effects))
        own = RunDependencies(run_id, case.ticket_id, model, children, effects, ports, trace, interceptor)
        live = LiveRun(
            run_id, flow, case, await self._seat(runs, own), journal=self._node.journal, spent=spent,
            replayed=replayed, children=children, log=self._log.bind(trace=trace_id[:TRACE_DIGITS]),
            clock=interceptor.make_clock(run_id) if interceptor else None,
            turns=self._node.owner.mark.turns_of(run_id) if self._follows else None,
        )  # fmt: skip
        if self._follows:
            runs.follow(live)
        live.on_end(lambda _: effects.forget())
        if self._exporter is not None:
            live.on_end(self._exporter.offer)
        live.when_over(partial(self._node.traces.end, run_id))
        live.when_over(partial(self._node.recorders.end, run_id))
        return live

    async def _seat(self, runs: FamilyRuns, own: RunDependencies) -> Cast:
        """Who plays which role in a run that begins now."""
        factories = ActorFactories(runs.roles, own)
        if own.interceptor is None:
            return factories
        await own.interceptor.start(own.run)
        return RecordedActors(factories, own.interceptor, own.run)

    async def _open_trace(self, run_id: str, replayed: ResumeState | None) -> RunTrace:
        """Why its answer will be as it is; one that is resumed has the room that earlier processes left of it."""
        if replayed is None:
            return self._node.traces.begin(run_id)
        known = await load_steps(self._node.journal.store, run_id)
        return self._node.traces.begin(run_id, replayed.elapsed, known)

    async def _open_effects(self, run_id: str, replayed: ResumeState | None) -> Effects:
        """What a run did; one that is resumed knows what earlier processes did."""
        effects = Effects(self._node.effects, run_id)
        if replayed:
            await effects.load()
        return effects

    async def close(self) -> None:
        for runs in self._runs.values():
            await runs.close()
        if self._exporter is not None:
            await self._exporter.close()

    def _child(self, workflow: str, role: ChildRole, own: RunDependencies) -> ChildRun:
        """Who plays a role with a whole run, in a run of this workflow."""
        return ChildRun(
            own.run, self._node.flows[role.workflow], partial(self._open, workflow, role, own), role.make_answer,
            children=own.children, hold_back=role.hold_back(self._node.settings),
        )  # fmt: skip

    async def _open(
        self, workflow: str, role: ChildRole, above: RunDependencies, run_id: str, flow: Workflow, request: Request[Any]
    ) -> LiveRun | tuple[Run, Outcome]:
        """Begin a run within a run, or go on with the one that the journal knows."""
        journal, owner = self._node.journal, self._node.owner.token
        replayed = None
        try:
            stored = await journal.run(run_id)
        except UnknownRun:
            case = role.make_case(request, run_id, self._node.settings)
            case = msgspec.structs.replace(case, max_seconds=flow.max_seconds)
            await journal.accept_child(run_id, flow, case, owner)
        else:
            if (outcome := await journal.outcome(stored)) is not None:
                return await journal.fold(stored), outcome
            await journal.store.claim(stored, owner)
            replayed = await journal.resume_state(stored)
            flow, case = replayed.flow, replayed.run.case
        children = Children(replayed.children if replayed else ())
        await self._prepare(flow.name)
        runs, own = self.runs_of(flow.name), above._replace(run=run_id, children=children)
        if flow.name != workflow:  # one of the same family goes on with what the run above it has got
            effects = await self._open_effects(run_id, replayed)
            own = own._replace(effects=effects, ports=record_ports(runs.make_ports(run_id, own.ticket, effects)))
        live = LiveRun(
            run_id, flow, case, await self._seat(runs, own), journal=journal, replayed=replayed,
            children=own.children, within=own.ticket,
            clock=own.interceptor.make_clock(run_id) if own.interceptor else None,
            turns=TURNS.get(),  # of the run that this one is within, whose agent opens it
        )  # fmt: skip
        if self._follows:
            runs.follow(live)
        if own.effects is not above.effects:
            live.on_end(lambda _: own.effects.forget())
        return live
