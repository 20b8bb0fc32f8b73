"""Analyzer: argues from the passages that were read, question by question, and says what stays open."""

import asyncio

from actors.evidence import Claim, Findings, Passage, verify
from actors.folding import fold
from actors.ports import Filled, Model, PortFailed, Task
from actors.progress import Worked
from actors.research.drafts import Answer
from actors.research.messages import AnalysisCompleted, AnalyzeSources, DirectionsFound
from actors.research.ports import Reading, Statement
from actors.research.records import Analysis, Section
from bus import Actor, Context

LEARNINGS = 20
DIRECTIONS = 5


class Analyzer(Actor[AnalyzeSources]):
    """Mailbox: AnalyzeSources."""

    __slots__ = ("_instructions", "_model", "_reading")

    def __init__(self, model: Model, reading: Reading, instructions: str) -> None:
        self._model = model
        self._reading = reading
        self._instructions = instructions

    async def receive(self, message: AnalyzeSources, ctx: Context) -> AnalysisCompleted | DirectionsFound:
        plan, brief = message.plan, message.brief
        assert plan is not None  # noqa: S101 - the table makes a plan first
        found = await self._reading.passages(plan.questions, message.pages, within=ctx.time_left() / 2)
        answers = await asyncio.gather(
            *(self._answer(q, f, message, ctx) for q, f in zip(plan.questions, found, strict=True))
        )
        sections, passages = list(message.sections), {each.id: each for each in message.passages}
        learnings = {fold(each.text)[0]: each for each in message.learnings}
        directions: dict[str, None] = {}
        degraded, fresh = message.degraded, False
        for question, findings, filled in zip(plan.questions, found, answers, strict=True):
            answer: Answer = filled.value
            statements = []
            for claim in answer.claims:
                if verify(claim, filled.passages) != "supported":
                    continue
                passage = filled.passages[claim.passage - 1]
                said = statement(claim, passage, brief.round)
                statements.append(said)
                passages[passage.id] = passage
                if fold(said.text)[0] not in learnings and len(learnings) < LEARNINGS:
                    learnings[fold(said.text)[0]] = said
                    fresh = True
            note = "" if statements else findings.abstain or "Not found in the sources."
            sections.append(
                Section(question, tuple(statements), answer.answered and bool(statements), note, brief.round)
            )
            directions |= dict.fromkeys(answer.directions)
            degraded = degraded or filled.degraded
        complete = all(each.answered for each in sections) and not directions
        said_all = AnalysisCompleted(
            sections=tuple(sections), learnings=tuple(learnings.values()), passages=tuple(passages.values()),
            directions=tuple(directions)[:DIRECTIONS], analysis=Analysis(), is_complete=complete,
            partial=message.partial, degraded=degraded,
        )  # fmt: skip
        deeper = brief.round < brief.depth and fresh and directions and not complete and not ctx.stopping
        return DirectionsFound(**{n: getattr(said_all, n) for n in said_all.__struct_fields__}) if deeper else said_all

    async def _answer(self, question: str, findings: Findings, message: AnalyzeSources, ctx: Context) -> Filled:
        task = Task(
            agent=ctx.address, instructions=self._instructions,
            material=(("question", question), ("task", message.text)), findings=findings,
        )  # fmt: skip
        try:
            return await self._model.fill(Answer, task, within=ctx.time_left() * 0.8)
        except PortFailed as error:
            return Filled(Answer(), findings.passages, degraded=str(error))
        finally:
            ctx.publish(
                Worked("analyzing", "Analysing", 0, len(message.plan.questions) if message.plan else 0, question)
            )


def statement(claim: Claim, passage: Passage, number: int) -> Statement:
    return Statement(claim.text, claim.quote, passage.id, passage.source, number)
