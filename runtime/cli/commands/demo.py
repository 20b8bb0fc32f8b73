"""`demo`: indexes the knowledge base that ships with the project; runs tickets and a research over it."""

import argparse
import sys
from typing import TYPE_CHECKING

from runtime import program
from runtime.cli import Exit

if TYPE_CHECKING:
    from runtime.node import Node
    from runtime.settings import Settings

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
BREADTH, DEPTH = 3, 2


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
    from runtime.cli.view.result import lines
    from runtime.cli.view.run_display import open_display, write
    from runtime.node import Node, Ticket

    async with Node.open(settings) as node:
        knowledge = program.shipped_file(KNOWLEDGE)
        report = await node.index([str(knowledge)], lambda _: None)
        print(f"Read {report.read} documents of {knowledge} in {report.seconds:.1f} s.")
        for title, text in TICKETS:
            print(f"\n=== {title}: {text}\n", flush=True)
            async with open_display(settings) as watch:
                outcome = await watch(await node.submit(Ticket(text=text)))
            write(lines(outcome), sys.stdout)
            sys.stdout.flush()
        await _research(node, settings)


async def _research(node: "Node", settings: "Settings") -> None:
    from runtime.cli.view.result import Line, research_lines
    from runtime.cli.view.run_display import open_display, write
    from runtime.cli.view.terminal_markdown import show
    from runtime.families.research import ResearchOptions
    from runtime.node import Ticket

    print(f"\n=== A research: {QUESTION}\n", flush=True)
    brief = ResearchOptions(breadth=BREADTH, depth=DEPTH, sources=("knowledge",))
    async with open_display(settings, research=True) as watch:
        outcome = await watch(await node.submit(Ticket(text=QUESTION, workflow="research", options=brief)))
    if outcome.resolution is not None:
        show(outcome.resolution.text, sys.stdout)
    write([Line(""), *research_lines(outcome), Line(""), Line(_next())], sys.stdout)


def _next() -> str:
    """Where to go on. `make demo` is asked before anything is activated."""
    first = "" if program.name() == "terminus" else "`. .venv/bin/activate`, "
    submit = program.command('submit "..."')
    return f"Now with your own documents: {first}{program.command('index FOLDER')}, and {submit}."
