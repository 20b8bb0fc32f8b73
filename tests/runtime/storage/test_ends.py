"""Ends that the disk does not take: what was told is what is read, by this process at once and by others at last."""

import asyncio
import errno
import os
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.helpdesk.workflow import HELPDESK, TicketCase
from actors.workflow.outcome import EndReason, Outcome, Spent
from actors.workflow.run_end import RunEnd
from runtime.engine.run import LiveRun
from runtime.storage import ends as module
from runtime.storage.ends import CHUNK_SLOTS, SLOT_BYTES, PendingEnd, Slots, read_pending
from runtime.storage.journal import RunJournal
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.process_lock import ProcessLock
from runtime.tickets import Ticket
from tests.fakes import CASE, helpdesk
from tests.patience import HANGS_SECONDS
from tests.runtime.storage.kit import database_of, open_journal

TICKET = Ticket(id="T-1", text=CASE.text)
TOLD = PendingEnd(
    "R-1", 3, 1_000.5, RunEnd(EndReason.STORAGE_FAILED, "", 12.5, Spent(2**53 - 1, 2**53 - 1, 2**53 - 1, True), 99)
)


class Disk:
    """Stands before the writer thread: takes so many commits, then fails or hangs, until it is well again."""

    def __init__(self, database: Database) -> None:
        self.fault = ""
        self.after = 0
        self.well = threading.Event()
        self.hung = threading.Event()
        self._commit = database._together
        database._together = self._together  # type: ignore[method-assign]

    def _together(self, statements: Any) -> None:
        if self.fault and any("event" in sql or "UPDATE run" in sql for sql, _ in statements):
            self.after -= 1
            if self.after < 0 and self.fault == "full":
                raise sqlite3.OperationalError("database or disk is full")
            if self.after < 0 and self.fault == "hangs":
                self.hung.set()
                self.well.wait(20)
        self._commit(statements)

    def recover(self) -> None:
        self.fault = ""
        self.well.set()


@pytest.fixture
def owner(tmp_path: Path) -> Any:
    owner = ProcessLock(tmp_path / "owners")
    yield owner
    owner.close()


@pytest.fixture
async def journal(tmp_path: Path, owner: ProcessLock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RunJournal]:
    monkeypatch.setattr(module, "LONGEST_PAUSE_SECONDS", 0.1)
    journal = open_journal(tmp_path / "terminus.db", {HELPDESK.name: HELPDESK}, owner.slots)
    await journal.pending.reserve(1)
    yield journal
    database_of(journal).close()
    journal.pending.close()


async def stored(journal: RunJournal) -> tuple[Outcome | None, Any]:
    """How the run ended and its ticket stands, as another process reads it."""
    other = RunJournal(journal.store, {HELPDESK.name: HELPDESK})
    (ticket,) = database_of(journal).rows("SELECT status, note FROM ticket WHERE id = 'T-1'")
    return await other.outcome(await other.run("R-1")), ticket


async def begun(journal: RunJournal) -> LiveRun:
    case = TicketCase(ticket_id="T-1", text=CASE.text)
    await journal.accept(TICKET, "R-1", HELPDESK, case, "me")
    return LiveRun("R-1", HELPDESK, case, helpdesk(tickets=journal), journal=journal)  # type: ignore[arg-type]


