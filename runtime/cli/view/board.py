"""
Where runs stand, as stages, rounds, drafts and rows for people: folds of their progress, and the
same as plain lines.

Pipes, files and terminals without rich get the lines; `live` draws the rest. Pure, but for what
prints.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TextIO, assert_never

import msgspec

from actors.text.catalogue import say
from actors.text.truncate import shorten
from actors.workflow import progress
from actors.workflow.outcome import AnswerReady, AnswerRefused, Handoff, HandoffMade, RunBegan, RunEnded, RunEvent
from actors.workflow.progress import (
    HEARTBEAT_SECONDS,
    AgentSelected,
    AnswerText,
    DraftChecked,
    Progress,
    ProgressEvent,
    RoundBegan,
    StageProgress,
    StatusChanged,
    fold,
)
from actors.workflow.tables import ORCHESTRATOR, FanOut, Workflow
from runtime.times import format_duration
from runtime.user_text import pluralize, safe, spell_out


def describe_activity(event: StatusChanged | AgentSelected, language: str) -> str:
    """A few words, such as "Looking up sources"."""
    match event:
        case AgentSelected():
            return say("agent_selected", language, agent=event.agent, percent=f"{event.confidence:.0%}"[:-1])
        case StatusChanged():
            said = describe_status(event, language)
            return f"{event.agent}: {said}" if event.agent else said


def describe_status(event: StatusChanged, language: str) -> str:
    """The same where it is seen whose it is."""
    return say(f"doing_{event.status}", language, tool=event.tool)


DIRECTION_CHARACTERS = 300
ITEM_CHARACTERS = 120
STAGES = frozenset(stage.name for stage in Progress().stages)


def opening(event: RoundBegan) -> tuple[str, str]:
    """What stays on the screen of a round."""
    known = "1 learning so far" if event.learnings == 1 else f"{event.learnings} learnings so far"
    return f"[Depth {event.number}/{event.of}] Exploring: {cut(event.direction, DIRECTION_CHARACTERS)}", f"  {known}"


def enters_stage(event: ProgressEvent) -> bool:
    """Whether a run enters a stage itself; what a run within it says of its stages does not count."""
    return isinstance(event, HandoffMade) and event.state in STAGES


def new_round(before: Progress, event: ProgressEvent) -> RoundBegan | None:
    """The round that an event begins, if it is not one that is planned anew."""
    return event if isinstance(event, RoundBegan) and event.number > before.round else None


def describe_changes(before: Progress, after: Progress, event: ProgressEvent, at: float) -> Iterator[tuple[str, bool]]:
    """What there is to say after an event: each line, and whether it must be said at once."""
    if began := new_round(before, event):
        yield from ((line, True) for line in opening(began))
    running = after.running
    if running is not None and (before.running is None or before.running.name != running.name):
        yield f"{_when(after, at)}  {running.name}", True
    if isinstance(event, StageProgress) and event.item:
        yield f"{_when(after, at)}    {event.stage}{items(event.done, event.total)}  {cut(event.item)}", False


def standing(board: Progress, at: float) -> str:
    """Where a research is, for who sees nothing happen; nothing when it is at no stage."""
    running = board.running
    if running is None:
        return ""
    left = running.remaining_seconds(at)
    about = "" if left is None else f", about {left:.0f} s left for it"
    return f"{_when(board, at)}  {running.name}{items(running.done, running.total)} goes on{about}"


def items(done: int, total: int) -> str:
    return f" {done}/{total}" if total else f" {done}" if done else ""


def cut(text: str, most: int = ITEM_CHARACTERS) -> str:
    return shorten(text, most)


def _when(board: Progress, at: float) -> str:
    return f"{at:9.3f} s  {board.percent:>3} %"


ITEM_SECONDS = 0.1
"""Items that are completed closer together are told together."""


class View:
    """Shows runs on their way; this one nothing but what the user must know. Every method returns at once."""

    shows_drafts = False
    """Whether answers are shown while they are being written."""

    def show(self, event: ProgressEvent, number: int = 0) -> None:
        """Something happened on the ticket of this number, from 0."""

    def tick(self) -> None:
        """Some time passed."""

    def note(self, sentence: str) -> None:
        """Tell the user something besides."""
        print(safe(sentence), file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave the terminal as it was. May be called twice."""


