"""Tickets are found by what they say, the newest first, within bounds; a run says what it was asked itself."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from actors.helpdesk.workflow import HELPDESK, TicketCase
from runtime.storage.journal import RunJournal
from runtime.storage.port import nearest_ids
from runtime.storage.records import Wanted
from runtime.storage.sqlite import run_store as listing
from runtime.storage.sqlite.database import Database
from runtime.tickets import Ticket
from tests.runtime.storage.kit import database_of, open_journal


@asynccontextmanager
async def stored(folder: Path, *given: Ticket) -> AsyncIterator[tuple[Database, RunJournal]]:
    """A database with a run R-0, R-1, ... for each ticket."""
    journal = open_journal(folder / "t.db", {"helpdesk": HELPDESK})
    database = database_of(journal)
    try:
        for number, ticket in enumerate(given):
            case = TicketCase(ticket_id=ticket.id, text=ticket.whole)
            await database.run(("UPDATE run SET ended = started WHERE ticket = ?", (ticket.id,)))  # one is open at most
            await journal.accept(ticket, f"R-{number}", HELPDESK, case, "owner")
        yield database, journal
    finally:
        database.close()


async def runs(journal: RunJournal, **wanted: object) -> list[str]:
    return [run.id for run, _ in (await journal.store.search(Wanted(**wanted))).runs]  # type: ignore[arg-type]


async def test_a_search_reads_as_people_do_and_takes_nothing_for_a_pattern(tmp_path: Path) -> None:
    given = (
        Ticket(id="HD-1", text="Die STRASSE, 100 % voll", subject="ＶＰＮ", requester="Kim"),
        Ticket(id="HD-2", text="하이브리드 근무" + " x" * 200_000 + " the_end"),
    )
    async with stored(tmp_path, *given) as (_, journal):
        for needle, found in {
            "straße": ["R-0"], "vpn": ["R-0"], "kim": ["R-0"], "100 %": ["R-0"], "%": ["R-0"], "_": ["R-1"],
            "100%": [], "하이브리드": ["R-1"], "the_END": ["R-1"], "hd-": ["R-1", "R-0"], "r-0": ["R-0"],
            "  ": ["R-1", "R-0"],
        }.items():  # fmt: skip
            assert await runs(journal, search=needle) == found, needle


async def test_the_newest_stand_first_whatever_the_clock_said_and_no_more_are_read_than_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "BATCH", 3)
    async with stored(tmp_path, *(Ticket(id=f"HD-{n}", text=f"{n % 2}") for n in range(10))) as (database, journal):
        await database.run(("UPDATE run SET started = 1000 - rowid", ()))

        assert await runs(journal, count=4) == ["R-9", "R-8", "R-7", "R-6"]
        assert await runs(journal, search="1", count=4) == ["R-9", "R-7", "R-5", "R-3"]
        assert await runs(journal, since=995.0) == ["R-4", "R-3", "R-2", "R-1", "R-0"]
        assert not (await journal.store.search(Wanted(search="none"))).stopped
        monkeypatch.setattr(listing, "MOST_LOOKED_THROUGH", 6)
        assert (await journal.store.search(Wanted(search="none")))[:2] == ([], True)


async def test_a_run_says_what_it_was_asked_even_when_it_cannot_be_gone_on_with(tmp_path: Path) -> None:
    first = Ticket(id="HD-1", text="The printer jams.", subject="Printer", requester="kim")
    async with stored(tmp_path, first, Ticket(id="HD-1", text="VPN again.")) as (database, journal):
        await database.run(("UPDATE ticket SET note = 'It was solved.'", ()))
        older, latest = (
            await journal.store.read_question(await journal.find("R-0")),
            await journal.store.read_question(await journal.find("R-1")),
        )

        assert (older.question, older.note) == ("Printer\n\nThe printer jams.", "")
        assert (latest.question, latest.subject, latest.note) == ("VPN again.", "", "It was solved.")
        await database.run(("UPDATE run SET initial = x'ff'", ()))
        assert (await journal.store.read_question(await journal.find("R-0"))).question == "VPN again."
        await database.run(("DELETE FROM ticket", ()))
        gone = await journal.store.read_question(await journal.find("R-1"))
        assert (gone.question, gone.created) == ("", (await journal.find("R-1")).started)


async def test_rounds_of_a_research_are_not_listed(tmp_path: Path) -> None:
    async with stored(tmp_path, Ticket(id="HD-1", text="one")) as (_, journal):
        await journal.accept_child("R-0.3", HELPDESK, TicketCase(ticket_id="HD-1", text="one"), "owner")

        assert await runs(journal) == ["R-0"]
        assert await nearest_ids(journal.store, "R-0.3") == ["R-0"]


async def test_ids_that_begin_so_come_before_those_that_are_alike(tmp_path: Path) -> None:
    given = [Ticket(id=each, text="x") for each in ("T-1a2b3c4d", "HD-2041", "HD-2042", "HD-2043", "HD-2044")]
    async with stored(tmp_path, *given) as (_, journal):
        assert await nearest_ids(journal.store, "t-1A2") == ["T-1a2b3c4d"]
        assert await nearest_ids(journal.store, "T-1a2b3c4e") == ["T-1a2b3c4d"]
        assert await nearest_ids(journal.store, "HD-20") == ["HD-2044", "HD-2043", "HD-2042"]
        assert await nearest_ids(journal.store, "T-ffffffff") == []
        assert await nearest_ids(journal.store, "") == []
        assert await nearest_ids(journal.store, "x" * 1_000_000) == []
