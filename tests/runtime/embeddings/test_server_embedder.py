"""A server's vectors are taken for what they are; what it does wrong is said, in time, and never believed."""

import asyncio
import contextlib
import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from runtime.embeddings.embedder import EmbeddingFailed
from runtime.embeddings.providers import open_embedder
from runtime.embeddings.server_embedder import ServerEmbedder, find_server
from runtime.processes.pool import Workers
from runtime.settings import EmbeddingsSettings, ModelSettings, Settings
from tests.patience import HANGS_SECONDS
from tests.runtime.embeddings.kit import cosine

Step = Callable[["FakeServer", list[str]], Awaitable[web.Response]]
VECTORS = {"a": [3.0, 4.0], "b": [0.0, -2.0], "c": [1.0, 0.0]}


class FakeServer:
    """Answers each request with the next step of its script; the last one is repeated."""

    def __init__(self, *script: Step) -> None:
        self._script = list(script) or [answers()]
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.asked, self.closing = asyncio.Event(), asyncio.Event()

    async def serve(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        self.asked.set()
        step = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        return await step(self, body["input"])


def answers(change: Callable[[list[dict[str, Any]]], Any] = len) -> Step:
    """A vector for each text, after something was changed in their list."""

    async def step(server: FakeServer, texts: list[str]) -> web.Response:
        data = [
            {"object": "embedding", "index": n, "embedding": VECTORS.get(text, [1.0, float(n)])}
            for n, text in enumerate(texts)
        ]
        change(data)
        return web.Response(text=json.dumps({"object": "list", "data": data}), content_type="application/json")

    return step


def says(status: int, body: str = "", **headers: str) -> Step:
    async def step(server: FakeServer, texts: list[str]) -> web.Response:
        return web.Response(status=status, text=body, headers={k.replace("_", "-"): v for k, v in headers.items()})

    return step


def hangs() -> Step:
    async def step(server: FakeServer, texts: list[str]) -> web.Response:
        await server.closing.wait()
        return web.Response(status=503)

    return step


@contextlib.asynccontextmanager
async def running(*script: Step, **settings: Any) -> AsyncIterator[tuple[FakeServer, ServerEmbedder]]:
    """A server with a script, and what asks it."""
    server = FakeServer(*script)
    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/v1/embeddings", server.serve)
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    own = {"provider": "server", "model": "some-model", "base_url": f"http://127.0.0.1:{runner.addresses[0][1]}/v1/"}
    embedder = ServerEmbedder(Settings(embeddings=EmbeddingsSettings(**(own | settings))))
    try:
        yield server, embedder
    finally:
        await embedder.close()
        server.closing.set()
        await runner.cleanup()


async def refusal(embedder: ServerEmbedder, *texts: str, within: float = HANGS_SECONDS) -> str:
    with pytest.raises(EmbeddingFailed) as caught:
        await embedder.embed(texts or ["a", "b"], kind="passage", within=within)
    assert "\n" not in str(caught.value)
    return str(caught.value)


async def test_each_text_gets_its_unit_vector_whatever_the_order_of_the_answer() -> None:
    async with running(answers(lambda data: data.reverse()), api_key="secret") as (server, embedder):
        vectors = await embedder.embed(["a", "b", "c"], kind="query", within=HANGS_SECONDS)

    assert [np.frombuffer(each, np.int8).tolist() for each in vectors] == [[76, 102], [0, -127], [127, 0]]
    assert cosine(vectors[0], vectors[2]) == pytest.approx(0.6, abs=0.01)
    assert server.bodies == [{"model": "some-model", "input": ["a", "b", "c"]}]
    assert server.headers[0]["Authorization"] == "Bearer secret"


async def test_an_answer_without_numbers_of_its_own_is_in_the_order_of_the_texts() -> None:
    async with running(answers(lambda data: [each.pop("index") for each in data])) as (_, embedder):
        [first, _] = await embedder.embed(["a", "b"], kind="query", within=HANGS_SECONDS)

    assert np.frombuffer(first, np.int8).tolist() == [76, 102]


async def test_texts_go_in_batches_with_the_prefix_of_their_kind_and_none_is_empty_or_too_long() -> None:
    texts = ["", "x" * 10_000, "\ud800c", "b", "b"]
    async with running(batch=2, query_prefix="query:", passage_prefix="passage: ") as (server, embedder):
        await embedder.embed(texts, kind="passage", within=HANGS_SECONDS)
        await embedder.embed(["a"], kind="query", within=HANGS_SECONDS)
        assert await embedder.embed([], kind="query", within=HANGS_SECONDS) == []

    sent = [body["input"] for body in server.bodies]
    assert sorted(map(len, sent)) == [1, 1, 2, 2]
    assert ["passage: b"] in sent
    assert ["query: a"] in sent
    assert max(len(text) for batch in sent for text in batch) == 2000
    assert "Authorization" not in server.headers[0]


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (answers(lambda data: data.pop()), "sent 1 vectors for 2 texts"),
        (answers(lambda data: data.append(data[0])), "sent 3 vectors for 2 texts"),
        (answers(lambda data: data[1].update(index=0)), "nobody can tell whose they are"),
        (answers(lambda data: data[1].update(index=None)), "nobody can tell whose they are"),
        (answers(lambda data: data[1].update(embedding=[1.0])), "vectors of 2 and of 1 numbers"),
        (answers(lambda data: data[1].update(embedding=[])), "no direction"),
        (answers(lambda data: data[1].update(embedding=[0.0, 0])), "no direction"),
        (answers(lambda data: data[1].update(embedding=[math.nan, 1])), "no list of vectors"),
        (answers(lambda data: data[1].update(embedding=[1.7e308, 1.7e308])), "no direction"),
        (answers(lambda data: data[1].update(embedding=[1.0] * 20_000)), "no direction"),
        (answers(lambda data: data[1].update(embedding="AACAPw==")), "no list of vectors"),
        (answers(lambda data: data[1].update(embedding=[None, 1])), "no list of vectors"),
        (says(200, "<html>a page</html>"), "check [embeddings] base_url"),
        (says(200, ""), "no list of vectors"),
        (says(200, "[" * 100_000), "no list of vectors"),
    ],
)
async def test_vectors_that_cannot_be_right_are_refused(step: Step, sentence: str) -> None:
    async with running(step) as (_, embedder):
        said = await refusal(embedder)

    assert sentence in said
    assert "The embedding server at http://127.0.0.1:" in said


