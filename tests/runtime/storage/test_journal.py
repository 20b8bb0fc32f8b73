"""The journal on disk: what was accepted can be rebuilt with all its limits, and what cannot be read is said so."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.helpdesk import messages as m
from actors.helpdesk.workflow import TicketCase
from actors.ports import Entry, Recall
from actors.workflow.outcome import EndReason, Outcome
from actors.workflow.tables import Handover, InvalidAnswer, NotDelivered, RunResumed, RunStopped, TimeUp
from bus import Failed
from runtime.run import LiveRun
from runtime.storage.database import Database
from runtime.storage.journal import SCHEMA, JournalDamaged, SqliteJournal, Ticket, UnknownRun
from runtime.storage.tickets import asked
from tests.actors.workflow.survey import SurveyCase, survey
from tests.fakes import CASE, HELPDESK, OBTAINED, PassesOn, Says, helpdesk

TICKET = Ticket(id="T-1", text=CASE.text)
FLOWS = {"helpdesk": HELPDESK, "survey": survey()}


@pytest.fixture
async def journal(tmp_path: Path) -> Any:
    database = Database(tmp_path / "terminus.db", SCHEMA)
    yield SqliteJournal(database, FLOWS)
    database.close()


async def played(journal: SqliteJournal, run_id: str = "R-1", **roles: Any) -> Outcome:
    case = TicketCase(ticket_id="T-1", text=CASE.text)
    await journal.accept(TICKET, run_id, HELPDESK, case, "me")
    cast = helpdesk(tickets=journal, run_id=run_id, **roles)  # type: ignore[arg-type] # it is the port as well
    return await LiveRun(run_id, HELPDESK, case, cast, journal=journal).outcome()


def ticket_row(journal: SqliteJournal) -> tuple[str, str]:
    return tuple(journal._database.read("SELECT status, note FROM ticket WHERE id = 'T-1'")[0])


async def test_an_outcome_read_later_is_the_outcome_that_was_told(journal: SqliteJournal) -> None:
    outcome = await played(journal)

    stored = journal.find("T-1")
    told = journal.outcome(stored)
    assert told is not None
    assert msgspec.structs.replace(told, seconds=0) == msgspec.structs.replace(outcome, seconds=0)
    assert outcome.seconds - told.seconds < 1.0
    assert (stored.id, stored.status) == ("R-1", "resolved")
    assert ticket_row(journal) == ("resolved", outcome.summary)
    assert journal.unfinished() == []


@pytest.mark.req("HD-3.4")
async def test_a_loop_stands_in_the_journal_and_on_the_ticket(journal: SqliteJournal) -> None:
    outcome = await played(journal, worker=lambda: PassesOn("network"), network=lambda: PassesOn("worker"))

    told = journal.outcome(journal.find("R-1"))
    assert told is not None
    assert (told.why, told.loop, told.handoffs) == (EndReason.LOOP_DETECTED, outcome.loop, outcome.handoffs)
    status, note = ticket_row(journal)
    assert status == "error"
    assert "worker to network, network to worker" in note


async def test_a_run_ended_without_its_terminator_marks_the_ticket_too(journal: SqliteJournal) -> None:
    outcome = await played(journal, ticketing=lambda: Says(OSError("gone")))

    assert outcome.by == ""
    await journal._database.run()  # it was told before it was recorded
    assert ticket_row(journal) == ("error", outcome.detail)


async def test_what_comes_after_the_end_changes_no_ticket(journal: SqliteJournal) -> None:
    await played(journal, ticketing=lambda: Says(OSError("gone")))
    await journal._database.run()
    before = ticket_row(journal)

    await journal.close("R-1:close", "T-1", "resolved", "an abandoned turn comes round at last")
    await journal._database.run()

    assert ticket_row(journal) == before


EVENTS = [
    m.ResolutionRecalled(recalled=Recall("miss")), OBTAINED, m.ResolutionStored(),
    m.NothingFound(detail="d", unavailable=("x",), degraded=""), m.SummaryCompleted(summary="s"),
    m.TicketClosed(status="error", resolution=None), Handover(to="network", reason="r", context="c"),
    Failed(request="q", error="e"), InvalidAnswer(what="str"), RunResumed(), RunStopped(), TimeUp(),
    NotDelivered(handoff=3, error="e"),
]  # fmt: skip


@pytest.mark.parametrize("event", EVENTS, ids=lambda each: type(each).__name__)
async def test_every_event_comes_back_as_it_was(journal: SqliteJournal, event: Any) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "me")
    entry = Entry("R-1", 1, 0.1 + 0.2, "worker", 7, event)
    journal.record(entry, lambda _: None)
    await journal._database.run()

    assert journal.entries(journal.find("R-1")) == [entry]


async def test_the_same_entry_twice_is_refused(journal: SqliteJournal) -> None:
    errors: list[Exception | None] = []
    for _ in range(2):
        journal.record(Entry("R-1", 1, 0.0, "worker", 1, TimeUp()), errors.append)
    await journal._database.run()

    assert errors[0] is None
    assert errors[1] is not None


class Clocks:
    """The calendar, and the seconds since a boot: each goes on its own way."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.boot, self.uptime = 1_000_000.0, "3f0c", 500.0
        monkeypatch.setattr("runtime.storage.journal.time.time", lambda: self.now)
        monkeypatch.setattr("runtime.storage.journal.since_boot", lambda: (self.boot, self.uptime))


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


