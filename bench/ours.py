"""
The product behind the contract that all compared systems fulfil: the real helpdesk cast, workflow, Orchestrator and
journal, with fake ports that ask `llm(agent, prompt)` once in each of the six specialist turns.

Needs nothing but the product on PYTHONPATH, so that it can be copied next to the adapters of other systems.
"""

import gc
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Protocol

import structlog

from actors.drafting.drafts import Draft
from actors.evidence.claims import Claim, Resolution
from actors.evidence.passages import Passage, SearchHits
from actors.helpdesk import messages
from actors.helpdesk.memory import Memory
from actors.helpdesk.output_schemas import Analysis, Summary
from actors.helpdesk.summarization import Summarization
from actors.helpdesk.ticketing import Ticketing
from actors.helpdesk.worker import Worker
from actors.helpdesk.workflow import HELPDESK, TicketCase
from actors.ports import Completion, ModelRequest, Recall, Tickets
from actors.roster import AgentSpec, Roster
from actors.workflow.tables import ORCHESTRATOR
from bus import Actor, ActorFactories, Context, Event, Request
from runtime.engine.run import LiveRun
from runtime.storage.journal import RunJournal
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.run_store import SqliteRuns
from runtime.storage.sqlite.statements import SCHEMA
from runtime.tickets import Ticket

DISTS = ("msgspec", "structlog")
LLM = Callable[[str, str], Awaitable[str]]
ROSTER = Roster(AgentSpec(name=each, description="") for each in ("ticketing", "worker"))
TUNED = (50_000, 20, 100)
"""Thresholds of the collector for a process that is ours; Python's own are for a few hundred objects."""

SENTENCE = "Restart it."
"""What is quoted where there is no longer passage: an answer that only repeats an earlier ticket is not stored."""

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))


class Remembers:
    """Suggests an earlier resolution for every ticket, so that the run takes its longest plain way."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    async def recall(self, text: str, *, within: float) -> Recall:  # noqa: ARG002
        return Recall("suggestion", Resolution(await self._llm("memory", text)), "T-0")

    async def store(self, key: str, ticket_id: str, text: str, resolution: Resolution, degraded: str = "") -> None:  # noqa: ARG002
        await self._llm("memory", text)


class Knows:
    """One passage for every question; it comes at once."""

    def __init__(self, passage: str = "") -> None:
        passages = (Passage("kb#1", "kb/printers.md", "Printers", "Spooler", passage, 0, len(passage)),)
        self._findings = SearchHits(passages) if passage else SearchHits(abstain="Nothing is indexed.")

    async def search(
        self, question: str, *, within: float, limit: int | None = None, **_: object  # noqa: ARG002
    ) -> SearchHits:  # fmt: skip
        return self._findings


class Thinks:
    """
    Wraps the text of the model into the answer that was asked for.

    It quotes the passage, and the worker verifies the quote.
    """

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:  # noqa: ARG002
        text = await self._llm(task.agent, task.material.ticket)
        if shape is Analysis:
            return Completion(Analysis("incident", "normal", task.material.ticket))
        if shape is Summary:
            return Completion(Summary(text))
        passages = task.findings.passages if task.findings else ()
        claims = tuple(Claim(passage.text, n, passage.text) for n, passage in enumerate(passages, 1))
        return Completion(Draft(claims), passages, judged=True)


class Closes:
    """Closes tickets in the helpdesk, and in the database where there is one."""

    def __init__(self, llm: LLM, tickets: Tickets | None) -> None:
        self._llm = llm
        self._tickets = tickets

    async def close(self, key: str, ticket_id: str, status: str, note: str) -> None:
        await self._llm("ticketing", ticket_id)
        if self._tickets is not None:
            await self._tickets.close(key, ticket_id, status, note)


class Answers(Actor[Request[Any]]):
    """An agent that only asks the model and answers: what a handoff costs is then the engine's alone."""

    def __init__(self, llm: LLM, role: str) -> None:
        self._llm, self._role = llm, role

    async def receive(self, message: Request[Any], ctx: Context) -> Event:  # noqa: ARG002
        return ANSWERS[type(message)](await self._llm(self._role, type(message).__name__))


ANSWERS: dict[type[Request[Any]], Callable[[str], Event]] = {
    messages.RecallResolution: lambda text: messages.ResolutionRecalled(Recall("suggestion", Resolution(text), "T-0")),
    messages.TriageTicket: lambda text: messages.TicketAnalyzed(Analysis("incident", "normal", text), ""),
    messages.ResolveTicket: lambda text: messages.ResolutionObtained(Resolution(text), (), ""),
    messages.StoreResolution: lambda _: messages.ResolutionStored(),
    messages.SummarizeTicket: messages.SummaryCompleted,
    messages.CloseTicket: lambda _: messages.TicketClosed("resolved"),
}


class Lane(Protocol):
    """What a benchmark runs: one ticket to its end."""

    async def run(self, ticket_id: str) -> list[str]: ...
    async def close(self) -> None: ...


class Runner:
    """Runs tickets as the node does: accepted durably first, one bus and one cast each."""

    def __init__(self, llm: LLM, path: str | None, passage: str = SENTENCE, *, plain: bool = False) -> None:
        """:param plain: its agents only answer."""
        self.database = Database(path, SCHEMA) if path else None
        self.journal = RunJournal(SqliteRuns(self.database), {HELPDESK.name: HELPDESK}) if self.database else None
        self._memory = Remembers(llm)
        self._model = Thinks(llm)
        self._knowledge = Knows(passage)
        self._tickets = Closes(llm, self.journal)
        self._roles: dict[str, Callable[[str], Actor[Any]]] = {
            "memory": lambda run: Memory(self._memory, run),
            "ticketing": lambda run: Ticketing(self._model, self._tickets, ROSTER, run),
            "summarization": lambda run: Summarization(self._model, ""),  # noqa: ARG005
            "worker": lambda run: Worker(self._model, self._knowledge, ROSTER["worker"], {}, second_reading=False),  # noqa: ARG005
        }
        if plain:
            self._roles = {role: partial(_answer, llm, role) for role in self._roles}
        self._log = structlog.get_logger().bind()

    async def run(self, ticket_id: str) -> list[str]:
        case = TicketCase(ticket_id=ticket_id, text=ticket_id)
        run_id = f"R-{ticket_id}"
        if self.journal is not None:
            await self.journal.accept(Ticket(text=ticket_id, id=ticket_id), run_id, HELPDESK, case, "bench")
        live = LiveRun(run_id, HELPDESK, case, ActorFactories(self._roles, run_id), journal=self.journal, log=self._log)
        outcome = await live.outcome()
        return [ORCHESTRATOR, *[handoff.target for handoff in outcome.handoffs]]

    async def close(self) -> None:
        if self.database is not None:
            self.database.close()


def _answer(llm: LLM, role: str, _: str) -> Answers:
    return Answers(llm, role)


async def open(*, llm: LLM, store: str = "none", path: str | None = None) -> Runner:
    """
    Tunes the collector of this process as well, unless the environment says `GC=default`.

    :param store: "none", or "sqlite": each event is durable in `path` before the next agent starts
    """
    if os.environ.get("GC") != "default":
        gc.set_threshold(*TUNED)
    if store not in ("none", "sqlite"):
        refusal = getattr(sys.modules.get("common"), "Unsupported", ValueError)
        raise refusal(store)
    return Runner(llm, path if store == "sqlite" else None)
