"""Researches of a node whose model is a fake server, and what must hold of each of their reports."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from actors.reporting.report import Report
from actors.research.models import ResearchOptions
from actors.research.workflow import ResearchCase
from actors.workflow.outcome import Outcome
from runtime.engine.node import Node
from runtime.settings import AgentsSettings, ModelSettings, ResearchSettings, RunSettings
from runtime.tickets import Ticket
from tests.fake_openai import FakeOpenAI, Step
from tests.runtime.families.test_research_runs import DOCUMENTS, QUESTION, knowing
from tests.thinking import Asked, asked

LRU = "Halyard evicts the entry that was used least recently."
PINNED = "A pinned entry is never evicted by Halyard."
HOLDS = "The cache of Halyard holds 4096 entries unless `max_entries` is raised."
READ_TWICE = ["PlanDraft", "Answer", "SecondReading", "Overview", "SecondReading"]
"""What is asked of a model in a research of one question."""
EVERYTHING = " ".join(" ".join(text.split()) for text in DOCUMENTS.values())


@contextlib.asynccontextmanager
async def thinking(
    folder: Path, server: FakeOpenAI, *, run: RunSettings = RunSettings(),  # noqa: B008 - it is frozen
    research: ResearchSettings = ResearchSettings(), agents: AgentsSettings = AgentsSettings(),  # noqa: B008
    **model: Any,
) -> AsyncIterator[Node]:  # fmt: skip
    settings = ModelSettings(**{"base_url": server.url, "name": "fake-model", "tries": 2, "call_seconds": 5.0, **model})
    async with knowing(folder, model=settings, run=run, research=research, agents=agents) as node:
        yield node


async def researched(node: Node, question: str = QUESTION, **brief: Any) -> tuple[Outcome, Report]:
    handle = await node.submit(Ticket(text=question, workflow="research", options=ResearchOptions(**brief)))
    async with asyncio.timeout(60):
        outcome = await handle.outcome()
    return outcome, await node.report(outcome.run)


async def research(folder: Path, step: Step, question: str = QUESTION, **model: Any) -> tuple[Outcome, Report]:
    """One research with a model that says this."""
    async with FakeOpenAI(step) as server, thinking(folder, server, **model) as node:
        return await researched(node, question)


async def case_of(node: Node, outcome: Outcome) -> ResearchCase:
    case = (await node.journal.fold(await node.journal.find(outcome.run))).case
    assert isinstance(case, ResearchCase)
    return case


def honest(outcome: Outcome, report: Report) -> bool:
    """Every citation, and every quote that is shown, stands in a document."""
    assert outcome.resolution is not None
    quotes = [each.quote for each in outcome.resolution.citations]
    lines = [*report.overview, *(line for block in report.sections for line in block.lines)]
    quotes += [line.quote for line in lines if line.quote]
    assert all(line.numbers for line in lines)
    return all(" ".join(quote.split()) in EVERYTHING for quote in quotes)


def shapes(server: FakeOpenAI) -> list[str]:
    return [asked(body).shape for body in server.bodies]


def answers(*claims: dict[str, Any], answered: bool = True, directions: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"claims": list(claims), "directions": list(directions), "answered": answered}


def number_of(it: Asked, quote: str) -> int:
    return next(n for n, text in enumerate(it.passages, 1) if quote in text)
