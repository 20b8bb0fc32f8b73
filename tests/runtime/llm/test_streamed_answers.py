"""An answer that is written while somebody reads along: the same answer, at the same price, whatever goes wrong."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from actors.drafting.drafts import Draft
from actors.evidence.claims import Claim
from actors.ports import Completion, ModelFailed, ModelRequest
from actors.workflow.outcome import Spent
from runtime.llm.client import BACKOFF_MOST, HUNG_SECONDS, TELL_SECONDS
from tests.clock import Jumping
from tests.fake_openai import (
    FakeOpenAI,
    Step,
    cuts,
    events,
    fails,
    hangs,
    piece,
    pieces,
    resets,
    says,
    streams,
    writes,
)
from tests.runtime.llm.kit import model_at, passage, task, until

FIRST, SECOND = "Starten Sie “ihn” neu – so: 😀 重新启动。", "Then\nwait."
ANSWER = {
    "claims": [
        {"passage": 1, "quote": 'Restart "it".', "text": FIRST},
        {"passage": 1, "quote": "Then wait.", "text": SECOND},
    ],
    "pass_on": None,
}
TEXT = json.dumps(ANSWER, ensure_ascii=False)
ESCAPED = json.dumps(ANSWER)
WRITTEN = f"{FIRST}\n{SECOND}"
DRAFT = Draft((Claim(FIRST, 1, 'Restart "it".'), Claim(SECOND, 1, "Then wait.")))


class Patient(Jumping):
    """A pause before another try is over at once; all else waits for a test to jump."""

    def call_later(self, delay: float, callback: Callable[..., object], *given: Any) -> Any:
        if delay > BACKOFF_MOST:
            return super().call_later(delay, callback, *given)
        return asyncio.get_running_loop().call_soon(callback, *given)


class Ticking(Patient):
    """It goes on whenever somebody looks at it."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def time(self) -> float:
        self.now += self._seconds
        return self.now


class Reader:
    """Reads along."""

    def __init__(self) -> None:
        self.told: list[tuple[int, str]] = []
        self.text = ""
        self.heard = asyncio.Event()

    def __call__(self, start: int, text: str) -> None:
        assert start in (0, len(self.text)), "nothing is left out"
        self.told.append((start, text))
        self.text = text if start == 0 else self.text + text
        self.heard.set()


def watched(reader: Reader, *, tools: tuple[str, ...] = ()) -> ModelRequest:
    return msgspec.structs.replace(task("It hangs.", passage(1), tools=tools), on_text=reader)


async def ask(
    *script: Step, reader: Reader | None = None, clock: Jumping | None = None, **settings: Any
) -> tuple[Completion, FakeOpenAI, Spent]:
    async with FakeOpenAI(*script) as server, model_at(server, clock or Patient(), **settings) as model:
        wanted = watched(reader) if reader else task("It hangs.", passage(1))
        filled = await model.fill(Draft, wanted, within=100)
        return filled, server, model.total.spent


@pytest.mark.req("LG-16")
@pytest.mark.parametrize(("size", "packet"), [(1, 100_000), (6, 13), (10_000, 1)])
@pytest.mark.parametrize("text", [TEXT, ESCAPED])
async def test_what_is_streamed_is_the_answer_that_comes_whole_for_the_same_tokens(
    text: str, size: int, packet: int
) -> None:
    reader = Reader()

    plain, _, price = await ask(says(text))
    streamed, server, spent = await ask(streams(events(*pieces(text, size)), packet=packet), reader=reader)

    assert streamed == plain
    assert streamed.value == DRAFT
    assert spent == price == Spent(1, 100, 20)
    assert reader.text == WRITTEN
    assert server.bodies[0]["stream"] is True
    assert server.bodies[0]["stream_options"] == {"include_usage": True}


async def test_without_a_reader_nothing_is_streamed() -> None:
    _, server, _ = await ask(writes(TEXT))

    assert not {"stream", "stream_options"} & server.bodies[0].keys()


