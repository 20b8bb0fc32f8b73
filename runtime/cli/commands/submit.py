"""`submit`: runs one ticket, or one research, shows it on its way, and prints what came of it."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cli import utf8
from runtime.cli.commands.report import destination, write_report
from runtime.cli.view.printing import Line, write
from runtime.program import command
from runtime.search.sources import names
from runtime.service_error import ServiceError
from runtime.user_text import as_json, safe

if TYPE_CHECKING:
    from actors.reporting.report import Report
    from runtime.cli.several import Tell
    from runtime.engine.run_record import Ended
    from runtime.settings import Settings
    from runtime.tickets import Ticket

SUMMARY = "run one ticket or research and print what came of it"
EPILOG = """\
exit status:
  0    resolved or suggested
  1    something failed
  2    bad input
  3    not found in the sources
  4    a limit was reached: a loop, too many handoffs, out of time, out of tries
  5    it asks something: `answer ID` goes on with it
  130  cancelled (Ctrl-C: gently; twice: at once)
  of several tickets: that of the worst, in the order 130, 1, 4, 3, 5, 0

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

A daemon on the same folder does the work, with its settings, if there is one.
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
    parser.add_argument("--workflow", metavar="NAME", help="who works on it (default: helpdesk)")
    parser.add_argument("--background", type=utf8, help="of a legal question: what its agents may know of who asks")
    parser.add_argument("--json", action="store_true", help="print the outcome as one JSON object and nothing else")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the handoffs and the summary, too")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    research = parser.add_argument_group("research")
    research.add_argument(
        "--research",
        action="store_true",
        help="short for --workflow research: the text is a question, its answer a report",
    )
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

    workflow, given = _order(arguments)
    out = None if arguments.out is None else destination(arguments.out)
    read = read_all(arguments.ticket, settings.run.ticket_kilobytes)
    if len(read) > 1:
        for name in OF_ONE:
            if getattr(arguments, name) is not None:
                what = f"--{name} is for one ticket, and these are {len(read)}"
                raise ServiceError(f"{what}: leave it away, or submit one.")
    tickets = [each._replace(ticket=_complete(each.ticket, arguments, workflow, given, settings)) for each in read]
    return worst(asyncio.run(submit_all(tickets, settings, _teller(arguments, out), quiet=arguments.quiet)))


def _teller(arguments: argparse.Namespace, out: Path | None) -> "Tell":
    """What says how a ticket ended, and of which file it was if there are several."""

    def tell(ended: "Ended", file: str) -> None:
        print_end(ended, file, json=arguments.json, verbose=arguments.verbose)
        if out is not None:
            _write(ended.report, out)

    return tell


def print_end(ended: "Ended", file: str = "", *, json: bool, verbose: bool) -> None:
    """Print how a ticket ended, as lines or as one JSON object; which file it was, if there are several."""
    from runtime.cli.view.terminal_markdown import show_end

    if json:
        print(as_json({"file": file, **ended.as_json()} if file else ended.as_json()))
    else:
        if file:
            write([Line(f"=== {file}", "strong")], sys.stdout)
        show_end(ended, sys.stdout, sys.stderr, verbose=verbose)
        write(_question(ended), sys.stdout)
        if file:
            print()
    sys.stdout.flush()


def _write(report: "Report | None", out: Path) -> None:
    if report is None:
        raise ServiceError(f"{out.name} was not written: the research ended before there was a report.", "failed")
    write_report(report, out)


def _question(ended: "Ended") -> list[Line]:
    """Whoever got an answer is asked for a word on it: what memory may give to others rests on that."""
    from actors.evidence.confirmed_places import shown_places
    from actors.text.catalogue import say
    from runtime.families import writes_report

    outcome = ended.outcome
    if outcome.status not in {"resolved", "suggested"} or writes_report(outcome.workflow):
        return []
    several = outcome.resolution is not None and len(shown_places(outcome.resolution)) > 1
    judge = command(f"feedback {safe(outcome.ticket)} --right{' --place N' if several else ''}|--wrong")
    return [Line(say("did_it_help", outcome.language, command=judge), "faint")]


def _order(arguments: argparse.Namespace) -> tuple[str, dict[str, object]]:
    """The workflow that is wanted, and its options by name."""
    from runtime.tickets import HELPDESK, RESEARCH

    workflow = arguments.workflow or (RESEARCH if arguments.research else HELPDESK)
    if arguments.research and workflow != RESEARCH:
        raise ServiceError("--research is short for --workflow research: give one of the two.")
    if workflow != RESEARCH:
        for name in RESEARCH_ONLY:
            if getattr(arguments, name) is not None:
                raise ServiceError(f"--{name} is for a research: add --research, or leave it away.")
        return workflow, {"background": arguments.background} if arguments.background else {}
    if arguments.background is not None:
        raise ServiceError("--background is for a legal question: leave it away.")
    sources = tuple((arguments.sources or "").replace(",", " ").split())
    if arguments.sources is not None and not sources:
        raise ServiceError(f"--sources names none: give some of {','.join(names())}, or leave it away.")
    given = {"breadth": arguments.breadth, "depth": arguments.depth, "sources": sources, "urls": arguments.url or ()}
    return workflow, given


def _complete(
    ticket: "Ticket", arguments: argparse.Namespace, workflow: str, given: dict[str, object], settings: "Settings"
) -> "Ticket":
    """The ticket with what the options say of it."""
    import msgspec

    from runtime import families
    from runtime.tickets import validate

    said = {name: getattr(arguments, name) for name in ("id", "subject", "requester")}
    if said := {name: value for name, value in said.items() if value is not None}:
        ticket = validate(msgspec.structs.replace(ticket, **said), "The command line")
    options = families.read_options(workflow, given, settings)
    return msgspec.structs.replace(ticket, workflow=workflow, options=options)
