"""The outcome of a run: told by the Orchestrator when it ends, and later by whoever reads the journal."""

import math

import msgspec
from structlog.typing import FilteringBoundLogger

from actors.workflow.history import state_after
from actors.workflow.outcome import SENTENCES, Child, EndReason, Outcome, Spent, Status, marker
from actors.workflow.tables import ORCHESTRATOR, Run, Workflow

WITHOUT_TERMINATOR: dict[EndReason, Status] = {EndReason.CANCELLED: "cancelled"}


class RunEnd(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What the fold of the events does not tell about an end."""

    why: EndReason
    by: str
    seconds: float
    spent: Spent = Spent()
    refused: int = 0


MOST = 2**53 - 1
"""The largest count that every reader of JSON takes for what it is."""


def limit_spending(spent: Spent) -> Spent:
    """What was spent in numbers that can be stored and told, whatever was counted: nonsense is only an estimate."""
    calls, tokens_in, tokens_out = (_count(each) for each in (spent.calls, spent.tokens_in, spent.tokens_out))
    told = Spent(calls, tokens_in, tokens_out, estimated=bool(spent.estimated))
    return told if told == spent else msgspec.structs.replace(told, estimated=True)


def _count(number: float) -> int:
    return 0 if math.isnan(number) else int(min(max(number, 0), MOST))


def conclude(run_id: str, flow: Workflow, run: Run, ending: RunEnd, children: tuple[Child, ...] = ()) -> Outcome:
    """Put together the one outcome of a run."""
    case, why = run.case, ending.why
    return Outcome(
        run=run_id, ticket=case.ticket_id, workflow=flow.name, why=why, by=ending.by,
        status=case.status if ending.by else WITHOUT_TERMINATOR.get(why, "error"),
        state=state_after(run.handoffs, len(run.handoffs), next(iter(flow.steps))),
        resolution=case.resolution, summary=case.summary, handoffs=run.handoffs, children=children,
        marker=marker(flow.closed) if ending.by else "", loop=run.loop if why is EndReason.LOOP_DETECTED else (),
        seconds=ending.seconds, detail=case.detail or SENTENCES[why].format(flow.max_handoffs),
        unavailable=case.unavailable, degraded=case.degraded, spent=ending.spent, refused=ending.refused,
    )  # fmt: skip


def final_agent(outcome: Outcome) -> str:
    """Who ended the run; of one that was sealed, who had control then."""
    if outcome.by or not outcome.handoffs:
        return outcome.by or ORCHESTRATOR
    last = outcome.handoffs[-1]
    return last.source if last.target == ORCHESTRATOR else last.target


def log_end(log: FilteringBoundLogger, outcome: Outcome) -> None:
    """Every end of a run is logged by this, whoever found it."""
    if outcome.loop:
        log.error("loop.detected", pattern=[f"{source} -> {target}" for source, target in outcome.loop])
    elif outcome.why not in {EndReason.COMPLETED, EndReason.CANCELLED}:
        log.error("run.failed", reason=outcome.why, detail=outcome.detail)
    log.info(
        "workflow.terminated", reason=outcome.why, agent=final_agent(outcome), by=outcome.by, marker=outcome.marker,
        status=outcome.status, seconds=round(outcome.seconds, 3), handoffs=len(outcome.handoffs),
    )  # fmt: skip
