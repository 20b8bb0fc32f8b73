"""The outcome of a run: told by the Orchestrator when it ends, and later by whoever reads the journal."""

import math

import msgspec

from actors.loops import repeating_pattern
from actors.outcome import SENTENCES, Outcome, Spent, Status, Why
from actors.workflow import Run, Workflow

WITHOUT_TERMINATOR: dict[Why, Status] = {Why.CANCELLED: "cancelled"}


class Ending(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What the fold of the events does not tell about an end."""

    why: Why
    by: str
    seconds: float
    spent: Spent = Spent()
    refused: int = 0


MOST = 2**53 - 1
"""The largest count that every reader of JSON takes for what it is."""


def bounded(spent: Spent) -> Spent:
    """What was spent in numbers that can be stored and told, whatever was counted: nonsense is only an estimate."""
    calls, tokens_in, tokens_out = (_count(each) for each in (spent.calls, spent.tokens_in, spent.tokens_out))
    told = Spent(calls, tokens_in, tokens_out, estimated=bool(spent.estimated))
    return told if told == spent else msgspec.structs.replace(told, estimated=True)


def _count(number: float) -> int:
    return 0 if math.isnan(number) else int(min(max(number, 0), MOST))


def conclude(run_id: str, flow: Workflow, run: Run, ending: Ending) -> Outcome:
    """Put together the one outcome of a run."""
    case, why = run.case, ending.why
    reached = next((each.reason for each in reversed(run.handoffs) if each.reason in flow.steps), run.state)
    return Outcome(
        run=run_id, ticket=case.ticket_id, workflow=flow.name, why=why, by=ending.by,
        status=case.status if ending.by else WITHOUT_TERMINATOR.get(why, "error"),
        state=reached, resolution=case.resolution, summary=case.summary,
        handoffs=run.handoffs, loop=repeating_pattern(run.chosen) or () if why is Why.LOOP_DETECTED else (),
        seconds=ending.seconds, detail=case.detail or SENTENCES[why].format(flow.max_handoffs),
        unavailable=case.unavailable, degraded=case.degraded, spent=ending.spent, refused=ending.refused,
    )  # fmt: skip
