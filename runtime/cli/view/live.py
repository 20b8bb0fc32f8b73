"""The live views on a terminal: stages, what happens in them, seconds left. Only a terminal loads this, and rich."""

import abc
import time
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from actors.workflow import progress
from actors.workflow.outcome import RunBegan, RunEnded
from actors.workflow.progress import ProgressEvent
from runtime.cli.view import round_lines
from runtime.cli.view.result import Line
from runtime.cli.view.ticket_board import Board, Mark, Stage, fold
from runtime.messages import pluralize, safe, spell_out

FRAME_SECONDS = 0.04
"""Events that come closer together are drawn together, by the next tick: drawing takes the loop a few ms."""

ICONS: dict[Mark, tuple[str, str]] = {
    "pending": ("○", "dim"),
    "running": ("●", "bold cyan"),
    "completed": ("✔", "green"),
    "failed": ("✘", "bold red"),
    "skipped": ("·", "dim"),
}
STYLES = {
    "good": "bold green", "unsure": "yellow", "poor": "bold yellow", "bad": "bold red", "strong": "bold",
    "faint": "dim", "quote": "italic", "going": "cyan",
}  # fmt: skip


class Redrawn(abc.ABC):
    """Something that is redrawn in place and removed when it closes; the result takes its place."""

    def __init__(self, stream: TextIO) -> None:
        self.notes: list[str] = []
        self._console = console(stream)
        self._began = time.monotonic()
        self._drawn = 0.0
        self._live = Live(
            console=self._console,
            auto_refresh=False,  # that would be a thread; `tick` does
            transient=True,
            get_renderable=self._picture,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def tick(self) -> None:
        self._drawn = time.monotonic()
        self._live.refresh()

    def soon(self) -> None:
        """Draw what has changed, if it is not drawn by the next tick anyway."""
        if time.monotonic() - self._drawn >= FRAME_SECONDS:
            self.tick()

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)
        self.tick()

    def close(self) -> None:
        self._live.stop()

    def height(self) -> int:
        """Rows of the terminal."""
        return self._console.height

    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began

    def begin(self) -> None:
        self._began = time.monotonic()

    def above(self, picture: Group) -> None:
        """Draw something that stays."""
        self._console.print(picture)

    @abc.abstractmethod
    def _picture(self) -> Group: ...


class Drawn(Redrawn):
    """What is drawn of one run."""

    def __init__(self, stream: TextIO, max_seconds: float) -> None:
        self._max_seconds = max_seconds
        super().__init__(stream)

    def show(self, event: ProgressEvent) -> None:
        if isinstance(event, RunBegan):
            self.begin()
        self._fold(event)
        if isinstance(event, RunEnded):
            self.close()
        else:
            self.soon()

    @abc.abstractmethod
    def _fold(self, event: ProgressEvent) -> None: ...


class LiveView(Drawn):
    """The board of a ticket."""

    def __init__(self, board: Board, stream: TextIO, max_seconds: float, max_handoffs: int) -> None:
        self._board, self._max_handoffs = board, max_handoffs
        super().__init__(stream, max_seconds)

    def _fold(self, event: ProgressEvent) -> None:
        self._board = fold(self._board, event)

    def _picture(self) -> Group:
        return picture(self._board, self.seconds(), self._max_seconds, self._max_handoffs, self.notes)


class RoundsView(Drawn):
    """The stages of a research, below the rounds that were begun, which stay."""

    def __init__(self, stream: TextIO, max_seconds: float) -> None:
        self._board = progress.Progress()
        super().__init__(stream, max_seconds)

    def _fold(self, event: ProgressEvent) -> None:
        before, self._board = self._board, progress.fold(self._board, event, self.seconds())
        if began := round_lines.new_round(before, event):
            explored, known = round_lines.opening(began)
            self.above(Group(Text(safe(explored), "bold"), Text(safe(known), "dim")))

    def _picture(self) -> Group:
        return research(self._board, self.seconds(), self._max_seconds, self.notes)


