"""Chatwoot's application interface, and its webhooks of an account."""

import time
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
)

TYPES = {"customer": 0, "agent": 1, "bot": 1, "system": 3}
NAMES = {"customer": "incoming", "agent": "outgoing", "bot": "outgoing", "system": "template"}


class Chatwoot(DocumentedHelpdesk):
    system = "chatwoot"
    customer = "17"
    """The number of a contact, which is that of an agent, too."""
    user = "1"
    solved = "resolved"

    def __init__(self) -> None:
        super().__init__()
        self.status = "open"

    def close(self) -> None:
        self.status = "resolved"

    def _sender(self, said: Said) -> dict[str, Any] | None:
        number = {"customer": 17, "agent": 18, "bot": 17, "system": None}[said.who]
        return None if number is None else {"id": number, "name": said.who}

    def _message(self, said: Said) -> dict[str, Any]:
        return {
            "id": said.number, "content": said.text, "message_type": TYPES[said.who], "private": not said.public,
            "created_at": int(said.at.timestamp()), "sender": self._sender(said), "source_id": None,
        }  # fmt: skip

    def _conversation(self) -> dict[str, Any]:
        assignee = {"assignee": {"id": int(self.assignee)}} if self.assignee else {}
        return {
            "id": 7, "status": self.status, "labels": self.tags, "inbox_id": 2,
            "meta": {"sender": {"id": 17}, **assignee}, "additional_attributes": {},
            "last_activity_at": int(self.said[-1].at.timestamp()),
            "last_non_activity_message": self._message(self.said[-1]),
        }  # fmt: skip

    def deliver(self, said: Said) -> tuple[dict[str, str], bytes]:
        told = {
            "event": "message_created", "id": said.number, "content": said.text, "message_type": NAMES[said.who],
            "private": not said.public, "sender": self._sender(said), "conversation": self._conversation(),
            "account": {"id": 1},
        }  # fmt: skip
        if said is self.said[0]:
            told = {"event": "conversation_created", **self._conversation(), "messages": [self._message(said)]}
        body, at = encode(told), str(int(time.time()))
        signature = sign("sha256", f"{at}.".encode() + body).hex()
        return {"X-Chatwoot-Signature": f"sha256={signature}", "X-Chatwoot-Timestamp": at}, body

    def answer(self, request: Request) -> Any:
        require(request.headers.get("api_access_token") == TOKEN, "who are you?", 401)
        match request.method, request.path.removeprefix("/api/v1/accounts/1/conversations"):
            case "GET", "/api/v1/profile":
                return {"id": 17, "email": "terminus@example.test"}
            case "GET", "":
                require(request.query["status"] == "open" and request.query["assignee_type"] == "all", "which ones")
                is_first = request.query["page"] == "1"
                return {"data": {"meta": {}, "payload": [self._conversation()] if self.said and is_first else []}}
            case "GET", "/7":
                return self._conversation()
            case "GET", "/7/messages":
                return {"meta": {}, "payload": [self._message(each) for each in self.said]}
            case "POST", "/7/messages":
                require_keys(request.body, {"content", "message_type", "private", "content_type"})
                require(request.body["message_type"] == "outgoing", "the type")
                return self._message(self.write("bot", request.body["content"], public=not request.body["private"]))
            case "POST", "/7/toggle_status":
                require(request.body["status"] in {"open", "resolved", "pending", "snoozed"}, "the status")
                self.status = request.body["status"]
                return {"payload": {"success": True, "current_status": self.status, "conversation_id": 7}}
            case "POST", "/7/labels":
                require_keys(request.body, {"labels"})
                self.tags = request.body["labels"]
                return {"payload": self.tags}
            case "POST", "/7/assignments":
                require(isinstance(request.body["assignee_id"], int), "the assignee is a number")
                self.assignee = str(request.body["assignee_id"])
                return {"id": int(self.assignee)}
        raise LookupError(request.path)
