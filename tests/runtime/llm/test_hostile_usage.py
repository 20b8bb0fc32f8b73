"""What a server says that a call took is bounded before it is believed; what cannot be is estimated."""

import math
from pathlib import Path
from typing import Any

import pytest

from actors.helpdesk.output_schemas import Summary
from actors.workflow.outcome import EndReason, Spent
from runtime.llm.client import MOST_TOKENS, read
from tests.fake_openai import FakeOpenAI, completion, says
from tests.runtime.families.modelled import researched, thinking
from tests.runtime.llm.kit import model_at, task
from tests.thinking import thinks

HOSTILE: dict[str, Any] = {
    "huge": {"prompt_tokens": 10**30, "completion_tokens": 10**30},
    "a little too much": {"prompt_tokens": MOST_TOKENS + 1, "completion_tokens": 1},
    "negative": {"prompt_tokens": -(10**30), "completion_tokens": -1},
    "one negative": {"prompt_tokens": 100, "completion_tokens": -20},
    "fractions": {"prompt_tokens": 0.5, "completion_tokens": 1.5},
    "beyond floats": {"prompt_tokens": 1e308, "completion_tokens": 1e308},
    "not a number": {"prompt_tokens": math.nan, "completion_tokens": math.inf},
    "texts": {"prompt_tokens": "100", "completion_tokens": "20"},
    "nothing": {"prompt_tokens": None, "completion_tokens": None},
    "half": {"prompt_tokens": 100},
    "truths": {"prompt_tokens": True, "completion_tokens": False},
    "lists": {"prompt_tokens": [100], "completion_tokens": {"is": 20}},
    "a list": [100, 20],
    "a text": "120",
    "a number": 120,
}


@pytest.mark.parametrize("what", HOSTILE)
async def test_what_cannot_be_is_estimated(what: str) -> None:
    step = says({"summary": "Solved."}, usage=HOSTILE[what])
    async with FakeOpenAI(step) as server, model_at(server, tokens_per_minute=1_000_000) as model:
        for _ in range(2):  # neither the account nor the limit a minute is upset
            assert (await model.fill(Summary, task(), within=100)).value.summary == "Solved."
    spent = model.total.spent
    assert (spent.calls, spent.estimated) == (2, True)
    assert 0 < spent.tokens_in < 2_000
    assert 0 < spent.tokens_out < 100


async def test_a_count_that_only_looks_like_a_fraction_is_believed() -> None:
    usage = {"prompt_tokens": 100.0, "completion_tokens": 20.0}
    async with FakeOpenAI(says({"summary": "Solved."}, usage=usage)) as server, model_at(server) as model:
        await model.fill(Summary, task(), within=100)
    assert model.total.spent == Spent(calls=1, tokens_in=100, tokens_out=20)


@pytest.mark.parametrize(
    ("name", "number"),
    [("created", b"9" * 5000), ("created", b"-1e999"), ("created", b"NaN"), ("total_tokens", b"1" * 5000)],
    ids=lambda value: value[:12] if isinstance(value, bytes) else value,
)
def test_numbers_that_nobody_needs_spoil_nothing(name: str, number: bytes) -> None:
    body = completion({"content": "Solved."}, usage={"prompt_tokens": 100, "completion_tokens": 20, name: 7})
    reply = read(body.replace(f'"{name}": 7'.encode(), f'"{name}": '.encode() + number).replace(b"1700000000", number))

    assert reply.choices[0].message.text == "Solved."
    assert reply.tokens == (100, 20)


@pytest.mark.parametrize("what", ["huge", "negative", "not a number", "texts"])
async def test_a_run_with_such_a_server_ends_once_and_can_be_read(what: str, tmp_path: Path) -> None:
    async with FakeOpenAI(thinks(HOSTILE[what])) as server, thinking(tmp_path, server) as node:
        outcome, _ = await researched(node)
        stored, read_again = await node.status(outcome.ticket)

        assert outcome.why is EndReason.COMPLETED
        assert outcome.spent.estimated
        assert 0 < outcome.spent.tokens_in < 200_000
        assert read_again == outcome
        assert stored.ended is not None
        assert await node.journal.list_open() == []
