"""Servers stream in many ways: whatever an answer's pieces look like, it is the one that comes whole."""

import asyncio
import codecs
import json
from typing import Any

import pytest

from actors.drafting.drafts import Draft
from actors.evidence.claims import Claim
from actors.evidence.passages import SearchHits
from actors.ports import ModelFailed
from actors.workflow.outcome import Spent
from runtime.llm.openai_model import REMOVED
from tests.fake_openai import USAGE, FakeOpenAI, Step, calls, events, fails, piece, pieces, says, streams, writes
from tests.runtime.llm.kit import Library, model_at, passage
from tests.runtime.llm.test_streamed_answers import DRAFT, TEXT, WRITTEN, Patient, Reader, Ticking, ask, watched

ASK = json.dumps({"question": "How long does a session last?"})
HALF = len(ASK) // 2


def stream(*parts: dict[str, Any]) -> Step:
    return streams(events(*parts))


def call(index: int | None = 0, **of: Any) -> dict[str, Any]:
    """A piece of a tool call."""
    function = {key: of.pop(key) for key in ("name", "arguments") if key in of}
    place = {} if index is None else {"index": index}
    return piece(tool_calls=[{**place, **of, "type": "function", "function": function}])


WHOLE: dict[str, Any] = {"id": "call_0", "name": "search_knowledge"}
ENDS = (piece(finish="tool_calls"), {"choices": [], "usage": USAGE})


@pytest.mark.parametrize(
    "parts",
    [
        [call(**WHOLE, arguments=""), call(arguments=ASK[:HALF]), call(arguments=ASK[HALF:])],
        [call(**WHOLE, arguments=ASK)],
        [call(**WHOLE), call(id="", name=None, arguments=ASK[:HALF]), call(id=None, arguments=ASK[HALF:])],
        [call(None, **WHOLE, arguments=ASK[:HALF]), call(None, arguments=ASK[HALF:])],
        [call(**WHOLE, arguments=ASK[:HALF]), call(**WHOLE, arguments=ASK[HALF:])],
        [call(**WHOLE, arguments=json.loads(ASK))],
        [{"choices": [{"message": {"tool_calls": [{**json.loads(json.dumps(WHOLE)), "function": {
            "name": "search_knowledge", "arguments": ASK}}]}}]}],
    ],
    ids=["pieces", "at once", "empty ids", "no places", "names repeated", "an object", "a message"],
)  # fmt: skip
async def test_tool_calls_in_pieces_are_those_that_come_whole(parts: list[dict[str, Any]]) -> None:
    asked: list[Any] = []
    for first in (calls(("search_knowledge", ASK)), stream(piece("", role="assistant"), *parts, *ENDS)):
        knowledge = Library(SearchHits((passage(2),)))
        async with (
            FakeOpenAI(first, writes(TEXT)) as server,
            model_at(server, Patient(), knowledge=knowledge) as model,
        ):
            reader = Reader()
            filled = await model.fill(Draft, watched(reader, tools=("search_knowledge",)), within=100)
            assert filled.value == DRAFT
            assert reader.text == WRITTEN
            asked.append((server.bodies[1]["messages"], knowledge.questions, model.total.spent))
    assert asked[0] == asked[1]
    assert asked[0][1] == ["How long does a session last?"]


async def test_two_tool_calls_at_once_are_told_apart() -> None:
    other = json.dumps({"question": "Who resets it?"})
    parts = [
        call(0, id="a", name="search_knowledge", arguments=ASK[:HALF]), call(1, id="b", name="search_knowledge"),
        call(1, arguments=other), call(0, arguments=ASK[HALF:]),
    ]  # fmt: skip
    knowledge = Library(SearchHits((passage(2),)))
    async with (
        FakeOpenAI(stream(*parts, *ENDS), writes(TEXT)) as server,
        model_at(server, Patient(), knowledge=knowledge, tool_calls=4) as model,
    ):
        await model.fill(Draft, watched(Reader(), tools=("search_knowledge",)), within=100)
    assert knowledge.questions == ["How long does a session last?", "Who resets it?"]


