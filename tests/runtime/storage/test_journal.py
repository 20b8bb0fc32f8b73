"""The journal on disk: what was accepted can be rebuilt with all its limits, and what cannot be read is said so."""

import asyncio
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
from runtime.engine.run import LiveRun
from runtime.storage.damage import JournalDamaged
from runtime.storage.errors import Conflict, UnknownRun
from runtime.storage.journal import RunJournal
from runtime.tickets import Ticket
from tests.actors.workflow.survey import SurveyCase, survey
from tests.fakes import CASE, HELPDESK, OBTAINED, PassesOn, Says, helpdesk
from tests.runtime.storage.kit import database_of, open_journal

TICKET = Ticket(id="T-1", text=CASE.text)
FLOWS = {"helpdesk": HELPDESK, "survey": survey()}


@pytest.fixture
async def journal(tmp_path: Path) -> Any:
    journal = open_journal(tmp_path / "terminus.db", FLOWS)
    yield journal
    database_of(journal).close()


async def played(journal: RunJournal, run_id: str = "R-1", **roles: Any) -> Outcome:
    case = TicketCase(ticket_id="T-1", text=CASE.text)
    await journal.accept(TICKET, run_id, HELPDESK, case, "me")
    cast = helpdesk(tickets=journal, run_id=run_id, **roles)  # type: ignore[arg-type] # it is the port as well
    return await LiveRun(run_id, HELPDESK, case, cast, journal=journal).outcome()


def ticket_row(journal: RunJournal) -> tuple[str, str]:
    return tuple(database_of(journal).rows("SELECT status, note FROM ticket WHERE id = 'T-1'")[0])


async def test_an_outcome_read_later_is_the_outcome_that_was_told(journal: RunJournal) -> None:
    outcome = await played(journal)

    stored = await journal.find("T-1")
    told = await journal.outcome(stored)
    assert told is not None
    assert told == outcome
    assert (stored.id, stored.status) == ("R-1", "resolved")
    assert ticket_row(journal) == ("resolved", outcome.summary)
    assert await journal.list_open() == []


async def test_a_loop_stands_in_the_journal_and_on_the_ticket(journal: RunJournal) -> None:
    outcome = await played(journal, worker=lambda: PassesOn("network"), network=lambda: PassesOn("worker"))

    told = await journal.outcome(await journal.find("R-1"))
    assert told is not None
    assert (told.why, told.loop, told.handoffs) == (EndReason.LOOP_DETECTED, outcome.loop, outcome.handoffs)
    status, note = ticket_row(journal)
    assert status == "error"
    assert "worker → network, network → worker" in note


async def test_a_run_ended_without_its_terminator_marks_the_ticket_too(journal: RunJournal) -> None:
    outcome = await played(journal, ticketing=lambda: Says(OSError("gone")))

    assert outcome.by == ""
    await database_of(journal).run()  # it was told before it was recorded
    assert ticket_row(journal) == ("error", outcome.detail)


async def test_what_comes_after_the_end_changes_no_ticket(journal: RunJournal) -> None:
    await played(journal, ticketing=lambda: Says(OSError("gone")))
    await database_of(journal).run()
    before = ticket_row(journal)

    await journal.close("R-1:close", "T-1", "resolved", "an abandoned turn comes round at last")
    await database_of(journal).run()

    assert ticket_row(journal) == before


EVENTS = [
    m.ResolutionRecalled(recalled=Recall("miss")), OBTAINED, m.ResolutionStored(),
    m.NothingFound(detail="d", unavailable=("x",), degraded=""), m.SummaryCompleted(summary="s"),
    m.TicketClosed(status="error", resolution=None), Handover(to="network", reason="r", context="c"),
    Failed(request="q", error="e"), InvalidAnswer(what="str"), RunResumed(), RunStopped(), TimeUp(),
    NotDelivered(handoff=3, error="e"),
]  # fmt: skip


@pytest.mark.parametrize("event", EVENTS, ids=lambda each: type(each).__name__)
async def test_every_event_comes_back_as_it_was(journal: RunJournal, event: Any) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "me")
    entry = Entry("R-1", 1, 0.1 + 0.2, "worker", 7, event)
    journal.record(entry, lambda _: None)
    await database_of(journal).run()

    assert await journal.entries(await journal.find("R-1")) == [entry]


async def test_the_same_entry_twice_is_refused(journal: RunJournal) -> None:
    errors: list[Exception | None] = []
    for _ in range(2):
        journal.record(Entry("R-1", 1, 0.0, "worker", 1, TimeUp()), errors.append)
    await database_of(journal).run()

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
    journal: RunJournal, clocks: Clocks, jump: float
) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "me")
    clocks.uptime += 300
    clocks.now += 300 + jump

    assert (await journal.resume_state(await journal.find("R-1"))).elapsed == 300


