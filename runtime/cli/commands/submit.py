"""`submit`: runs one ticket, or one research, shows it on its way, and prints what came of it."""

import argparse
import sys
from typing import TYPE_CHECKING

from runtime.cli import utf8
from runtime.program import command
from runtime.search.sources import names
from runtime.service_error import ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import msgspec

    from actors.reporting.report import Report
    from actors.workflow.outcome import Outcome
    from runtime.cli.ticket_input import Draft, Read
    from runtime.cli.view.result import Line
    from runtime.run_record import EndedRecord
    from runtime.settings import Settings

    Tell = Callable[[EndedRecord, "Report | None", str], None]

SUMMARY = "run one ticket or research and print what came of it"
EPILOG = """\
exit status:
  0    resolved or suggested
  1    something failed
  2    bad input
  3    not found in the sources
  4    a limit was reached: a loop, too many handoffs, out of time, out of tries
  130  cancelled (Ctrl-C: gently; twice: at once)
  of several tickets: that of the worst, in the order 130, 1, 4, 3, 0

examples:
  %(prog)s "My VPN disconnects every ten minutes"
  %(prog)s ticket.md --json
  %(prog)s monday.md tuesday.json --json     (two tickets, a line each)
  cat ticket.txt | %(prog)s -
  %(prog)s --research "How do PostgreSQL and SQLite differ?" --breadth 5 --depth 2 --out report.html
  %(prog)s --research "What changed in Python 3.14?" --depth 10       (one pass over 10 pages)

A Markdown file may begin with front matter (subject, id, requester); a JSON file
is an object with text, and those. Several names of files are several tickets, side
by side. Progress goes to stderr, the result to stdout; that of a research is its
report in Markdown.
"""
OF_ONE = ("id", "subject", "out")
RESEARCH_ONLY = ("breadth", "depth", "sources", "url", "out")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument(
        "ticket", nargs="*", help='the text; a Markdown, text or JSON file, or several; or "-" for stdin'
    )
    parser.add_argument("--id", type=utf8, help="the ticket's id in your helpdesk (default: a new one)")
    parser.add_argument("--subject", type=utf8, help="its subject line")
    parser.add_argument("--requester", type=utf8, help="who asks")
    parser.add_argument("--json", action="store_true", help="print the outcome as one JSON object and nothing else")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the handoffs and the summary, too")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    research = parser.add_argument_group("research")
    research.add_argument("--research", action="store_true", help="the text is a question; its answer is a report")
    research.add_argument("--breadth", type=int, metavar="N", help="pages a round (default: [research] breadth)")
    research.add_argument(
        "--depth", type=int, metavar="N", help="rounds at most; without --breadth: one pass over N pages"
    )
    research.add_argument("--sources", type=utf8, metavar="LIST", help=f"of {','.join(names())} (default: all)")
    research.add_argument("--url", type=utf8, nargs="+", action="extend", help="pages that are read in any case")
    research.add_argument("--out", metavar="FILE", help="write the report, too: .md, .html, .docx or .pdf")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import asyncio

    from runtime.cli.several import submit_all
    from runtime.cli.ticket_input import read_all
    from runtime.cli.view.result import worst

    brief = _brief(arguments, settings)
    out = _out(arguments)
    tickets = [_ordered(each, arguments, brief) for each in read_all(arguments.ticket, settings.run.ticket_kilobytes)]
    if len(tickets) == 1:
        return asyncio.run(_submit(tickets[0].draft, settings, _teller(arguments), out, quiet=arguments.quiet))
    for name in OF_ONE:
        if getattr(arguments, name) is not None:
            raise ServiceError(
                f"--{name} is for one ticket, and these are {len(tickets)}: leave it away, or submit one."
            )
    return worst(asyncio.run(submit_all(tickets, settings, _teller(arguments), quiet=arguments.quiet)))


