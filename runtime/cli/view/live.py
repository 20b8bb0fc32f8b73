"""The live views on a terminal: stages, what happens in them, seconds left. Only a terminal loads this, and rich."""

import abc
import time
from collections.abc import Iterable, Sequence
from typing import TextIO

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from actors.text.catalogue import say
from actors.text.normalize import unescape_markdown
from actors.workflow import progress
from actors.workflow.outcome import RunBegan, RunEnded
from actors.workflow.progress import ProgressEvent
from actors.workflow.tables import Workflow
from runtime.cli.view.board import (
    Board,
    Drafts,
    Row,
    Stage,
    View,
    board,
    cut,
    fold_board,
    fold_row,
    items,
    new_round,
    opening,
    room_for,
    short,
    tally,
)
from runtime.cli.view.printing import console
from runtime.cli.view.width import fit
from runtime.times import format_duration
from runtime.user_text import pluralize, safe, spell_out

FRAME_SECONDS = 0.04
"""Events that come closer together are drawn together, by the next tick: drawing takes the loop a few ms."""
NAME_COLUMNS = 30
ANSWER_LINES = 12
"""So much of an answer is shown while the run goes on: what is taller than the screen cannot be redrawn."""
DRAFT_CHARACTERS = 400
"""So much is shown of what is being written: its end."""
UNVERIFIED = 4
"""So many statements that were left out."""
BESIDES = 4
"""Rows of the screen that are not for tickets, where there are several."""

ICONS = {
    "pending": ("○", "dim"), "running": ("●", "bold cyan"), "completed": ("✔", "green"), "failed": ("✘", "bold red"),
    "skipped": ("·", "dim"),
}  # fmt: skip


