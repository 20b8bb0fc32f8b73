"""The handoffs of a run as a drawing: a line for each agent, an arrow for each handoff. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from actors.workflow.outcome import Child, Handoff

WIDTH, LANE, ROW, TOP = 660, 130, 26, 44
"""Units of the whole at most, between two agents at most, between two handoffs, and above the first."""
NARROWEST = 60
"""Units between two agents where there are many: then it is wider, and scrolls."""
HEAD = 7
"""Length of an arrow's head."""


class Lane(NamedTuple):
    """An agent and where its line stands."""

    name: str
    x: int


class Arrow(NamedTuple):
    """One handoff."""

    number: int
    start: int
    end: int
    y: int
    head: str
    """The points of the arrow's head."""
    middle: int


class Drawing(NamedTuple):
    """What a template draws."""

    width: int
    height: int
    lanes: tuple[Lane, ...]
    arrows: tuple[Arrow, ...]


class DrawnRun(NamedTuple):
    """A run whose handoffs are shown: the outermost, or one within it."""

    workflow: str
    handoffs: tuple[Handoff, ...]
    drawing: Drawing | None


def draw_runs(workflow: str, handoffs: Sequence[Handoff], children: Sequence[Child] = ()) -> tuple[DrawnRun, ...]:
    """A run and those within it that passed control on, each in front of those below it."""
    shown = (DrawnRun(workflow, tuple(handoffs), draw_handoffs(handoffs)),) if handoffs else ()
    below = (drawn for each in children for drawn in draw_runs(each.workflow, each.handoffs, each.children))
    return (*shown, *below)


def draw_handoffs(handoffs: Sequence[Handoff]) -> Drawing | None:
    """The drawing; nothing where control was never passed."""
    if not handoffs:
        return None
    names = dict.fromkeys(name for each in handoffs for name in (each.source, each.target))
    lane = max(NARROWEST, min(LANE, WIDTH // len(names)))
    places = {name: lane // 2 + lane * number for number, name in enumerate(names)}
    arrows = tuple(_draw_arrow(number, each, places) for number, each in enumerate(handoffs, 1))
    lanes = tuple(Lane(name, x) for name, x in places.items())
    return Drawing(lane * len(names), TOP + ROW * len(handoffs) + 8, lanes, arrows)


def _draw_arrow(number: int, handoff: Handoff, places: dict[str, int]) -> Arrow:
    start, end, y = places[handoff.source], places[handoff.target], TOP + ROW * number - ROW // 2
    way = 1 if end > start else -1
    back = end - way * HEAD
    head = f"{end},{y} {back},{y - 4} {back},{y + 4}"
    return Arrow(number, start, back, y, head, min(start, end) + abs(end - start) // 2)
