"""
A scripted, faulty server of Tavily's /search and /extract on loopback: each request is answered with the next step.

It keeps Tavily's own rules whatever the script says: a key or the word `keyless`, 400 characters, 20 URLs.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Self

from aiohttp import web

from tests.patience import HANGS_SECONDS

Body = dict[str, Any]
Step = Callable[["FakeTavily", web.Request, Body], Awaitable[web.StreamResponse]]
KEY = "tvly-dev-0123456789"


class FakeTavily:
    """Use as `async with FakeTavily(step, ...) as server`. The last step is repeated."""

    def __init__(self, *script: Step) -> None:
        self._script = list(script)
        self._closing = asyncio.Event()
        self._changed = asyncio.Condition()
        self.asked: list[tuple[str, Body]] = []
        """(path, body), in order."""
        self.headers: list[dict[str, str]] = []
        self.at_once = self.most_at_once = 0
        self.hung_up = 0
        """Requests whose client went away before the answer."""
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def queries(self) -> list[str]:
        return [body["query"] for path, body in self.asked if path == "/search"]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that happens in the server."""
        async with asyncio.timeout(HANGS_SECONDS), self._changed:
            await self._changed.wait_for(condition)

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=1 << 20)
        app.router.add_post("/search", self._serve)
        app.router.add_post("/extract", self._serve)
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
        body: Body = await request.json()
        step = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        await self._note(entered=(request, body))
        try:
            return await (refusal(request, body) or step)(self, request, body)
        except (asyncio.CancelledError, ConnectionError):
            self.hung_up += 1
            raise
        finally:
            self.at_once -= 1
            await asyncio.shield(self._note())

    async def _note(self, entered: tuple[web.Request, Body] | None = None) -> None:
        async with self._changed:
            if entered is not None:
                request, body = entered
                self.asked.append((request.path, body))
                self.headers.append(dict(request.headers))
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
            self._changed.notify_all()


def refusal(request: web.Request, body: Body) -> Step | None:
    """What Tavily refuses before it looks at the question."""
    if not request.headers.get("Authorization") and request.headers.get("X-Tavily-Access-Mode") != "keyless":
        return fails(401, "Unauthorized: missing or invalid API key.")
    if request.path == "/search" and not 0 < len(body["query"]) <= 400:
        return fails(400, "Query is too long. Max query length is 400 characters.")
    if request.path == "/extract" and not 0 < len(body["urls"]) <= 20:
        return fails(400, "Max 20 URLs are allowed.")
    return None


def hit(url: str, title: str = "A title", content: str = "Some content.", score: Any = 0.8, **more: Any) -> Body:
    return {"url": url, "title": title, "content": content, "score": score, "raw_content": None, **more}


def finds(*hits: Any, credits_: int | None = 1) -> Step:
    """Search hits, as many as were asked for."""

    async def step(server: FakeTavily, request: web.Request, body: Body) -> web.StreamResponse:
        whole: Body = {
            "query": body["query"], "results": list(hits)[: body["max_results"]], "images": [], "response_time": 0.1,
            "request_id": "r",
        }  # fmt: skip
        return web.json_response(whole | ({"usage": {"credits": credits_}} if credits_ is not None else {}))

    return step


def extracts(texts: Mapping[str, str], *, besides: Iterable[str] = (), credits_: int | None = None) -> Step:
    """The texts of pages; the others have failed. `besides` nobody asked for."""

    async def step(server: FakeTavily, request: web.Request, body: Body) -> web.StreamResponse:
        urls = body["urls"]
        given = [*(url for url in urls if url in texts), *besides]
        whole: Body = {
            "results": [{"url": url, "raw_content": texts.get(url, "Made up."), "images": []} for url in given],
            "failed_results": [{"url": url, "error": "Failed to fetch url"} for url in urls if url not in texts],
            "response_time": 0.1, "request_id": "r",
        }  # fmt: skip
        return web.json_response(whole | ({"usage": {"credits": credits_}} if credits_ is not None else {}))

    return step


def fails(status: int, message: str = "", headers: Mapping[str, str] | None = None) -> Step:
    """An error as Tavily words it."""

    async def step(server: FakeTavily, request: web.Request, body: Body) -> web.StreamResponse:
        return web.json_response({"detail": {"error": message}}, status=status, headers=headers)

    return step


def sends(body: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Step:
    """These very bytes."""

    async def step(server: FakeTavily, request: web.Request, asked: Body) -> web.StreamResponse:
        return web.Response(body=body, status=status, headers=headers, content_type="application/json")

    return step


def answers(value: Any) -> Step:
    """This as JSON."""
    return sends(json.dumps(value).encode())


def hangs() -> Step:
    """No answer, as long as somebody waits for it."""

    async def step(server: FakeTavily, request: web.Request, body: Body) -> web.StreamResponse:
        await server.hang()
        return web.Response(status=503)

    return step


def cuts() -> Step:
    """The beginning of an answer; then the connection is gone."""

    async def step(server: FakeTavily, request: web.Request, body: Body) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"results": [{"url": "https://a.example/", "ti')
        assert request.transport is not None
        request.transport.abort()
        return response

    return step


def together(number: int, step: Step) -> Step:
    """Answer only when so many ask at once, or the server closes."""

    async def wait(server: FakeTavily, request: web.Request, body: Body) -> web.StreamResponse:
        await server.until(lambda: server.most_at_once >= number)
        return await step(server, request, body)

    return wait