@pytest.mark.parametrize(
    ("parts", "spent"),
    [
        (pieces(TEXT), Spent(1, 100, 20)),
        ([{**each, "usage": USAGE} for each in pieces(TEXT, usage=None)], Spent(1, 100, 20)),
        ([*pieces(TEXT, usage=None)[:-1], {**piece(finish="stop"), "usage": USAGE}], Spent(1, 100, 20)),
    ],
    ids=["in the last", "in each", "with the end"],
)
async def test_tokens_are_those_that_the_server_counts_wherever_it_says_so(parts: Any, spent: Spent) -> None:
    assert (await ask(stream(*parts), reader=Reader()))[2] == spent


async def test_tokens_that_nobody_counts_are_estimated_as_of_an_answer_that_comes_whole() -> None:
    whole = (await ask(says(TEXT, usage=None)))[2]

    assert whole.estimated
    assert (await ask(stream(*pieces(TEXT, usage=None)), reader=Reader()))[2] == whole


@pytest.mark.parametrize("packet", [1, 31])
@pytest.mark.parametrize(
    "body",
    [
        events(*pieces(TEXT)).replace(b"\n", b"\r\n"),
        b": OPENROUTER PROCESSING\n\n" + events(*pieces(TEXT)),
        codecs.BOM_UTF8 + events(*pieces(TEXT)),
        codecs.BOM_UTF8 + b"\n" + events(*pieces(f"\ufeff{TEXT}")),
        events(*pieces(TEXT)).replace(b"data: ", b"data:"),
        events(*pieces(TEXT)).replace(b"data: ", b"event: message\nid: 7\ndata: "),
        events(*pieces(TEXT), done=False),
        events(*pieces(TEXT)) + b"data: {nonsense after the end}\n\n",
        events(*pieces(TEXT)).replace(b'"created": 1700000000', b'"created": 1700000000, "logprobs": [NaN]'),
        events(*pieces(TEXT)).replace(b'"usage": null', b'"usage": {}').replace(b'"index": 0, ', b""),
    ],
    ids=[
        "crlf",
        "comments",
        "byte order mark",
        "two of them",
        "no space",
        "other fields",
        "no end mark",
        "more after it",
        "nan",
        "keys left out",
    ],
)
async def test_events_are_read_as_servers_write_them(body: bytes, packet: int) -> None:
    reader = Reader()

    filled, server, spent = await ask(streams(body, packet=packet), reader=reader)

    assert filled.value == DRAFT
    assert reader.text == WRITTEN
    assert spent == Spent(1, 100, 20)
    assert len(server.bodies) == 1


async def test_a_server_that_does_not_heed_stream_is_understood() -> None:
    reader = Reader()

    filled, server, spent = await ask(says(TEXT), reader=reader)

    assert (filled.value, spent, len(server.bodies)) == (DRAFT, Spent(1, 100, 20), 1)
    assert reader.told == []


async def test_an_answer_behind_thoughts_is_read_and_the_thoughts_are_not() -> None:
    thoughts = [piece(reasoning_content='I {think} of "claims": '), piece("<think>Maybe {this}?</think>")]
    reader = Reader()

    filled, _, _ = await ask(stream(*thoughts, *pieces(TEXT)), reader=reader)

    assert filled.value == DRAFT
    assert reader.text == WRITTEN


async def test_halves_of_a_character_in_two_pieces_are_one() -> None:
    face = '{"claims": [{"passage": 1, "quote": "x", "text": "All well '
    halves = [piece(face), piece("\ud83d"), piece('\ude00."}], "pass_on": null}'), piece(finish="stop")]
    body = b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in halves)
    reader = Reader()

    filled, _, _ = await ask(streams(body + b"data: [DONE]\n\n"), reader=reader)

    assert filled.value == Draft((Claim("All well 😀.", 1, "x"),))
    assert reader.text == "All well 😀."


