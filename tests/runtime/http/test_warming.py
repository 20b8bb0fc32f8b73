"""The server takes tickets once its sentence model is loaded, so that none is searched for by words alone."""

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path

import aiohttp
import msgspec
import pytest

from runtime.embeddings.embedder import EmbeddingFailed, Kind, warm
from runtime.engine.node import Node
from runtime.http import server
from runtime.settings import Settings, StorageSettings
from tests.patience import HANGS_SECONDS


async def test_it_is_ready_when_the_model_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, loaded, announced = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def load(_: Node) -> None:
        begun.set()
        await loaded.wait()

    stop = server.Stop()
    monkeypatch.setattr(Node, "warm", load)
    monkeypatch.setattr(server, "_stopping", lambda: contextlib.nullcontext(stop))
    settings = Settings(storage=StorageSettings(folder=str(tmp_path)))
    settings = msgspec.structs.replace(settings, server=msgspec.structs.replace(settings.server, port=0))
    with server.bound(settings.server) as sock:
        serving = asyncio.create_task(server.serve(settings, sock, lambda _: announced.set(), lambda: settings))
        async with asyncio.timeout(HANGS_SECONDS), aiohttp.ClientSession(server.address(sock)) as client:
            await begun.wait()
            async with client.get("/health/ready") as got:
                assert got.status == 503
            loaded.set()
            await announced.wait()
            async with client.get("/health/ready") as got:
                assert got.status == 200
            stop()
            await serving


class Embeds:
    """Counts how many it is asked for."""

    name, languages, floor = "counts/1", frozenset[str](), 0.3

    def __init__(self, *, fails: bool = False) -> None:
        self.asked, self.fails = 0, fails

    async def embed(self, texts: Sequence[str], *, kind: Kind, within: float) -> list[bytes]:
        self.asked = len(texts)
        if self.fails:
            raise EmbeddingFailed("The server of vectors is down.")
        return [b""] * len(texts)

    async def close(self) -> None:
        """It holds nothing."""


async def test_each_process_gets_a_batch_and_a_model_that_fails_stops_nobody() -> None:
    counts, fails = Embeds(), Embeds(fails=True)

    await warm(counts, 3)
    await warm(fails, 3)

    assert counts.asked == fails.asked == 24
