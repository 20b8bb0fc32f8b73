"""`report`: prints the report of a research, or writes it to a file."""

import argparse
import sys
from typing import TYPE_CHECKING

from runtime.cli import Exit, UserError, utf8
from runtime.program import command

if TYPE_CHECKING:
    from pathlib import Path

    from actors.reporting.report import Report
    from runtime.settings import Settings


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "exit status: 0 done, 2 bad input, 3 there is no such research, or no report of it yet."
    parser.add_argument("id", type=utf8, help="a ticket or a run")
    parser.add_argument("--out", metavar="FILE", help="write it as .md, .html, .docx or .pdf, and print nothing")
    parser.add_argument("--json", action="store_true", help="print it as one JSON object and nothing else")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import asyncio

    from actors.reporting.markdown import render_markdown
    from runtime.cli.research_options import destination
    from runtime.cli.view.result import as_json
    from runtime.cli.view.terminal_markdown import show

    out = None if arguments.out is None else destination(arguments.out)
    report = asyncio.run(_report(arguments.id, settings))
    if out is not None:
        write(report, out)
    if arguments.json:
        print(as_json(report))
    elif out is None:
        show(render_markdown(report), sys.stdout)
    return Exit.DONE


async def _report(some_id: str, settings: "Settings") -> "Report":
    from runtime.cli.session import find, open_node
    from runtime.node import NoReport

    async with open_node(settings) as node:
        find(node, some_id)
        try:
            return node.report(some_id)
        except NoReport as error:
            raise UserError(str(error), Exit.NOT_FOUND) from None


def write(report: "Report", out: "Path") -> None:
    """Write a report and say so."""
    from runtime.messages import safe
    from runtime.reports import write

    try:
        write(report, out)
    except OSError as error:
        what = f"{safe(str(out))} could not be written ({error.strerror or type(error).__name__})"
        raise UserError(f"{what}. Make room or name another file: {command('report ID --out FILE')}.") from None
    print(f"Written to {safe(str(out))}.", file=sys.stderr, flush=True)
