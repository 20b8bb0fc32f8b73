"""A helpdesk on loopback: tickets with messages and versions, signed deliveries. It can be down, and lie."""

import asyncio
import contextlib
import hashlib
import hmac
import itertools
import json
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from tests.runtime.intake.documented.base import listen

SECRET = "a shared secret"
ADAPTER = """
title = "Fake"
open_status = "open"
solved_status = "solved"
headers = { X-Token = "{token}" }

[signature]
scheme = "hmac"
header = "X-Signature"

[event]
id = "body.id"
kind = "body.kind"
ticket = "body.ticket"
actor = "body.actor"

[poll]
start = "0"
events = "body.events"
more = "body.more"
[poll.call]
path = "/events"
query = { after = "{cursor}" }

[fetch.ticket]
path = "/tickets/{ticket}"

[ticket]
subject = "ticket.body.subject"
status = "ticket.body.status"
closed = "ticket.body.status == 'solved'"
assignee = "ticket.body.assignee"
requester = "ticket.body.requester"
queue = "ticket.body.queue"
tags = "ticket.body.tags"
due = "ticket.body.due"
version = "ticket.headers.etag"
messages = "ticket.body.messages"

[tagged]
changes = "body.changes"
[tagged.call]
path = "/tickets/{ticket}/changes"

[[write.note]]
method = "POST"
path = "/tickets/{ticket}/messages"
json = { text = "{text}", public = false }
[[write.reply]]
method = "POST"
path = "/tickets/{ticket}/messages"
headers = { If-Match = "{version}" }
json = { text = "{text}", public = true }
[[write.status]]
method = "PATCH"
path = "/tickets/{ticket}"
json = { status = "{status}" }
[[write.assign]]
method = "PATCH"
path = "/tickets/{ticket}"
json = { assignee = "{person}" }
[[write.untag]]
method = "PATCH"
path = "/tickets/{ticket}"
json = { tags = "{tags}" }
"""


class FakeHelpdesk:
    """What a test has in its hands."""

    def __init__(self, at: str) -> None:
        self.at = at
        self.tickets: dict[str, dict[str, Any]] = {}
        self.events: list[dict[str, Any]] = []
        self.down = False
        self.broken: dict[str, int] = {}
        """Tickets that are answered with this status."""
        self.loses = 0
        """So many writings are carried out and answered with 500."""
        self.answers = asyncio.Event()
        """Writings are carried out at once, and answered when this is set."""
        self.answers.set()
        self.reads = Counter[str]()
        """How often each ticket was read."""
        self.changes: list[dict[str, Any]] = []
        """What it tells of who set tags."""
        self.writes: list[str] = []
        self._numbers = itertools.count(1)

    def write(self, ticket: str, author: str, text: str, *, public: bool = True, at: str = "") -> dict[str, Any]:
        """Somebody writes, at a time that it may not say; what a delivery of it says."""
        known = self.tickets.get(ticket)
        kind = "replied" if known else "created"
        if known is None:
            known = {
                "subject": text[:20], "status": "open", "assignee": "", "requester": author, "queue": "Support",
                "tags": [], "messages": [], "version": 0, "due": "",
            }  # fmt: skip
            self.tickets[ticket] = known
        number = str(next(self._numbers))
        known["messages"].append({"id": number, "author": author, "text": text, "public": public, "at": at})
        known["version"] += 1
        event = {"id": number, "kind": kind if public else "other", "ticket": ticket, "actor": author, "cursor": number}
        self.events.append(event)
        return event

    def tag(self, ticket: str, tag: str, person: str) -> None:
        """Somebody sets a tag."""
        before = self.tickets[ticket]["tags"]
        self.tickets[ticket]["tags"] = [*before, tag]
        self.tickets[ticket]["version"] += 1
        self.changes.append({"before": before, "tags": [*before, tag], "by": person})

    def said(self, ticket: str, *, public: bool) -> list[str]:
        """What the bot has written."""
        told = self.tickets[ticket]["messages"]
        return [each["text"] for each in told if each["author"] == "bot" and each["public"] is public]

    async def deliver(
        self, client: aiohttp.ClientSession, event: dict[str, Any], secret: str = SECRET
    ) -> tuple[int, Any]:
        """Send a delivery as it would."""
        body = json.dumps(event).encode()
        headers = {"X-Signature": hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}
        async with client.post(
            "/intake/desk", data=body, headers=headers | {"Content-Type": "application/json"}
        ) as got:
            return got.status, await got.json()

    def connect(self, folder: Path, **more: Any) -> None:
        """Write the files that connect it."""
        (folder / "helpdesks").mkdir(exist_ok=True)
        (folder / "fake.adapter").write_text(ADAPTER, encoding="utf-8")
        (folder / "secret").write_text(SECRET, encoding="utf-8")
        known = {
            "system": str(folder / "fake.adapter"), "url": self.at, "bot": "bot", "poll_seconds": 3600,
            "secret": f"file:{folder / 'secret'}", "token": f"file:{folder / 'secret'}", "spacing_seconds": 0,
        } | more  # fmt: skip
        lines = [f"{name} = {json.dumps(value)}" for name, value in known.items()]
        (folder / "helpdesks" / "desk.toml").write_text("\n".join(lines), encoding="utf-8")

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if self.down or request.headers.get("X-Token") != SECRET:
            return web.json_response({"error": "down"}, status=503 if self.down else 401)
        if request.path == "/events":
            after = int(request.query["after"])
            return web.json_response({"events": self.events[after:], "more": False})
        name = _name_ticket(request)
        if status := self.broken.get(name):
            return web.json_response({"error": "broken"}, status=status)
        ticket = self.tickets[name]
        if request.path.endswith("/changes"):
            return web.json_response({"changes": self.changes})
        if request.method == "GET":
            self.reads[name] += 1
            return web.json_response(ticket, headers={"ETag": str(ticket["version"])})
        answer = self._change(request, ticket, await request.json())
        await self.answers.wait()
        return answer

    def _change(self, request: web.Request, ticket: dict[str, Any], body: dict[str, Any]) -> web.StreamResponse:
        wanted = request.headers.get("If-Match")
        if wanted is not None and wanted != str(ticket["version"]):
            return web.json_response({"error": "changed"}, status=412)
        if request.method == "PATCH":
            ticket |= body
            ticket["version"] += 1
        else:
            self.write(_name_ticket(request), "bot", body["text"], public=body["public"])
        self.writes.append(f"{request.method} {sorted(body)}")
        if self.loses:
            self.loses -= 1
            return web.json_response({"error": "oops"}, status=500)
        return web.json_response({"ok": True})


def _name_ticket(request: web.Request) -> str:
    """Of `/tickets/{ticket}` and what is below it."""
    return request.path.split("/")[2]


@contextlib.asynccontextmanager
async def fake_helpdesk() -> AsyncIterator[FakeHelpdesk]:
    """One that listens."""
    async with listen(FakeHelpdesk("")) as desk:
        yield desk