@pytest.mark.parametrize("after", range(6))
@pytest.mark.parametrize("fault", ["full", "hangs"])
async def test_what_was_told_while_the_disk_was_ill_is_what_stands_there_when_it_is_well(
    journal: RunJournal, fault: str, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "hangs" and after < 5:
        fast = msgspec.structs.replace(HELPDESK, max_seconds=0.2)
        monkeypatch.setattr("tests.runtime.storage.test_ends.HELPDESK", fast)
        for grace in ("transitions.CLOSING_SECONDS", "advance.CLOSING_SECONDS"):
            monkeypatch.setattr(f"actors.workflow.{grace}", 0.05)
    disk = Disk(database_of(journal))
    live = await begun(journal)
    disk.after, disk.fault = after, fault

    told = await asyncio.wait_for(live.outcome(), HANGS_SECONDS)

    assert (told.status, told.by) == ("error", "")
    if fault == "full" or after == 5:
        assert told.why is EndReason.STORAGE_FAILED
    assert (await stored(journal))[0] is None, "the disk has not taken it"
    assert await journal.outcome(await journal.run("R-1")) == told
    seen = await journal.find("T-1")
    assert (seen.status, seen.ended is None, await journal.list_open()) == ("error", False, [])
    assert len(await journal.entries(seen)) <= after

    disk.recover()
    await asyncio.wait_for(
        journal.pending._none.wait(), HANGS_SECONDS
    )  # nobody asks for it: it is tried again by itself

    outcome, ticket = await stored(journal)
    assert outcome == told
    assert ticket == (told.status, told.detail)


@pytest.mark.parametrize("method", ["run", "find", "latest_of", "list_open"])
async def test_an_end_that_is_recorded_while_its_run_is_read_is_seen(
    journal: RunJournal, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row was read before the end was recorded, and nothing is pending any more when it is looked at."""
    disk = Disk(database_of(journal))
    live = await begun(journal)
    disk.after, disk.fault = 3, "full"
    told = await asyncio.wait_for(live.outcome(), HANGS_SECONDS)
    read = getattr(journal.store, method)

    async def record_meanwhile(*some_id: str) -> Any:
        found = await read(*some_id)
        disk.recover()
        assert await journal.pending.settle(HANGS_SECONDS)
        return found

    monkeypatch.setattr(journal.store, method, record_meanwhile)
    asked = {"run": ["R-1"], "list_open": []}.get(method, ["T-1"])
    found = await getattr(journal, method)(*asked)
    assert (found == []) if method == "list_open" else (await journal.outcome(found) == told)


async def test_an_end_that_commits_late_is_not_the_end_when_another_was_told(journal: RunJournal) -> None:
    """The disk hangs in the middle of the commit: nobody can take back what it is about to do."""
    disk = Disk(database_of(journal))
    live = await begun(journal)
    disk.after, disk.fault = 5, "hangs"
    told = await asyncio.wait_for(live.outcome(), HANGS_SECONDS)
    assert disk.hung.is_set()
    assert told.why is EndReason.STORAGE_FAILED

    disk.recover()
    assert await journal.pending.settle(10)

    assert (await stored(journal))[0] == told
    assert database_of(journal).rows("SELECT count(*) FROM event") == [(5,)], "the terminator's came late"


async def test_what_a_dead_process_had_told_is_recorded_by_the_next(journal: RunJournal, tmp_path: Path) -> None:
    first, second = ProcessLock(tmp_path / "owners"), ProcessLock(tmp_path / "owners")
    journal.pending._slots, journal.pending._free, journal.pending._known = first.slots, [], 0
    await journal.pending.reserve(1)
    disk = Disk(database_of(journal))
    live = await begun(journal)
    disk.after, disk.fault = 3, "full"
    told = await live.outcome()
    with second.legacy(first.token) as alive:
        assert alive is None

    os.close(first._file)  # as a kill does
    disk.recover()
    assert not second.is_alive(first.token)
    with second.legacy(first.token) as left:
        assert left is not None
        assert [each.run for each in left.told] == ["R-1"]
        assert second.is_alive(first.token), "nobody else records it meanwhile"
        other = RunJournal(journal.store, {HELPDESK.name: HELPDESK})
        await other.record_pending(left.told[0])
        await other.record_pending(left.told[0])

    assert (await stored(journal))[0] == told
    assert first.token in second.others()
    second.forget(first.token)
    assert first.token not in second.others()
    second.close()


async def test_an_end_of_a_run_that_was_deleted_is_no_matter(journal: RunJournal) -> None:
    await journal.record_pending(TOLD)

    assert database_of(journal).rows("SELECT count(*) FROM run") == [(0,)]


async def test_an_older_run_says_nothing_on_its_ticket_any_more(journal: RunJournal) -> None:
    live = await begun(journal)
    await live.outcome()
    await journal.accept(TICKET, "R-2", HELPDESK, CASE, "me")

    await journal.record_pending(TOLD)

    outcome, ticket = await stored(journal)
    assert outcome is not None
    assert (outcome.why, ticket) == (EndReason.STORAGE_FAILED, ("open", ""))


def test_an_end_fits_into_a_slot_and_comes_back_whole(owner: ProcessLock) -> None:
    told = msgspec.structs.replace(TOLD, run=f"R-{'f' * 16}", at=1e10 / 3, events=2**31)
    owner.slots.grow(2)
    owner.slots.put(1, msgspec.msgpack.encode(told))

    assert list(read_pending(owner._file)) == [told]
    owner.slots.put(0, b"no end")
    os.pwrite(owner._file, b"\xff", 2 * SLOT_BYTES + 20)
    assert list(read_pending(owner._file)) == [], "what is damaged is passed over"
    owner.slots.put(1, msgspec.msgpack.encode(told))
    owner.slots.clear(1)
    assert list(read_pending(owner._file)) == []
    with pytest.raises(ValueError, match="too many"):
        owner.slots.put(0, bytes(SLOT_BYTES))


async def test_room_is_made_before_a_run_is_begun_or_it_is_not(
    journal: RunJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    pending = journal.pending
    assert os.fstat(pending._slots._file).st_blocks * 512 >= CHUNK_SLOTS * SLOT_BYTES  # type: ignore[union-attr]
    await pending.reserve(CHUNK_SLOTS)
    assert len(pending._free) == CHUNK_SLOTS

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("runtime.storage.ends.os.pwrite", full)
    with pytest.raises(OSError, match="No space"):
        await pending.reserve(CHUNK_SLOTS + 1)
    monkeypatch.undo()
    await pending.reserve(CHUNK_SLOTS + 1)
    assert len(pending._free) == len(set(pending._free)) == 2 * CHUNK_SLOTS


def test_slots_take_no_new_room_on_a_file_that_may_not_grow(tmp_path: Path) -> None:
    file = os.open(tmp_path / "slots", os.O_CREAT | os.O_RDWR)
    slots = Slots(file)
    slots.grow(1)
    before = os.fstat(file)
    for slot in range(CHUNK_SLOTS):
        slots.put(slot, msgspec.msgpack.encode(TOLD))

    assert (os.fstat(file).st_size, os.fstat(file).st_blocks) == (before.st_size, before.st_blocks)
    assert len(list(read_pending(file))) == CHUNK_SLOTS
    os.close(file)