def _teller(arguments: argparse.Namespace) -> "Tell":
    """What says how a ticket ended, and of which file it was if there are several."""

    def tell(ended: "EndedRecord", report: "Report | None", file: str) -> None:
        import msgspec

        from runtime.cli.view.result import Line
        from runtime.cli.view.run_display import write
        from runtime.messages import as_json

        if arguments.json:
            print(as_json({"file": file, **msgspec.to_builtins(ended)} if file else ended))
            sys.stdout.flush()
            return
        if file:
            write([Line(f"=== {file}", "strong")], sys.stdout)
        if not arguments.research:
            _show(ended, verbose=arguments.verbose)
        else:
            _show_report(ended, report, verbose=arguments.verbose)
        if file:
            print()
        sys.stdout.flush()

    return tell


def _show(outcome: "Outcome", *, verbose: bool) -> None:
    from runtime.cli.view.result import lines
    from runtime.cli.view.run_display import write

    write([*lines(outcome, verbose=verbose), *_question(outcome)], sys.stdout)


def _show_report(outcome: "Outcome", report: "Report | None", *, verbose: bool) -> None:
    """The report on stdout, so that it can be piped into a file, and how it ended on stderr."""
    from runtime.cli.view.result import Line, handoffs, research_lines
    from runtime.cli.view.run_display import write
    from runtime.cli.view.terminal_markdown import show

    if outcome.resolution is not None:
        show(outcome.resolution.text, sys.stdout)
        sys.stdout.flush()
    made = handoffs(outcome.handoffs) if verbose else ()
    write([Line(""), *made, *research_lines(outcome, report)], sys.stderr)


def _write(report: "Report | None", out: "Path") -> None:
    from runtime.cli.commands.report import write

    if report is None:
        raise ServiceError(f"{out.name} was not written: the research ended before there was a report.", "failed")
    write(report, out)


def _question(outcome: "Outcome") -> "list[Line]":
    """Whoever got an answer is asked for a word on it: what memory may give to others rests on that."""
    from runtime.cli.view.result import Line
    from runtime.messages import safe

    if outcome.status not in {"resolved", "suggested"}:
        return []
    said = f"Did it help? {command(f'feedback {safe(outcome.ticket)} --right|--wrong')}"
    return [Line(said, "faint")]


def _brief(arguments: argparse.Namespace, settings: "Settings") -> "msgspec.Struct | None":
    """What the research is to be, if it is one."""
    if not arguments.research:
        for name in RESEARCH_ONLY:
            if getattr(arguments, name) is not None:
                raise ServiceError(f"--{name} is for a research: add --research, or leave it away.")
        return None
    from runtime.families import read_options

    sources = tuple((arguments.sources or "").replace(",", " ").split())
    if arguments.sources is not None and not sources:
        raise ServiceError(f"--sources names none: give some of {','.join(names())}, or leave it away.")
    given = {"breadth": arguments.breadth, "depth": arguments.depth, "sources": sources, "urls": arguments.url}
    return read_options("research", {name: value for name, value in given.items() if value is not None}, settings)


def _out(arguments: argparse.Namespace) -> "Path | None":
    """Where the report is to be written: looked at before the research is begun, not after."""
    if arguments.out is None:
        return None
    from runtime.cli.commands.report import destination

    return destination(arguments.out)


def _ordered(read: "Read", arguments: argparse.Namespace, brief: "msgspec.Struct | None") -> "Read":
    """The ticket with what the options say of it."""
    import msgspec

    from runtime.cli.ticket_input import validate

    given = {name: getattr(arguments, name) for name in ("id", "subject", "requester")}
    named = {name: value for name, value in given.items() if value is not None}
    draft = msgspec.structs.replace(read.draft, **named, brief=brief)
    return read._replace(draft=validate(draft, "The command line") if named else draft)


async def _submit(draft: "Draft", settings: "Settings", tell: "Tell", out: "Path | None", *, quiet: bool) -> int:
    """The exit status. How it ended is told before anything is put away, which may take a second."""
    from runtime.cli.session import came_of
    from runtime.cli.view.result import exit_status
    from runtime.cli.view.run_display import open_display
    from runtime.service import open_node

    async with (
        open_display(settings, quiet=quiet, research=draft.brief is not None) as watch,
        open_node(settings) as node,
    ):
        outcome = await watch(await node.submit(draft.ticket()))
        ended, report = came_of(node, outcome)
        tell(ended, report, "")
        if out is not None:
            _write(report, out)
        return exit_status(outcome)
