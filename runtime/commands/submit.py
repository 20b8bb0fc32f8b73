"""`submit`: runs one ticket, shows it on its way, and prints what came of it."""

import argparse
import sys
from typing import TYPE_CHECKING

from runtime.commands import utf8

if TYPE_CHECKING:
    from actors.outcome import Outcome
    from runtime.commands.intake import Draft
    from runtime.settings import Settings
    from runtime.view.report import Line

EPILOG = """\
exit status:
  0    resolved or suggested
  1    something failed
  2    bad input
  3    not found in the sources
  4    a limit was reached: a loop, too many handoffs, out of time, out of tries
  130  cancelled (Ctrl-C: gently; twice: at once)

examples:
  python -m runtime submit "My VPN disconnects every ten minutes"
  python -m runtime submit ticket.md --json
  cat ticket.txt | python -m runtime submit -

A Markdown file may begin with front matter (subject, id, requester); a JSON file is an object with
text, and those. Progress goes to stderr, the result to stdout.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("ticket", nargs="*", help='the text, a Markdown, text or JSON file, or "-" for stdin')
    parser.add_argument("--id", type=utf8, help="the ticket's id in your helpdesk (default: a new one)")
    parser.add_argument("--subject", type=utf8, help="its subject line")
    parser.add_argument("--requester", type=utf8, help="who asks")
    parser.add_argument("--json", action="store_true", help="print the outcome as one JSON object and nothing else")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import asyncio

    from runtime.view.follow import write
    from runtime.view.report import as_json, exit_status, lines

    outcome = asyncio.run(_submit(_ticket(arguments, settings), settings, quiet=arguments.quiet))
    if arguments.json:
        print(as_json(outcome))
    else:
        write([*lines(outcome), *_question(outcome)], sys.stdout)
    return exit_status(outcome)


def _question(outcome: "Outcome") -> "list[Line]":
    """Whoever got an answer is asked for a word on it: what memory may give to others rests on that."""
    from runtime.view.report import Line
    from runtime.wording import safe

    if outcome.status not in {"resolved", "suggested"}:
        return []
    said = f"Did it help? `python -m runtime feedback {safe(outcome.ticket)} --right`, or `--wrong`."
    return [Line(said, "faint")]


def _ticket(arguments: argparse.Namespace, settings: "Settings") -> "Draft":
    import msgspec

    from runtime.commands.intake import checked, read

    draft = read(arguments.ticket, settings.run.ticket_kilobytes)
    given = {name: getattr(arguments, name) for name in ("id", "subject", "requester")}
    named = {name: value for name, value in given.items() if value is not None}
    return checked(msgspec.structs.replace(draft, **named), "The command line") if named else draft


async def _submit(draft: "Draft", settings: "Settings", *, quiet: bool) -> "Outcome":
    from runtime.commands.opening import opened
    from runtime.node import Ticket
    from runtime.view.follow import watched

    ticket = Ticket(text=draft.text, id=draft.id, subject=draft.subject, requester=draft.requester)
    async with watched(settings, quiet=quiet) as watch, opened(settings) as node:
        return await watch(await node.submit(ticket))
