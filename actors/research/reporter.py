"""Reporter: the terminator. Renders the report from verified statements, and ends the run."""

import asyncio
from typing import Literal

import msgspec
import structlog

from actors.drafting.checking import DraftChecker
from actors.evidence.claims import Resolution
from actors.evidence.grounding import Shown, plainly
from actors.evidence.passages import SearchHits
from actors.evidence.sources import Statement
from actors.evidence.trace_steps import AnswerStep, CheckedClaim, make_claim
from actors.ports import BudgetSpent, Completion, Model, ModelRequest, PortFailed, Tickets, Trace, Untraced
from actors.reporting.citations import CitationIndex, verbatim
from actors.reporting.markdown import render_markdown
from actors.reporting.report import Report, body
from actors.research.compose import render_report
from actors.research.layout import statements
from actors.research.learnings import CLAIMS, find_fault
from actors.research.messages import CloseResearch, ResearchClosed
from actors.research.models import Analysis
from actors.research.output_schemas import Overview, OverviewRequest
from actors.text.catalogue import say, say_name
from actors.text.source_text import flat
from actors.text.truncate import shorten
from actors.workflow.outcome import Status
from bus import Actor, Context

log = structlog.get_logger()

SUMMARY_CHARACTERS = 500
MODEL_SHARE = 0.6
"""Of the time that is left: the rest belongs to rendering, which must not be cut."""
RENDERING_SECONDS = 2.0
PASSAGES = 40


class Reporter(Actor[CloseResearch]):
    """
    Mailbox: CloseResearch. Told another reason than "completed", it asks no model and answers at once.

    Once it has begun to close the ticket it says the same again, whatever reason it is told.
    """

    __slots__ = ("_closed", "_closing", "_instructions", "_model", "_run", "_second_reading", "_tickets", "_trace")

    def __init__(
        self, model: Model, tickets: Tickets, instructions: str, run: str, trace: Trace | None = None, *,
        second_reading: bool = True,
    ) -> None:  # fmt: skip
        self._second_reading = second_reading
        self._trace = trace or Untraced()
        self._model = model
        self._tickets = tickets
        self._instructions = instructions
        self._run = run
        self._closing: ResearchClosed | None = None
        self._closed: ResearchClosed | None = None

    async def receive(self, message: CloseResearch, ctx: Context) -> ResearchClosed:
        if self._closed is not None:
            return self._closed
        if message.brief.round > 1:
            return ResearchClosed(status=_status(message, None, judged=False))  # the first round's Reporter tells all
        if self._closing is None:
            self._closing = await self._write(message, ctx)
        closing = self._closing
        await self._tickets.close(f"{self._run}:close", message.ticket_id, closing.status, closing.summary or "")
        self._closed = closing
        return closing

    async def _write(self, message: CloseResearch, ctx: Context) -> ResearchClosed:
        overview: tuple[Statement, ...] = ()
        remark, judged, spent = "", False, ""
        if message.reason == "completed" and message.passages:
            try:
                filled = await self._overview(message, ctx)
            except (PortFailed, TimeoutError) as error:
                log.warning("overview.failed", reason=str(error))
                why = say_name(error.code if isinstance(error, PortFailed) else "took_too_long", message.language)
                remark = say("no_overview", message.language, why=why)
                spent = error.code if isinstance(error, BudgetSpent) else ""
            else:
                overview, checked = check_overview(filled, message)
                if checked:
                    self._trace.note(AnswerStep(ctx.address, "overview", checked))
                judged = filled.judged and not filled.degraded
                remark = "" if filled.degraded == message.degraded else say_name(filled.degraded, message.language)
                spent = filled.partial
        message = msgspec.structs.replace(message, partial=message.partial or spent)
        register = await _check(message)
        remark = remark if register.has_paraphrase else ""
        report, citations = render_report(message, overview, remark, register)
        judged = not message.degraded and (judged or register.has_paraphrase)
        await asyncio.sleep(0)
        status = _status(message, report, judged=judged)
        grade: Literal["resolved", "suggested"] = "resolved" if status == "resolved" else "suggested"
        return ResearchClosed(
            status=status, report=report, summary=summary(report), partial=report.partial or None,
            resolution=Resolution(render_markdown(report), citations, grade),
        )  # fmt: skip

    async def _overview(self, message: CloseResearch, ctx: Context) -> Completion:
        """
        A model's overview of what is known.

        :raises PortFailed: there is none, with a sentence for the user.
        :raises TimeoutError: it did not come in its share of the time.
        """
        known = {each.passage: None for each in message.learnings} | {each.id: None for each in message.passages}
        passages = {each.id: each for each in message.passages}
        shown = tuple(passages[each] for each in known if each in passages)[:PASSAGES]
        summarized = message.analysis.summary if message.analysis else ""
        asked = OverviewRequest(message.text, summarized, tuple(flat(each.text) for each in message.learnings))
        task = ModelRequest(
            agent=ctx.address, instructions=self._instructions, material=asked, findings=SearchHits(shown), last=True
        )
        left = ctx.remaining_seconds()
        within = min(left * MODEL_SHARE, left - RENDERING_SECONDS)
        async with asyncio.timeout(max(0.0, within)):
            filled = await self._model.fill(Overview, task, within=within)
            if not (filled.judged and self._second_reading):
                return filled
            checker = DraftChecker(
                self._model, task, known=message.text, language=message.language, second_reading=True,
                seconds=lambda: ctx.remaining_seconds() * MODEL_SHARE, repairs=False,
            )  # fmt: skip
            draft, before = filled.value.claims[:CLAIMS], Shown(filled.passages, message.text)
            fine = tuple(each for each in draft if not find_fault(each, filled.passages, before))
            read = await checker.check(msgspec.structs.replace(filled, value=Overview(fine)))
            stand = tuple(each for each in draft if each not in fine or (read.judged and each in read.claims))
            return msgspec.structs.replace(filled, value=Overview(stand))


