"""`demo`: indexes the knowledge base that ships with the project; runs tickets and a research over it."""

import argparse
import sys
from typing import TYPE_CHECKING

from runtime import program
from runtime.cli import Exit
from runtime.cli.view.printing import Line, write

if TYPE_CHECKING:
    from runtime.engine.service import TicketService
    from runtime.settings import Settings
    from runtime.tickets import Ticket

SUMMARY = "run tickets and a research over the knowledge base that ships with the project"
LOG = "errors"
"""It leaves no file."""
KNOWLEDGE = "examples/knowledge"
TICKETS = (
    ("A ticket", "Hello, at home my VPN disconnects every few minutes. How can I stop that? Thanks, Kim"),
    (
        "The same ticket on the next day",
        "Hello, at home my VPN disconnects every few minutes. How can I stop that? Thanks, Kim",
    ),
    ("A ticket that the documents do not answer", "How do I reserve the tennis court on the roof?"),
)

QUESTION = "What are the limits of the VPN and of the web desktop, and what does working from home cost?"
ORDER = {"breadth": 3, "depth": 2, "sources": ("knowledge",)}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "It brings its documents, needs no key and no network, and leaves nothing behind."


def run(arguments: argparse.Namespace, settings: "Settings") -> int:  # noqa: ARG001 - the commands' contract
    import asyncio
    import tempfile

    import msgspec

    with tempfile.TemporaryDirectory(prefix="terminus-demo-") as folder:
        storage = msgspec.structs.replace(settings.storage, folder=folder)
        asyncio.run(_demo(msgspec.structs.replace(settings, storage=storage)))
    return Exit.DONE


async def _demo(settings: "Settings") -> None:
    from runtime import families
    from runtime.engine.service import open_service
    from runtime.tickets import RESEARCH, Ticket

    async with open_service(settings) as service:
        knowledge = program.shipped_file(KNOWLEDGE)
        report = await service.node.index([str(knowledge)], lambda _: None)
        print(f"Read {report.read} documents of {knowledge} in {report.seconds:.1f} s.")
        for title, text in TICKETS:
            await _run_ticket(service, title, Ticket(text=text))
        options = families.read_options(RESEARCH, ORDER, settings)
        await _run_ticket(service, "A research", Ticket(text=QUESTION, workflow=RESEARCH, options=options))
    write([Line(""), Line(_next())], sys.stdout)


async def _run_ticket(service: "TicketService", title: str, ticket: "Ticket") -> None:
    from runtime import families
    from runtime.cli.view.run_display import open_display
    from runtime.cli.view.terminal_markdown import show_end

    print(f"\n=== {title}: {ticket.text}\n", flush=True)
    flow = families.find(ticket.workflow).flow
    async with open_display(service.node.settings.run, flow) as display:
        outcome = await display.watch(await service.node.submit(ticket))
    ended = (await service.conclude(outcome))._replace(report=None)  # nothing is left that could be printed again
    show_end(ended, sys.stdout)
    sys.stdout.flush()


def _next() -> str:
    """Where to go on. `make demo` is asked before anything is activated."""
    first = "" if program.name() == "terminus" else "`. .venv/bin/activate`, "
    submit = program.command('submit "..."')
    return f"Now with your own documents: {first}{program.command('index FOLDER')}, and {submit}."
