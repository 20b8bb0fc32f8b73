"""Jira Service Management Cloud: its request interface, Jira's own, and a webhook of Jira."""

from typing import Any

from tests.runtime.intake.documented.base import (
    TOKEN,
    DocumentedHelpdesk,
    Request,
    Said,
    encode,
    require,
    require_basic,
    require_keys,
    sign,
    write_time,
)


class JiraServiceManagement(DocumentedHelpdesk):
    system = "jira_sm"
    ticket = "HELP-7"
    bot = "712020:bot"
    agent = "712020:helen"
    customer = "qm:ann"
    user = "terminus@example.test"
    solved = "Resolved"

    def __init__(self) -> None:
        super().__init__()
        self.status = "Waiting for support"

    def close(self) -> None:
        self.status = "Closed"

    def _person(self, said: Said) -> dict[str, Any]:
        return {"accountId": {"customer": self.customer, "agent": self.agent}.get(said.who, self.bot)}

    def _issue(self) -> dict[str, Any]:
        done = self.status in {"Closed", "Resolved"}
        return {"id": "10007", "key": "HELP-7", "fields": {
            "summary": "VPN", "labels": self.tags, "project": {"key": "HELP"}, "issuetype": {"name": "Question"},
            "status": {"name": self.status, "statusCategory": {"key": "done" if done else "new"}}, "duedate": None,
            "assignee": {"accountId": self.assignee} if self.assignee else None, "updated": self.changed,
            "created": write_time(self.said[0].at),
        }}  # fmt: skip

    def _comment(self, said: Said) -> dict[str, Any]:
        return {
            "id": str(said.number), "body": said.text, "public": said.public, "author": self._person(said),
            "created": {"iso8601": write_time(said.at)},
        }  # fmt: skip

    def deliver(self, said: Said) -> tuple[dict[str, str], bytes]:
        told: dict[str, Any] = {"timestamp": 1, "issue": self._issue()}
        if said is self.said[0]:
            told |= {"webhookEvent": "jira:issue_created", "user": self._person(said)}
        else:
            comment = {
                "id": str(said.number),
                "body": said.text,
                "author": self._person(said),
                "jsdPublic": said.public,
            }
            told |= {"webhookEvent": "comment_created", "comment": comment}
        body = encode(told)
        return {
            "X-Hub-Signature": f"sha256={sign('sha256', body).hex()}",
            "X-Atlassian-Webhook-Identifier": f"identifier-{said.number}",
        }, body  # fmt: skip

    def answer(self, request: Request) -> Any:
        require_basic(request, self.user, TOKEN)
        match request.method, request.path:
            case "GET", "/rest/api/3/myself":
                return {"accountId": self.bot}
            case "GET", "/rest/api/3/search/jql":
                return self._search(request.query)
            case "GET", "/rest/servicedeskapi/request/HELP-7":
                field = {"fieldId": "description", "label": "What is wrong?", "value": self.said[0].text}
                created = {"iso8601": write_time(self.said[0].at)}
                return {
                    "issueKey": "HELP-7", "reporter": {"accountId": self.customer}, "requestFieldValues": [field],
                    "createdDate": created,
                }  # fmt: skip
            case "GET", "/rest/servicedeskapi/request/HELP-7/comment":
                return {"values": [self._comment(each) for each in self.said[1:]], "isLastPage": True}
            case "GET", "/rest/api/3/issue/HELP-7":
                return self._issue() | ({"changelog": self._changelog()} if "expand" in request.query else {})
            case "POST", "/rest/servicedeskapi/request/HELP-7/comment":
                require_keys(request.body, {"body", "public", "additionalAttachments"})
                return self._comment(self.write("bot", request.body["body"], public=request.body["public"]))
            case "GET", "/rest/api/3/issue/HELP-7/transitions":
                return {"transitions": [
                    {"id": "11", "name": "Escalate", "to": {"name": "Escalated"}},
                    {"id": "21", "name": "Respond to customer", "to": {"name": "Resolved"}},
                ]}  # fmt: skip
            case "POST", "/rest/api/3/issue/HELP-7/transitions":
                require(request.body == {"transition": {"id": "21"}}, "there is no such transition", 400)
                self.status = "Resolved"
                return None
            case "PUT", "/rest/api/3/issue/HELP-7":
                (change,) = request.body["update"]["labels"]
                self.tags = [each for each in self.tags if each != change["remove"]]
                return None
            case "PUT", "/rest/api/3/issue/HELP-7/assignee":
                self.assignee = request.body["accountId"]
                return None
        raise LookupError(request.path)

    def _changelog(self) -> dict[str, Any]:
        """The latest changes first."""
        return {"histories": [{"id": str(each.number), "author": {"accountId": each.by}, "items": [
            {"field": "labels", "fromString": " ".join(each.before), "toString": " ".join(each.after)},
        ]} for each in self.tagged[::-1][:100]], "total": len(self.tagged)}  # fmt: skip

    def _search(self, query: dict[str, str]) -> Any:
        require(query["jql"].startswith('projectType = service_desk AND updated >= "'), "a query without bounds", 400)
        if "nextPageToken" not in query:  # the first page is empty, and there is another one
            return {"issues": [], "isLast": False, "nextPageToken": "abc"}
        require(query["nextPageToken"] == "abc", "the token", 400)
        return {"issues": [self._issue()] if self.said else [], "isLast": True}
