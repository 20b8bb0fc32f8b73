"""Where a run stands, as stages for people: a fold of its progress. Pure."""

from typing import Literal

import msgspec

from actors.workflow.outcome import AnswerRefused, Handoff, HandoffMade, RunBegan, RunEnded
from actors.workflow.progress import ProgressEvent
from actors.workflow.tables import ORCHESTRATOR, FanOut, Step, Workflow
from runtime.messages import spell_out

Mark = Literal["pending", "running", "completed", "failed", "skipped"]
LATEST = 6
"""How many of the last handoffs are shown while a run goes on."""


class Stage(msgspec.Struct, frozen=True, gc=False):
    """One step of the workflow's table, or several of which only one is ever needed."""

    states: tuple[str, ...]
    label: str
    agent: str
    mark: Mark = "pending"
    began: float | None = None
    """Seconds since the run began."""
    seconds: float = 0.0
    """How long it took, as soon as it is over."""


class Board(msgspec.Struct, frozen=True, gc=False):
    """All that is shown of one run."""

    stages: tuple[Stage, ...]
    run: str = ""
    ticket: str = ""
    workflow: str = ""
    latest: tuple[Handoff, ...] = ()
    handoffs: int = 0
    refused: int = 0


def board(flow: Workflow) -> Board:
    """The board of a run that has not begun."""
    states: dict[tuple[str, str], list[str]] = {}
    for state, step in flow.steps.items():
        states.setdefault((_label(step), _agent(step)), []).append(str(state))
    return Board(tuple(Stage(tuple(names), *key) for key, names in states.items()))


def fold(board: Board, event: ProgressEvent) -> Board:
    """The board after one more event."""
    replace = msgspec.structs.replace
    match event:
        case RunBegan(run=run, ticket=ticket, workflow=workflow):
            return replace(board, run=run, ticket=ticket, workflow=workflow)
        case HandoffMade(number=number):
            handoff = Handoff(event.source, event.target, event.reason, event.seconds)
            latest = (*board.latest, handoff)[-LATEST:]
            return replace(board, stages=_moved(board.stages, event), latest=latest, handoffs=number)
        case RunEnded(outcome=outcome):
            last: Mark = "failed" if outcome.status in {"error", "cancelled"} else "completed"
            stages = tuple(_finished(stage, last, outcome.seconds) for stage in board.stages)
            return replace(board, stages=stages, handoffs=len(outcome.handoffs), refused=outcome.refused)
        case AnswerRefused():
            return replace(board, refused=board.refused + 1)
        case _:
            return board


def _moved(stages: tuple[Stage, ...], event: HandoffMade) -> tuple[Stage, ...]:
    """The handoff's state is the one that runs; what ran before it is done, and what it jumped over was not needed."""
    at = next((n for n, stage in enumerate(stages) if event.state in stage.states), None)
    if at is None or event.target == ORCHESTRATOR:
        return stages
    moved = []
    for n, stage in enumerate(stages):
        if n == at:
            began = stage.began if stage.mark == "running" else event.seconds
            moved.append(msgspec.structs.replace(stage, mark="running", began=began, agent=event.target))
        elif stage.mark == "running":
            moved.append(_finished(stage, "completed", event.seconds))
        elif n < at and stage.mark == "pending":
            moved.append(msgspec.structs.replace(stage, mark="skipped"))
        else:
            moved.append(stage)
    return tuple(moved)


def _finished(stage: Stage, mark: Mark, at: float) -> Stage:
    if stage.mark == "running":
        return msgspec.structs.replace(stage, mark=mark, seconds=max(0.0, at - (stage.began or 0.0)))
    return msgspec.structs.replace(stage, mark="skipped") if stage.mark == "pending" else stage


def _label(step: Step | FanOut) -> str:
    """`ResolveTicket` → `Resolve ticket`."""
    return spell_out(step.ask.__name__).capitalize()


def _agent(step: Step | FanOut) -> str:
    return step.hand_to if isinstance(step, Step) else ", ".join(step.team)
