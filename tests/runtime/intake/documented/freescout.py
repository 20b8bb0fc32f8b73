"""FreeScout with its module API & Webhooks."""

import base64
import html
from typing import Any

from tests.runtime.intake.documented.base import (
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

EVENTS = {"customer": "convo.customer.reply.created", "agent": "convo.agent.reply.created"}


class FreeScout(DocumentedHelpdesk):
    system = "freescout"
    customer = "17"
    """The number of a customer, which is that of a user, too."""
    tells_account = False

    def __init__(self) -> None:
        super().__init__()
        self.status = "active"

    def close(self) -> None:
        self.status = "closed"

    def _thread(self, said: Said) -> dict[str, Any]:
        kind = "customer" if said.who == "customer" else "message" if said.public else "note"
        number = {"customer": 17, "agent": 18, "bot": 17, "system": 0}[said.who]
        return {
            "id": said.number, "type": "lineitem" if said.who == "system" else kind, "state": "published",
            "status": "active", "body": f"<div>{html.escape(said.text).replace(chr(10), '<br>')}</div>",
            "createdBy": {"id": number, "type": "customer" if kind == "customer" else "user"},
            "createdAt": write_time(said.at),
        }  # fmt: skip

    def _conversation(self) -> dict[str, Any]:
        draft = self._thread(self.said[0]) | {"id": 1, "type": "message", "state": "draft", "body": "Not sent yet"}
        threads = [self._thread(each) for each in reversed(self.said)]
        return {
            "id": 7, "number": 107, "subject": "VPN", "status": self.status, "state": "published", "mailboxId": 1,
            "assignee": {"id": int(self.assignee), "type": "user"} if self.assignee else None, "type": "email",
            "customer": {"id": 17, "type": "customer"}, "updatedAt": self.changed,
            "_embedded": {"threads": [*threads, draft], "tags": [{"id": 1, "name": each} for each in self.tags]},
        }  # fmt: skip

    def deliver(self, said: Said) -> tuple[dict[str, str], bytes]:
        body = encode(self._conversation())
        event = "convo.created" if said is self.said[0] else EVENTS.get(said.who, "convo.agent.reply.created")
        event = event if said.public else "convo.note.created"
        return {
            "X-FreeScout-Event": event, "X-FreeScout-Signature": base64.b64encode(sign("sha1", body)).decode(),
        }, body  # fmt: skip

    def answer(self, request: Request) -> Any:
        require(request.headers.get("X-FreeScout-API-Key") == TOKEN, "who are you?", 401)
        match request.method, request.path:
            case "GET", "/api/conversations":
                require(request.query["sortField"] == "updatedAt" and request.query["updatedSince"], "what is new")
                found = [self._conversation()] if self.said else []
                return {"_embedded": {"conversations": found}, "page": {"number": 1, "totalPages": 1}}
            case "GET", "/api/conversations/7":
                require("threads" in request.query["embed"], "threads come only when they are asked for")
                return self._conversation()
            case "POST", "/api/conversations/7/threads":
                require_keys(request.body, {"type", "text", "user", "status", "state", "to", "cc", "bcc"})
                require(request.body["user"] == 17, "whose it is")
                require(request.body["type"] in {"message", "note"}, "the type")
                text = html.unescape(request.body["text"].replace("<br>\n", "\n"))
                return {"id": self.write("bot", text, public=request.body["type"] == "message").number}
            case "PUT", "/api/conversations/7/tags":
                require_keys(request.body, {"tags"})
                self.tags = request.body["tags"]
                return None
            case "PUT", "/api/conversations/7":
                require_keys(request.body, {"byUser", "status", "assignTo", "mailboxId", "subject"})
                self.status = request.body.get("status", self.status)
                self.assignee = str(request.body.get("assignTo", self.assignee))
                return None
        raise LookupError(request.path)
