"""The live view on a terminal: stages, handoffs as they happen, seconds left. Only a terminal loads it, and rich."""

import time
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from actors.outcome import Progress, RunBegan, RunEnded
from runtime.view.report import Line, counted
from runtime.view.stages import Board, Mark, Stage, fold
from runtime.wording import safe, spoken

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
    "good": "bold green", "poor": "bold yellow", "bad": "bold red", "strong": "bold", "faint": "dim", "quote": "italic"
}  # fmt: skip


class LiveView:
    """Redraws one board in place and removes it when the run is over; the result takes its place."""

    def __init__(self, board: Board, stream: TextIO, max_seconds: float, max_handoffs: int) -> None:
        self._board, self._max_seconds, self._max_handoffs = board, max_seconds, max_handoffs
        self._notes: list[str] = []
        self._began = time.monotonic()
        self._drawn = 0.0
        self._live = Live(
            console=console(stream),
            auto_refresh=False,  # that would be a thread; `tick` does
            transient=True,
            get_renderable=self._picture,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def show(self, event: Progress) -> None:
        if isinstance(event, RunBegan):
            self._began = time.monotonic()
        self._board = fold(self._board, event)
        if isinstance(event, RunEnded):
            self.close()
        elif time.monotonic() - self._drawn >= FRAME_SECONDS:
            self.tick()

    def tick(self) -> None:
        self._drawn = time.monotonic()
        self._live.refresh()

    def note(self, sentence: str) -> None:
        self._notes.append(sentence)
        self.tick()

    def close(self) -> None:
        self._live.stop()

    def _picture(self) -> Group:
        return picture(self._board, time.monotonic() - self._began, self._max_seconds, self._max_handoffs, self._notes)


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
        *(_faint(f"{each.at:9.3f} s  {each.source} → {each.target}  {spoken(each.reason)}") for each in board.latest),
        *([_faint(counted(board.refused, "message") + " refused")] if board.refused else []),
        *(Text(safe(note), "yellow") for note in notes),
    )


def _stages(stages: Iterable[Stage], elapsed: float) -> Table:
    table = Table.grid(padding=(0, 2))
    for stage in stages:
        icon, style = ICONS[stage.mark]
        seconds = elapsed - (stage.began or 0.0) if stage.mark == "running" else stage.seconds
        time_ = f"{max(0.0, seconds):.1f} s" if stage.mark in {"running", "completed", "failed"} else ""
        table.add_row(Text(icon, style), Text(safe(stage.label), style), _faint(stage.agent), Text(time_, style))
    return table


def _faint(text: str) -> Text:
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
    return (Padding(Text(safe(line.text), STYLES.get(line.style, "")), (0, 0, 0, line.indent)) for line in lines)
