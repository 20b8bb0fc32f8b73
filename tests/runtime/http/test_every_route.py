"""Every route, by every role, with a ticket of one's own and with another's: a new route fails until it is told of."""

import re
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import pytest

from runtime.access import tokens
from runtime.access.tokens import Access, Role, may
from runtime.daemon.requests import AnswerQuestions, DaemonRequest, SubmitTicket, WatchRun
from runtime.http.pages.page_routes import FORM_FIELD, PAGE_ROUTES
from runtime.http.routes import ROUTES
from tests.runtime.http.kit import Interface, interface
from tests.runtime.http.test_access import ROLES, bearer, book

SECRET = "xylophone-4711"
"""Stands in the other's ticket, and nowhere else."""


@pytest.fixture(autouse=True)
def _tokens_are_known_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "FRESH_SECONDS", 0.0)


class Rule(NamedTuple):
    """Who may."""

    needs: Access
    """The least role for what is one's own, or nobody's."""
    others: Access | None = None
    """The least role for another's ticket; nothing: it is about no ticket, or about all that who asks may read."""
    json: dict[str, Any] | None = None
    form: dict[str, str] | None = None
    query: str = ""
    endless: bool = False


JUDGED = {"right": True}
TABLE: dict[str, Rule] = {
    "POST /tickets": Rule("submit", json={"text": "Mine."}),
    "GET /tickets": Rule("submit", query=f"?q={SECRET}"),
    "GET /tickets/{id}": Rule("submit", "read"),
    "GET /runs/{id}": Rule("submit", "read"),
    "GET /tickets/{id}/events": Rule("submit", "read", query="?spans=1"),
    "GET /tickets/{id}/report": Rule("submit", "read"),
    "GET /tickets/{id}/trace": Rule("submit", "read"),
    "POST /tickets/{id}/answers": Rule("submit", "operate", json={"text": "It is blue."}),
    "POST /tickets/{id}/feedback": Rule("submit", "operate", json=JUDGED),
    "POST /tickets/{id}/shares": Rule("submit", "admin", json={}),
    "GET /tickets/{id}/shares": Rule("submit", "admin"),
    "DELETE /tickets/{id}/shares/{share}": Rule("submit", "admin"),
    "POST /tickets/{id}/cancel": Rule("operate", "operate"),
    "POST /tickets/{id}/resume": Rule("operate", "operate"),
    "POST /tickets/{id}/approve": Rule("operate", "operate"),
    "POST /tickets/{id}/refuse": Rule("operate", "operate"),
    "GET /events": Rule("submit", endless=True),
    "GET /traces": Rule("submit"),
    "GET /agents": Rule("submit"),
    "GET /openapi.json": Rule("submit"),
    "GET /docs": Rule("submit"),
    "GET /metrics": Rule("read"),
    "GET /knowledge/search": Rule("read", query="?q=vpn"),
    "GET /memory": Rule("operate", query=f"?text={SECRET}"),
    "GET /knowledge": Rule("operate"),
    "GET /knowledge/documents": Rule("operate"),
    "GET /intake": Rule("operate"),
    "GET /reports/helpdesks": Rule("operate"),
    "POST /knowledge/index": Rule("admin"),
    "DELETE /knowledge/folders/{folder}": Rule("admin"),
    "PUT /knowledge/documents/{name}": Rule("admin"),
    "DELETE /knowledge/documents/{name}": Rule("admin"),
    "GET /health": Rule("open"),
    "GET /health/live": Rule("open"),
    "GET /health/ready": Rule("open"),
    "POST /intake/{source}": Rule("open", json={}),
    "GET /intake/{source}": Rule("open"),
    "GET /": Rule("submit", query=f"?q={SECRET}"),
    "GET /ui/tickets/{id}": Rule("submit", "read"),
    "POST /ui/tickets": Rule("submit", form={"text": "Mine."}),
    "POST /ui/tickets/{id}/answers": Rule("submit", "operate", form={"run": "{run}", "text": "It is blue."}),
    "POST /ui/tickets/{id}/feedback": Rule("submit", "operate", form={"right": "yes"}),
    "POST /ui/tickets/{id}/teach": Rule("operate", "operate", form={"answer": "Ask Ann."}),
    "POST /ui/tickets/{id}/share": Rule("submit", "admin", form={}),
    "POST /ui/tickets/{id}/unshare": Rule("submit", "admin", form={"share": "none"}),
    "POST /ui/tickets/{id}/cancel": Rule("operate", "operate", form={}),
    "POST /ui/tickets/{id}/approve": Rule("operate", "operate", form={}),
    "POST /ui/tickets/{id}/refuse": Rule("operate", "operate", form={}),
    "GET /ui/knowledge": Rule("operate"),
    "POST /ui/knowledge/index": Rule("admin", form={}),
    "POST /ui/knowledge/documents": Rule("admin", form={}),
    "POST /ui/knowledge/remove": Rule("admin", form={"folder": "manual"}),
    "GET /ui/memory": Rule("operate", query=f"?text={SECRET}"),
    "GET /ui/operation": Rule("operate"),
    "GET /ui/shared/{id}": Rule("open"),
    "POST /ui/shared/{id}": Rule("open", form={"code": "A" * 43}),
    "GET /ui/shared/{id}/report": Rule("open"),
    "GET /ui/sign-in": Rule("open"),
    "POST /ui/sign-in": Rule("open", form={"token": "no", "to": "/"}),
    "POST /ui/sign-out": Rule("open", form={}),
    "GET /ui/static/{name}": Rule("open"),
}


