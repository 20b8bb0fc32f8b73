"""Draws docs/run.svg, the picture of a run in the README: `python -m docs.picture` from the project's folder."""

import asyncio
import io
import logging
import re
import tempfile
from pathlib import Path

import msgspec
import structlog
from rich.console import Console

from actors.helpdesk.workflow import HELPDESK
from actors.workflow.outcome import HandoffMade
from actors.workflow.progress import ProgressEvent
from runtime.cli.commands.demo import KNOWLEDGE, TICKETS
from runtime.cli.view.board import board
from runtime.cli.view.board import fold_board as fold
from runtime.cli.view.live import paragraphs, picture
from runtime.cli.view.result import lines
from runtime.engine.node import Node
from runtime.program import shipped_file
from runtime.settings import Settings, StorageSettings
from runtime.tickets import Ticket

FILE = Path(__file__).with_name("run.svg")
WORKING = 5
"""The handoff to whoever works on the ticket."""


async def draw(folder: str) -> str:
    """Run the demo's first ticket; show the board while the worker is at it, then the result."""
    settings = Settings(storage=StorageSettings(folder=folder))
    console = Console(record=True, width=118, file=io.StringIO(), force_terminal=True)
    async with Node.open(settings) as node:
        await node.index([str(shipped_file(KNOWLEDGE))], lambda _: None)
        handle = await node.submit(Ticket(text=TICKETS[0][1], id="T-1842"))
        seen: list[ProgressEvent] = [event async for event in handle.watch()]
        outcome = await handle.outcome()
    now, shown_at = board(HELPDESK), 0.0
    for event in seen:
        now = fold(now, event)
        if isinstance(event, HandoffMade):
            shown_at = event.seconds + 0.1
            if event.number == WORKING:
                break
    console.print(f'$ terminus submit "{TICKETS[0][1]}"\n', style="bold")
    console.print(picture(now, shown_at, settings.run.max_seconds, settings.run.max_handoffs))
    console.print()
    for paragraph in paragraphs(lines(msgspec.structs.replace(outcome, run="R-5c1d2e8a90b4"))):
        console.print(paragraph)
    svg = console.export_svg(title="terminus submit")
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)  # nothing is loaded from elsewhere
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = svg.replace("<svg ", '<svg xml:space="preserve" ', 1)  # or spaces at the beginning of a text are lost
    return re.sub(r"terminal-\d+", "terminal", svg)


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with tempfile.TemporaryDirectory() as temporary:
        FILE.write_text(asyncio.run(draw(temporary)), encoding="utf-8")
