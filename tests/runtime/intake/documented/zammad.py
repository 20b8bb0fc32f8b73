"""Zammad's REST interface, and the standard payload of its webhooks."""

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

SENDERS = {"customer": "Customer", "agent": "Agent", "bot": "Agent", "system": "System"}
ARTICLE = {"ticket_id", "to", "cc", "subject", "body", "content_type", "type", "internal", "time_unit", "attachments"}


class Zammad(DocumentedHelpdesk):
    system = "zammad"

    def __init__(self) -> None:
        super().__init__()
        self.status = "new"

    def close(self) -> None:
        self.status = "closed"

    def _article(self, said: Said) -> dict[str, Any]:
        people = {"customer": 99, "agent": 18, "bot": 17, "system": 1}
        html = said.who == "customer"
        return {
            "id": said.number, "ticket_id": 7, "from": said.who, "subject": "VPN", "internal": not said.public,
            "body": f"<div>{said.text}<br></div>" if html else said.text,
            "content_type": "text/html" if html else "text/plain", "type": "email" if said.public else "note",
            "sender": SENDERS[said.who], "created_by_id": people[said.who], "origin_by_id": None,
            "message_id": f"<{said.number}@example.test>", "preferences": {}, "created_at": write_time(said.at),
        }  # fmt: skip

    def _ticket(self) -> dict[str, Any]:
        return {
            "id": 7, "number": "71007", "title": "VPN", "group": "Support", "state": self.status, "customer_id": 99,
            "owner_id": int(self.assignee or 1), "owner": "-", "updated_at": self.changed, "note": None,
            "article_ids": [each.number for each in self.said], "first_response_escalation_at": None,
        }  # fmt: skip

    def deliver(self, said: Said) -> tuple[dict[str, str], bytes]:
        body = encode({"ticket": self._ticket(), "article": self._article(said)})
        return {"X-Hub-Signature": f"sha1={sign('sha1', body).hex()}", "X-Zammad-Delivery": str(said.number)}, body

    def answer(self, request: Request) -> Any:
        require(request.headers.get("Authorization") == f"Token token={TOKEN}", "who are you?", 401)
        match request.method, request.path:
            case "GET", "/api/v1/users/me":
                return {"id": 17, "login": "terminus@example.test"}
            case "GET", "/api/v1/users/99":
                return {"id": 99, "login": "ann", "email": "ann@example.test"}
            case "GET", "/api/v1/tickets/search":
                require(request.query["query"].startswith("updated_at:["), "the query")
                require(request.query["sort_by"] == "updated_at" and request.query["order_by"] == "asc", "the order")
                return [self._ticket()] if self.said and request.query["page"] == "1" else []
            case "GET", "/api/v1/tickets/7":
                require(request.query == {"expand": "true"}, "names come only with expand")
                return self._ticket()
            case "GET", "/api/v1/ticket_articles/by_ticket/7":
                return [self._article(each) for each in self.said]
            case "GET", "/api/v1/tags":
                require(request.query == {"object": "Ticket", "o_id": "7"}, "the object")
                return {"tags": self.tags}
            case "DELETE", "/api/v1/tags/remove":
                require_keys(request.body, {"item", "object", "o_id"})
                self.tags = [each for each in self.tags if each != request.body["item"]]
                return True
            case "GET", "/api/v1/ticket_history/7":
                return {"history": [
                    {"object": "Ticket", "type": "added", "attribute": "tag", "value_to": tag,
                     "created_by_id": int(each.by)}
                    for each in self.tagged for tag in each.after if tag not in each.before
                ], "assets": {}}  # fmt: skip
            case "POST", "/api/v1/ticket_articles":
                return self._post(request.body)
            case "PUT", "/api/v1/tickets/7":
                require_keys(request.body, {"state", "owner_id", "article"})
                self.status = request.body.get("state", self.status)
                self.assignee = str(request.body.get("owner_id", self.assignee))
                return self._ticket()
        raise LookupError(request.path)

    def _post(self, body: Any) -> Any:
        require_keys(body, ARTICLE)
        require(body["ticket_id"] == 7, "the ticket")
        if body["type"] == "email":  # it is sent, and `internal` changes nothing about that
            require(body.get("to"), 'Need recipient in "to", "cc" or "bcc".')
            self.mails.append(body["to"])
        return self._article(self.write("bot", body["body"], public=not body["internal"]))
