"""Analyzer: argues from the passages that were read, question by question, and says what stays open."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import structlog

from actors.drafting.checking import DraftChecker
from actors.evidence.grounding import Shown
from actors.evidence.passages import SearchHits
from actors.evidence.shortfalls import Shortfall, merge_shortfalls
from actors.evidence.trace_steps import AnswerStep, CheckedClaim, clip, make_claim
from actors.ports import BudgetSpent, Completion, Model, ModelRequest, PortFailed, Reading, Trace, Untraced
from actors.research.analysis_summary import analysis_summary
from actors.research.learnings import CLAIMS, find_fault
from actors.research.messages import AnalysisCompleted, AnalyzeSources, DirectionsFound
from actors.research.models import Analysis, Plan
from actors.research.output_schemas import Answer, AnswerRequest, Points, PointsRequest
from actors.research.planning import in_task
from actors.research.product import (
    KINDS,
    SettledPoint,
    find_flaw,
    find_parts,
    find_product,
    group_parts,
    keep_naming,
    label,
    look_up,
    make_profile,
    quote_point,
    read_tables,
    settle,
)
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
from actors.workflow.cancellation import run_until_stop
from actors.workflow.progress import StageProgress
from bus import Actor, Context

READING_SHARE, ANSWERING_SHARE = 0.3, 0.7
"""Of the time that is left: what finding passages, and then answering from them, may take."""
PARTS_SHARE = 0.6
AT_ONCE = 4
"""Questions that are answered at the same time."""
PART_PASSAGES = 24
"""That a model is shown for a part of a product analysis."""

log = structlog.get_logger()


class PartAnswer(NamedTuple):
    """What stands of one group of parts of a product analysis."""

    found: tuple[SettledPoint, ...] = ()
    checked: tuple[CheckedClaim, ...] = ()
    partial: str = ""
    whole: bool = True
    """Somebody else has read each point, and none was refused."""


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
        analysis = conclude(message, plan, argued, found)
        if not deeper and not ctx.stopping:
            analysis, argued = await self._profile(message, argued, analysis, found, extra, ctx)
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
        """The passages on each question of the plan, and on each group of parts of a product analysis."""
        groups = group_parts(find_parts(message.text))
        product = find_product(message.text, message.pages) if groups else ""
        more = (look_up(group, product) for group in groups)
        asked = (*(in_task(each, message.text) for each in plan.questions), *more)
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
        if product and not plan.sides:
            found = keep_naming(product, message.pages, found)
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
                ctx.publish(StageProgress("analyzing", "Analysing", done, len(found), question))
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

    async def _profile(
        self, message: AnalyzeSources, argued: RoundFindings, analysis: Analysis, found: Sequence[SearchHits],
        extra: Sequence[SearchHits], ctx: Context,
    ) -> tuple[Analysis, RoundFindings]:  # fmt: skip
        """The analysis with what the pages say of a product, where the task asks for that."""
        parts = find_parts(message.text)
        if not parts:
            return analysis, argued
        product = find_product(message.text, message.pages)
        others = tuple(p for hits in found for p in hits.passages)
        settled = list[PartAnswer]()

        async def fill(its: Sequence[str], hits: SearchHits) -> None:
            passages = distinct((*hits.passages, *others, *argued.passages))[:PART_PASSAGES]
            if passages:
                settled.append(await self._fill_part(message, product, its, SearchHits(passages), ctx))

        async def every() -> None:
            async with asyncio.TaskGroup() as group:
                for its, hits in zip(group_parts(parts).values(), extra, strict=True):
                    group.create_task(fill(its, hits))

        await run_until_stop(every(), ctx, within=ctx.remaining_seconds() * PARTS_SHARE)
        for part in settled:
            self._note(ctx, "product", part.checked)
        near = distinct((*others, *(p for hits in extra for p in hits.passages)))
        points = [each for part in settled for each in part.found]
        profile = make_profile(points, product, parts, read_tables(product, near, message.brief.round))
        analysis = msgspec.structs.replace(analysis, profile=profile)
        argued = argued._replace(
            partial=argued.partial or next((part.partial for part in settled if part.partial), ""),
            answered=argued.answered and all(part.whole for part in settled),
        )
        return msgspec.structs.replace(analysis, summary=analysis_summary(analysis)), argued

    async def _fill_part(
        self, message: AnalyzeSources, product: str, parts: Sequence[str], findings: SearchHits, ctx: Context
    ) -> PartAnswer:
        """What stands of some parts: a model's points, each checked with the part that it stands under, or places."""
        wanted = tuple(kind for part in parts for kind in KINDS[part])
        asked = PointsRequest(message.text, product, wanted)
        task = ModelRequest(agent=ctx.address, instructions=self._instructions, material=asked, findings=findings)
        try:
            filled = await self._model.fill(Points, task, within=ctx.remaining_seconds() * PARTS_SHARE)
        except PortFailed as error:
            log.warning("product.failed", reason=str(error))
            return PartAnswer(partial=error.code if isinstance(error, BudgetSpent) else "", whole=False)
        number, language, shown = message.brief.round, message.language, filled.passages
        if not filled.judged:
            places = (quote_point(each, shown, number) for each in filled.value.claims)
            return PartAnswer(tuple(each for each in places if each), whole=False)
        flaws = [(each, find_flaw(each, shown, product)) for each in filled.value.claims[:CLAIMS]]
        labelled = tuple(
            msgspec.structs.replace(each, text=label(each, language))
            for each, flaw in flaws
            if not flaw and each.kind in wanted
        )
        whole = len(labelled) == len(filled.value.claims)
        answer = msgspec.structs.replace(filled, value=Answer(labelled, answered=whole))
        read = await self._read_again(answer, task, message.text, message, ctx)
        if not isinstance(read.filled, Completion):
            return PartAnswer(whole=False)
        before, found, checked = Shown(shown, message.text), list[SettledPoint](), list(read.checked)
        checked += (make_claim(each, shown, "dropped", flaw) for each, flaw in flaws if flaw)
        for each in read.filled.value.claims:
            fault = find_fault(each, shown, before)
            checked.append(make_claim(each, shown, "dropped" if fault else "kept", fault))
            found += [] if fault else [settle(each, shown[each.passage - 1], number, language)]
        return PartAnswer(tuple(found), tuple(checked), filled.partial, read.filled.value.answered)


def _leave_unread(filled: Completion | PortFailed) -> ReadAnswer:
    """What nobody has read a second time answers nothing beyond doubt."""
    if isinstance(filled, Completion):
        filled = msgspec.structs.replace(filled, value=msgspec.structs.replace(filled.value, answered=False))
    return ReadAnswer(filled)