def test_the_table_has_every_route_with_the_least_role_that_it_needs() -> None:
    routes = {f"{each.method} {each.path}": each.access for each in (*ROUTES, *PAGE_ROUTES)}
    assert {name: rule.needs for name, rule in TABLE.items()} == routes
    told_of = {
        name for name, rule in TABLE.items() if "{id}" in name and not name.partition(" ")[2].startswith("/ui/s")
    }
    assert {name for name, rule in TABLE.items() if rule.others} == told_of


def test_a_command_is_of_the_user_of_the_folder_who_is_above_all_roles() -> None:
    """Its socket is for them alone; another kind of request has to be thought of here."""
    assert set(get_args(DaemonRequest)) == {SubmitTicket, AnswerQuestions, WatchRun}


class Caller(NamedTuple):
    """Somebody with a token, and a ticket of theirs."""

    role: Role | None
    headers: dict[str, str]
    key: str
    """What forms of ours bear for them."""
    ticket: str = ""
    run: str = ""


Seen = Literal["nobody", "role", "hidden", "theirs", "passed"]


async def make_caller(web: Interface, name: str, role: Role, text: str) -> Caller:
    headers = bearer(await book(web).create(name, role))
    _, told = await web.ask("POST", "/tickets?wait=20", json={"text": text, "id": f"{name}-1"}, headers=headers)
    async with web.client.get("/", headers={**headers, "Accept": "text/html"}) as response:
        key = re.search(rf'name="{FORM_FIELD}" value="(\w+)"', await response.text())
    assert key is not None
    return Caller(role, headers, key[1], told["ticket"], told["run"])


async def look(web: Interface, name: str, caller: Caller, about: Caller) -> tuple[Seen, str]:
    """What a caller sees of a route that is about another's ticket, or their own."""
    method, path = name.split(" ")
    rule = TABLE[name]
    path = path.replace("{id}", about.run if path.startswith("/runs/") else about.ticket)
    path = re.sub(r"\{\w+\}", "vpn.md", path) + rule.query
    more: dict[str, Any] = {"allow_redirects": False}
    if rule.json is not None:
        more["json"] = rule.json
    if rule.form is not None:
        more["data"] = {key: value.replace("{run}", about.run) for key, value in rule.form.items()}
        more["data"][FORM_FIELD] = caller.key
    headers = {**caller.headers, "Accept": "text/html" if path.startswith(("/ui/", "/?")) else "*/*"}
    async with web.client.request(method, path, headers=headers, **more) as response:
        text = "" if rule.endless and response.status == 200 else await response.text()
        status = response.status
    assert status < 500, (name, text)
    if status == 401 and rule.needs != "open":
        return "nobody", text
    if status == 403 and "needs the role" in text:
        return "role", text
    if status == 404 and re.search(rf"There is no (ticket {about.ticket}|run {about.run})\.", text):
        return "hidden", text
    if status == 403 and "nly who submitted" in text:
        return "theirs", text
    return "passed", text


def foresee(rule: Rule, role: Role | None, *, own: bool) -> Seen:
    if role is None:
        return "passed" if rule.needs == "open" else "nobody"
    if not may(role, rule.needs):
        return "role"
    if own or rule.others is None or may(role, rule.others):
        return "passed"
    return "theirs" if may(role, "read") else "hidden"


@pytest.mark.parametrize("reads", ["own", "all"])
async def test_each_role_gets_as_far_as_the_table_says_and_no_word_of_anothers_further(
    tmp_path: Path, reads: str
) -> None:
    async with interface(tmp_path, memory=True, submit_reads=reads, failed_logins=0) as web:
        other = await make_caller(web, "other", "submit", f"My {SECRET} is out of tune.")
        callers = [await make_caller(web, role, role, "My VPN drops every hour.") for role in ROLES]
        wrong = list[tuple[object, ...]]()
        for caller in (*callers, Caller(None, {}, "")):
            role: Role | None = "read" if (caller.role, reads) == ("submit", "all") else caller.role
            for name, rule in TABLE.items():
                for about in (caller, other):
                    if not about.ticket:
                        continue
                    seen, text = await look(web, name, caller, about)
                    if seen != (foreseen := foresee(rule, role, own=about is caller)):
                        wrong.append(
                            (name, caller.role, "own" if about is caller else "others", seen, foreseen, text[:300])
                        )
                    told = SECRET in text.replace(rule.query, "").replace(f'value="{SECRET}"', "")
                    if told and not (role and may(role, "read")):
                        wrong.append((name, caller.role, "told"))
        assert wrong == []


async def test_another_method_at_an_address_tells_no_more(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        other = await make_caller(web, "other", "submit", f"My {SECRET} is out of tune.")
        caller = await make_caller(web, "one", "submit", "My VPN drops every hour.")
        for each in (*ROUTES, *PAGE_ROUTES):
            if each.method == "GET" and TABLE[f"GET {each.path}"].others and "/events" not in each.path:
                path = each.path.replace("{id}", other.run if each.path.startswith("/runs/") else other.ticket)
                async with web.client.head(path, headers=caller.headers) as response:
                    assert response.status == 404, path