@pytest.mark.parametrize(("jump", "elapsed"), [(0.0, 300.0), (-86_400.0, 42.0), (86_400.0, 86_700.0)])
async def test_after_a_boot_the_calendar_is_all_there_is_and_one_set_back_gives_no_time(
    journal: RunJournal, clocks: Clocks, jump: float, elapsed: float
) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "me")
    journal.record(Entry("R-1", 1, 42.0, "memory", 1, m.ResolutionRecalled(recalled=Recall("miss"))), lambda _: None)
    await database_of(journal).run()
    clocks.boot, clocks.uptime = "77aa", 1.0
    clocks.now += 300 + jump

    replayed = await journal.resume_state(await journal.find("R-1"))
    assert (replayed.elapsed, replayed.inputs) == (elapsed, 1)
    case = TicketCase(ticket_id="T-1", text=CASE.text)
    outcome = await LiveRun("R-1", HELPDESK, case, helpdesk(), journal=journal, replayed=replayed).outcome()
    assert outcome.why is (EndReason.TIMED_OUT if elapsed > 600 else EndReason.COMPLETED)


async def test_a_clock_that_is_set_back_makes_no_old_run_the_latest(journal: RunJournal, clocks: Clocks) -> None:
    for n in range(3):
        await played(journal, f"R-{n}")
        clocks.now -= 10_000
    await journal.accept(TICKET, "R-3", HELPDESK, CASE, "me")
    other = Ticket(id="T-2", text="other")
    await journal.accept(other, "R-4", HELPDESK, msgspec.structs.replace(CASE, ticket_id="T-2"), "me")

    assert (await journal.find("T-1")).id == "R-3"
    assert [run.id for run in await journal.latest(10)] == ["R-4", "R-3", "R-2", "R-1", "R-0"]
    assert [run.id for run in await journal.list_open()] == ["R-3", "R-4"]


async def test_neither_a_vacuum_nor_a_deletion_changes_the_order(journal: RunJournal) -> None:
    for n in range(4):
        await played(journal, f"R-{n}")
    await database_of(journal).run(("DELETE FROM run WHERE id IN ('R-0', 'R-3')", ()))
    database_of(journal)._writing.execute("VACUUM")
    await played(journal, "R-9")

    assert [run.id for run in await journal.latest(10)] == ["R-9", "R-2", "R-1"]


async def test_a_ticket_that_is_called_like_a_run_and_that_run_are_both_found(journal: RunJournal) -> None:
    await played(journal, "R-1")
    named = Ticket(id="R-1", text="A ticket with the id of a run.")
    await journal.accept(named, "R-2", HELPDESK, msgspec.structs.replace(CASE, ticket_id="R-1"), "me")

    latest = await journal.latest_of("R-1")
    assert latest is not None
    assert ((await journal.find("R-1")).id, latest.id, (await journal.run("R-1")).id) == ("R-2", "R-2", "R-1")
    assert (await journal.find("run:R-1")).id == "R-1"
    assert (await journal.find((await journal.run("R-1")).ref)).ticket == "T-1"
    assert await journal.latest_of("R-2") is None
    with pytest.raises(UnknownRun):
        await journal.find("run:T-1")


async def test_a_ticket_has_one_open_run_and_only_the_one_that_was_looked_for(journal: RunJournal) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "me", seen=0)
    other = msgspec.structs.replace(TICKET, text="Other words.")
    with pytest.raises(Conflict):
        await journal.accept(other, "R-2", HELPDESK, CASE, "me")
    await database_of(journal).run(("UPDATE run SET ended = 1", ()))
    with pytest.raises(Conflict):
        await journal.accept(other, "R-2", HELPDESK, CASE, "me", seen=0)

    texts = database_of(journal).rows("SELECT text FROM ticket WHERE id = 'T-1'")
    assert texts == [(TICKET.text,)], "who lost has changed nothing"
    await journal.accept(other, "R-2", HELPDESK, CASE, "me", seen=(await journal.run("R-1")).seq)


async def test_a_made_up_id_is_nobodys(journal: RunJournal) -> None:
    await played(journal)

    with pytest.raises(Conflict):
        await journal.accept(TICKET, "R-2", HELPDESK, CASE, "me", new=True)


async def test_a_run_that_was_let_go_of_has_no_owner(journal: RunJournal) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "me")
    other = msgspec.structs.replace(CASE, ticket_id="T-2")
    await journal.accept(Ticket(id="T-2", text="other"), "R-2", HELPDESK, other, "another")

    await journal.release("me")

    assert [(run.id, run.owner) for run in await journal.list_open()] == [("R-1", ""), ("R-2", "another")]
    assert await journal.store.claim(await journal.run("R-1"), "me")


async def test_a_death_at_a_runs_work_is_part_of_its_journal_until_it_answers(journal: RunJournal) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "dead")

    for deaths in (1, 2):
        await journal.record_death("R-1")
        state = await journal.resume_state(await journal.run("R-1"))
        assert (state.run.resumed, state.inputs, state.run.breach) == (deaths, deaths, None)

    await journal.record_death("R-unknown")
    await database_of(journal).run(("UPDATE run SET ended = 1", ()))
    await journal.record_death("R-1")
    assert len(await journal.entries(await journal.run("R-1"))) == 2, "of one that has ended it is no matter"


