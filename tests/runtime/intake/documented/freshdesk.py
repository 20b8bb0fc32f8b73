"""Freshdesk's interface, version 2, and an automation rule that triggers a webhook."""

import html
from typing import Any

from tests.runtime.intake.documented.base import (
    SECRET,
    TOKEN,
    DocumentedHelpdesk,
    Request,
    Said,
    encode,
    require,
    require_basic,
    require_keys,
    write_time,
)


class Freshdesk(DocumentedHelpdesk):
    system = "freshdesk"
    solved = "4"
    has_ids = False

    def __init__(self) -> None:
        super().__init__()
        self.status = "2"

    def close(self) -> None:
        self.status = "5"

    def _ticket(self) -> dict[str, Any]:
        first = self.said[0]
        return {
            "id": 7, "subject": "VPN", "status": int(self.status), "requester_id": 99, "group_id": None, "type": None,
            "responder_id": int(self.assignee) if self.assignee else None, "tags": self.tags, "source": 1,
            "description": f"<div>{first.text}</div>", "description_text": first.text, "updated_at": self.changed,
            "created_at": write_time(first.at), "fr_due_by": "2099-01-01T00:00:00Z",
        }  # fmt: skip

    def _conversation(self, said: Said) -> dict[str, Any]:
        return {
            "id": said.number, "user_id": {"customer": 99, "agent": 18, "bot": 17, "system": 0}[said.who],
            "incoming": said.who == "customer", "private": not said.public, "body": f"<div>{said.text}</div>",
            "body_text": said.text, "created_at": write_time(said.at), "ticket_id": 7,
        }  # fmt: skip

    def deliver(self, said: Said) -> tuple[dict[str, str], bytes]:
        kind = "created" if said is self.said[0] else "replied" if said.public else "note"
        return {"X-Terminus-Secret": SECRET}, encode({"event": kind, "ticket": "7"})

    def answer(self, request: Request) -> Any:
        require_basic(request, TOKEN, "X")
        match request.method, request.path:
            case "GET", "/api/v2/agents/me":
                return {"id": 17, "contact": {"email": "terminus@example.test"}}
            case "GET", "/api/v2/tickets":
                require(request.query.get("updated_since"), "only tickets of the last 30 days would be told")
                return [self._ticket()] if self.said and request.query["page"] == "1" else []
            case "GET", "/api/v2/tickets/7":
                return self._ticket()
            case "GET", "/api/v2/tickets/7/conversations":
                return [self._conversation(each) for each in self.said[1:]]
            case "POST", "/api/v2/tickets/7/reply":
                require_keys(request.body, {"body", "from_email", "user_id", "cc_emails", "bcc_emails"})
                return self._post(request.body["body"], public=True)
            case "POST", "/api/v2/tickets/7/notes":
                require_keys(request.body, {"body", "private", "incoming", "notify_emails", "user_id"})
                return self._post(request.body["body"], public=not request.body.get("private", True))
            case "PUT", "/api/v2/tickets/7":
                require_keys(request.body, {"status", "responder_id", "tags", "custom_fields"})
                for name in ("status", "responder_id"):
                    require(isinstance(request.body.get(name, 0), int), f"{name}: datatype_mismatch", 400)
                self.status = str(request.body.get("status", self.status))
                self.assignee = str(request.body.get("responder_id", self.assignee))
                self.tags = request.body.get("tags", self.tags)
                return self._ticket()
        raise LookupError(request.path)

    def _post(self, body: str, *, public: bool) -> Any:
        require("\n" not in body.replace("<br>\n", ""), "it is HTML: lines would run into each other")
        text = html.unescape(body.replace("<br>\n", "\n"))
        return self._conversation(self.write("bot", text, public=public))
