"""Why the answer of a run is as it is, for command line and HTTP: of what is durable, and of what is about to be."""

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
from runtime.run_trace import KILOBYTES, find_outermost, load_steps
from runtime.storage.journal import StoredRun
from runtime.user_text import pluralize

if TYPE_CHECKING:
    from runtime.node import Node

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
    tools: tuple[ToolStep, ...] = ()
    """Calls of tools, by models."""
    omitted: int
    """Steps for which there was no room."""
    notes: tuple[str, ...]
    """What is missing here, in a sentence each."""


async def read_trace(node: "Node", stored: StoredRun) -> TraceRecord:
    """
    The trace of a run, and of those within it.

    :raises JournalDamaged: nobody can tell what it did.
    """
    run, journal = stored, node.journal
    if run.id != find_outermost(run.id):
        run = await journal.run(find_outermost(run.id))
    steps = [*await load_steps(journal.store, run.id), *node.traces.fresh(run.id)]
    family = node.families.get(run.workflow)
    told = family.list_searches((await journal.fold(run)).case) if family else ()
    searches = (*told, *(each for each in steps if isinstance(each, SearchStep)))
    answers = tuple(each for each in steps if isinstance(each, AnswerStep))
    if not answers and (outcome := await journal.outcome(run)) and outcome.resolution:
        answers = _quote(outcome.resolution.citations)
    calls = tuple(each for each in steps if isinstance(each, CallStep))
    tools = tuple(each for each in steps if isinstance(each, ToolStep))
    omitted = sum(each.count for each in steps if isinstance(each, OmittedSteps))
    notes = [FOR_ALL.format(run.id)] if run is not stored else []
    if omitted:
        notes.append(f"{pluralize(omitted, 'more step')} had no room: a run keeps {KILOBYTES} KiB of its trace.")
    if not (searches or calls):
        notes.append(NOTHING)
    return TraceRecord(
        ticket=run.ticket, run=run.id, workflow=run.workflow, status=run.status, searches=searches, answers=answers,
        calls=calls, tools=tools, omitted=omitted, notes=tuple(notes),
    )  # fmt: skip


def _quote(citations: tuple[Citation, ...]) -> tuple[AnswerStep, ...]:
    """An answer that only quotes: each citation is a claim that says no more than its words."""
    claims = (CheckedClaim("", clip(each.quote), clip(each.source, NAME_CHARACTERS)) for each in citations)
    return (AnswerStep("", claims=tuple(claims)),) if citations else ()
