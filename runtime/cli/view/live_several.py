"""The live view of several tickets on a terminal, a line each. Only a terminal loads this, and rich."""

from collections.abc import Iterable, Sequence
from typing import TextIO

from rich.console import Group
from rich.table import Table
from rich.text import Text

from actors.workflow.progress import ProgressEvent
from runtime.cli.view.live import ICONS, Redrawn, faint
from runtime.cli.view.several_tickets import Row, fold, room_for, short, tally
from runtime.cli.view.width import fit
from runtime.messages import safe
from runtime.times import format_duration

NAME_COLUMNS = 30
BESIDES = 4
"""Rows of the screen that are not for tickets."""


class LiveTogether(Redrawn):
    """The board of several tickets."""

    def __init__(self, names: Sequence[str], stream: TextIO) -> None:
        self._rows = [Row(name) for name in short(names)]
        super().__init__(stream)

    def show(self, number: int, event: ProgressEvent) -> None:
        self._rows[number] = fold(self._rows[number], event, self.seconds())
        self.soon()

    def _picture(self) -> Group:
        room = max(1, self.height() - BESIDES - len(self.notes))
        return picture(self._rows, self.seconds(), room, self.notes)


def picture(rows: Sequence[Row], elapsed: float, room: int, notes: Iterable[str] = ()) -> Group:
    """The board as it looks after so many seconds, with room for so many tickets."""
    table = Table.grid(padding=(0, 2))
    for row in room_for(rows, room):
        icon, style = ICONS[row.mark]
        seconds = elapsed - row.began if row.mark == "running" else row.seconds
        took = "" if row.mark == "pending" else format_duration(seconds)
        name = Text(fit(row.name, NAME_COLUMNS), style, no_wrap=True, overflow="ellipsis")
        table.add_row(Text(icon, style), name, faint(row.ticket), faint(row.doing), Text(took, style))
    return Group(
        Text.assemble(
            (tally(rows), "bold"), (f"   {format_duration(elapsed)}", "dim"), overflow="ellipsis", no_wrap=True
        ),
        table,
        *(Text(safe(note), "yellow") for note in notes),
    )
