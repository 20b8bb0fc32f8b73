"""GLPI's high-level interface with its tokens, and a webhook with the standard payload."""

import html
import time
from typing import Any

from aiohttp import web

from tests.runtime.intake.documented.base import (
    SECRET,
    TOKEN,
    DocumentedHelpdesk,
    Request,
    Said,
    encode,
    require,
    require_keys,
    sign,
    write_time,
)

FORM = {
    "grant_type": "password", "client_id": "a-client", "client_secret": SECRET, "username": "terminus",
    "password": TOKEN, "scope": "api",
}  # fmt: skip


class Glpi(DocumentedHelpdesk):
    system = "glpi"
    bot = user = "terminus"
    agent = "helen"
    customer = "ann"
    is_polled = can_assign = tells_account = has_tags = False

    def __init__(self) -> None:
        super().__init__()
        self.status = "1"
        self.tokens = 0
        """So many were given; the last one is good."""

    def close(self) -> None:
        self.status = "6"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path != "/api.php/token":
            return await super().handle(request)
        if dict(await request.post()) != FORM:
            return web.json_response({"error": "invalid_grant"}, status=400)
        self.tokens += 1
        token = {"token_type": "Bearer", "expires_in": 3600, "access_token": f"access-{self.tokens}"}
        return web.json_response(token)

    def _ticket(self) -> dict[str, Any]:
        team = [{"role": "requester", "name": "ann"}]
        team += [{"role": "assigned", "name": self.assignee}] if self.assignee else []
        return {
            "id": 7, "name": "VPN", "content": f"<p>{html.escape(self.said[0].text)}</p>", "team": team,
            "status": {"id": int(self.status), "name": "New"}, "is_deleted": False, "date_mod": self.changed,
            "entity": {"id": 0, "completename": "Root"}, "category": None, "date_creation": self.changed,
        }  # fmt: skip

    def _followup(self, said: Said) -> dict[str, Any]:
        name = {"customer": "ann", "agent": "helen"}.get(said.who, "terminus")
        return {
            "id": said.number, "itemtype": "Ticket", "items_id": 7, "content": f"<p>{html.escape(said.text)}</p>",
            "is_private": not said.public, "user": {"id": 1, "name": name}, "date_creation": write_time(said.at),
        }  # fmt: skip

    def deliver(self, said: Said) -> tuple[dict[str, str], bytes]:
        told = {"event": "new", "item": self._ticket()}
        if said is not self.said[0]:
            told = {"event": "new", "item": self._followup(said), "parent_item": self._ticket()}
        body, at = encode(told), str(int(time.time()))
        return {"X-GLPI-signature": sign("sha256", body + at.encode()).hex(), "X-GLPI-timestamp": at}, body

    def answer(self, request: Request) -> Any:
        require(request.headers.get("Authorization") == f"Bearer access-{self.tokens}", "who are you?", 401)
        match request.method, request.path.removeprefix("/api.php/v2/Assistance/Ticket/7"):
            case "GET", "":
                return self._ticket()
            case "GET", "/Timeline/Followup":
                return [{"type": "Followup", "item": self._followup(each)} for each in reversed(self.said[1:])]
            case "POST", "/Timeline/Followup":
                require_keys(request.body, {"content", "is_private", "request_type"})
                text = html.unescape(request.body["content"].replace("<br>\n", "\n"))
                said = self.write("bot", text, public=not request.body["is_private"])
                return {"id": said.number, "href": f"/Assistance/Ticket/7/Timeline/Followup/{said.number}"}
        raise LookupError(request.path)
