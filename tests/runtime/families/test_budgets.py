"""Researches at their budgets: each ends with what it has and says which budget was used up; none is overdrawn."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.ports import BudgetSpent, Completion, ModelRequest
from actors.research.models import ResearchOptions
from actors.research.output_schemas import Overview
from actors.workflow.outcome import EndReason
from runtime.families import extractive
from runtime.llm.fallback import Fallback
from runtime.llm.usage import SMALLEST_ANSWER, Budget, Ledger
from runtime.settings import ResearchSettings, RunSettings
from runtime.tickets import Ticket
from tests.fake_openai import FakeOpenAI, hangs
from tests.inquiry import Inquiry
from tests.patience import HANGS_SECONDS, promised
from tests.runtime.families.modelled import LRU, READ_TWICE, case_of, honest, researched, shapes, thinking
from tests.runtime.families.test_research_runs import QUESTION, opened
from tests.thinking import thinks

ANSWER = 400
"""Tokens that one answer may have in these tests."""


@pytest.mark.parametrize("fallback", [True, False])
@pytest.mark.parametrize("tokens", [300, 1500, 2600])
async def test_a_research_at_its_budget_of_tokens_is_partial_and_says_so(
    tokens: int, fallback: bool, tmp_path: Path
) -> None:
    budget: dict[str, Any] = {"ticket_tokens": tokens, "answer_tokens": ANSWER, "fallback": fallback}
    async with FakeOpenAI(thinks(None)) as server, thinking(tmp_path, server, **budget) as node:
        outcome, report = await researched(node)

        said = "What may be spent on the language model for this was used up"
        assert outcome.why is EndReason.COMPLETED
        assert honest(outcome, report)
        assert outcome.resolution is not None
        assert LRU in outcome.resolution.text
        assert said in report.partial
        assert said in (await case_of(node, outcome)).partial
        assert f"This report is partial. {said}" in outcome.resolution.text
        assert outcome.spent.tokens_in + outcome.spent.tokens_out <= tokens
        assert outcome.status == "suggested"


async def test_what_is_held_back_pays_for_the_overview_when_all_else_is_spent(tmp_path: Path) -> None:
    held = ResearchSettings(report_share=0.75)
    budget: dict[str, Any] = {"ticket_tokens": 6000, "answer_tokens": ANSWER}
    async with FakeOpenAI(thinks(None)) as server, thinking(tmp_path, server, research=held, **budget) as node:
        _, report = await researched(node)

        assert shapes(server) == ["PlanDraft", "Overview", "SecondReading"], (
            "the answer would have eaten into what is held back"
        )
        assert "was used up" in report.partial
        assert any(line.text != line.quote and line.quote for line in report.overview)


async def test_a_research_at_its_budget_of_money_is_partial_and_says_so(tmp_path: Path) -> None:
    prices: dict[str, Any] = {"price_in": 1.0, "price_out": 4.0, "answer_tokens": ANSWER}
    costs = ResearchSettings(money=0.004)
    async with FakeOpenAI(thinks(None)) as server, thinking(tmp_path, server, research=costs, **prices) as node:
        outcome, report = await researched(node)

        assert "What may be spent on the language model for this was used up" in report.partial
        assert (outcome.spent.tokens_in * 1.0 + outcome.spent.tokens_out * 4.0) / 1e6 <= 0.004
        assert honest(outcome, report)


async def test_a_research_at_its_budget_of_pages_is_partial_and_says_so(tmp_path: Path) -> None:
    async with FakeOpenAI(thinks()) as server, thinking(tmp_path, server, research=ResearchSettings(pages=1)) as node:
        outcome, report = await researched(node)

        assert "What may be spent on reading for this was used up" in report.partial
        assert len((await case_of(node, outcome)).pages) == 1
        assert honest(outcome, report)


async def test_a_research_whose_time_is_over_ends_with_what_it_has(tmp_path: Path) -> None:
    brief = RunSettings(max_seconds=5.0)
    async with FakeOpenAI(thinks(Answer=hangs())) as server, thinking(tmp_path, server, run=brief) as node:
        outcome, report = await researched(node)

        assert outcome.seconds < 5.0 + promised(2.0)
        assert honest(outcome, report)
        assert outcome.resolution is not None
        assert LRU in outcome.resolution.text
        assert outcome.degraded or report.partial


async def test_what_was_spent_before_a_crash_counts_after_it(tmp_path: Path) -> None:
    async with FakeOpenAI(thinks(None, Answer=hangs())) as server, thinking(tmp_path, server) as node:
        # given a process that died while the model thought
        handle = await node.submit(Ticket(id="T-1", text=QUESTION, workflow="research", options=ResearchOptions()))
        await server.until(lambda: len(server.bodies) == 2)
        node.runs.live.abandon()
        await server.until(lambda: server.hung_up == 1)
        await node.database.run()
        known = node.database.rows("SELECT count(*) FROM effect WHERE kind = 'spent'")
        assert known[0][0] > 0
        model = node.settings.model

    async with FakeOpenAI(thinks(None)) as server:
        # when another one goes on with it
        again = type(model)(base_url=server.url, name="fake-model")
        async with opened(tmp_path / "store", model=again) as node:
            (handle,) = await node.resume()
            outcome = await asyncio.wait_for(handle.outcome(), HANGS_SECONDS)

            # then
            assert outcome.why is EndReason.COMPLETED
            assert outcome.spent.calls == len(server.bodies) + 2
            assert shapes(server) == READ_TWICE[1:], "what was answered before is not asked again"


class Paid:
    """A model that answers as the one without a network does, and is paid for."""

    def __init__(self, ledger: Ledger, question: int) -> None:
        self.ledger, self.question = ledger, question
        self.asked: list[type[Any]] = []
        self.refused: list[type[Any]] = []
        self._thinks = extractive()

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        try:
            charge = self.ledger.reserve(self.question, ANSWER, last=task.last)
        except BudgetSpent:
            self.refused.append(shape)
            raise
        self.asked.append(shape)
        await asyncio.sleep(0)
        charge.settle(self.question, charge.tokens_out)
        return await self._thinks.fill(shape, task, within=within)


@settings(max_examples=40)
@given(
    tokens=st.integers(1, 12_000), question=st.integers(1, 2_000), share=st.floats(0.0, 0.9),
    money=st.one_of(st.just(0.0), st.floats(0.0001, 0.02)), depth=st.integers(1, 3),
)  # fmt: skip
async def test_whatever_the_budget_it_is_not_overdrawn_and_what_is_refused_is_told(
    tokens: int, question: int, share: float, money: float, depth: int
) -> None:
    paid = Paid(Ledger(Budget(tokens, money, 1.0, 4.0, share)), question)
    inquiry = Inquiry(brief=ResearchOptions(breadth=3, depth=depth))
    model = Fallback(paid, extractive(), inquiry.clock)
    inquiry = Inquiry(brief=ResearchOptions(breadth=3, depth=depth), model=model)

    outcome = await inquiry.end()

    spent, report = paid.ledger.spent, inquiry.known.report
    assert outcome.why is EndReason.COMPLETED
    assert report is not None
    assert spent.tokens_in + spent.tokens_out <= tokens
    assert not money or Budget(0, 0.0, 1.0, 4.0).cost(spent.tokens_in, spent.tokens_out) <= money
    assert bool(paid.refused) == ("was used up" in report.partial)
    assert inquiry.known.partial == report.partial
    assert not paid.refused or outcome.status == "suggested"
    rest = tokens - int(tokens * (1.0 - share))
    if not money and rest >= question + SMALLEST_ANSWER:
        assert Overview in paid.asked, "what was held back is enough for the overview"
