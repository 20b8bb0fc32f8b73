"""`purge`: lets tickets go with all that belongs to them: runs, events, state files, what memory has of them."""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cli import Exit, utf8
from runtime.cli.view.printing import Line, print_result, write
from runtime.program import command
from runtime.service_error import ServiceError
from runtime.user_text import display, pluralize, safe

if TYPE_CHECKING:
    from runtime.settings import Settings
    from runtime.storage.sqlite.integrity import Compacted
    from runtime.storage.sqlite.purging import Connection, Found
    from runtime.upkeep.purge import Purged

SUMMARY = "let tickets go with all that belongs to them"
MOST_DAYS = 36_500.0
SHOWN = 20
"""Tickets that are named one by one."""
EPILOG = """\
With a ticket go its runs and events, state file, backups, pages, its lines in the log, what memory learnt from it, and
all that was recorded of the helpdesk that it came from. With --older-than, answers that a person confirmed or rejected
stay in memory, and recordings go by their own age. Tickets that are being worked on are left. Copies elsewhere (reports
that were written, backups, the daemon's own log) are yours to remove.

exit status: 0 done, 1 not all of it, or not without --yes, 2 bad input, 3 there is no such ticket.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("ids", nargs="*", type=utf8, metavar="ID", help="tickets, or runs of theirs")
    parser.add_argument("--requester", type=utf8, metavar="NAME", help="all tickets of this requester")
    parser.add_argument("--older-than", metavar="AGE", help="all that ended longer ago, such as 90d, 12w or 36h")
    parser.add_argument("--dry-run", action="store_true", help="only say what would go")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--compact", action="store_true", help="only rewrite the database without what was deleted")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    from runtime.storage.errors import StorageError
    from runtime.storage.private import DATABASE, OWNERS
    from runtime.storage.sqlite.integrity import check

    _check_one_choice(arguments)
    age = None if arguments.older_than is None else _read_age(arguments.older_than)
    folder = Path(settings.storage.folder)
    if not (folder / DATABASE).exists():
        raise ServiceError("There are no tickets yet.", "not_found")
    check(folder / DATABASE, folder / OWNERS, settings.storage.check_seconds)
    try:
        return _compact(arguments, folder) if arguments.compact else _purge(arguments, folder, age, settings)
    except StorageError as error:
        what = f"The database {folder / DATABASE} could not be written ({error})"
        raise ServiceError(f"{what}. What has gone has gone; ask again for the rest.", "failed") from error


def _check_one_choice(arguments: argparse.Namespace) -> None:
    chosen = [bool(arguments.ids), arguments.requester is not None, arguments.older_than is not None, arguments.compact]
    if sum(chosen) != 1:
        raise ServiceError("What is to go? Name tickets, or give one of --requester, --older-than and --compact.")


def _read_age(age: str) -> float:
    """An age in seconds."""
    from runtime.times import DAY, parse_age

    seconds = parse_age(age) or 0.0
    if not 0.0 < seconds <= MOST_DAYS * DAY or age.strip()[-1].lower() in "sm":
        raise ServiceError(f"--older-than must be a number with h, d or w, such as 90d, not {display(age)}.")
    return seconds


def _purge(arguments: argparse.Namespace, folder: Path, age: float | None, settings: "Settings") -> int:
    import asyncio

    from runtime.storage.private import OWNERS
    from runtime.storage.sqlite.integrity import compact
    from runtime.storage.sqlite.purging import describe, open_database
    from runtime.upkeep.purge import purge

    judged = age is None
    with open_database(folder) as db:
        found = [describe(db, ticket, judged=judged) for ticket in _chosen(arguments, db, age)]
    going = [each.ticket for each in found if not each.running]
    running = [each.ticket for each in found if each.running]
    if arguments.dry_run or not going:
        print_result(_plan(found), {"tickets": found}, json=arguments.json)
        return Exit.FAILED if running else Exit.DONE
    if not arguments.yes:
        _ask(found)
    purged = purge(folder, going, judged=judged, before=0.0 if age is None else time.time() - age)
    purged.running += running
    space = compact(folder, folder / OWNERS)
    if purged.remembered:
        asyncio.run(_learn_again(settings))
    print_result(_lines(purged, space), {"purged": purged, "space": space}, json=arguments.json)
    return Exit.FAILED if purged.running else Exit.DONE


def _chosen(arguments: argparse.Namespace, db: "Connection", age: float | None) -> list[str]:
    """The tickets that are meant."""
    from runtime.storage.sqlite.purging import find, of_requester, older_than

    if age is not None:
        return older_than(db, time.time() - age)
    if arguments.requester is not None:
        if tickets := of_requester(db, arguments.requester):
            return tickets
        raise ServiceError(f"There is no ticket of a requester {display(arguments.requester)}.", "not_found")
    known = {some_id: find(db, some_id) for some_id in arguments.ids}
    for some_id, ticket in known.items():
        if not ticket:
            raise ServiceError(
                f"There is no ticket or run {display(some_id)}, so nothing was done; {command('status')} lists "
                "the latest.", "not_found",
            )  # fmt: skip
    return list(dict.fromkeys(known.values()))


def _ask(found: "list[Found]") -> None:
    """Let a person confirm."""
    count = pluralize(sum(not each.running for each in found), "ticket")
    if not sys.stdin.isatty():
        raise ServiceError(f"{count} would go for good; say so with --yes, or see which with --dry-run.", "failed")
    write(_plan(found), sys.stderr)
    print(f"Let go of {count} for good? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise ServiceError("Nothing was done.", "cancelled")


async def _learn_again(settings: "Settings") -> None:
    """The model of memory went with what it was made of; where enough is left, it is made again now."""
    from runtime.engine.service import open_service

    async with open_service(settings) as service:
        await service.node.memory.learnt()


def _compact(arguments: argparse.Namespace, folder: Path) -> int:
    from runtime.storage.private import OWNERS
    from runtime.storage.sqlite.integrity import compact

    space = compact(folder, folder / OWNERS)
    print_result(_room(space), {"space": space}, json=arguments.json)
    return Exit.DONE


def _plan(found: "list[Found]") -> Iterator[Line]:
    from runtime.cli.view.ticket_lines import question

    going = [each for each in found if not each.running]
    runs, answers = sum(each.runs for each in going), sum(each.remembered for each in going)
    if going:
        with_ = f"with {pluralize(runs, 'run')} and {pluralize(answers, 'remembered answer')}"
        yield Line(f"{pluralize(len(going), 'ticket')} would go, {with_}:")
    else:
        yield Line("Nothing would go.")
    for each in going[:SHOWN]:
        ended = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(each.ended)) if each.ended else "not in the database"
        yield Line(f"{safe(each.ticket)}  {ended}", indent=2)
        if each.subject or each.question:
            yield question(each)._replace(indent=4)
    if len(going) > SHOWN:
        yield Line(f"and {len(going) - SHOWN:,} more; `--json` lists them all", "faint", 2)
    yield from _name_running([each.ticket for each in found if each.running])


def _name_running(running: list[str]) -> Iterator[Line]:
    for ticket in running[:SHOWN]:
        name = safe(ticket)
        yield Line(f"{name} is being worked on: {command(f'cancel {name}')} first, then purge it.", "poor")
    if len(running) > SHOWN:
        yield Line(f"and {len(running) - SHOWN:,} more are being worked on", "poor")


def _lines(purged: "Purged", space: "Compacted") -> Iterator[Line]:
    yield Line(f"{pluralize(len(purged.tickets), 'ticket')} let go", "good")
    for name, count in (
        ("runs", purged.runs),
        ("remembered answers", purged.remembered),
        ("files", purged.files),
        ("lines of the log", purged.lines),
    ):
        yield Line(f"{count:>9,}  {name}")
    yield from _room(space)
    yield from _name_running(purged.running)


def _room(space: "Compacted") -> Iterator[Line]:
    yield Line(
        f"The database has {space.after / 1e6:,.1f} MB now, {max(0, space.before - space.after) / 1e6:,.1f} MB less."
    )
    if not space.rewritten:
        yield Line(
            "A process has it open, and it is large: it was not rewritten, so that words of what went may be left in "
            f"unused parts of its pages. Stop the process, and {command('purge --compact')} does it.", "poor",
        )  # fmt: skip
