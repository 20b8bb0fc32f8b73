"""Analyzer: argues from the passages that were read, question by question, and says what stays open."""

import asyncio
from collections.abc import Sequence

import msgspec
import structlog

from actors.drafting.checking import DraftChecker
from actors.evidence.grounding import Shown
from actors.evidence.passages import SearchHits
from actors.evidence.shortfalls import Shortfall, merge_shortfalls
from actors.evidence.trace_steps import AnswerStep, CheckedClaim, clip
from actors.ports import BudgetSpent, Completion, Model, ModelRequest, PortFailed, Reading, Trace, Untraced
from actors.research.analysis_summary import analysis_summary
from actors.research.landscape import is_choice, keep_claims, list_claims, lookups, survey
from actors.research.learnings import CLAIMS, find_fault
from actors.research.messages import AnalysisCompleted, AnalyzeSources, DirectionsFound
from actors.research.models import Analysis, Plan
from actors.research.output_schemas import Answer, AnswerRequest, Landscape, LandscapeRequest
from actors.research.planning import in_task
from actors.research.synthesis import (
    STOPPED,
    ReadAnswer,
    RoundFindings,
    argue,
    conclude,
    distinct,
    goes_on,
    report_round,
)
from actors.text.catalogue import say_name
from actors.text.keywords import keywords
from actors.workflow.cancellation import run_until_stop
from actors.workflow.progress import StageProgress
from bus import Actor, Context

READING_SHARE, ANSWERING_SHARE = 0.3, 0.7
"""Of the time that is left: what finding passages, and then answering from them, may take."""
LANDSCAPE_SHARE = 0.6
AT_ONCE = 4
"""Questions that are answered at the same time."""
LANDSCAPE_PASSAGES = 24
LOOKUPS = 8

log = structlog.get_logger()


