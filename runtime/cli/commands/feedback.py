"""`feedback`: a person says whether a resolution was right, or gives the right one; memory keeps to it."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from runtime.cli import Exit, utf8
from runtime.cli.view.printing import Line, print_result, write
from runtime.program import command
from runtime.service_error import ServiceError
from runtime.user_text import display, pluralize

if TYPE_CHECKING:
    from actors.evidence.claims import Citation
    from runtime.engine.run_record import Record
    from runtime.engine.service import TicketService
    from runtime.settings import Settings
    from runtime.storage.records import StoredRun

SUMMARY = "say whether a resolution was right, or give the right one"
RIGHT = "The same ticket gets it at once; similar ones do as soon as memory has learned from enough tickets."
WRONG = "Memory never gives it again. If your documents say it, mend them and index them again."
ANSWER_COLUMNS = 640
"""As much of an answer as is shown, eight lines; all of it is in `--json`."""
EPILOG = """\
--answer takes the text itself, a file, or "-" for stdin; also for a ticket that ended without an answer. It is given
word for word from then on; `feedback ID --wrong` takes it back. On a terminal it is shown and asked first.
Where an answer shows several places, only the one that was right is remembered: a terminal asks which, or --place N.

exit status: 0 it is noted, 2 bad input, 3 there is no such ticket, or memory holds no answer of it.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("id", type=utf8, help="a ticket or a run")
    said = parser.add_mutually_exclusive_group(required=True)
    said.add_argument(
        "--right", action="store_true", help="it solved the ticket: the same ticket, later similar ones, get it"
    )
    parser.add_argument(
        "--place", type=_read_places, default=(), metavar="N[,N]", help="with --right: the place that was, of several"
    )
    said.add_argument("--wrong", action="store_true", help="it did not: memory never gives it again")
    said.add_argument("--answer", metavar="TEXT|FILE", help="this solved the ticket: a text, a file, or - for stdin")
    parser.add_argument("--by", type=utf8, metavar="NAME", help="who gives the answer (default: who is logged in)")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


class Noted(NamedTuple):
    """What was asked, and which answer is right or wrong."""

    record: "Record"
    answer: str
    said: str
    """`right`, `wrong` or `answered`."""
    places: tuple[int, ...] = ()
    """Which of its places were right, where one of several was named."""


async def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import msgspec

    from runtime.cli.ticket_input import read_answer
    from runtime.engine.service import open_service

    given = None if arguments.answer is None else read_answer(arguments.answer, settings.run.ticket_kilobytes)
    async with open_service(settings) as service:
        asked = await service.find(arguments.id)
        said = "answered" if given is not None else "right" if arguments.right else "wrong"
        answer = await service.read_answer(asked) if given is None else given
        noted = Noted(await service.describe(asked), answer, said)
        if arguments.place and said != "right":
            raise ServiceError("--place goes with --right only.")
        places = arguments.place
        if not arguments.yes and sys.stdin is not None and sys.stdin.isatty():
            places = _ask(noted, () if places or said != "right" else await service.node.find_places(asked)) or places
        stored, ticket, count = await _apply(service, asked, noted, arguments.by, places)
        noted = noted._replace(record=await service.describe(stored), places=tuple(places))
    value = {
        **msgspec.to_builtins(noted.record), "ticket": ticket, "right": said != "wrong", "answers": count,
        "places": noted.places, "answer": answer,
    }  # fmt: skip
    print_result(_lines(noted, ticket, count), value, json=arguments.json)
    return Exit.DONE


def _read_places(word: str) -> tuple[int, ...]:
    """`2` or `1,3`."""
    try:
        return tuple(int(part) for part in word.split(","))
    except ValueError:
        said = f"{display(word)} is no number of a place; give one such as 2, or several as 1,3"
        raise argparse.ArgumentTypeError(said) from None


def _ask(noted: Noted, shown: Sequence["Citation"]) -> tuple[int, ...]:
    """
    Let a person see what it is about, and confirm.

    :param shown: places of which one is to be chosen, if these are several.
    :returns: the numbers of those that were.
    """
    write([*_about(noted)], sys.stderr)
    if len(shown) > 1:
        from actors.evidence.places import name_place
        from actors.text.normalize import unescape_markdown

        write([Line(unescape_markdown(name_place(each)), indent=2) for each in shown], sys.stderr)
        what, choices = "Which place was right?", "a number, several as 1,2, or nothing"
    else:
        what = "Give this answer from now on?" if noted.said == "answered" else f"Note the answer as {noted.said}?"
        choices = "y/N"
    print(f"{what} [{choices}] ", end="", file=sys.stderr, flush=True)
    said = sys.stdin.readline().strip().lower()
    if len(shown) > 1 and said:
        try:
            return _read_places(said)
        except argparse.ArgumentTypeError as error:
            raise ServiceError(f"{error}. Nothing was noted.") from None
    if said not in {"y", "yes"}:
        raise ServiceError("Nothing was noted.", "cancelled")
    return ()


async def _apply(
    service: "TicketService", asked: "StoredRun", noted: Noted, name: str | None, places: Sequence[int]
) -> tuple["StoredRun", str, int]:
    """The run and the ticket whose answer it is, and how many remembered answers that touched."""
    if noted.said != "answered":
        return await service.feedback(asked, right=noted.said == "right", places=places)
    await service.node.teach(asked.ref, noted.answer, _log_in_name() if name is None else name)
    return asked, asked.ticket, 1


def _log_in_name() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # nobody: such as a container with a bare user number
        return ""


def _lines(noted: Noted, ticket: str, count: int) -> Iterator[Line]:
    if noted.said == "answered":
        yield Line(f"Noted as the answer to {ticket}.")
    else:
        yield Line(f"Noted as {noted.said}: {pluralize(count, 'remembered answer')} of {ticket}.")
    if noted.places:
        yield Line(f"Of its places only this is remembered: {', '.join(f'[{each}]' for each in noted.places)}.")
    yield from _about(noted)
    yield Line(WRONG if noted.said == "wrong" else RIGHT)
    if noted.said == "answered":
        yield Line(f"{command(f'feedback {ticket} --wrong')} takes it back.", "faint")


def _about(noted: Noted) -> Iterator[Line]:
    from actors.text.normalize import unescape_markdown
    from runtime.cli.view.ticket_lines import question, quote

    yield question(noted.record)
    if noted.answer:
        answer = noted.answer if noted.said == "answered" else unescape_markdown(noted.answer)
        yield Line(f"Answer: {quote(answer, ANSWER_COLUMNS)}", indent=2)
