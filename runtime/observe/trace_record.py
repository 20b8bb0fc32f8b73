"""Why the answer of a run is as it is, for command line and HTTP: of what is durable, and of what is about to be."""

import contextlib
from typing import TYPE_CHECKING

import msgspec

from actors.evidence.claims import Citation
from actors.evidence.trace_steps import (
    NAME_CHARACTERS,
    AnswerStep,
    CallStep,
    CheckedClaim,
    OmittedSteps,
    SearchStep,
    ToolStep,
    clip,
)
from actors.text.redaction import redact
from runtime.families import find_intent
from runtime.llm.usage import Budget
from runtime.observe.run_trace import KILOBYTES, find_outermost, load_steps, redact_step
from runtime.observe.span import TraceSpan
from runtime.observe.span_tree import SpanTree, TracedRun
from runtime.observe.trace_id import TRACE_DIGITS
from runtime.storage.damage import JournalDamaged
from runtime.storage.records import Action, StoredRun
from runtime.tickets import whole
from runtime.user_text import pluralize

if TYPE_CHECKING:
    from runtime.engine.node import Node

NOTHING = "Nothing was searched and no model was asked, or an earlier version of this program ran it."
FOR_ALL = "A run within a run shares the trace of the outermost one, {}."


class TraceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Why an answer is as it is."""

    ticket: str
    run: str
    """The outermost run: those within it have their steps here."""
    workflow: str
    status: str
    """`running`, or how it ended."""
    searches: tuple[SearchStep, ...]
    answers: tuple[AnswerStep, ...]
    calls: tuple[CallStep, ...]
    """Of models; an answer by rules is none."""
    trace: str = ""
    """Its id, 32 hexadecimal digits; empty where an earlier version of this program ran it."""
    spans: tuple[TraceSpan, ...] = ()
    """All of it as a tree: each behind the one that it was done for, in the order in which they began."""
    tools: tuple[ToolStep, ...] = ()
    """Calls of tools, by models."""
    omitted: int
    """Steps for which there was no room."""
    notes: tuple[str, ...]
    """What is missing here, in a sentence each."""
    actions: tuple[Action, ...] = ()
    """Who submitted, answered, cancelled or judged it."""


async def read_trace(node: "Node", stored: StoredRun) -> TraceRecord:
    """
    The trace of a run, and of those within it.

    :raises JournalDamaged: nobody can tell what it did.
    """
    run, journal = stored, node.journal
    if run.id != find_outermost(run.id):
        run = await journal.run(find_outermost(run.id))
    steps = [*await load_steps(journal.store, run.id), *node.traces.list_pending(run.id)]
    runs = await _read_runs(node, run)
    family = node.families.get(run.workflow)
    told = tuple(family.list_searches(runs[0].course.stood[-1].case)) if family else ()
    if node.settings.trace.redact:
        told = tuple(redact_step(each) for each in told)
    searches = (*told, *(each for each in steps if isinstance(each, SearchStep)))
    answers = tuple(each for each in steps if isinstance(each, AnswerStep))
    if not answers and (outcome := runs[0].outcome) and outcome.resolution:
        answers = _quote(outcome.resolution.citations)
    calls = tuple(each for each in steps if isinstance(each, CallStep))
    tools = tuple(each for each in steps if isinstance(each, ToolStep))
    omitted = sum(each.count for each in steps if isinstance(each, OmittedSteps))
    notes = [FOR_ALL.format(run.id)] if run is not stored else []
    if omitted:
        notes.append(f"{pluralize(omitted, 'more step')} had no room: a run keeps {KILOBYTES} KiB of its trace.")
    if not (searches or calls):
        notes.append(NOTHING)
    known = (
        *(each for each in told if not each.pending),
        *(each for each in steps if not isinstance(each, OmittedSteps)),
    )
    return TraceRecord(
        ticket=run.ticket, run=run.id, workflow=run.workflow, status=run.status, searches=searches, answers=answers,
        calls=calls, tools=tools, omitted=omitted, notes=tuple(notes), trace=run.trace[:TRACE_DIGITS],
        spans=_make_tree(node, run).build(runs, known), actions=(await journal.store.read_question(run)).actions,
    )  # fmt: skip


async def _read_runs(node: "Node", outermost: StoredRun) -> list[TracedRun]:
    """A run, and those within it as far as they can be read."""
    journal = node.journal
    asked = await journal.store.read_question(outermost)
    course, outcome = await journal.course(outermost), await journal.outcome(outermost)
    runs = [TracedRun(outermost, course, outcome, whole(asked.subject, asked.question))]
    for each in await journal.store.within(outermost.id):
        with contextlib.suppress(JournalDamaged):  # the others can be told of all the same
            runs.append(TracedRun(each, await journal.course(each), await journal.outcome(each)))
    return runs


def _make_tree(node: "Node", run: StoredRun) -> SpanTree:
    prices = Budget(price_in=node.settings.model.price_in, price_out=node.settings.model.price_out)

    def price(tokens_in: int, tokens_out: int) -> float | None:
        return round(prices.cost(tokens_in, tokens_out), 6) if prices.price_in or prices.price_out else None

    hide = redact if node.settings.trace.redact else str
    return SpanTree(run.trace or run.id, find_intent, price, hide)


def _quote(citations: tuple[Citation, ...]) -> tuple[AnswerStep, ...]:
    """An answer that only quotes: each citation is a claim that says no more than its words."""
    claims = (CheckedClaim("", clip(each.quote), clip(each.source, NAME_CHARACTERS)) for each in citations)
    return (AnswerStep("", claims=tuple(claims)),) if citations else ()
