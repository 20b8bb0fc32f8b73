"""What one research may use up: reserved before, counted across crashes."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.workflow.outcome import Spent
from runtime.resilience.limiters import BudgetExceeded, ResearchBudget
from runtime.storage.effects import Effects, ModelAccount
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.effect_store import SCHEMA, SqliteEffects


@given(st.integers(1, 20), st.lists(st.integers(1, 5), max_size=40))
def test_never_more_is_reserved_than_there_is(limit: int, amounts: list[int]) -> None:
    budget = ResearchBudget({"pages": limit, "credits": 0})
    for amount in amounts:
        with contextlib.suppress(BudgetExceeded):
            budget.reserve("pages", amount)
        budget.reserve("credits", amount)  # no limit
    assert budget.spent("pages") <= limit
    assert budget.spent("credits") == sum(amounts)


def test_what_was_not_needed_can_be_used_again() -> None:
    budget = ResearchBudget({"pages": 1})
    budget.reserve("pages")
    budget.give_back("pages")
    budget.give_back("pages")
    budget.reserve("pages")
    with pytest.raises(BudgetExceeded, match=r"raise \[research\] pages"):
        budget.reserve("pages")


async def test_a_research_that_is_resumed_goes_on_with_what_is_left(tmp_path: Path) -> None:
    # given
    database = Database(tmp_path / "t.db", SCHEMA)
    budget = ResearchBudget({"pages": 3, "credits": 10}, Effects(SqliteEffects(database), "R-1"))
    budget.reserve("pages")
    budget.reserve("pages")
    budget.give_back("pages")
    budget.reserve("credits", 10)
    ModelAccount(Effects(SqliteEffects(database), "R-1")).note(Spent(1, 120, 30, estimated=True))
    ModelAccount(Effects(SqliteEffects(database), "R-1")).note(Spent(1, 80, 10))
    database.close()

    # when
    database = Database(tmp_path / "t.db", SCHEMA)
    try:
        one, two = (Effects(SqliteEffects(database), run) for run in ("R-1", "R-2"))
        for each in (one, two):
            await each.load()
        again, other = (ResearchBudget({"pages": 3, "credits": 10}, each) for each in (one, two))

        # then
        assert (again.spent("pages"), again.spent("credits")) == (1, 10)
        with pytest.raises(BudgetExceeded):
            again.reserve("credits")
        assert other.spent("credits") == 0
        assert ModelAccount(one).spent() == Spent(2, 200, 40, estimated=True)
    finally:
        database.close()


async def test_an_effect_is_done_once_and_forgotten_with_its_run(tmp_path: Path) -> None:
    database = Database(tmp_path / "t.db", SCHEMA, "CREATE TABLE run (id TEXT, ended REAL)")
    try:
        await database.run(("INSERT INTO run VALUES ('R-1', 1.0)", ()))
        effects = Effects(SqliteEffects(database), "R-1")
        assert effects.get("page", "a", str) is None
        await effects.put("page", "a", "first")
        await effects.put("page", "a", "second")
        await effects.put("page", "b", "third")

        assert effects.get("page", "a", str) == "first"
        assert effects.all("page", str) == ["first", "third"]
        alike, again = (Effects(SqliteEffects(database), run) for run in ("R-10", "R-1"))
        for each in (alike, again):
            await each.load()
        assert alike.all("page", str) == []
        assert again.all("page", str) == ["first", "third"]
        effects.forget()
        await database.run()
        assert database.rows("SELECT * FROM effect") == []
    finally:
        database.close()
