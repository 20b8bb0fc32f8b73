"""The outcome of a run: told by the Orchestrator when it ends, and later by whoever reads the journal."""

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
