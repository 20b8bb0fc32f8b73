"""A table is edited: what has ended is shown as it was, and what has not goes on only where that is right."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.helpdesk import messages as m
from actors.ports import Entry, Recall
from actors.workflow.codec import fingerprint
from actors.workflow.outcome import EndReason
from actors.workflow.tables import Limits, Step, Workflow
from runtime.engine.run import LiveRun
from runtime.storage.damage import JournalDamaged
from runtime.storage.journal import RunJournal
from runtime.tickets import Ticket
from tests.fakes import CASE, HELPDESK, helpdesk
from tests.runtime.storage.kit import database_of, open_journal

TICKET = Ticket(id="T-1", text=CASE.text)
FIRST = next(iter(HELPDESK.steps))


class ResolutionMade(m.ResolutionRecalled, frozen=True, tag="ResolutionMade"):
    """An event of the new table, in the place of one that is no more."""


def edit(**changes: Any) -> Workflow:
    return msgspec.structs.replace(HELPDESK, **changes)


def without_an_event() -> Workflow:
    first = HELPDESK.steps[FIRST]
    assert isinstance(first, Step)
    then = {ResolutionMade if kind is m.ResolutionRecalled else kind: to for kind, to in first.then.items()}
    return edit(steps={**HELPDESK.steps, FIRST: msgspec.structs.replace(first, then=then)})


def in_another_order() -> Workflow:
    """The same events, but the first agent is another one."""
    first = HELPDESK.steps[FIRST]
    return edit(steps={**HELPDESK.steps, FIRST: msgspec.structs.replace(first, hand_to="summarization")})


def longer() -> Workflow:
    """One more step, which nobody has come to yet."""
    return edit(steps={**HELPDESK.steps, "proofread": list(HELPDESK.steps.values())[-1]})


def test_limits_are_no_other_version_and_everything_that_a_journal_means_is() -> None:
    assert fingerprint(edit(max_seconds=1.0, limits={"worker": Limits(1.0, 0)})) == fingerprint(HELPDESK)
    others = {fingerprint(each) for each in (HELPDESK, without_an_event(), in_another_order(), longer())}
    assert len(others) == 4


async def begin(path: Path, *, to_the_end: bool) -> Any:
    """What a process of the older version leaves: a run that has ended, or one of which the first answer is known."""
    journal = open_journal(path, {HELPDESK.name: HELPDESK})
    await journal.accept(TICKET, "R-1", HELPDESK, CASE, "gone")
    outcome = None
    if to_the_end:
        cast = helpdesk(tickets=journal, run_id="R-1")  # type: ignore[arg-type] # it is the port as well
        outcome = await LiveRun("R-1", HELPDESK, CASE, cast, journal=journal).outcome()
    else:
        journal.record(Entry("R-1", 1, 0.1, "memory", 1, m.ResolutionRecalled(recalled=Recall("miss"))), lambda _: None)
        await database_of(journal).run()
    database_of(journal).close()
    return outcome


def reopen(path: Path, flow: Workflow | None) -> RunJournal:
    return open_journal(path, {flow.name: flow} if flow else {"other": edit(name="other")})


EDITS = {"an event is gone": without_an_event(), "another order": in_another_order(), "no such workflow": None}


@pytest.mark.parametrize("flow", [*EDITS.values(), longer()], ids=[*EDITS, "one more step"])
async def test_what_has_ended_is_shown_as_it_was(tmp_path: Path, flow: Workflow | None) -> None:
    outcome = await begin(tmp_path / "t.db", to_the_end=True)
    journal = reopen(tmp_path / "t.db", flow)

    stored = await journal.find("T-1")

    assert await journal.outcome(stored) == outcome
    assert (stored.status, stored.version) == ("resolved", fingerprint(HELPDESK))
    database_of(journal).close()


@pytest.mark.parametrize("flow", EDITS.values(), ids=EDITS)
async def test_what_the_new_table_would_not_have_accepted_is_closed_with_a_sentence(
    tmp_path: Path, flow: Workflow | None
) -> None:
    await begin(tmp_path / "t.db", to_the_end=False)
    journal = reopen(tmp_path / "t.db", flow)
    (stored,) = await journal.list_open()

    with pytest.raises(JournalDamaged):
        await journal.resume_state(stored)
    outcome = journal.give_up(stored)

    assert (outcome.why, outcome.status, outcome.workflow) == (EndReason.WORKFLOW_CHANGED, "error", "helpdesk")
    assert "submit it again" in outcome.detail
    await journal.pending.settle(5.0)
    assert await journal.outcome(await journal.find("R-1")) == outcome
    database_of(journal).close()
    journal.pending.close()


async def test_what_the_new_table_knows_as_well_goes_on(tmp_path: Path) -> None:
    await begin(tmp_path / "t.db", to_the_end=False)
    journal = reopen(tmp_path / "t.db", longer())
    (stored,) = await journal.list_open()

    state = await journal.resume_state(stored)

    assert (state.inputs, state.run.open[0].role) == (1, "ticketing")
    database_of(journal).close()
