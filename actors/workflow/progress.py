"""What agents do at the moment, and how far a research is. Nothing of it is journalled."""

from typing import Literal

import msgspec

from actors.workflow.outcome import HandoffMade, RunBegan, RunEnded, RunEvent
from bus import Event


class StageProgress(Event, frozen=True):
    """An agent got on with its stage."""

    stage: str
    """The state of the workflow that it works on."""
    step: str
    """What it does, in a few words, such as "Reading pages"."""
    done: int = 0
    total: int = 0
    """0: not known."""
    item: str = ""
    """The one that was just completed, or is at work."""


class RoundBegan(Event, frozen=True):
    """A round of a research begins."""

    number: int
    of: int
    direction: str
    learnings: int
    """How many are known by now."""


Activity = Literal["classifying", "searching", "thinking", "using_tool", "checking", "merging"]


class StatusChanged(Event, frozen=True, tag="status"):
    """An agent turned to something else."""

    status: Activity
    agent: str = ""
    """Who, where several may be at work side by side."""
    tool: str = ""
    """The name of the tool that is being used."""


class AgentSelected(Event, frozen=True, tag="agent-selected"):
    """A question was given to an agent; one of several fields of law to several, each told by itself."""

    agent: str
    confidence: float
    """That the question is for this agent: 0 to 1."""


class AnswerText(Event, frozen=True, tag="answer-text"):
    """A model goes on writing an answer. Nobody has checked it yet, and it may never be given."""

    agent: str
    start: int
    """The character of the draft at which it stands; 0: the draft begins anew, whatever was told of it before."""
    text: str


class DraftChecked(Event, frozen=True, tag="answer-checked"):
    """What an agent's model wrote has been checked: what is not named here stays, word for word."""

    agent: str
    unverified: tuple[str, ...] = ()
    """What was told of it and is not in the answer: left out, or written anew."""


Working = StageProgress | RoundBegan | StatusChanged | AgentSelected | AnswerText | DraftChecked
ProgressEvent = RunEvent | Working
"""All that a watcher of a run hears."""

StageStatus = Literal["pending", "running", "completed", "failed"]
SHARES = {"planning": 5, "searching": 20, "extracting": 45, "analyzing": 30}
"""Percent of a round that each of its stages counts for."""
REPORT_SHARE = 10
"""Percent of the whole that the report counts for."""
KNOWN_PERCENT = 20
"""An estimate from less would be a guess."""
HEARTBEAT_SECONDS = 5.0
"""After so long without news, whoever watches in a terminal or a stream is shown that the run goes on."""
WELL = frozenset({"resolved", "suggested", "not_found", "needs_input"})


