"""Zendesk's Ticketing interface, and a webhook that a trigger connects."""

import base64
import datetime
from typing import Any

from tests.runtime.intake.documented.base import (
    TOKEN,
    DocumentedHelpdesk,
    Refused,
    Request,
    Said,
    encode,
    require,
    require_basic,
    require_keys,
    sign,
    write_time,
)


class Zendesk(DocumentedHelpdesk):
    system = "zendesk"
    user = "terminus@example.test/token"
    solved = "solved"

    def __init__(self) -> None:
        super().__init__()
        self.status = "new"

    def close(self) -> None:
        self.status = "closed"

    def _ticket(self) -> dict[str, Any]:
        return {
            "id": 7, "subject": "VPN", "status": self.status, "requester_id": 99, "group_id": 3, "type": "question",
            "assignee_id": int(self.assignee) if self.assignee else None, "tags": self.tags, "due_at": None,
            "created_at": write_time(self.said[0].at), "updated_at": self.changed,
        }  # fmt: skip

    def _comment(self, said: Said) -> dict[str, Any]:
        author = {"customer": 99, "agent": 18, "bot": 17, "system": -1}[said.who]
        return {
            "id": said.number, "type": "Comment", "author_id": author, "body": said.text, "plain_body": said.text,
            "html_body": f"<p>{said.text}</p>", "public": said.public, "created_at": write_time(said.at),
        }  # fmt: skip

    def deliver(self, said: Said) -> tuple[dict[str, str], bytes]:
        actor = str(self._comment(said)["author_id"])
        kind = "created" if said is self.said[0] else "replied" if said.public else "note"
        body = encode({"event": kind, "ticket": "7", "at": write_time(said.at), "actor": actor})
        time = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"
        signature = base64.b64encode(sign("sha256", time.encode() + body)).decode()
        return {
            "X-Zendesk-Webhook-Signature": signature, "X-Zendesk-Webhook-Signature-Timestamp": time,
            "X-Zendesk-Webhook-Id": "01",
        }, body  # fmt: skip

    def answer(self, request: Request) -> Any:
        require_basic(request, self.user, TOKEN)
        match request.method, request.path:
            case "GET", "/api/v2/users/me.json":
                return {"user": {"id": 17, "role": "agent"}}
            case "GET", "/api/v2/incremental/tickets.json":
                since, now = float(request.query["start_time"]), datetime.datetime.now(datetime.UTC).timestamp()
                require(since < now - 60, "StartTimeTooRecent")
                tickets = [self._ticket()] if self.said else []
                return {"tickets": tickets, "end_time": int(now - 61), "end_of_stream": True, "count": len(tickets)}
            case "GET", "/api/v2/tickets/7.json":
                return {"ticket": self._ticket()}
            case "GET", "/api/v2/tickets/7/comments.json":
                require(request.query["include"] == "users" and request.query["sort_order"] == "desc", "the order")
                users = [{"id": 99, "role": "end-user"}, {"id": 18, "role": "agent"}, {"id": 17, "role": "agent"}]
                return {"comments": [self._comment(each) for each in reversed(self.said)], "users": users}
            case "PUT", "/api/v2/tickets/7.json":
                return self._put(request.body)
            case "PUT", "/api/v2/tickets/7/tags.json":
                self.tags += request.body["tags"]
                return {"tags": self.tags}
            case "DELETE", "/api/v2/tickets/7/tags.json":
                self.tags = [each for each in self.tags if each not in request.body["tags"]]
                return {"tags": self.tags}
            case "GET", "/api/v2/tickets/7/audits.json":
                order = -1 if request.query.get("sort_order") == "desc" else 1
                return {"audits": [{"id": each.number, "author_id": int(each.by), "events": [
                    {"type": "Comment", "body": "psst"},
                    {"type": "Change", "field_name": "tags", "value": each.after, "previous_value": each.before},
                ]} for each in self.tagged[::order][:100]]}  # fmt: skip
        raise LookupError(request.path)

    def _put(self, body: Any) -> Any:
        require_keys(body, {"ticket"})
        changes = body["ticket"]
        require_keys(changes, {"comment", "status", "assignee_id", "safe_update", "updated_stamp"})
        if changes.get("safe_update") and changes["updated_stamp"] != self.changed:
            raise Refused(409, "UpdateConflict")
        self.status = changes.get("status", self.status)
        require(isinstance(changes.get("assignee_id", 0), int), "the assignee is a number")
        self.assignee = str(changes.get("assignee_id", self.assignee))
        if "comment" in changes:
            self.write("bot", changes["comment"]["body"], public=changes["comment"]["public"])
        return {"ticket": self._ticket()}