@pytest.mark.parametrize("jump", [0.0, -86_400.0, 86_400.0], ids=["none", "back", "ahead"])
async def test_the_time_in_which_nobody_ran_it_counts_whatever_the_calendar_says(
    journal: SqliteJournal, clocks: Clocks, jump: float
) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "me")
    clocks.uptime += 300
    clocks.now += 300 + jump

    assert journal.replayed(journal.find("R-1")).elapsed == 300


@pytest.mark.parametrize(("jump", "elapsed"), [(0.0, 300.0), (-86_400.0, 42.0), (86_400.0, 86_700.0)])
async def test_after_a_boot_the_calendar_is_all_there_is_and_one_set_back_gives_no_time(
    journal: SqliteJournal, clocks: Clocks, jump: float, elapsed: float
) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "me")
    journal.record(Entry("R-1", 1, 42.0, "memory", 1, m.ResolutionRecalled(recalled=Recall("miss"))), lambda _: None)
    await journal._database.run()
    clocks.boot, clocks.uptime = "77aa", 1.0
    clocks.now += 300 + jump

    replayed = journal.replayed(journal.find("R-1"))
    assert (replayed.elapsed, replayed.inputs) == (elapsed, 1)
    case = TicketCase(ticket_id="T-1", text=CASE.text)
    outcome = await LiveRun("R-1", HELPDESK, case, helpdesk(), journal=journal, replayed=replayed).outcome()
    assert outcome.why is (EndReason.TIMED_OUT if elapsed > 600 else EndReason.COMPLETED)


async def test_a_clock_that_is_set_back_makes_no_old_run_the_latest(journal: SqliteJournal, clocks: Clocks) -> None:
    for n in range(3):
        await played(journal, f"R-{n}")
        clocks.now -= 10_000
    await journal.accept(TICKET, "R-3", HELPDESK, CASE, "me")
    other = Ticket(id="T-2", text="other")
    await journal.accept(other, "R-4", HELPDESK, msgspec.structs.replace(CASE, ticket_id="T-2"), "me")

    assert journal.find("T-1").id == "R-3"
    assert [run.id for run in journal.latest(10)] == ["R-4", "R-3", "R-2", "R-1", "R-0"]
    assert [run.id for run in journal.unfinished()] == ["R-3", "R-4"]


async def test_neither_a_vacuum_nor_a_deletion_changes_the_order(journal: SqliteJournal) -> None:
    for n in range(4):
        await played(journal, f"R-{n}")
    await journal._database.run(("DELETE FROM run WHERE id IN ('R-0', 'R-3')", ()))
    journal._database._writing.execute("VACUUM")
    await played(journal, "R-9")

    assert [run.id for run in journal.latest(10)] == ["R-9", "R-2", "R-1"]


async def test_a_ticket_that_is_called_like_a_run_and_that_run_are_both_found(journal: SqliteJournal) -> None:
    await played(journal, "R-1")
    named = Ticket(id="R-1", text="A ticket with the id of a run.")
    await journal.accept(named, "R-2", HELPDESK, msgspec.structs.replace(CASE, ticket_id="R-1"), "me")

    latest = journal.latest_of("R-1")
    assert latest is not None
    assert (journal.find("R-1").id, latest.id, journal.run("R-1").id) == ("R-2", "R-2", "R-1")
    assert journal.find("run:R-1").id == "R-1"
    assert journal.find(journal.run("R-1").ref).ticket == "T-1"
    assert journal.latest_of("R-2") is None
    with pytest.raises(UnknownRun):
        journal.find("run:T-1")


async def test_a_ticket_has_one_open_run_and_only_the_one_that_was_looked_for(journal: SqliteJournal) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "me", seen=0)
    other = msgspec.structs.replace(TICKET, text="Other words.")
    with pytest.raises(sqlite3.IntegrityError):
        await journal.accept(other, "R-2", HELPDESK, CASE, "me")
    await journal._database.run(("UPDATE run SET ended = 1", ()))
    with pytest.raises(sqlite3.IntegrityError):
        await journal.accept(other, "R-2", HELPDESK, CASE, "me", seen=0)

    texts = journal._database.read("SELECT text FROM ticket WHERE id = 'T-1'")
    assert texts == [(TICKET.text,)], "who lost has changed nothing"
    await journal.accept(other, "R-2", HELPDESK, CASE, "me", seen=journal.run("R-1").seq)


async def test_a_made_up_id_is_nobodys(journal: SqliteJournal) -> None:
    await played(journal)

    with pytest.raises(sqlite3.IntegrityError):
        await journal.accept(TICKET, "R-2", HELPDESK, CASE, "me", new=True)