async def test_vectors_of_another_length_than_before_are_refused() -> None:
    longer = answers(lambda data: data[0].update(embedding=[1.0, 2.0, 3.0]))
    async with running(answers(), longer) as (_, embedder):
        await embedder.embed(["a"], kind="query", within=HANGS_SECONDS)
        assert "vectors of 2 and of 3 numbers" in await refusal(embedder, "a")


@pytest.mark.parametrize(
    ("step", "sentence", "asked"),
    [
        (says(401, '{"error": {"message": "bad key secret-key"}}'), "refused the key (bad key ***)", 1),
        (says(403), "refused the key: set [embeddings] api_key", 1),
        (says(404, '{"error": "model not found, try pulling it"}'), "some-model, status 404 (model not found, try", 1),
        (says(422, '{"detail": [{"msg": "no"}]}'), "check [embeddings] model and base_url", 1),
        (says(302, "", Location="http://127.0.0.1:1/"), "status 302", 1),
        (says(500, '{"message": "out of memory"}'), "failed with status 500 (out of memory): try later", 3),
        (says(503, "\x1b[2Jno JSON"), "failed with status 503: try later", 3),
        (says(429, '{"error": {"message": "slow down"}}', Retry_After="0"), "is asked too much (slow down)", 3),
    ],
)
async def test_a_refusal_is_told_and_tried_again_only_where_that_helps(step: Step, sentence: str, asked: int) -> None:
    async with running(step, api_key="secret-key") as (server, embedder):
        assert sentence in await refusal(embedder)

    assert len(server.bodies) == asked


