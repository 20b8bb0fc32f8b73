"""
Tickets that go with all that belongs to them, when they are told to or have grown old. Blocking.

With a ticket go its runs and those within them, events, effects, its state file, backups and pages,
lines of the log, and what memory's model learnt of it.
"""

import asyncio
import contextlib
import os
import re
import shutil
import time
from collections.abc import AsyncIterator, Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import structlog

from runtime.processes.pool import WorkError, Workers
from runtime.settings import DAY
from runtime.state_files import backups
from runtime.state_files.backups import is_kept_as, name_of, other_name_of
from runtime.storage.effects import SWEPT
from runtime.storage.errors import StorageError
from runtime.storage.private import DATABASE
from runtime.storage.sqlite.purging import (
    Connection,  # fmt: skip
    delete,  # fmt: skip
    describe,  # fmt: skip
    forget_parts,  # fmt: skip
    names_of,  # fmt: skip
    older_than,  # fmt: skip
    open_database,  # fmt: skip
)

if TYPE_CHECKING:
    from runtime.engine.node import Node


LOGS, PAGES = "logs", "pages"
_WORDS = re.compile(rb'[^\s"\'`=,;:()\[\]{}]+')
"""What may be an id in a line of the log, as JSON or for people."""
_SIMPLE = re.compile(r"[\w.-]+")


def forget_files(folder: Path, ids: Collection[str]) -> int:
    """
    Remove the state files and backups of researches, with the versions that people edited, and pages that they cited.

    :returns: how many files.
    :raises OSError: one could not be removed.
    """
    count = 0
    for project_id in ids:
        for name in (name_of(project_id), other_name_of(project_id)):
            for path in _state_files(folder, name, project_id):
                path.unlink(missing_ok=True)
                count += 1
            place = folder / backups.FOLDER / name
            if place.is_dir() and not place.is_symlink() and not place.parent.is_symlink():
                count += sum(1 for _ in place.iterdir())
                shutil.rmtree(place)
    return count + (_forget_pages(folder, ids) if (folder / PAGES).is_dir() else 0)


def _forget_pages(folder: Path, ids: Collection[str]) -> int:
    """Pages that no other research refers to."""
    from runtime.crawl.originals import forget  # it loads what reads pages: most installations keep none

    return forget(folder, ids)


def _state_files(folder: Path, name: str, project_id: str) -> Iterator[Path]:
    """Those that Terminus names so; a README or a person's notes of the same name stay. A name is no pattern."""
    state_file = folder / f"{name}.md"
    if os.path.lexists(state_file) and is_kept_as(folder, name, project_id):
        yield state_file
    if os.path.lexists(draft := folder / f".{name}.md.new"):
        yield draft
    begin = f"{name}.edited-"
    with os.scandir(folder) as entries:
        found = [entry.name for entry in entries if entry.name.startswith(begin) and entry.name.endswith(".md")]
    yield from (folder / each for each in found)


def forget_recordings(folder: Path, ticket: str = "", *, before: float = 0.0) -> int:
    """
    Remove what was recorded of the helpdesk that a ticket came from, whichever ticket it shows, and what is old.

    :param before: files that were written before this moment go, whatever they are of; Unix seconds.
    :returns: how many files.
    """
    from runtime.intake.adapter import FOLDER  # most installations have none of a helpdesk
    from runtime.intake.writes import PREFIX

    source = ticket.removeprefix(PREFIX).partition(".")[0] if ticket.startswith(PREFIX) else ""
    count = 0
    for path in (folder / FOLDER).glob("*/*.json"):
        with contextlib.suppress(FileNotFoundError):  # somebody else removes it, too
            if path.parent.name == source or path.lstat().st_mtime < before:
                path.unlink()
                count += 1
    return count


def forget_lines(folder: Path, ids: Iterable[str]) -> int:
    """
    Blank the lines of the log files that name one of these ids, where they stand: other processes may be writing.

    :returns: how many lines.
    """
    wanted = {each.encode("utf-8", "backslashreplace") for each in ids}
    simple = {each for each in wanted if _SIMPLE.fullmatch(each.decode("utf-8", "replace"))}
    if not wanted or (folder / LOGS).is_symlink():
        return 0
    return sum(_blank(path, simple, wanted - simple) for path in (folder / LOGS).glob("*.log") if not path.is_symlink())


def _blank(path: Path, simple: set[bytes], others: set[bytes]) -> int:
    """`others` hold characters that may also stand between words, so they are looked for as they are."""
    count = at = 0
    with path.open("r+b") as file:
        for line in iter(file.readline, b""):
            if not simple.isdisjoint(_WORDS.findall(line)) or any(each in line for each in others):
                os.pwrite(file.fileno(), b" " * len(line.rstrip(b"\n")), at)
                count += 1
            at += len(line)
        if count:
            os.fsync(file.fileno())
    return count


def model_files(database: Path) -> list[Path]:
    """The model of what was remembered, and drafts of it; it is made again from what is left."""
    return [path for path in database.parent.glob(f"{database.name}.memory*") if not path.is_dir()]


PAUSE_SHARE = 1.0
"""Between two transactions, of the time that the last one took: a daemon's own commits come in between."""
LEAST_PAUSE_SECONDS = 0.002


