"""What a watcher of a run hears of its handoffs: the same while it goes on and when it is told again later. Pure."""

from collections.abc import Sequence

from actors.workflow.outcome import EndReason, Handoff, HandoffMade, Outcome, RunBegan, RunEvent
from actors.workflow.tables import ORCHESTRATOR

ENDS = frozenset(EndReason)
"""Reasons of handoffs that close a case; `verify` keeps states from being named so."""


def state_after(handoffs: Sequence[Handoff], number: int, first: str) -> str:
    """
    The state that a handoff led to, or that it was made in.

    :param number: of the handoff; the first is 1.
    :param first: the state that a run begins in.
    """
    for made in reversed(handoffs[: number + 1]):  # an answer is followed by the handoff of the state that it led to
        if made.source == ORCHESTRATOR and made.reason not in ENDS:
            return made.reason
    return first


def began(run: str, ticket: str, workflow: str, handoffs: Sequence[Handoff]) -> RunBegan:
    return RunBegan(run=run, ticket=ticket, workflow=workflow, agent=handoffs[0].target)


def as_shown(handoffs: Sequence[Handoff], number: int, first: str) -> HandoffMade:
    """One handoff as it is shown."""
    made = handoffs[number - 1]
    return HandoffMade(
        number=number, source=made.source, target=made.target, reason=made.reason,
        state=state_after(handoffs, number, first), seconds=made.at, marker=made.marker,
    )  # fmt: skip


def past(outcome: Outcome) -> list[RunEvent]:
    """What a watcher of a run that is over heard before its end."""
    made = outcome.handoffs
    if not made:
        return []
    first = began(outcome.run, outcome.ticket, outcome.workflow, made)
    return [first, *(as_shown(made, number, outcome.state) for number in range(1, len(made) + 1))]