async def test_a_run_that_was_let_go_of_was_no_crash(journal: SqliteJournal) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "me")
    other = msgspec.structs.replace(CASE, ticket_id="T-2")
    await journal.accept(Ticket(id="T-2", text="other"), "R-2", HELPDESK, other, "another")

    await journal.release("me")

    assert [(run.id, run.owner) for run in journal.unfinished()] == [("R-1", ""), ("R-2", "another")]
    assert [journal.replayed(run).orderly for run in journal.unfinished()] == [True, False]
    assert await journal.take_over(journal.run("R-1"), "me")


async def test_only_one_takes_over_a_run(journal: SqliteJournal) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "dead")
    stored = journal.find("R-1")

    assert await journal.take_over(stored, "first")
    assert not await journal.take_over(stored, "second")
    assert journal.find("R-1").owner == "first"


async def test_a_word_to_cancel_reaches_the_owner_alone(journal: SqliteJournal) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "me")
    for _ in range(2):
        await journal.ask_to_cancel(journal.find("R-1"))

    assert journal.to_cancel("me") == {"R-1": 2}
    assert journal.to_cancel("another") == {}


async def test_the_latest_run_of_a_ticket_is_found_by_the_ticket(journal: SqliteJournal) -> None:
    for n in range(3):
        await played(journal, f"R-{n}")

    assert journal.find("T-1").id == "R-2"
    assert [each.id for each in journal.latest(2)] == ["R-2", "R-1"]
    with pytest.raises(UnknownRun, match="no ticket or run 'T-9'"):
        journal.find("T-9")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("UPDATE event SET event = x'00'", "the journal of R-1 cannot be read"),
        ("UPDATE event SET event = x'81A474797065A3466F6F'", "the journal of R-1 cannot be read"),
        ("UPDATE run SET initial = x'00'", "the beginning of R-1 cannot be read"),
        ("UPDATE run SET workflow = 'of another version'", "which this version does not know"),
    ],
)
async def test_what_cannot_be_read_is_said_so(journal: SqliteJournal, damage: str, sentence: str) -> None:
    await played(journal)
    await journal._database.run((damage, ()))

    with pytest.raises(JournalDamaged, match=sentence):
        journal.outcome(journal.find("R-1"))


async def test_a_case_of_another_family_is_kept_as_well(journal: SqliteJournal) -> None:
    case = SurveyCase(ticket_id="T-1", team=("north",))
    await journal.accept(TICKET, "R-1", FLOWS["survey"], case, "me")

    assert journal.case(journal.find("R-1")) == case
    assert journal.fold(journal.find("R-1")).state == "planning"


async def test_a_run_within_a_run_is_found_by_its_id_and_by_nothing_else(journal: SqliteJournal) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "me")
    below = msgspec.structs.replace(CASE, ticket_id="R-1.5", max_seconds=40.0)
    await journal.accept_child("R-1.5", HELPDESK, below, "me")

    child = journal.find("R-1.5")

    assert (child.id, journal.case(child)) == ("R-1.5", below)
    assert journal.flow(child).max_seconds == 40.0
    assert journal.flow(journal.find("T-1")) is HELPDESK
    assert [run.id for run in journal.latest(10)] == ["R-1"]
    assert [run.id for run in journal.unfinished()] == ["R-1"]
    assert journal.find("T-1").id == "R-1"


async def test_a_run_is_folded_with_the_time_that_it_had(journal: SqliteJournal) -> None:
    below = msgspec.structs.replace(CASE, ticket_id="R-1.5", max_seconds=40.0)
    await journal.accept_child("R-1.5", HELPDESK, below, "me")
    await _recorded(journal, Entry("R-1.5", 1, 40.0, "", 0, TimeUp()))

    run = journal.fold(journal.find("R-1.5"))

    assert run.breach is EndReason.TIMED_OUT


async def _recorded(journal: SqliteJournal, entry: Entry) -> None:
    done = asyncio.get_running_loop().create_future()
    journal.record(entry, done.set_result)
    assert await done is None


async def test_a_ticket_is_read_as_it_came_in(journal: SqliteJournal) -> None:
    await played(journal)
    other = Ticket(id="T-2", text="The printer is on fire.", subject="Printer", requester="bob@example.org")
    await journal.accept(other, "R-2", HELPDESK, TicketCase(ticket_id="T-2", text=other.whole), "me")

    one, two = (asked(journal._database, journal.run(each)) for each in ("R-1", "R-2"))
    assert (one.question, bool(one.note)) == (CASE.text, True)
    assert (two.subject, two.question, two.requester, two.note) == (other.subject, other.text, other.requester, "")
    await journal._database.run(("DELETE FROM ticket WHERE id = 'T-1'", ()))
    gone = asked(journal._database, journal.run("R-1"))
    assert (gone.question, gone.note) == (CASE.text, ""), "its run still says what it was asked"