@pytest.mark.req("LG-16")
async def test_who_reads_along_sees_text_before_the_end() -> None:
    reader, rest = Reader(), asyncio.Event()
    half = piece(TEXT[:90])

    async def halts(server: FakeOpenAI, request: Any) -> Any:
        return await streams(events(half, done=False), end=two)(server, request)

    async def two(server: FakeOpenAI, request: Any) -> Any:
        await rest.wait()
        raise ConnectionResetError

    async with FakeOpenAI(halts, writes(TEXT)) as server, model_at(server, Patient()) as model:
        filling = asyncio.ensure_future(model.fill(Draft, watched(reader), within=100))
        await reader.heard.wait()
        assert reader.text.startswith("Starten Sie")
        assert not filling.done()
        rest.set()
        assert (await filling).value == DRAFT


async def test_pieces_that_come_fast_are_told_together() -> None:
    reader = Reader()
    await ask(streams(events(*pieces("{" + TEXT[1:], 1)), packet=50), reader=reader, clock=Ticking(TELL_SECONDS / 20))

    assert reader.text == WRITTEN
    assert 1 < len(reader.told) < len(WRITTEN) / 5


STREAMED = streams(events(*pieces(TEXT)))
BEGUN = pieces(TEXT[: TEXT.index('"Then')])[:-2]
"""The first statement, and what comes up to the second's quote."""


def cut_off(done: bytes = b"") -> Step:
    return streams(events(*BEGUN, done=False) + done)


@pytest.mark.parametrize(
    "step",
    [
        cut_off(),
        streams(events(*BEGUN, done=False), end=resets()),
        streams(events(*BEGUN, done=False) + b"data: {nonsense}\n\n"),
        streams(b""),
        streams(b"data: [DONE]\n\n"),
        streams(events(*BEGUN, {"error": {"message": "overloaded", "code": 503}}, done=False)),
        streams(events(*BEGUN[:1], done=False), end=resets()),
        streams(b"<html>Bad gateway</html>"),
        cuts(),
        fails(503),
    ],
)
async def test_a_stream_that_breaks_is_a_failed_try_and_what_was_told_of_it_is_taken_back(step: Step) -> None:
    reader = Reader()

    filled, server, spent = await ask(step, writes(TEXT), reader=reader)

    assert filled.value == DRAFT
    assert len(server.bodies) == 2
    assert spent.tokens_in >= 100
    assert reader.text in ("", WRITTEN)
    assert all(start for start, text in reader.told[1:] if text) or (0, "") in reader.told


async def test_a_stream_that_stalls_is_given_up_and_the_answer_asked_for_whole() -> None:
    reader, clock = Reader(), Ticking(TELL_SECONDS)
    stalls = streams(events(*BEGUN, done=False), end=hangs())
    async with FakeOpenAI(stalls, writes(TEXT)) as server, model_at(server, clock, call_seconds=300.0) as model:
        filling = asyncio.ensure_future(model.fill(Draft, watched(reader), within=300))
        await until(lambda: reader.text == FIRST)
        await clock.jump(HUNG_SECONDS - 1)
        assert not server.bodies[1:]
        await clock.jump(1.1)
        assert (await filling).value == DRAFT
    assert "stream" not in server.bodies[1]
    assert reader.told[-1] == (0, "")


async def test_a_reader_of_an_answer_that_fails_hears_that_it_is_void() -> None:
    reader = Reader()
    async with FakeOpenAI(cut_off()) as server, model_at(server, Patient(), tries=1) as model:
        with pytest.raises(ModelFailed, match="broke off"):
            await model.fill(Draft, watched(reader), within=100)
    assert reader.text == ""
    assert reader.told[-1] == (0, "")


async def test_an_answer_that_has_to_be_repaired_begins_anew() -> None:
    reader = Reader()
    bad = '{"claims": [{"passage": 1, "quote": "x", "text": "The first one."}], "pass_on": 7}'

    filled, _, spent = await ask(streams(events(*pieces(bad))), streams(events(*pieces(TEXT))), reader=reader)

    assert filled.value == DRAFT
    assert reader.text == WRITTEN
    assert (0, "") in reader.told
    assert spent.calls == 2
