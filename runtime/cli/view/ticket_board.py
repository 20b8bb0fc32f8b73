"""Where a run stands, as stages for people: a fold of its progress over the table that it goes by. Pure."""

from typing import Literal

import msgspec

from actors.workflow import progress
from actors.workflow.outcome import AnswerReady, AnswerRefused, Handoff, HandoffMade, RunBegan, RunEnded
from actors.workflow.progress import AgentSelected, Progress, ProgressEvent, StageProgress, StatusChanged
from actors.workflow.tables import ORCHESTRATOR, FanOut, Workflow
from runtime.cli.view import unchecked_drafts
from runtime.cli.view.activity_lines import describe_activity, describe_status
from runtime.cli.view.round_lines import enters_stage
from runtime.cli.view.unchecked_drafts import Drafts
from runtime.user_text import spell_out

Mark = Literal["pending", "running", "completed", "failed", "skipped"]
LATEST = 6
"""How many of the last handoffs are shown while a run goes on."""


class Stage(msgspec.Struct, frozen=True, gc=False):
    """One step of the workflow's table, or several of which only one is ever needed."""

    states: tuple[str, ...]
    label: str
    agent: str
    team: tuple[str, ...] = ()
    """Those who may be asked at once."""
    asked: frozenset[str] = frozenset()
    """Those of the team who were."""
    answered: frozenset[str] = frozenset()
    doing: tuple[tuple[str, str], ...] = ()
    """What each of the team does."""
    mark: Mark = "pending"
    began: float | None = None
    """Seconds since the run began."""
    seconds: float = 0.0
    """How long it took, as soon as it is over."""
    done: int = 0
    total: int = 0
    """0: not known."""
    item: str = ""
    """What its agent completed last, or what it does."""

    @property
    def count(self) -> tuple[int, int]:
        """How much is done, and of how much; of a team, who has answered."""
        return (len(self.answered), len(self.asked)) if self.team else (self.done, self.total)


class Board(msgspec.Struct, frozen=True, gc=False):
    """All that is shown of one run."""

    stages: tuple[Stage, ...]
    run: str = ""
    ticket: str = ""
    workflow: str = ""
    language: str = ""
    """Of the ticket."""
    latest: tuple[Handoff, ...] = ()
    handoffs: int = 0
    refused: int = 0
    answer: str = ""
    """As soon as there is one, though the run goes on."""
    drafts: Drafts = Drafts()
    """What is written of it meanwhile."""
    rounds: Progress = Progress()
    staged: bool = False
    """It goes through rounds of stages itself, and is shown by them."""


def board(flow: Workflow) -> Board:
    """The board of a run that has not begun."""
    stages: dict[tuple[str, str], Stage] = {}
    for state, step in flow.steps.items():
        team = step.team if isinstance(step, FanOut) else ()
        agent = ", ".join(team) if isinstance(step, FanOut) else step.hand_to
        label = spell_out(step.ask.__name__).capitalize()  # `ResolveTicket` → `Resolve ticket`
        before = stages.get((label, agent))
        stages[label, agent] = Stage((*(before.states if before else ()), str(state)), label, agent, team)
    return Board(tuple(stages.values()))


def fold(board: Board, event: ProgressEvent, at: float = 0.0) -> Board:
    """
    The board after one more event.

    :param at: seconds since the run began.
    """
    replace = msgspec.structs.replace
    board = replace(
        board, rounds=progress.fold(board.rounds, event, at), staged=board.staged or enters_stage(event),
        drafts=unchecked_drafts.fold(board.drafts, event),
    )  # fmt: skip
    match event:
        case RunBegan(run=run, ticket=ticket, workflow=workflow, language=language):
            return replace(board, run=run, ticket=ticket, workflow=workflow, language=language)
        case HandoffMade(number=number):
            handoff = Handoff(event.source, event.target, event.reason, event.seconds)
            latest = (*board.latest, handoff)[-LATEST:]
            return replace(board, stages=_pass_on(board.stages, event), latest=latest, handoffs=number)
        case StageProgress():
            return replace(board, stages=tuple(_get_on(stage, event) for stage in board.stages))
        case StatusChanged() | AgentSelected():
            return replace(board, stages=tuple(_turn_to(stage, event, board.language) for stage in board.stages))
        case RunEnded(outcome=outcome):
            last: Mark = "failed" if outcome.status in {"error", "cancelled"} else "completed"
            stages = tuple(_pass_by(_finish(stage, last, outcome.seconds), outcome.seconds) for stage in board.stages)
            return replace(board, stages=stages, handoffs=len(outcome.handoffs), refused=outcome.refused)
        case AnswerReady(resolution=resolution):
            return replace(board, answer=resolution.text)
        case AnswerRefused():
            return replace(board, refused=board.refused + 1)
        case _:
            return board


def _pass_on(stages: tuple[Stage, ...], event: HandoffMade) -> tuple[Stage, ...]:
    """The handoff's state is the one that runs; what ran before it is done, and what it jumped over was not needed."""
    if event.target == ORCHESTRATOR:
        return tuple(_answer(stage, event.source) for stage in stages)
    at = next((n for n, stage in enumerate(stages) if event.state in stage.states), None)
    if at is None:
        return stages
    repeats = any(stage.mark == "running" for stage in stages[at + 1 :])
    before = tuple(_pass_by(stage, event.seconds) for stage in stages[:at])
    after = tuple(
        _reset(stage) if repeats else _finish(stage, "completed", event.seconds) for stage in stages[at + 1 :]
    )
    return (*before, _enter(stages[at], event), *after)


def _enter(stage: Stage, event: HandoffMade) -> Stage:
    replace = msgspec.structs.replace
    if stage.mark != "running":
        stage = replace(_reset(stage), mark="running", began=event.seconds)
    if event.target not in stage.team:
        return replace(stage, agent=event.target)
    target = frozenset({event.target})
    return replace(stage, asked=stage.asked | target, answered=stage.answered - target)


def _reset(stage: Stage) -> Stage:
    return Stage(stage.states, stage.label, stage.agent, stage.team)


def _answer(stage: Stage, source: str) -> Stage:
    """A member of a team has answered."""
    if stage.mark != "running" or source not in stage.asked:
        return stage
    return msgspec.structs.replace(stage, answered=stage.answered | {source}, item=source)


def _turn_to(stage: Stage, event: StatusChanged | AgentSelected, language: str) -> Stage:
    """What an agent does stands at the stage that runs, or in its own place in the team that is asked."""
    if stage.mark != "running":
        return stage
    if isinstance(event, StatusChanged) and event.agent in stage.asked:
        doing = {**dict(stage.doing), event.agent: describe_status(event, language)}
        return msgspec.structs.replace(stage, doing=tuple(doing.items()))
    return msgspec.structs.replace(stage, item=describe_activity(event, language))


def _get_on(stage: Stage, event: StageProgress) -> Stage:
    if event.stage not in stage.states:
        return stage
    return msgspec.structs.replace(stage, done=event.done, total=event.total, item=event.item or event.step)


def _finish(stage: Stage, mark: Mark, at: float) -> Stage:
    if stage.mark != "running":
        return stage
    return msgspec.structs.replace(stage, mark=mark, seconds=max(0.0, at - (stage.began or 0.0)))


def _pass_by(stage: Stage, at: float) -> Stage:
    """What was not begun is not needed any more."""
    return (
        msgspec.structs.replace(stage, mark="skipped") if stage.mark == "pending" else _finish(stage, "completed", at)
    )