class PlainView(View):
    """One line for each event, and one now and then while nothing happens."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._began = self._said = clock()
        self._agent = self._language = ""
        self._reached = 0.0
        """Seconds into the run, as it counts them: a line never has an earlier time than the handoff above it."""
        self._board = Progress()
        self._staged = False
        """It is told by its stages instead of its handoffs."""
        self._held = ""
        """An item that was completed too soon after another to be a line of its own."""

    def show(self, event: ProgressEvent, number: int = 0) -> None:  # noqa: ARG002 - there is one run
        if isinstance(event, AnswerText | DraftChecked):
            return  # a line cannot be taken back, and nobody has checked it
        if isinstance(event, RunBegan):
            self._began, self._language = self._clock(), event.language
        if isinstance(event, HandoffMade):
            self._agent, self._reached = event.target, event.seconds
        self._staged = self._staged or enters_stage(event)
        at = self._clock() - self._began
        before, self._board = self._board, fold(self._board, event, at)
        told = self._staged and isinstance(event, HandoffMade)
        if isinstance(event, StatusChanged | AgentSelected):
            self.note(f"{max(at, self._reached):9.3f} s       {describe_activity(event, self._language)}")
        elif not isinstance(event, StageProgress | RoundBegan) and not told and (text := sentence(event)):
            self.note(text)
        for line, now in describe_changes(before, self._board, event, at):
            if now or self._clock() - self._said >= ITEM_SECONDS:
                self.note(line)
            else:
                self._held = line
        if isinstance(event, RunEnded):
            self._release()

    def tick(self) -> None:
        silent = self._clock() - self._said
        if self._held and silent >= ITEM_SECONDS:
            self._release()
        elif silent >= HEARTBEAT_SECONDS and self._agent:
            at = self._clock() - self._began
            self.note(standing(self._board, at) or f"{at:9.3f} s       {self._agent} is at work")

    def note(self, sentence: str) -> None:
        self._release()
        self._said = self._clock()
        print(safe(sentence), file=self._stream, flush=True)

    def _release(self) -> None:
        """Say the last item that was held back; those before it are in its count."""
        if line := self._held:
            self._held = ""
            self.note(line)


def sentence(event: RunEvent) -> str:
    """An event as a line; empty where the result says it anyway."""
    match event:
        case RunBegan():
            return f"Ticket {event.ticket}: {event.workflow} run {event.run} begins with {event.agent}"
        case HandoffMade():
            return (
                f"{event.seconds:9.3f} s  {event.number:>3}  {event.source} → {event.target}  {spell_out(event.reason)}"
            )
        case AnswerRefused():
            return f"An answer of {event.sender} was refused: {event.reason}"
        case AnswerReady():
            return "The answer is there; what is left is the note on the ticket."
        case RunEnded():
            return ""
    assert_never(event)


class Drafts(msgspec.Struct, frozen=True, gc=False):
    """What nobody has checked yet, and what was found when it was."""

    texts: tuple[tuple[str, str], ...] = ()
    """Of each agent what its model has written so far; who began first stands first."""
    unverified: tuple[tuple[str, str], ...] = ()
    """Agents and statements of their last drafts that were shown, and are not in the answer."""


def fold_drafts(drafts: Drafts, event: ProgressEvent) -> Drafts:
    """The drafts after one more event. What an agent has answered is no draft any more."""
    match event:
        case AnswerText(agent=agent, start=start, text=text):
            texts = dict(drafts.texts)
            texts[agent] = texts.get(agent, "")[:start] + text
            return Drafts(tuple(each for each in texts.items() if each[1]), drafts.unverified)
        case DraftChecked(agent=agent, unverified=unverified):
            others = _drop(drafts.unverified, agent)
            return Drafts(_drop(drafts.texts, agent), (*others, *((agent, each) for each in unverified)))
        case HandoffMade(source=agent):
            return msgspec.structs.replace(drafts, texts=_drop(drafts.texts, agent)) if drafts.texts else drafts
        case AnswerReady():
            return msgspec.structs.replace(drafts, texts=())
        case RunEnded():
            return Drafts()
        case _:
            return drafts


def _drop(pairs: tuple[tuple[str, str], ...], agent: str) -> tuple[tuple[str, str], ...]:
    return tuple(each for each in pairs if each[0] != agent)


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


def fold_board(board: Board, event: ProgressEvent, at: float = 0.0) -> Board:
    """
    The board after one more event.

    :param at: seconds since the run began.
    """
    replace = msgspec.structs.replace
    board = replace(
        board, rounds=progress.fold(board.rounds, event, at), staged=board.staged or enters_stage(event),
        drafts=fold_drafts(board.drafts, event),
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


class Row(msgspec.Struct, frozen=True, gc=False):
    """One of the tickets."""

    name: str
    """Of its file."""
    mark: Mark = "pending"
    ticket: str = ""
    doing: str = ""
    """Who is at work, or at which stage it is; then how it ended."""
    began: float = 0.0
    """Seconds since the first was begun."""
    seconds: float = 0.0
    """How long it took, as soon as it is over."""
    language: str = ""
    """Of the ticket."""


def fold_row(row: Row, event: ProgressEvent, at: float) -> Row:
    """The row after one more event, which came so many seconds after the first ticket was begun."""
    replace = msgspec.structs.replace
    match event:
        case RunBegan(ticket=ticket, language=language):
            return replace(row, mark="running", ticket=ticket, language=language, began=at)
        case HandoffMade(target=target) if target != ORCHESTRATOR:
            return replace(row, doing=target)
        case StageProgress(stage=stage):
            return replace(row, doing=spell_out(stage))
        case StatusChanged() | AgentSelected():
            return replace(row, doing=describe_activity(event, row.language))
        case RunEnded(outcome=outcome):
            mark: Mark = "failed" if outcome.status in {"error", "cancelled"} else "completed"
            return replace(row, mark=mark, doing=spell_out(outcome.status), seconds=outcome.seconds)
        case _:
            return row


def short(names: Sequence[str]) -> list[str]:
    """Files without their folders, where that tells them apart."""
    last = [Path(name).name or name for name in names]
    return last if len(set(last)) == len(last) else list(names)


def tally(rows: Iterable[Row]) -> str:
    """`3 tickets: 1 done, 2 going on, 0 waiting`."""
    rows = list(rows)
    marks = Counter(row.mark for row in rows)
    done = marks["completed"] + marks["failed"]
    return f"{pluralize(len(rows), 'ticket')}: {done} done, {marks['running']} going on, {marks['pending']} waiting"


def room_for(rows: Sequence[Row], most: int) -> list[Row]:
    """As many rows as have room: what goes on first, then what ended last, then what waits; in their order."""
    rank = {"running": 0, "failed": 1, "completed": 1}
    order = sorted(range(len(rows)), key=lambda n: (rank.get(rows[n].mark, 2), -rows[n].began, n))
    return [rows[n] for n in sorted(order[:most])]


class PlainSeveral(View):
    """A line when a ticket is begun and when it has ended, and one now and then while nothing happens."""

    def __init__(self, names: Sequence[str], stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._began = self._said = clock()
        self._rows = [Row(name) for name in names]

    def show(self, event: ProgressEvent, number: int = 0) -> None:
        row = self._rows[number] = fold_row(self._rows[number], event, self._clock() - self._began)
        if isinstance(event, RunBegan):
            self.note(f"{row.name}: ticket {row.ticket} begins")
        elif isinstance(event, RunEnded):
            self.note(f"{row.name}: {row.doing} after {format_duration(row.seconds)}")

    def tick(self) -> None:
        if self._clock() - self._said >= HEARTBEAT_SECONDS:
            self.note(tally(self._rows))

    def note(self, sentence: str) -> None:
        self._said = self._clock()
        print(safe(sentence), file=self._stream, flush=True)
