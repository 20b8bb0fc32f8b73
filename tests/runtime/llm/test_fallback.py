"""When the model fails, the lesser one answers in the time that is left, and says why."""

import asyncio

import pytest
from structlog.testing import capture_logs

from actors.helpdesk.output_schemas import Summary
from actors.ports import BudgetSpent, Completion, ModelFailed
from runtime.llm.fallback import TOO_SLOW, Fallback
from tests.clock import Jumping, settle
from tests.fake_openai import FakeOpenAI, fails
from tests.runtime.llm.kit import Answers, model_at, task

LESSER = Completion(Summary(summary="Closest passages."))


async def test_a_model_that_answers_is_not_doubted() -> None:
    filled = Completion(Summary(summary="Solved."), judged=True)
    lesser = Answers(LESSER)
    assert await Fallback(Answers(filled), lesser, Jumping()).fill(Summary, task(), within=10) is filled
    assert lesser.within == []


@pytest.mark.parametrize("error", [ModelFailed("It is down: try later."), BudgetSpent("It is used up.")])
async def test_a_model_that_fails_is_replaced_and_the_reason_told(error: ModelFailed) -> None:
    filled = await Fallback(Answers(error), Answers(LESSER), Jumping()).fill(Summary, task(), within=10)
    assert filled.value == LESSER.value
    assert filled.degraded == error.code
    assert filled.partial == (error.code if isinstance(error, BudgetSpent) else "")


async def test_a_silent_model_leaves_the_other_one_its_share() -> None:
    clock = Jumping()
    primary, lesser = Answers(LESSER, clock, 10_000), Answers(LESSER)
    call = asyncio.create_task(Fallback(primary, lesser, clock).fill(Summary, task(), within=100))
    await settle()
    await clock.jump(95.9)
    assert not call.done()
    await clock.jump(0.1)
    assert (await call).degraded == TOO_SLOW
    assert primary.within == [95]
    assert lesser.within == [4]
    # and of a short time, a quarter
    await Fallback(Answers(ModelFailed("No.")), lesser, clock).fill(Summary, task(), within=2)
    assert lesser.within[1] == 2


async def test_time_that_the_failing_model_took_is_gone() -> None:
    clock = Jumping()
    primary, lesser = Answers(ModelFailed("No."), clock, 30), Answers(LESSER)
    call = asyncio.create_task(Fallback(primary, lesser, clock).fill(Summary, task(), within=100))
    await settle()
    await clock.jump(30)
    await call
    assert lesser.within == [70]


async def test_when_both_fail_the_last_word_is_an_error() -> None:
    both = Fallback(Answers(ModelFailed("Down.")), Answers(ModelFailed("Nothing indexed: run index.")), Jumping())
    with pytest.raises(ModelFailed, match="Nothing indexed"):
        await both.fill(Summary, task(), within=10)


async def test_a_programmers_error_is_not_papered_over() -> None:
    with pytest.raises(ZeroDivisionError):
        await Fallback(Answers(ZeroDivisionError()), Answers(LESSER), Jumping()).fill(Summary, task(), within=10)


async def test_a_cancelled_call_asks_nobody_else() -> None:
    clock = Jumping()
    lesser = Answers(LESSER)
    call = asyncio.create_task(Fallback(Answers(LESSER, clock, 50), lesser, clock).fill(Summary, task(), within=100))
    await settle()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert lesser.within == []
    assert clock.waiting == 1  # only the time of the stand-in


async def test_with_the_real_model_behind_a_broken_server() -> None:
    async with FakeOpenAI(fails(401)) as server, model_at(server) as model:
        both = Fallback(model.for_run("run-1"), Answers(LESSER), model.server.clock)
        with capture_logs() as lines:
            filled = await both.fill(Summary, task(), within=100)
    assert filled.degraded == ModelFailed.code
    assert ["refused the key" in each["reason"] for each in lines if each["event"] == "model.degraded"] == [True]
    assert filled.value == LESSER.value