async def test_only_one_takes_over_a_run(journal: RunJournal) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "dead")
    stored = await journal.find("R-1")

    assert await journal.store.claim(stored, "first")
    assert not await journal.store.claim(stored, "second")
    assert (await journal.find("R-1")).owner == "first"


async def test_a_word_to_cancel_reaches_the_owner_alone(journal: RunJournal) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "me")
    for _ in range(2):
        await journal.store.ask_to_cancel("R-1")

    assert await journal.store.cancel_requests("me") == {"R-1": 2}
    assert await journal.store.cancel_requests("another") == {}


async def test_the_latest_run_of_a_ticket_is_found_by_the_ticket(journal: RunJournal) -> None:
    for n in range(3):
        await played(journal, f"R-{n}")

    assert (await journal.find("T-1")).id == "R-2"
    assert [each.id for each in await journal.latest(2)] == ["R-2", "R-1"]
    with pytest.raises(UnknownRun, match="no ticket or run 'T-9'"):
        await journal.find("T-9")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("UPDATE event SET event = x'00'", "the journal of R-1 cannot be read"),
        ("UPDATE event SET event = x'81A474797065A3466F6F'", "the journal of R-1 cannot be read"),
        ("UPDATE run SET initial = x'00'", "the beginning of R-1 cannot be read"),
        ("UPDATE run SET workflow = 'of another version'", "which this version does not know"),
    ],
)
async def test_what_cannot_be_read_is_said_so(journal: RunJournal, damage: str, sentence: str) -> None:
    await played(journal)
    await database_of(journal).run((damage, ()))

    with pytest.raises(JournalDamaged, match=sentence):
        await journal.fold(await journal.find("R-1"))


async def test_an_outcome_stands_by_itself_whatever_became_of_the_events_and_of_the_table(journal: RunJournal) -> None:
    outcome = await played(journal)
    for damage in ("DELETE FROM event", "UPDATE run SET initial = x'00', workflow = 'of another version'"):
        await database_of(journal).run((damage, ()))

        assert await journal.outcome(await journal.find("R-1")) == outcome


async def test_an_outcome_that_is_damaged_is_said_to_be(journal: RunJournal) -> None:
    await played(journal)
    for damage in ("x'00'", "substr(ending, 1, 100)", "NULL"):
        await database_of(journal).run((f"UPDATE run SET ending = {damage}", ()))

        with pytest.raises(JournalDamaged, match="the end of R-1"):
            await journal.outcome(await journal.find("R-1"))


async def test_a_case_of_another_family_is_kept_as_well(journal: RunJournal) -> None:
    case = SurveyCase(ticket_id="T-1", team=("north",))
    await journal.accept(TICKET, "R-1", FLOWS["survey"], case, "me")

    assert journal.case(await journal.find("R-1")) == case
    assert (await journal.fold(await journal.find("R-1"))).state == "planning"


async def test_a_run_within_a_run_is_found_by_its_id_and_by_nothing_else(journal: RunJournal) -> None:
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "me")
    below = msgspec.structs.replace(CASE, ticket_id="R-1.5", max_seconds=40.0)
    await journal.accept_child("R-1.5", HELPDESK, below, "me")

    child = await journal.find("R-1.5")

    assert (child.id, journal.case(child)) == ("R-1.5", below)
    assert journal.flow(child).max_seconds == 40.0
    assert journal.flow(await journal.find("T-1")) is HELPDESK
    assert [run.id for run in await journal.latest(10)] == ["R-1"]
    assert [run.id for run in await journal.list_open()] == ["R-1"]
    assert (await journal.find("T-1")).id == "R-1"


async def test_a_run_is_folded_with_the_time_that_it_had(journal: RunJournal) -> None:
    below = msgspec.structs.replace(CASE, ticket_id="R-1.5", max_seconds=40.0)
    await journal.accept_child("R-1.5", HELPDESK, below, "me")
    await _recorded(journal, Entry("R-1.5", 1, 40.0, "", 0, TimeUp()))

    run = await journal.fold(await journal.find("R-1.5"))

    assert run.breach is EndReason.TIMED_OUT


async def _recorded(journal: RunJournal, entry: Entry) -> None:
    done = asyncio.get_running_loop().create_future()
    journal.record(entry, done.set_result)
    assert await done is None


async def test_a_ticket_is_read_as_it_came_in(journal: RunJournal) -> None:
    await played(journal)
    other = Ticket(id="T-2", text="The printer is on fire.", subject="Printer", requester="bob@example.org")
    await journal.accept(other, "R-2", HELPDESK, TicketCase(ticket_id="T-2", text=other.whole), "me")

    one, two = [await journal.store.read_question(await journal.run(each)) for each in ("R-1", "R-2")]
    assert (one.question, bool(one.note)) == (CASE.text, True)
    assert (two.subject, two.question, two.requester, two.note) == (other.subject, other.text, other.requester, "")
    await database_of(journal).run(("DELETE FROM ticket WHERE id = 'T-1'", ()))
    gone = await journal.store.read_question(await journal.run("R-1"))
    assert (gone.question, gone.note) == (CASE.text, ""), "its run still says what it was asked"
