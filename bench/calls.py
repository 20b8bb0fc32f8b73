"""
What a research, or a ticket, costs with a model: calls and tokens, counted with a fake server over some documents.

    python -m bench.calls --manual FOLDER [--tickets] [--json]

The fake one asks three questions a round, makes five claims of each answer and is never satisfied, so that every round
that is allowed takes place. Tokens are estimated from the texts that were really sent.
"""

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import structlog

from actors.research.models import ResearchOptions
from actors.workflow.outcome import Spent
from bench.measure import Figures, NotMeasured, arguments, median, report, table
from bench.research import QUESTIONS
from runtime.engine.node import Node
from runtime.settings import ModelSettings, Settings, StorageSettings
from runtime.tickets import Ticket

COUNTED = ("calls", "tokens_in", "tokens_out")


@contextlib.contextmanager
def _server(module: str = "tests.thinking") -> Iterator[str]:
    """A model server in a process of its own."""
    command = [sys.executable, "-m", module]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1" if process.stdout else ""
        finally:
            process.kill()


async def _spent(node: Node, question: str) -> Spent:
    settings = node.settings.research
    handle = await node.submit(
        Ticket(text=question, workflow="research", options=ResearchOptions(settings.breadth, settings.depth))
    )
    outcome = await handle.outcome()
    if outcome.why != "completed" or outcome.degraded:
        raise NotMeasured(f"{question!r} ended as {outcome.why}: {outcome.detail or outcome.degraded}")
    return outcome.spent


async def measure(manual: Path) -> Figures:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    with _server() as url, tempfile.TemporaryDirectory() as folder:
        settings = Settings(storage=StorageSettings(folder=folder), model=ModelSettings(base_url=url, name="fake"))
        async with Node.open(settings) as node:
            await node.index([str(manual)], lambda _: None)
            spent = [await _spent(node, question) for question in QUESTIONS]
    figures: Figures = {"questions": len(spent)}
    for name in COUNTED:
        counted = [float(getattr(each, name)) for each in spent]
        figures[name] = {"median": median(counted), "most": max(counted)}
    return figures


async def measure_tickets(manual: Path) -> Figures:
    """A ticket of each question, with the second reading and without."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    figures: Figures = {"questions": len(QUESTIONS)}
    for reading in (False, True):
        with _server("tests.solving") as url, tempfile.TemporaryDirectory() as folder:
            model = ModelSettings(base_url=url, name="fake", second_reading=reading)
            async with Node.open(Settings(storage=StorageSettings(folder=folder), model=model)) as node:
                await node.index([str(manual)], lambda _: None)
                spent = [(await (await node.submit(Ticket(text=each))).outcome()).spent for each in QUESTIONS]
        for name in COUNTED:
            counted = [float(getattr(each, name)) for each in spent]
            key = f"{name}, {'read twice' if reading else 'read once'}"
            figures[key] = {"median": median(counted), "most": max(counted)}
    return figures


def show_tickets(figures: Mapping[str, Any]) -> str:
    names = [name for name in figures if name != "questions"]
    rows = [[name, *(f"{figures[name][which]:,.0f}" for which in ("median", "most"))] for name in names]
    return table(("a ticket", "median", "most"), rows)


def show(figures: Mapping[str, Any]) -> str:
    rows = [[name, *(f"{figures[name][which]:,.0f}" for which in ("median", "most"))] for name in COUNTED]
    return table(("a default research", "median", "most"), rows)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--manual", type=Path, required=True, help="the folder of documents")
    parser.add_argument("--tickets", action="store_true", help="tickets instead of researches")
    given = parser.parse_args()
    if given.tickets:
        return report(given, lambda: measure_tickets(given.manual), show_tickets)
    return report(given, lambda: measure(given.manual), show)


if __name__ == "__main__":
    sys.exit(main())
