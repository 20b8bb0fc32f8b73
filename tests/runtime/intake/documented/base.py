"""One ticket behind an interface; subclasses say it in the words of their system."""

import base64
import contextlib
import datetime
import hashlib
import hmac
import itertools
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar

import msgspec
from aiohttp import web

from tests.patience import HANGS_SECONDS

SECRET = "a shared secret"
TOKEN = "a-token"
Who = Literal["customer", "agent", "bot", "system"]
Json = Any


class Said(NamedTuple):
    """A contribution to the ticket."""

    number: int
    who: Who
    text: str
    public: bool
    at: datetime.datetime


class Tagging(NamedTuple):
    """A change of the ticket's tags."""

    number: int
    by: str
    before: list[str]
    after: list[str]


class Refused(Exception):
    """The interface does not take a request."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class Request(NamedTuple):
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Json


class DocumentedHelpdesk:
    """A helpdesk with one ticket."""

    system: ClassVar[str]
    ticket = "7"
    bot = "17"
    agent = "18"
    customer = "99"
    """Their numbers, as `bot` and `fallback` name people."""
    user = ""
    solved = ""
    """The status of a ticket that was answered."""
    has_ids = True
    """Whether a delivery is known again."""
    is_polled = can_assign = tells_account = has_tags = True
    """What its interface has, as far as the adapter uses it."""

    def __init__(self) -> None:
        self.at = ""
        self.said: list[Said] = []
        self.status = ""
        self.tags: list[str] = []
        self.tagged: list[Tagging] = []
        """What people made of the tags, the oldest first."""
        self.assignee = ""
        self.requests: list[Request] = []
        self.is_gone = False
        """Whether somebody has deleted the ticket."""
        self.mails: list[str] = []
        """What the customer got by mail."""
        self._numbers = itertools.count(501)

    def write(self, who: Who, text: str, *, public: bool = True) -> Said:
        """Somebody writes to the ticket."""
        number = next(self._numbers)
        started = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
        said = Said(number, who, text, public, started + datetime.timedelta(milliseconds=number))
        self.said.append(said)
        return said

    def tag(self, *tags: str, by: str = "") -> None:
        """An agent, or another one by number, gives the ticket these tags instead of those it has."""
        self.tagged.append(Tagging(len(self.tagged) + 1, by or self.agent, self.tags, list(tags)))
        self.tags = list(tags)

    def written(self, *, public: bool) -> list[str]:
        """What the bot has written."""
        return [each.text for each in self.said if each.who == "bot" and each.public is public]

    @property
    def changed(self) -> str:
        """When the ticket changed last, as ISO 8601."""
        return write_time(self.said[-1].at)

    def close(self) -> None:
        raise NotImplementedError

    def deliver(self, said: Said) -> tuple[dict[str, str], bytes]:
        """What is sent because of a contribution, signed."""
        raise NotImplementedError

    def answer(self, request: Request) -> Json:
        """What a request is answered with; bytes or None: as they are."""
        raise NotImplementedError

    def connect(self, folder: Path, **more: Any) -> None:
        """Write the files that connect it."""
        (folder / "helpdesks").mkdir(exist_ok=True)
        (folder / "secret").write_text(SECRET, encoding="utf-8")
        (folder / "token").write_text(TOKEN, encoding="utf-8")
        known = {
            "system": self.system, "url": self.at, "bot": self.bot, "user": self.user, "poll_seconds": 3600,
            "client": "a-client", "client_secret": f"file:{folder / 'secret'}",
            "secret": f"file:{folder / 'secret'}", "token": f"file:{folder / 'token'}", "spacing_seconds": 0,
        } | more  # fmt: skip
        lines = [f"{name} = {json.dumps(value)}" for name, value in known.items()]
        (folder / "helpdesks" / "desk.toml").write_text("\n".join(lines), encoding="utf-8")

    async def handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw) if raw else None
        asked = Request(request.method, request.path, dict(request.query), dict(request.headers), body)
        self.requests.append(asked)
        try:
            require(raw == b"" or request.content_type == "application/json", "the type of the body", 415)
            require(not self.is_gone, "it was deleted", 404)
            found = self.answer(asked)
        except Refused as refused:
            return web.json_response({"error": refused.why}, status=refused.status)
        except LookupError as error:
            return web.json_response({"error": f"nothing here: {error}"}, status=404)
        return web.Response(status=204) if found is None else web.json_response(found)


def require(condition: object, why: str, status: int = 422) -> None:
    """Refuse a request unless something is true."""
    if not condition:
        raise Refused(status, why)


def require_keys(body: Json, allowed: set[str]) -> None:
    """Refuse a body with keys that the documentation does not have."""
    require(isinstance(body, dict), "no object")
    require(set(body) <= allowed, f"unknown: {sorted(set(body) - allowed)}")


def require_basic(request: Request, user: str, password: str) -> None:
    """Refuse who does not authenticate so."""
    pair = base64.b64encode(f"{user}:{password}".encode()).decode()
    require(request.headers.get("Authorization") == f"Basic {pair}", "who are you?", 401)


def sign(algorithm: str, message: bytes) -> bytes:
    return hmac.new(SECRET.encode(), message, getattr(hashlib, algorithm)).digest()


def write_time(at: datetime.datetime) -> str:
    """A time as most of them write it."""
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z"


def encode(value: Json) -> bytes:
    return msgspec.json.encode(value)


class Asked(Protocol):
    """What answers whatever it is asked."""

    at: str
    """Where it listens."""

    async def handle(self, request: web.Request) -> web.StreamResponse: ...


A = TypeVar("A", bound=Asked)


@contextlib.asynccontextmanager
async def listen(desk: A) -> AsyncIterator[A]:
    """Let it be asked."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", desk.handle)
    runner = web.AppRunner(app, shutdown_timeout=HANGS_SECONDS)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        desk.at = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield desk
    finally:
        await runner.cleanup()