class Analyzer(Actor[AnalyzeSources]):
    """Mailbox: AnalyzeSources. Asked to hand in, it returns what is verified by then."""

    __slots__ = ("_instructions", "_model", "_reading", "_second_reading", "_trace")

    def __init__(
        self, model: Model, reading: Reading, instructions: str, trace: Trace | None = None, *,
        second_reading: bool = True,
    ) -> None:  # fmt: skip
        """:param second_reading: as a worker has it: without, nothing is answered beyond doubt."""
        self._second_reading = second_reading
        self._trace = trace or Untraced()
        self._model = model
        self._reading = reading
        self._instructions = instructions

    async def receive(self, message: AnalyzeSources, ctx: Context) -> AnalysisCompleted | DirectionsFound:
        plan = message.plan
        assert plan is not None  # noqa: S101 - the table makes a plan first
        found, extra, argued = await self._argue(message, plan, ctx)
        incomplete = merge_shortfalls(message.incomplete, *(each.incomplete for each in found))
        for question, claims in argued.checked:
            self._note(ctx, question, claims)
        deeper = goes_on(message, argued) and not ctx.stopping
        analysis = conclude(message, plan, argued, (*found, *extra))
        if not deeper and not ctx.stopping:
            analysis, argued = await self._survey(message, argued, analysis, (*found, *extra), ctx)
        passages = tuple(p for findings in (*found, *extra) for p in findings.passages)
        end = DirectionsFound if deeper else AnalysisCompleted
        return report_round(message, argued, analysis, passages, end, incomplete)

    async def _argue(
        self, message: AnalyzeSources, plan: Plan, ctx: Context
    ) -> tuple[tuple[SearchHits, ...], tuple[SearchHits, ...], RoundFindings]:
        """What was found, and what it says; where that is nothing, a search that lacked something is made once more."""
        found, extra = await self._read(message, plan, ctx)
        argued = argue(message, plan, found, await self._answers(message, plan, found, ctx))
        if argued.statements or ctx.stopping or not any(each.incomplete for each in found):
            return found, extra, argued
        log.info("search.repeated", agent=ctx.address)
        again, extra = await self._read(message, plan, ctx)
        if [each.passages for each in again] != [each.passages for each in found]:
            argued = argue(message, plan, again, await self._answers(message, plan, again, ctx))
        return again, extra, argued

    def _note(self, ctx: Context, asked: str, claims: Sequence[CheckedClaim]) -> None:
        if claims:
            self._trace.note(AnswerStep(ctx.address, clip(asked), tuple(claims)))

    async def _read(
        self, message: AnalyzeSources, plan: Plan, ctx: Context
    ) -> tuple[tuple[SearchHits, ...], tuple[SearchHits, ...]]:
        """The passages on each question of the plan, and those that a landscape may need."""
        more = lookups(plan.sides or (keywords(message.text),)) if is_choice(message.text) else ()
        asked = (*(in_task(each, message.text) for each in plan.questions), *more[:LOOKUPS])
        held = list[tuple[SearchHits, ...]]()

        async def look() -> None:
            try:
                within = ctx.remaining_seconds() * READING_SHARE
                held.append(await self._reading.passages(asked, message.pages, within=within))
            except PortFailed as error:
                log.warning("passages.not_searched", reason=str(error))
                told, lacks = say_name(error.code, message.language), (Shortfall("cut_short", str(error)),)
                held.append(tuple(SearchHits(abstain=told, incomplete=lacks) for _ in asked))

        await run_until_stop(look(), ctx, within=ctx.remaining_seconds())
        found = held[0] if held else tuple(SearchHits.refuse(STOPPED) for _ in asked)
        return found[: len(plan.questions)], found[len(plan.questions) :]

    async def _answers(
        self, message: AnalyzeSources, plan: Plan, found: Sequence[SearchHits], ctx: Context
    ) -> list[ReadAnswer]:
        """Each question's answer, or why there is none."""
        answers = [ReadAnswer()] * len(found)
        places, done = asyncio.Semaphore(AT_ONCE), 0

        async def one(place: int) -> None:
            nonlocal done
            async with places:
                question = plan.questions[place]
                task = self._make_task(question, found[place], message, plan, ctx)
                filled = await self._answer(task, ctx)
                answers[place] = _leave_unread(filled)  # if there is no time left to read it
                answers[place] = await self._read_again(filled, task, f"{question}\n\n{message.text}", message, ctx)
                done += 1
                ctx.publish(StageProgress("analyzing", "Analysing", done, len(found), question))

        async def every() -> None:
            async with asyncio.TaskGroup() as group:
                for place in range(len(found)):
                    group.create_task(one(place))

        ctx.publish(StageProgress("analyzing", "Analysing", 0, len(found)))
        await run_until_stop(every(), ctx, within=ctx.remaining_seconds() * ANSWERING_SHARE)
        return answers

    def _make_task(
        self, question: str, findings: SearchHits, message: AnalyzeSources, plan: Plan, ctx: Context
    ) -> ModelRequest:
        asked = AnswerRequest(
            question=question, task=message.text, sides=plan.sides,
            explored=tuple(dict.fromkeys((*(each.question for each in message.sections), *plan.questions))),
            learnings=tuple(" ".join(each.text.split()) for each in message.learnings),
        )  # fmt: skip
        return ModelRequest(agent=ctx.address, instructions=self._instructions, material=asked, findings=findings)

    async def _answer(self, task: ModelRequest, ctx: Context) -> Completion | PortFailed:
        if task.findings is None or not task.findings.passages:
            return Completion(Answer())  # there is nothing to answer from, so nobody is asked
        try:
            return await self._model.fill(Answer, task, within=ctx.remaining_seconds() * ANSWERING_SHARE)
        except PortFailed as error:
            return error

    async def _read_again(
        self, filled: Completion | PortFailed, task: ModelRequest, known: str, message: AnalyzeSources, ctx: Context
    ) -> ReadAnswer:
        """An answer without the claims that do not stand when somebody else reads them; rules look at the others."""
        if isinstance(filled, PortFailed) or not filled.judged:
            return ReadAnswer(filled)
        claims, shown = filled.value.claims[:CLAIMS], Shown(filled.passages, known)
        fine = tuple(each for each in claims if not find_fault(each, filled.passages, shown))
        if not fine:
            return ReadAnswer(filled)
        checker = DraftChecker(
            self._model, task, known=known, language=message.language, second_reading=self._second_reading,
            seconds=ctx.remaining_seconds, repairs=False,
        )  # fmt: skip
        read = await checker.check(msgspec.structs.replace(filled, value=Answer(fine)))
        left = tuple(each for each in filled.value.claims if each not in fine or each in read.claims)
        value = msgspec.structs.replace(filled.value, claims=left, answered=filled.value.answered and read.judged)
        gone = tuple(each for each in read.checked if each.fate == "dropped")
        return ReadAnswer(msgspec.structs.replace(filled, value=value), len(read.lost), gone)

    async def _survey(
        self, message: AnalyzeSources, argued: RoundFindings, analysis: Analysis, found: Sequence[SearchHits],
        ctx: Context,
    ) -> tuple[Analysis, RoundFindings]:  # fmt: skip
        """The analysis with competitors, features and SWOT, where the task gives reason."""
        passages = distinct((*argued.passages, *(p for f in found for p in f.passages)))
        if not passages or not is_choice(message.text):
            return analysis, argued
        task = ModelRequest(
            agent=ctx.address, instructions=self._instructions, material=LandscapeRequest(message.text),
            findings=SearchHits(passages[:LANDSCAPE_PASSAGES]),
        )  # fmt: skip
        held = list[Completion]()
        spent = ""

        async def fill() -> None:
            nonlocal spent
            try:
                held.append(await self._model.fill(Landscape, task, within=ctx.remaining_seconds() * LANDSCAPE_SHARE))
            except PortFailed as error:
                spent = error.code if isinstance(error, BudgetSpent) else ""
                log.warning("landscape.failed", reason=str(error))

        await run_until_stop(fill(), ctx, within=ctx.remaining_seconds() * LANDSCAPE_SHARE)
        argued = argued._replace(partial=argued.partial or spent or (held[0].partial if held else ""))
        if not held:
            return analysis, argued
        claims = msgspec.structs.replace(held[0], value=Answer(list_claims(held[0].value), answered=True))
        read = await self._read_again(claims, task, message.text, message, ctx)
        drawn, whole = held[0].value, True
        if isinstance(read.filled, Completion):
            whole, stands = read.filled.value.answered, {each.text for each in read.filled.value.claims}
            drawn = keep_claims(drawn, stands)
        part, checked = survey(drawn, held[0].passages, message.brief.round, message.text)
        argued = argued._replace(answered=argued.answered and whole)
        self._note(ctx, "landscape", checked := [*read.checked, *checked])
        if dropped := sum(each.fate == "dropped" for each in checked):
            log.warning("claims.dropped", count=dropped, of="landscape")
        analysis = msgspec.structs.replace(
            analysis, competitors=part.competitors, features=part.features, swot=part.swot
        )
        return msgspec.structs.replace(analysis, summary=analysis_summary(analysis)), argued


def _leave_unread(filled: Completion | PortFailed) -> ReadAnswer:
    """What nobody has read a second time answers nothing beyond doubt."""
    if isinstance(filled, Completion):
        filled = msgspec.structs.replace(filled, value=msgspec.structs.replace(filled.value, answered=False))
    return ReadAnswer(filled)
