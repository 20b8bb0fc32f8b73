"""The interface on a real node and a real socket; only model, documents and most often memory are stand-ins."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, cast

import aiohttp
import msgspec

from actors.ports import Completion, Model, ModelRequest
from actors.workflow.outcome import Outcome, Spent
from runtime.engine.node import Node
from runtime.engine.runs import RunHandle
from runtime.engine.service import TicketService
from runtime.http.server import address, bound, listening
from runtime.llm.model_choice import Models
from runtime.settings import (
    HelpdesksSettings,
    LogSettings,
    RunSettings,
    ServerSettings,
    Settings,
    StorageSettings,
    WorkerSettings,
)
from tests.fakes import Knows, Remembers, Thinks
from tests.patience import HANGS_SECONDS

SECONDS = HANGS_SECONDS
"""The longest that anything here may take."""
TEXT = "My VPN drops every hour."
TOKEN = "correct-horse-battery"


class Held(Thinks):
    """A model that thinks when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.free = asyncio.Event()

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        self.asked.set()
        await self.free.wait()
        return await super().fill(shape, task, within=within)


class OneModel:
    """Stands where `Models` does."""

    mute = ()

    def __init__(self, model: Model) -> None:
        self._model = model

    def for_run(self, run_id: str, *_: Any, **__: Any) -> tuple[Model, Callable[[], Spent]]:
        return self._model, Spent

    async def close(self) -> None:
        """Nothing to close."""


class Interface:
    """What a test has in its hands."""

    def __init__(self, desk: TicketService, client: aiohttp.ClientSession, at: str) -> None:
        self.desk, self.node, self.client = desk, desk.node, client
        self.url = at
        self.port = int(at.rpartition(":")[2])

    async def ask(self, method: str, path: str, **more: Any) -> tuple[int, Any]:
        """The status of an answer and its JSON."""
        async with self.client.request(method, path, **more) as response:
            body = await response.read()
            return response.status, json.loads(body) if body else None

    async def submit(self, text: str = TEXT, *, wait: float = 0, **more: Any) -> Any:
        status, body = await self.ask("POST", f"/tickets?wait={wait}", json={"text": text, **more})
        assert status == (200 if "why" in body else 202), body
        return body

    async def refusal(self, method: str, path: str, **more: Any) -> tuple[int, str]:
        """The status of an answer that is a refusal as all should be, and its sentence."""
        status, body = await self.ask(method, path, **more)
        assert status >= 400, body
        return status, sentence(body)

    async def raw(self, *parts: bytes, end: bool = False) -> bytes:
        """What comes back for these very bytes until the server closes; with `end`, it is told that no more come."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            for part in parts:
                writer.write(part)
                with contextlib.suppress(ConnectionError):
                    await writer.drain()
            if end:
                writer.write_eof()
            with contextlib.suppress(ConnectionError):
                return await asyncio.wait_for(reader.read(), SECONDS)
            return b""
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    def handle(self, some_id: str) -> RunHandle:
        live = self.node.runs.live.of_ticket(some_id) or self.node.runs.live.run(some_id)
        assert live is not None
        return RunHandle(live)

    async def end(self, some_id: str) -> Outcome:
        """How a run ends that goes on now."""
        return await asyncio.wait_for(self.handle(some_id).outcome(), SECONDS)


def sentence(body: Any) -> str:
    """The one sentence of a refusal, with nothing of the inside in it."""
    assert list(body) == ["type", "title", "status", "detail", "remedy"]
    assert all(body.values())
    text: str = body["detail"]
    assert text.endswith((".", "?"))
    assert not re.search(r"Traceback|File \"|\n|0x[0-9a-f]{6}", text), text
    return text


def settings(folder: Path, *, run: dict[str, Any] | None = None, **server: Any) -> Settings:
    return Settings(
        run=RunSettings(**(run or {})),
        storage=StorageSettings(folder=str(folder / "data")),
        helpdesks=HelpdesksSettings(folder=str(folder / "helpdesks")),
        server=msgspec.convert({"port": 0, **server}, ServerSettings),
        log=LogSettings(format="json"),
        workers=WorkerSettings(processes=1),
    )


@contextlib.asynccontextmanager
async def interface(
    folder: Path, *, model: Model | None = None, memory: bool = False, **more: Any
) -> AsyncIterator[Interface]:
    """The whole interface, ready; `memory`: the real one. `more` are settings of [server], `run` those of [run]."""
    chosen = settings(folder, **more)
    async with Node.open(chosen) as node:
        await node.models.close()
        node.models = cast("Models", OneModel(model or Thinks()))
        node.knowledge = cast("Any", Knows())
        real = node.memory
        real.documents = None  # its passages stand in no index
        if not memory:
            node.memory = cast("Any", Remembers())
        desk = TicketService(node)
        await node.resume()
        with bound(chosen.server) as sock:
            at = address(sock)
            headers = {"Authorization": f"Bearer {chosen.server.token}"} if chosen.server.token else {}
            timeout = aiohttp.ClientTimeout(total=SECONDS)
            connector = aiohttp.TCPConnector(limit=0)
            async with (
                listening(desk, sock),
                aiohttp.ClientSession(at, headers=headers, timeout=timeout, connector=connector) as client,
            ):
                desk.ready = True
                yield Interface(desk, client, at)
        node.memory = real


async def until(condition: Callable[[], bool]) -> None:
    """Let everything go on until something is true."""
    async with asyncio.timeout(SECONDS):
        while not condition():  # noqa: ASYNC110 - it may be true of anything, so nobody can set an event
            await asyncio.sleep(0)