class Stage(msgspec.Struct, frozen=True, gc=False):
    """One of the five that a research goes through."""

    name: str
    mark: StageStatus = "pending"
    step: str = ""
    done: int = 0
    total: int = 0
    """0: not known."""
    item: str = ""
    began: float = 0.0
    """Seconds since the run began, as below."""
    latest: float = 0.0
    """When an item was completed last."""
    seconds: float = 0.0
    """How long it took, as soon as it is over."""

    @property
    def percent(self) -> int:
        if self.mark == "completed":
            return 100
        return min(99, 100 * self.done // self.total) if self.total else 0

    def remaining_seconds(self, at: float) -> float | None:
        """By what its items took so far; nothing when that cannot be known. At `at` seconds since the run began."""
        if self.mark != "running" or not 0 < self.done < self.total:
            return None
        return _subtract((self.latest - self.began) / self.done * (self.total - self.done), at - self.latest)


FRESH = tuple(Stage(name) for name in (*SHARES, "reporting"))


class Progress(msgspec.Struct, frozen=True, gc=False):
    """How far a research is. `percent` never goes back, even when a stage is repeated or a deeper round begins."""

    stages: tuple[Stage, ...] = FRESH
    """Those of the round that is going on."""
    run: str = ""
    ticket: str = ""
    round: int = 0
    """0: none has begun."""
    of: int = 1
    direction: str = ""
    learnings: int = 0
    percent: int = 0
    """Of the whole: if fewer rounds are needed than were ordered, it jumps at the end."""
    moved: float = 0.0
    """When it last became more, in seconds since the run began."""
    over: bool = False

    @property
    def running(self) -> Stage | None:
        """The stage that is worked on."""
        return next((stage for stage in self.stages if stage.mark == "running"), None)

    def remaining_seconds(self, at: float) -> float | None:
        """By how long all took so far; nothing when that cannot be known. At `at` seconds since the run began."""
        if self.over or self.percent < KNOWN_PERCENT:
            return None
        return _subtract(self.moved * (100 - self.percent) / self.percent, at - self.moved)


def _subtract(estimated: float, since: float) -> float | None:
    """What is left of an estimate; once that has passed, it was wrong, and nothing is known."""
    return estimated - since if estimated > since else None


def fold(board: Progress, event: ProgressEvent, at: float) -> Progress:
    """
    The board after one more event.

    :param at: seconds since the run began.
    """
    replace = msgspec.structs.replace
    match event:
        case RunBegan(run=run, ticket=ticket):
            board = replace(board, run=run, ticket=ticket)
        case HandoffMade(state="deepening"):
            board = replace(
                board, stages=tuple(_finish(stage, "completed", at) for stage in board.stages[:-1]) + FRESH[-1:]
            )
        case HandoffMade(state=state, source=source) if source == "orchestrator":
            board = replace(board, stages=_enter(board.stages, state, at))
        case RoundBegan(number=number) if number >= board.round:
            stages = FRESH if number > max(board.round, 1) else board.stages
            board = replace(
                board, stages=_enter(stages, "planning", at), round=number, of=max(event.of, number),
                direction=event.direction, learnings=event.learnings,
            )  # fmt: skip
        case StageProgress(stage=name):
            stages = _enter(board.stages, name, at)
            stages = tuple(_update(stage, event, at) if stage.name == name else stage for stage in stages)
            board = replace(board, stages=stages)
        case RunEnded(outcome=outcome):
            return _end(board, well=outcome.status in WELL, at=at)
        case _:
            return board
    percent = _percent(board)
    return replace(board, percent=percent, moved=at) if percent > board.percent else board


def _enter(stages: tuple[Stage, ...], name: str, at: float) -> tuple[Stage, ...]:
    """A stage runs: those before it are over, and those behind it, when it is repeated, come once more."""
    place = next((n for n, stage in enumerate(stages) if stage.name == name), None)
    if place is None or stages[place].mark == "running":
        return stages
    before = tuple(_finish(stage, "completed", at) for stage in stages[:place])
    return (*before, Stage(name, "running", began=at), *FRESH[place + 1 :])


def _update(stage: Stage, event: StageProgress, at: float) -> Stage:
    total = max(0, event.total)
    done = min(max(0, event.done), total) if total else max(0, event.done)
    latest = at if done > stage.done else stage.latest
    return msgspec.structs.replace(stage, step=event.step, done=done, total=total, item=event.item, latest=latest)


def _finish(stage: Stage, mark: StageStatus, at: float) -> Stage:
    if stage.mark in {"completed", "failed"}:
        return stage
    seconds = max(0.0, at - stage.began) if stage.mark == "running" else 0.0
    return msgspec.structs.replace(stage, mark=mark, seconds=seconds)


def _end(board: Progress, *, well: bool, at: float) -> Progress:
    mark: StageStatus = "completed" if well else "failed"
    stages = tuple(_finish(each, mark, at) if well or each.mark == "running" else each for each in board.stages)
    return msgspec.structs.replace(board, stages=stages, percent=100 if well else board.percent, over=True)


def _percent(board: Progress) -> int:
    """Of the whole, as the stages stand; 100 is said by the end alone."""
    *rounds, report = board.stages
    if report.mark != "pending":
        return 100 - REPORT_SHARE + min(REPORT_SHARE - 1, REPORT_SHARE * report.percent // 100)
    inside = sum(SHARES[stage.name] * stage.percent for stage in rounds) / 100
    return int((100 - REPORT_SHARE) * (max(board.round, 1) - 1 + inside / 100) / max(board.of, 1))
