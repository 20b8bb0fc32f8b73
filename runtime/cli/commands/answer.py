"""`answer`: gives a ticket what it asked for, and shows it on its way on."""

import argparse
import sys
from typing import TYPE_CHECKING

from runtime.cli import utf8
from runtime.program import command
from runtime.service_error import ServiceError
from runtime.user_text import safe

if TYPE_CHECKING:
    from runtime.engine.run_record import Ended
    from runtime.engine.service import Answers, TicketService
    from runtime.settings import Settings
    from runtime.storage.records import StoredRun

SUMMARY = "answer what a ticket asks, so that it goes on"
EPILOG = """\
Without an option each question is asked on the terminal. --set wins over --file; --text may stand beside them.

exit status: as of `submit`, also 5 when it asks again; 1 when it waits for no answers, 2 bad input, 3 no such ticket.

examples:
  %(prog)s T-1a2b3c4d
  %(prog)s T-1a2b3c4d --set plaintiff="Zhang San" --set amount=12000
  %(prog)s T-1a2b3c4d --file answers.toml
  %(prog)s T-1a2b3c4d --text "I was dismissed on 3 May and have no written contract."
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("id", type=utf8, help="a ticket, or the run whose questions are answered")
    parser.add_argument("--set", type=utf8, action="append", metavar="NAME=VALUE", help="one answer; several times")
    parser.add_argument("--file", type=utf8, metavar="FILE", help="answers by name, as .toml or .json")
    parser.add_argument("--text", metavar="TEXT|FILE", help="answers in your words: a text, a file, or - for stdin")
    parser.add_argument("--json", action="store_true", help="print the outcome as one JSON object and nothing else")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the handoffs and the summary, too")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")


async def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    from runtime.cli.commands.submit import print_end
    from runtime.cli.ticket_input import read_answers
    from runtime.cli.view.result import exit_status
    from runtime.engine.service import Answers, open_service

    kilobytes = settings.run.ticket_kilobytes
    given, text = read_answers(arguments.set or (), arguments.file, arguments.text, kilobytes)
    async with open_service(settings) as service:
        stored = await service.find(arguments.id)
        if not text and not (given and (arguments.json or not _is_terminal())):
            given = await _ask(service, stored, given)
        ended = await _go_on(service, stored, Answers(given=given, text=text), arguments, settings)
        print_end(ended, json=arguments.json, verbose=arguments.verbose)
    return exit_status(ended.outcome)


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


async def _ask(service: "TicketService", stored: "StoredRun", given: dict[str, str]) -> dict[str, str]:
    """What a person answers on the terminal; without one, the sentence that says how else to answer."""
    from runtime.cli.ticket_input import ask_each

    outcome = await service.node.journal.outcome(stored)
    if outcome is None or outcome.status != "needs_input":
        return given  # the sentence that refuses it says more
    if not _is_terminal():
        names = ", ".join(each.name for each in outcome.questions)
        ways = "--set NAME=VALUE, --file or --text"
        raise ServiceError(f"{safe(stored.ticket)} asks for {safe(names)}: answer with {ways}, or on a terminal.")
    return ask_each(outcome.questions, given, outcome.language)


async def _go_on(
    service: "TicketService", stored: "StoredRun", answers: "Answers", arguments: argparse.Namespace,
    settings: "Settings",
) -> "Ended":  # fmt: skip
    """Give the answers, and see the run that follows through to its end."""
    from runtime.cli.index_renewal import renew_index
    from runtime.cli.view.run_display import open_display
    from runtime.daemon.daemon_client import answer
    from runtime.families import find

    named = arguments.id.removeprefix("run:") == stored.id and stored.id != stored.ticket
    await renew_index(settings, quiet=arguments.quiet)
    async with open_display(settings.run, find(stored.workflow).flow, quiet=arguments.quiet) as display:
        follows = await answer(service, stored, answers, named=named)
        outcome = await display.watch(follows)
    if follows.run == stored.id and not arguments.quiet:
        to_this = command(f"answer run:{safe(stored.id)}")
        print(f"These answers were given before, and this came of them. {to_this} answers this run.", file=sys.stderr)
    return await service.conclude(outcome)