async def _check(message: CloseResearch) -> CitationIndex:
    """What is supported of all that the case holds: checked one by one, so that other runs go on meanwhile."""
    register = CitationIndex(message.pages, message.passages)
    for each in statements(message.sections, message.learnings, message.analysis or Analysis()):
        register.supports(each)
        await asyncio.sleep(0)
    return register


def check_overview(
    filled: Completion, message: CloseResearch
) -> tuple[tuple[Statement, ...], tuple[CheckedClaim, ...]]:
    """
    The claims of an overview that passages of the case support, and what became of each.

    Those that only quote are left away: they say no more than the sections do.
    """
    draft: Overview = filled.value
    known, shown = {each.id for each in message.passages}, Shown(filled.passages, message.text)
    found, checked = list[Statement](), list[CheckedClaim]()
    for claim in draft.claims[:CLAIMS]:
        fault = find_fault(claim, filled.passages, shown)
        if not fault:
            passage = filled.passages[claim.passage - 1]
            statement = Statement(plainly(claim), claim.quote, passage.id, passage.source, message.rounds)
            unknown = "" if passage.id in known else "its passage is none of the research"
            fault = unknown or ("the report quotes this elsewhere" if verbatim(statement) else "")
            found += [] if fault else [statement]
        checked.append(make_claim(claim, filled.passages, "dropped" if fault else "kept", fault))
    return tuple(found), tuple(checked)


def summary(report: Report) -> str:
    """What a report says in a few sentences, for those who do not read it."""
    said = (
        report.overview or tuple(block.lines[0] for block in report.sections if block.lines) or tuple(body(report))[:3]
    )
    if not said:
        return shorten(report.partial or say("nothing_answers_question", report.language), SUMMARY_CHARACTERS)
    return shorten(" ".join(flat(line.text) for line in said), SUMMARY_CHARACTERS)


def _status(message: CloseResearch, report: Report | None, *, judged: bool) -> Status:
    if message.reason == "cancelled":
        return "cancelled"
    if message.reason != "completed":
        return "error"
    found = any(body(report)) if report else any(section.statements for section in message.sections)
    if not found:
        return "not_found"
    return "resolved" if judged and message.is_complete else "suggested"