class LiveView(View, abc.ABC):
    """Something that is redrawn in place and removed when it closes; the result takes its place."""

    def __init__(self, stream: TextIO) -> None:
        self._notes: list[str] = []
        self._console = console(stream)
        self._began = time.monotonic()
        self._drawn = 0.0
        self._live = Live(
            console=self._console,
            auto_refresh=False,  # that would be a thread; `tick` does
            transient=True,
            get_renderable=self._draw,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def show(self, event: ProgressEvent, number: int = 0) -> None:
        """Draw what an event changes, if it is not drawn by the next tick anyway."""
        self._fold(event, number)
        if time.monotonic() - self._drawn >= FRAME_SECONDS:
            self.tick()

    def tick(self) -> None:
        self._drawn = time.monotonic()
        self._live.refresh()

    def note(self, sentence: str) -> None:
        self._notes.append(sentence)
        self.tick()

    def close(self) -> None:
        self._live.stop()

    def _seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began

    @abc.abstractmethod
    def _fold(self, event: ProgressEvent, number: int) -> None: ...

    @abc.abstractmethod
    def _draw(self) -> Group: ...


class BoardView(LiveView):
    """The stages of one run; rounds that were begun stay above them."""

    shows_drafts = True

    def __init__(self, flow: Workflow, stream: TextIO, max_seconds: float, max_handoffs: int) -> None:
        self._board, self._limits = board(flow), (max_seconds, max_handoffs)
        super().__init__(stream)

    def _fold(self, event: ProgressEvent, number: int) -> None:  # noqa: ARG002 - there is one run
        if isinstance(event, RunBegan):
            self._began = time.monotonic()
        before, self._board = self._board, fold_board(self._board, event, self._seconds())
        if self._board.staged and (began := new_round(before.rounds, event)):
            explored, known = opening(began)
            self._console.print(Group(Text(safe(explored), "bold"), Text(safe(known), "dim")))
        if isinstance(event, RunEnded):
            self.close()

    def _draw(self) -> Group:
        return picture(self._board, self._seconds(), *self._limits, self._notes)


class SeveralView(LiveView):
    """Several tickets, a line each."""

    def __init__(self, names: Sequence[str], stream: TextIO) -> None:
        self._rows = [Row(name) for name in short(names)]
        super().__init__(stream)

    def _fold(self, event: ProgressEvent, number: int) -> None:
        self._rows[number] = fold_row(self._rows[number], event, self._seconds())

    def _draw(self) -> Group:
        room = max(1, self._console.height - BESIDES - len(self._notes))
        return picture_several(self._rows, self._seconds(), room, self._notes)


def picture(board: Board, elapsed: float, max_seconds: float, max_handoffs: int, notes: Iterable[str] = ()) -> Group:
    """The board as it looks after so many seconds."""
    left = f"{elapsed:.1f} s, at most {max(0.0, max_seconds - elapsed):.0f} s left"
    if board.staged and board.rounds.round:
        return Group(*_draw_rounds(board, elapsed, left), *_draw_notes(notes))
    table = Table.grid(padding=(0, 2))
    for stage in board.stages:
        table.add_row(*_draw_stage(stage, elapsed))
        for row in _draw_team(stage):
            table.add_row(*row)
    return Group(
        _headline(f"Ticket {board.ticket}", f"   {left}   handoff {board.handoffs} of at most {max_handoffs}"),
        table,
        *(faint(f"{each.at:9.3f} s  {each.source} → {each.target}  {spell_out(each.reason)}") for each in board.latest),
        *(
            Text(safe(line))
            for line in ["", *unescape_markdown(board.answer).splitlines()[:ANSWER_LINES]]
            if board.answer
        ),
        *_draw_drafts(board.drafts, board.language),
        *([faint(pluralize(board.refused, "message") + " refused")] if board.refused else []),
        *_draw_notes(notes),
    )


def _draw_stage(stage: Stage, elapsed: float) -> list[Text]:
    icon, style = ICONS[stage.mark]
    seconds = elapsed - (stage.began or 0.0) if stage.mark == "running" else stage.seconds
    took = f"{max(0.0, seconds):.1f} s" if stage.mark in {"running", "completed", "failed"} else ""
    return [
        Text(icon, style), Text(safe(stage.label), style), faint(stage.agent), Text(took, style),
        Text(items(*stage.count).strip(), style), faint(cut(stage.item)),
    ]  # fmt: skip


def _draw_team(stage: Stage) -> Iterable[list[Text]]:
    """Who is asked side by side at the moment, and what each of them does."""
    if stage.mark != "running":
        return
    doing = dict(stage.doing)
    for name in (each for each in stage.team if each in stage.asked):
        over = name in stage.answered
        icon, style = ICONS["completed" if over else "running"]
        said = "" if over else doing.get(name, "")
        yield [Text(icon, style), Text(safe(name), style), faint(said)]


def _draw_drafts(drafts: Drafts, language: str) -> Iterable[Text]:
    """What models write, as what it is: nobody has checked it. Then what of it is not in the answer."""
    if drafts.texts:
        yield Text(f"\n{say('draft_unchecked', language)}", "dim bold")
    for agent, text in drafts.texts:
        latest = unescape_markdown(text)[-DRAFT_CHARACTERS // len(drafts.texts) :]
        cut = "… " if len(latest) < len(text) else ""
        yield Text(safe(f"{agent}: {cut}{' '.join(latest.split())}"), "dim italic")
    if drafts.unverified:
        yield Text(f"\n{say('draft_unverified', language)}", "dim bold")
        yield from (Text(fit(each, DRAFT_CHARACTERS), "dim strike") for _, each in drafts.unverified[:UNVERIFIED])


def _draw_rounds(board: Board, elapsed: float, left: str) -> Iterable[Text | Table]:
    """How far a run that goes through rounds is after so many seconds."""
    rounds = board.rounds
    known = rounds.remaining_seconds(elapsed)
    about = "" if known is None else f", about {known:.0f} s to go"
    done = f"   {rounds.percent} %{about}   round {rounds.round} of at most {rounds.of}"
    yield _headline(f"{board.workflow.capitalize()} {board.ticket}", f"   {left}", done)
    table = Table.grid(padding=(0, 2))
    for stage in rounds.stages:
        icon, style = ICONS[stage.mark]
        table.add_row(
            Text(icon, style), Text(stage.name.capitalize(), style), Text(f"{stage.percent:>3} %", style),
            Text(items(stage.done, stage.total).strip(), style), Text(_format_time(stage, elapsed), style),
            faint(cut(stage.item or stage.step)),
        )  # fmt: skip
    yield table


def _format_time(stage: progress.Stage, elapsed: float) -> str:
    """The seconds that a stage took, or has yet to take if that can be known, or takes by now."""
    if stage.mark == "pending":
        return ""
    if stage.mark != "running":
        return f"{stage.seconds:.1f} s"
    left = stage.remaining_seconds(elapsed)
    return f"{max(0.0, elapsed - stage.began):.1f} s" if left is None else f"about {left:.0f} s left"


def picture_several(rows: Sequence[Row], elapsed: float, room: int, notes: Iterable[str] = ()) -> Group:
    """Several tickets as they look after so many seconds, with room for so many of them."""
    table = Table.grid(padding=(0, 2))
    for row in room_for(rows, room):
        icon, style = ICONS[row.mark]
        seconds = elapsed - row.began if row.mark == "running" else row.seconds
        took = "" if row.mark == "pending" else format_duration(seconds)
        name = Text(fit(row.name, NAME_COLUMNS), style, no_wrap=True, overflow="ellipsis")
        table.add_row(Text(icon, style), name, faint(row.ticket), faint(row.doing), Text(took, style))
    return Group(_headline(tally(rows), f"   {format_duration(elapsed)}"), table, *_draw_notes(notes))


def _headline(title: str, more: str, plain: str = "") -> Text:
    return Text.assemble((safe(title.strip()), "bold"), plain, (more, "dim"), overflow="ellipsis", no_wrap=True)


def _draw_notes(notes: Iterable[str]) -> Iterable[Text]:
    return (Text(safe(note), "yellow") for note in notes)


def faint(text: str) -> Text:
    """Text from outside on one line, as far as there is room."""
    return Text(safe(text), "dim", overflow="ellipsis", no_wrap=True)