@pytest.mark.parametrize(
    ("refusals", "forms"),
    [
        ([fails(400, "Unrecognized request argument supplied: stream_options")], [(True, True), (True, False)]),
        ([fails(422, "body stream_options Extra inputs are not permitted")], [(True, True), (True, False)]),
        ([fails(400, "'stream' is not supported with this model")], [(True, True), (False, False)]),
        ([fails(500, "Cannot use tools with stream")], [(True, True), (False, False)]),
        ([fails(400, "Your organization must be verified to stream this model.")], [(True, True), (False, False)]),
        (
            [fails(400, "Unsupported parameter: stream_options"), fails(400, "stream must be false: not supported")],
            [(True, True), (True, False), (False, False)],
        ),
        ([fails(400, "Bad Request")], [(True, True), (False, False)]),
    ],
)
async def test_what_a_server_refuses_of_it_is_left_out(refusals: list[Step], forms: list[tuple[bool, bool]]) -> None:
    filled, server, spent = await ask(*refusals, writes(TEXT), reader=Reader())

    assert filled.value == DRAFT
    assert [("stream" in body, "stream_options" in body) for body in server.bodies] == forms
    assert all(body["response_format"]["type"] == "json_schema" for body in server.bodies), "nothing else is lost"
    assert spent.calls == 1


async def test_a_server_that_does_not_stream_is_not_asked_to_again() -> None:
    refused = fails(400, "stream is not supported")
    async with FakeOpenAI(refused, writes(TEXT)) as server, model_at(server, Patient()) as model:
        for _ in range(3):
            await model.fill(Draft, watched(Reader()), within=100)

    assert ["stream" in body for body in server.bodies] == [True, False, False, False]


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ([piece('{"claims": ['), piece(finish="length")], r"cut at its limit: raise \[model\] answer_tokens"),
        ([piece('{"claims": ['), piece(finish="content_filter")], "content filter withheld"),
        ([piece(refusal="I must "), piece(refusal="not."), piece(finish="stop")], "refused to answer"),
    ],
)
async def test_an_answer_that_is_none_is_one_in_pieces_too(parts: list[dict[str, Any]], sentence: str) -> None:
    with pytest.raises(ModelFailed, match=sentence):
        await ask(stream(*parts), reader=Reader())


async def test_a_stream_without_end_is_cut_off() -> None:
    flood = events(*[piece("x" * 60_000)] * 40, done=False)

    with pytest.raises(ModelFailed, match="heeds no limit"):
        await ask(streams(flood, packet=1 << 16), reader=Reader(), answer_tokens=256)


async def test_addresses_of_the_models_own_are_never_shown() -> None:
    text = "Open http://evil.example/a?b=c, or ask help@evil.example now. Well done."
    answer = {"claims": [{"passage": 1, "quote": "x", "text": text}], "pass_on": None}
    for size in (1, 3, 7, 1000):
        reader = Reader()
        await ask(stream(*pieces(json.dumps(answer), size)), reader=reader, clock=Ticking(1.0))

        assert reader.text == f"Open {REMOVED}, or ask {REMOVED} now. Well done."
        assert not any("evil" in text for _, text in reader.told)


async def test_time_that_is_up_ends_a_stream_as_any_other_answer() -> None:
    clock, reader = Ticking(1.0), Reader()
    slow = streams(events(*pieces(TEXT)[:20], done=False), end=writes(TEXT))

    async def never(server: FakeOpenAI, request: Any) -> Any:
        await streams(events(*pieces(TEXT)[:20], done=False), end=_hang)(server, request)

    async def _hang(server: FakeOpenAI, _: Any) -> Any:
        await server.hang()

    async with FakeOpenAI(never, slow) as server, model_at(server, clock, call_seconds=25.0) as model:
        filling = asyncio.ensure_future(model.fill(Draft, watched(reader), within=300))
        await reader.heard.wait()
        await clock.jump(26.0)
        with pytest.raises(ModelFailed, match="did not answer within 25 s"):
            await filling
    assert reader.told[-1] == (0, "")
    assert model.total.spent.estimated
