"""Records beside tickets and ends: in one transaction with them, whatever happens to the disk or the process."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.helpdesk.workflow import TicketCase
from actors.workflow.outcome import EndReason, Outcome
from actors.workflow.run_end import RunEnd
from runtime.engine.run import LiveRun
from runtime.storage.ends import PendingEnd
from runtime.storage.errors import Conflict
from runtime.storage.journal import RunJournal
from runtime.storage.records import Record, RecordKey
from runtime.storage.sqlite import run_store
from runtime.tickets import Ticket
from tests.fakes import CASE, HELPDESK, helpdesk
from tests.runtime.storage.kit import database_of, open_journal

TICKET = Ticket(id="T-1", text=CASE.text)


class Origin(msgspec.Struct, frozen=True):
    """A record of the test's own: where a ticket came from."""

    message: str


def origin(message: str, **more: Any) -> Record:
    return Record(kind="origin", id=message, body=msgspec.msgpack.encode(Origin(message)), **more)


def announce(outcome: Outcome) -> Sequence[Record]:
    """What is to be sent once a run has ended."""
    return (Record(kind="outbox", id=outcome.run, run=outcome.run, body=str(outcome.why).encode()),)


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[RunJournal]:
    journal = open_journal(tmp_path / "terminus.db", {HELPDESK.name: HELPDESK}, ended=announce)
    yield journal
    database_of(journal).close()
    journal.pending.close()


async def accept(journal: RunJournal, run_id: str, *besides: Record) -> None:
    await journal.accept(TICKET, run_id, HELPDESK, CASE, "me", besides=besides)


async def outbox(journal: RunJournal) -> list[tuple[str, bytes]]:
    return [(each.id, each.body) for each in await journal.store.records("outbox")]


async def test_an_origin_is_there_with_its_ticket_or_not_at_all(journal: RunJournal) -> None:
    await accept(journal, "R-1", origin("mail-1", run="R-1"))
    (found,) = await journal.store.records("origin", run="R-1")
    assert msgspec.msgpack.decode(found.body, type=Origin) == Origin("mail-1")
    await database_of(journal).run(("UPDATE run SET ended = 1", ()))

    with pytest.raises(Conflict):
        await accept(journal, "R-2", origin("mail-1"))

    assert [run.id for run in await journal.latest(9)] == ["R-1"], "the same mail makes no other run"


async def test_an_end_and_what_is_to_be_sent_of_it_are_one(journal: RunJournal) -> None:
    case = TicketCase(ticket_id="T-1", text=CASE.text)
    await journal.accept(TICKET, "R-1", HELPDESK, case, "me")
    cast = helpdesk(tickets=journal, run_id="R-1")  # type: ignore[arg-type] # it is the port as well
    outcome = await LiveRun("R-1", HELPDESK, case, cast, journal=journal).outcome()

    assert outcome.why is EndReason.COMPLETED
    assert await outbox(journal) == [("R-1", b"completed")]


async def test_an_end_that_another_process_could_only_note_has_them_too_and_once(journal: RunJournal) -> None:
    await accept(journal, "R-1")
    noted = PendingEnd("R-1", 0, 1.0, RunEnd(EndReason.STORAGE_FAILED, "", 1.0))

    for _ in range(2):
        await journal.record_pending(noted)

    assert await outbox(journal) == [("R-1", b"storage_failed")]
    assert (await journal.find("R-1")).status == "error"


async def test_what_was_sent_leaves_the_outbox_as_its_delivery_is_noted(journal: RunJournal) -> None:
    store = journal.store
    await store.put(*(Record(kind="outbox", id=f"{n}", body=b"x") for n in range(5)))
    assert [each.id for each in await store.records("outbox", after="1", most=2)] == ["2", "3"]

    await store.put(Record(kind="delivery", id="2", body=b"sent"), remove=[RecordKey("outbox", "2")])
    with pytest.raises(Conflict):
        await store.put(Record(kind="delivery", id="2", body=b"again"), remove=[RecordKey("outbox", "3")])
    await store.put(Record(kind="delivery", id="2", body=b"read", replaces=True))

    assert [each.id for each in await store.records("outbox")] == ["0", "1", "3", "4"]
    assert [each.body for each in await store.records("delivery")] == [b"read"]


async def test_records_of_a_run_are_found_by_it_however_many_others_there_are(journal: RunJournal) -> None:
    await journal.store.put(*(Record(kind="trace", id=f"{n}", run=f"R-{n % 3}", body=b"x") for n in range(9)))

    assert [each.id for each in await journal.store.records("trace", run="R-1", after="1", most=9)] == ["4", "7"]
    (plan,) = database_of(journal).rows(f"EXPLAIN QUERY PLAN {run_store._RECORDS_OF_RUN}", ("R-1", "trace", "", 9))
    assert "record_of_run" in str(plan)
