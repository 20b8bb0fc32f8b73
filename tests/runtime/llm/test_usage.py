"""A run's account: never beyond its budget by more than what one call was reserved for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.ports import BudgetSpent
from actors.workflow.outcome import Spent
from runtime.llm.usage import SMALLEST_ANSWER, Budget, Ledger, estimate


def test_what_is_reserved_is_settled_with_what_it_took() -> None:
    ledger = Ledger(10_000)
    charge = ledger.reserve(1000, 2000)
    assert charge.tokens == 3000
    charge.settle(900, 50)
    assert ledger.spent == Spent(calls=1, tokens_in=900, tokens_out=50, estimated=False)
    ledger.reserve(500, 500).settle(500, 10, estimated=True)
    assert ledger.spent == Spent(calls=2, tokens_in=1400, tokens_out=60, estimated=True)


def test_an_answer_may_have_what_is_left_and_no_more() -> None:
    ledger = Ledger(5000)
    assert ledger.reserve(1000, 16_000).tokens_out == 4000
    with pytest.raises(BudgetSpent, match="5000 tokens is used up: raise"):
        ledger.reserve(1, SMALLEST_ANSWER)


def test_a_call_that_came_to_nothing_costs_nothing() -> None:
    ledger = Ledger(5000)
    charge = ledger.reserve(1000, 4000)
    charge.release()
    charge.release()
    assert ledger.reserve(1000, 4000).tokens_out == 4000
    assert ledger.spent == Spent()


def test_a_try_whose_answer_nobody_saw_is_counted_as_an_estimate() -> None:
    ledger = Ledger(5000)
    charge = ledger.reserve(2000, 1000)
    charge.lost()
    charge.check()
    charge.lost()
    with pytest.raises(BudgetSpent):
        charge.check()
    assert ledger.spent == Spent(calls=2, tokens_in=4000, tokens_out=0, estimated=True)


def test_without_a_budget_nothing_is_refused() -> None:
    assert Ledger().reserve(10**9, 10**9).tokens_out == 10**9


@given(
    st.integers(1, 20_000),
    st.lists(st.tuples(st.integers(0, 3000), st.integers(300, 3000), st.floats(0, 1), st.booleans()), max_size=40),
)
def test_whatever_honest_servers_charge_the_budget_holds(
    budget: int, calls: list[tuple[int, int, float, bool]]
) -> None:
    ledger = Ledger(budget)
    for tokens_in, tokens_out, part, fails in calls:
        try:
            charge = ledger.reserve(tokens_in, tokens_out)
        except BudgetSpent:
            continue
        if fails:
            charge.release()
        else:
            charge.settle(tokens_in, int(charge.tokens_out * part))
    assert ledger.spent.tokens_in + ledger.spent.tokens_out <= budget


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 1),
        ("The VPN drops every hour. " * 40, 200, 300),
        ("打印机在十三楼" * 40, 250, 300),
        ("프린터" * 100, 280, 310),
    ],
)
def test_an_estimate_knows_scripts_of_one_token_a_character(text: str, least: int, most: int) -> None:
    assert least <= estimate(text.encode()) <= most


def test_what_is_held_back_is_only_for_the_last_task() -> None:
    ledger = Ledger(Budget(10_000, held_back=0.2))
    ledger.reserve(1000, 6000).settle(1000, 6000)

    with pytest.raises(BudgetSpent):
        ledger.reserve(900, 1000)

    assert ledger.reserve(900, 9000, last=True).tokens_out == 2100


def test_money_bounds_an_answer_by_its_price() -> None:
    ledger = Ledger(Budget(money=1.0, price_in=1.0, price_out=4.0))
    charge = ledger.reserve(200_000, 1_000_000)

    assert charge.tokens_out == 200_000
    charge.settle(200_000, 150_000)
    with pytest.raises(BudgetSpent, match=r"budget of 1 for the model is used up: raise \[research\] money"):
        ledger.reserve(200_001, 1000)


def test_a_price_without_a_limit_refuses_nothing() -> None:
    assert Ledger(Budget(price_in=5.0, price_out=5.0)).reserve(10**9, 10**9).tokens_out == 10**9


def test_what_was_spent_before_a_crash_counts() -> None:
    ledger = Ledger(Budget(5000), known=Spent(3, 3000, 500, estimated=True))

    assert ledger.reserve(500, 9000).tokens_out == 1000
    assert ledger.spent == Spent(3, 3000, 500, estimated=True)


def test_every_paid_call_is_noted() -> None:
    noted: list[Spent] = []
    ledger = Ledger(Budget(), note=noted.append)
    charge = ledger.reserve(100, 100)
    charge.lost()
    charge.settle(90, 10)

    assert noted == [Spent(1, 100, 0, estimated=True), Spent(1, 90, 10, estimated=False)]