async def test_a_server_that_recovers_is_believed() -> None:
    async with running(says(500), says(429, "", Retry_After="0"), answers()) as (server, embedder):
        assert len(await embedder.embed(["a"], kind="query", within=HANGS_SECONDS)) == 1

    assert len(server.bodies) == 3


async def test_a_server_that_minds_long_texts_gets_shorter_ones() -> None:
    minds = says(400, json.dumps({"error": {"message": "This model's maximum context length is 512 tokens."}}))
    async with running(minds, minds, answers()) as (server, embedder):
        await embedder.embed(["a " * 2000, "b"], kind="passage", within=HANGS_SECONDS)
    assert [len(body["input"][0]) for body in server.bodies] == [2000, 1000, 500]

    async with running(minds) as (server, embedder):
        assert "finds texts too long" in await refusal(embedder, "a " * 2000)
    assert len(server.bodies) < 8


async def test_a_server_that_hangs_costs_the_time_that_was_given_and_no_more() -> None:
    async with running(hangs()) as (_, embedder):
        assert "did not answer within 0.2 s" in await refusal(embedder, within=0.2)

    async with running(hangs(), seconds=0.2) as (_, embedder):
        assert "did not answer within 0.2 s" in await refusal(embedder)


async def test_who_fails_again_and_again_is_left_alone_for_a_while() -> None:
    async with running(says(401)) as (server, embedder):
        said = [await refusal(embedder) for _ in range(5)]

    assert len(server.bodies) == 3
    assert "not asked again" in said[-1]


async def test_a_server_that_is_not_there_is_named_without_what_its_address_hides() -> None:
    settings = EmbeddingsSettings(provider="server", model="m", base_url="http://me:pw@127.0.0.1:1/v1")
    embedder = ServerEmbedder(Settings(embeddings=settings))
    try:
        said = await refusal(embedder)
    finally:
        await embedder.close()

    assert "http://***@127.0.0.1:1/v1 cannot be reached: check [embeddings] base_url" in said


async def test_an_answer_that_is_too_large_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.embeddings.server_embedder.ANSWER_BYTES", 1000)
    async with running(says(200, "x" * 1_000_000)) as (server, embedder):
        assert "sent more than" in await refusal(embedder)

    assert len(server.bodies) == 1


async def test_who_is_cancelled_leaves_nothing_behind() -> None:
    async with running(hangs()) as (server, embedder):
        asked = asyncio.create_task(embedder.embed(["a"] * 100, kind="passage", within=HANGS_SECONDS))
        async with asyncio.timeout(HANGS_SECONDS):
            await server.asked.wait()
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked


def test_without_an_address_of_its_own_it_is_the_models_server_and_a_key_goes_nowhere_else() -> None:
    model = ModelSettings(base_url="http://model.test/v1", api_key="models")
    for own, found in (
        (EmbeddingsSettings(), ("http://model.test/v1", "models")),
        (EmbeddingsSettings(api_key="own"), ("http://model.test/v1", "own")),
        (EmbeddingsSettings(base_url="http://other.test/v1"), ("http://other.test/v1", "")),
        (EmbeddingsSettings(base_url="http://other.test/v1", api_key="own"), ("http://other.test/v1", "own")),
    ):
        assert find_server(Settings(embeddings=own, model=model)) == found
    assert find_server(Settings()) == ("https://api.openai.com/v1", "")


async def test_the_settings_choose_it_and_its_name_tells_model_and_prefix(workers: Workers) -> None:
    settings = EmbeddingsSettings(provider="server", model="e5", base_url="http://127.0.0.1:1/v1")
    plain = open_embedder(Settings(embeddings=settings), workers)
    settings = EmbeddingsSettings(provider="server", model="e5", base_url="http://127.0.0.1:2/v1", passage_prefix="p:")
    other = open_embedder(Settings(embeddings=settings), workers)

    assert plain is not None
    assert other is not None
    assert (plain.name, other.name) == ("server/e5", "server/e5/p:")
    await plain.close()
    await other.close()
