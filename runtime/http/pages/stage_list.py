"""The stages of a run that goes on, of the table that it goes by and the handoffs that were made. Pure."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from actors.workflow.outcome import Handoff
from actors.workflow.tables import Workflow


class Stage(NamedTuple):
    """Steps of a table at which the same is asked."""

    name: str
    """Of what is asked, such as `ResolveTicket`."""
    mark: Literal["done", "running", "pending"]


def list_stages(flow: Workflow, handoffs: Sequence[Handoff]) -> tuple[Stage, ...]:
    """The stages in the table's order; one that the run went past without entering it is left out."""
    names = list(dict.fromkeys(step.ask.__name__ for step in flow.steps.values()))
    asked = {str(state): step.ask.__name__ for state, step in flow.steps.items()}
    entered = [asked[each.reason] for each in handoffs if each.reason in asked]
    current = names.index(entered[-1]) if entered else -1
    return tuple(
        Stage(name, "running" if place == current else "done" if place < current else "pending")
        for place, name in enumerate(names)
        if place >= current or name in entered
    )