def picture(board: Board, elapsed: float, max_seconds: float, max_handoffs: int, notes: Iterable[str] = ()) -> Group:
    """The board as it looks after so many seconds."""
    left = max(0.0, max_seconds - elapsed)
    head = Text.assemble(
        (safe(f"Ticket {board.ticket}" if board.ticket else "Ticket"), "bold"),
        (f"   {elapsed:.1f} s, at most {left:.0f} s left   handoff {board.handoffs} of at most {max_handoffs}", "dim"),
        overflow="ellipsis",
        no_wrap=True,
    )
    return Group(
        head,
        _stages(board.stages, elapsed),
        *(faint(f"{each.at:9.3f} s  {each.source} → {each.target}  {spell_out(each.reason)}") for each in board.latest),
        *([faint(pluralize(board.refused, "message") + " refused")] if board.refused else []),
        *(Text(safe(note), "yellow") for note in notes),
    )


def research(board: progress.Progress, elapsed: float, max_seconds: float, notes: Iterable[str] = ()) -> Group:
    """How far a research is after so many seconds."""
    known = board.seconds_left(elapsed)
    about = "" if known is None else f", about {known:.0f} s to go"
    head = Text.assemble(
        (safe(f"Research {board.ticket}".strip()), "bold"),
        (f"   {board.percent} %{about}   round {max(board.round, 1)} of at most {board.of}", ""),
        (f"   {elapsed:.1f} s, at most {max(0.0, max_seconds - elapsed):.0f} s left", "dim"),
        overflow="ellipsis",
        no_wrap=True,
    )
    table = Table.grid(padding=(0, 2))
    for stage in board.stages:
        icon, style = ICONS[stage.mark]
        table.add_row(
            Text(icon, style), Text(stage.name.capitalize(), style), Text(f"{stage.percent:>3} %", style),
            Text(round_lines.items(stage.done, stage.total).strip(), style), Text(_took(stage, elapsed), style),
            faint(round_lines.cut(stage.item or stage.step)),
        )  # fmt: skip
    return Group(head, table, *(Text(safe(note), "yellow") for note in notes))


def _took(stage: progress.Stage, elapsed: float) -> str:
    """The seconds that a stage took, or has yet to take if that can be known, or takes by now."""
    if stage.mark == "pending":
        return ""
    if stage.mark != "running":
        return f"{stage.seconds:.1f} s"
    left = stage.seconds_left(elapsed)
    return f"{max(0.0, elapsed - stage.began):.1f} s" if left is None else f"about {left:.0f} s left"


def _stages(stages: Iterable[Stage], elapsed: float) -> Table:
    table = Table.grid(padding=(0, 2))
    for stage in stages:
        icon, style = ICONS[stage.mark]
        seconds = elapsed - (stage.began or 0.0) if stage.mark == "running" else stage.seconds
        time_ = f"{max(0.0, seconds):.1f} s" if stage.mark in {"running", "completed", "failed"} else ""
        table.add_row(Text(icon, style), Text(safe(stage.label), style), faint(stage.agent), Text(time_, style))
    return table


def faint(text: str) -> Text:
    """Text from outside on one line, as far as there is room."""
    return Text(safe(text), "dim", overflow="ellipsis", no_wrap=True)


def console(stream: TextIO) -> Console:
    """A console that takes nothing in a text for markup."""
    return Console(file=stream, markup=False, highlight=False, emoji=False)


def write(lines: Iterable[Line], stream: TextIO) -> None:
    """Print lines wrapped to the terminal and coloured."""
    target = console(stream)
    for paragraph in paragraphs(lines):
        target.print(paragraph)


def paragraphs(lines: Iterable[Line]) -> Iterable[Padding]:
    """Lines as rich draws them."""
    for line in lines:
        text = Text(safe(line.text), STYLES.get(line.style, ""))
        for start, end, style in line.spans:
            text.stylize(STYLES.get(style, ""), start, end)
        yield Padding(text, (0, 0, 0, line.indent))
