"""
A scripted, faulty server of /v1/chat/completions on loopback: it answers each request with the next step of its script.

As a program (`python -m tests.fake_openai`) it prints its port and says the same to everybody until its input ends.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Self

from aiohttp import web

from tests.patience import HANGS_SECONDS

Step = Callable[["FakeOpenAI", web.Request], Awaitable[web.StreamResponse]]
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


class FakeOpenAI:
    """Use as `async with FakeOpenAI(step, ...) as server`. The last step is repeated."""

    def __init__(self, *script: Step) -> None:
        self._script = list(script)
        self._changed = asyncio.Condition()
        self._closing = asyncio.Event()
        self.bodies: list[dict[str, Any]] = []
        """What was asked, in order."""
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.hung_up = 0
        """Requests whose client went away before the answer."""
        self.port = 0
        """Chosen when it starts, unless set before."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that happens in the server."""
        async with asyncio.timeout(HANGS_SECONDS), self._changed:
            await self._changed.wait_for(condition)

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/v1/chat/completions", self._serve)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing.set()
        await self._runner.cleanup()

    async def hang(self) -> None:
        """Until the client or this server goes away."""
        await self._closing.wait()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        step = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        try:
            body = await request.json()
            async with self._changed:
                self.bodies.append(body)
                self.headers.append(dict(request.headers))
                self.paths.append(request.path_qs)
                self._changed.notify_all()
            return await step(self, request)
        except (asyncio.CancelledError, ConnectionError):
            await asyncio.shield(self._count())
            raise

    async def _count(self) -> None:
        async with self._changed:
            self.hung_up += 1
            self._changed.notify_all()


def completion(message: dict[str, Any], *, finish: str = "stop", usage: dict[str, Any] | None = None) -> bytes:
    """The body of a chat completion."""
    whole: dict[str, Any] = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": "fake",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}],
    }  # fmt: skip
    if usage is not None:
        whole["usage"] = usage
    return json.dumps(whole).encode()


def says(value: Any, *, finish: str = "stop", usage: dict[str, Any] | None = USAGE) -> Step:
    """An answer: a text as it is, anything else as JSON."""
    text = value if isinstance(value, str) else json.dumps(value)
    return sends(completion({"content": text}, finish=finish, usage=usage))


def refuses(why: str) -> Step:
    return sends(completion({"content": None, "refusal": why}, usage=USAGE))


def calls(*tools: tuple[str, str]) -> Step:
    """Tool calls by name and arguments (JSON text)."""
    wanted = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(tools)
    ]
    return sends(completion({"content": None, "tool_calls": wanted}, finish="tool_calls", usage=USAGE))


def sends(body: bytes, *, status: int = 200, headers: dict[str, str] | None = None) -> Step:
    """These very bytes."""

    async def step(server: FakeOpenAI, request: web.Request) -> web.StreamResponse:
        return web.Response(body=body, status=status, headers=headers, content_type="application/json")

    return step


def fails(status: int, message: str = "", *, code: str | None = None, headers: dict[str, str] | None = None) -> Step:
    """An error as OpenAI words it."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": code}}).encode()
    return sends(body, status=status, headers=headers)


def piece(content: str | None = None, *, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """A part of a message, as it comes in a stream."""
    return {
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000, "model": "fake", "usage": None,
        "choices": [{"index": 0, "delta": {"content": content, **delta}, "finish_reason": finish}],
    }  # fmt: skip


def pieces(text: str, size: int = 5, usage: dict[str, Any] | None = USAGE) -> list[dict[str, Any]]:
    """A whole answer in parts of so many characters, as OpenAI streams it."""
    parts = [piece(text[at : at + size]) for at in range(0, len(text), size)]
    counted = [{"choices": [], "usage": usage}] if usage else []
    return [piece("", role="assistant"), *parts, piece(finish="stop"), *counted]


def events(*parts: dict[str, Any], done: bool = True) -> bytes:
    """Server-sent events; characters beyond ASCII stand there as they are."""
    lines = [json.dumps(each, ensure_ascii=False) for each in parts] + ["[DONE]"] * done
    return "".join(f"data: {line}\n\n" for line in lines).encode()


def streams(body: bytes, *, packet: int = 13, end: Step | None = None) -> Step:
    """These events in packets of so many bytes, which cut characters; `end` is awaited before the end of them."""

    async def step(server: FakeOpenAI, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for at in range(0, len(body), packet):
            await response.write(body[at : at + packet])
        if end is not None:
            await end(server, request)
        return response

    return step


def writes(value: Any, *, size: int = 5, usage: dict[str, Any] | None = USAGE) -> Step:
    """An answer, in pieces where these are asked for."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    async def step(server: FakeOpenAI, request: web.Request) -> web.StreamResponse:
        whole = says(text, usage=usage)
        asked = server.bodies[-1].get("stream")
        return await (streams(events(*pieces(text, size, usage))) if asked else whole)(server, request)

    return step


def waits(event: asyncio.Event) -> Step:
    """Nothing, until it is let."""

    async def step(server: FakeOpenAI, request: web.Request) -> web.StreamResponse:
        await event.wait()
        return web.Response()

    return step


def hangs() -> Step:
    """No answer, as long as somebody waits for it."""

    async def step(server: FakeOpenAI, request: web.Request) -> web.StreamResponse:
        await server.hang()
        return web.Response(status=503)

    return step


def drips() -> Step:
    """The beginning of an answer, whose rest never comes."""

    async def step(server: FakeOpenAI, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for byte in completion({"content": "{}"})[:9]:
            await response.write(bytes([byte]))
        await server.hang()
        return response

    return step


def cuts() -> Step:
    """Half of the promised bytes, then the end of the connection."""

    async def step(server: FakeOpenAI, request: web.Request) -> web.StreamResponse:
        body = completion({"content": "{}"})
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(body))})
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
        assert request.transport is not None
        request.transport.close()
        return response

    return step


def resets() -> Step:
    """The connection breaks before any answer."""

    async def step(server: FakeOpenAI, request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    return step


async def _main() -> None:
    """One answer for all, as cheap as it can be: for measuring clients."""
    body = completion({"content": json.dumps({"summary": "Restart the print spooler on floor 13. " * 6})}, usage=USAGE)

    async def serve(request: web.Request) -> web.StreamResponse:
        await request.read()
        return web.Response(body=body, content_type="application/json")

    app = web.Application()
    app.router.add_post("/v1/chat/completions", serve)
    runner = web.AppRunner(app, access_log=None, keepalive_timeout=3600)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=2048).start()
    print(runner.addresses[0][1], flush=True)
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(_main())