class Purged(msgspec.Struct):
    """What went."""

    tickets: list[str] = msgspec.field(default_factory=list)
    running: list[str] = msgspec.field(default_factory=list)
    """Left, because they are being worked on."""
    runs: int = 0
    remembered: int = 0
    files: int = 0
    lines: int = 0
    """Of the log."""
    longest_seconds: float = 0.0
    """Of one transaction, in which nobody else could write."""
    more: bool = False
    """The time was up before all had gone."""


def purge(
    folder: Path, tickets: Iterable[str], *, judged: bool, seconds: float = float("inf"), before: float = 0.0
) -> Purged:  # fmt: skip
    """
    Let tickets go, one transaction each. Stopped at any moment, the rest goes when it is asked for again.

    :param judged: also answers of theirs that a person confirmed or rejected, and what was recorded of their helpdesks.
    :param seconds: after so many, the rest is left.
    :param before: what was recorded of a helpdesk before this moment goes, too; Unix seconds.
    :raises StorageError: the database could not be written.
    :raises OSError: a file could not be removed.
    """
    until = time.monotonic() + seconds
    purged, names = Purged(), set[str]()
    with open_database(folder) as db:
        for ticket in tickets:
            if time.monotonic() > until:
                purged.more = True
                break
            names |= _let_go(db, folder, ticket, purged, judged=judged)
        forget_parts(db)
    purged.files += forget_files(folder, names)  # what was written in the moments after the end
    purged.files += forget_recordings(folder, before=before)
    if purged.remembered:
        for path in model_files(folder / DATABASE):
            path.unlink(missing_ok=True)
    purged.lines = forget_lines(folder, names)
    return purged


def retain(folder: str, keep_days: float, seconds: float) -> Purged:
    """Let go of what ended longer ago than that, for so many seconds; for a worker process."""
    place = Path(folder)
    before = time.time() - keep_days * DAY
    with open_database(place) as db:
        tickets = older_than(db, before)
    return purge(place, tickets, judged=False, seconds=seconds, before=before)


def _let_go(db: Connection, folder: Path, ticket: str, purged: Purged, *, judged: bool) -> set[str]:
    """Let one ticket go; returns the ids under which others may still speak of it."""
    names = names_of(db, ticket)
    if not describe(db, ticket, judged=judged).running:
        purged.files += forget_files(folder, names)  # first: a row that is left says that there is more to do
        if judged:  # what is only old goes when it is old itself
            purged.files += forget_recordings(folder, ticket)
        began = time.monotonic()
        if (done := delete(db, ticket, judged=judged)) is not None:
            took = time.monotonic() - began
            purged.tickets.append(ticket)
            purged.runs, purged.remembered = purged.runs + done[0], purged.remembered + done[1]
            purged.longest_seconds = max(purged.longest_seconds, took)
            time.sleep(max(LEAST_PAUSE_SECONDS, took * PAUSE_SHARE))
            return names
    purged.running.append(ticket)
    return set()


log = structlog.get_logger()

TURN_SECONDS = 20.0
"""One turn of letting go, and one of giving back; what is left then is for the next turn."""
MARGIN_SECONDS = 60.0
"""How much longer than that a turn may take before its process is killed: one ticket with its files."""
TURNS = 1_000
"""A day."""
RETAIN = "runtime.upkeep.purge:retain"
GIVE_BACK = "runtime.storage.sqlite.integrity:give_back"


@contextlib.asynccontextmanager
async def run_daily(node: "Node") -> AsyncIterator[None]:
    """Keep the storage of a daemon for as long as this is open: at once, then daily. It never holds up tickets."""
    task = asyncio.create_task(_daily(node), name="upkeep")
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _daily(node: "Node") -> None:
    while True:
        if node.settings.storage.keep_days:
            await keep_to_age(node)
        if days := node.settings.trace.replay_days:
            await forget_old_recordings(node, time.time() - days * DAY)
        await node.effects.sweep(SWEPT)
        with contextlib.suppress(StorageError):  # tomorrow, then
            await node.journal.store.trim_feed()
        await asyncio.sleep(DAY)


async def forget_old_recordings(node: "Node", before: float) -> None:
    """Let go of what is recorded of runs that ended before this moment. What fails is tried again tomorrow."""
    try:
        count = await node.recordings.forget(before)
    except StorageError as error:
        log.warning("recordings.not_forgotten", error=str(error))
    else:
        if count:
            log.info("recordings.forgotten", runs=count)


async def keep_to_age(node: "Node") -> None:
    """Let go of what is older than [storage] keep_days, in a process of its own. What fails is tried again tomorrow."""
    folder, days = str(node.folder), node.settings.storage.keep_days
    workers = Workers(size=1)  # of its own: no search waits for it
    tickets = remembered = 0
    within = TURN_SECONDS + MARGIN_SECONDS
    try:
        for _ in range(TURNS):
            purged = await workers.call(RETAIN, folder, days, TURN_SECONDS, within=within, returns=Purged)
            tickets, remembered = tickets + len(purged.tickets), remembered + purged.remembered
            if purged.remembered:
                await node.memory.recount()
            if not purged.more:
                break
        if tickets:
            await workers.call(GIVE_BACK, folder, TURN_SECONDS, within=within, returns=type(None))
    except (WorkError, msgspec.MsgspecError) as error:
        log.warning("retention.failed", error=str(error), days=days)
    finally:
        workers.close()
    if tickets:
        log.info("retention.done", tickets=tickets, remembered=remembered, days=days)
