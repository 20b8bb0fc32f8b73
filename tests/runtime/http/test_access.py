"""Each route is for those who have its role, however they say who they are, and what they do bears their name."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from runtime.access import tokens
from runtime.access.tokens import LADDER, Access, Role, TokenBook, may
from runtime.http import routes
from runtime.http.gate import find_role
from runtime.http.openapi import document
from runtime.http.routes import ROUTES
from runtime.http.server import require_access
from runtime.service_error import ServiceError
from runtime.settings import ServerSettings
from runtime.storage.sqlite import run_store as listing
from tests.runtime.http.kit import TEXT, TOKEN, Interface, interface

ROLES: tuple[Role, ...] = ("submit", "read", "operate", "admin")
PROXY: dict[str, Any] = {"proxy": ("127.0.0.1",), "roles": {"support": "operate", "it": "admin"}}
ANN = {"X-Forwarded-User": "ann@example.org", "X-Forwarded-Groups": "staff, support"}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def book(web: Interface) -> TokenBook:
    return TokenBook(web.node.journal.store)


async def ask_raw(web: Interface, *lines: str, target: str = "/tickets/T-1", host: str = "127.0.0.1") -> int:
    """The status of the answer to a request with these very headers."""
    head = "\r\n".join((f"GET {target} HTTP/1.1", f"Host: {host}", *lines, "Connection: close", "", ""))
    return int((await web.raw(head.encode("latin-1"))).split()[1])


class TestEachRoute:
    def test_is_for_administrators_unless_it_says_otherwise(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(routes, "ROUTES", [])
        routes.route("DELETE", "/all", "Everything goes", {})(lambda _: pytest.fail("not called"))
        assert routes.ROUTES[0].access == "admin"

    async def test_is_closed_without_a_token_and_with_too_little_and_open_with_enough(self, tmp_path: Path) -> None:
        async with interface(tmp_path, failed_logins=0) as web:
            held = {role: bearer(await book(web).create(role, role)) for role in ROLES}
            wrong = []
            for each in ROUTES:
                path = re.sub(r"\{[^}]*\}", "T-1", each.path)
                for headers in ({}, bearer("terminus_x")):
                    status, _ = await self.ask(web, each.method, path, headers)
                    if (status == 401) == (each.access == "open"):
                        wrong.append((each.method, each.path, "nobody", status))
                for role, headers in held.items():
                    status, _ = await self.ask(web, each.method, path, headers)
                    if status == 401 or (status == 403) == may(role, each.access):
                        wrong.append((each.method, each.path, role, status))
            assert wrong == []

    async def ask(self, web: Interface, method: str, path: str, headers: dict[str, str]) -> tuple[int, bytes]:
        async with web.client.request(method, path, headers=headers) as response:
            streams = response.content_type == "text/event-stream"  # whose first word may take its time
            return response.status, b"" if streams else await response.content.read(1000)

    async def test_is_as_open_to_head_as_to_get(self, tmp_path: Path) -> None:
        async with interface(tmp_path, token=TOKEN) as web:
            for path in ("/tickets/T-1", "/tickets/T-1/report", "/openapi.json"):
                status, _ = await self.ask(web, "HEAD", path, {"Authorization": ""})
                assert status == 401

    def test_says_in_openapi_which_role_it_needs(self) -> None:
        described = document()
        assert set(described["components"]["securitySchemes"]) == {"token", "proxy"}
        for each in ROUTES:
            security = described["paths"][each.path][each.method.lower()]["security"]
            needed = {role for way in security for roles in way.values() for role in roles}
            assert needed == (set() if each.access == "open" else {each.access})

    @pytest.mark.parametrize(
        ("path", "access"),
        [("/tickets", "submit"), ("/tickets/{id}/cancel", "operate"), ("/tickets/{id}/feedback", "submit"),
         ("/tickets/{id}/answers", "submit"), ("/tickets/{id}/trace", "submit"), ("/tickets/{id}/events", "submit"),
         ("/tickets/{id}/report", "submit"), ("/traces", "submit"), ("/metrics", "read"), ("/health", "open")],
    )  # fmt: skip
    def test_has_the_access_that_the_documentation_says(self, path: str, access: Access) -> None:
        assert access in {each.access for each in ROUTES if each.path == path}


async def test_a_refusal_says_which_role_is_needed_and_which_there_is(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        token = await book(web).create("intake", "submit")
        status, sentence = await web.refusal("POST", "/tickets/T-1/cancel", headers=bearer(token))
        assert status == 403
        assert "needs the role operate or admin" in sentence
        assert "'token:intake' has the role submit" in sentence


class TestATokenThatWasMade:
    async def test_is_refused_once_it_is_revoked_or_has_expired(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tokens, "FRESH_SECONDS", 0.0)
        async with interface(tmp_path) as web:
            kept, late = await book(web).create("kept", "submit"), await book(web).create("late", "submit", 0.0)
            gone = await book(web).create("gone", "submit")
            assert (await web.ask("GET", "/openapi.json", headers=bearer(gone)))[0] == 200
            await book(web).revoke("gone")
            assert (await web.ask("GET", "/openapi.json", headers=bearer(gone)))[0] == 401
            status, sentence = await web.refusal("GET", "/openapi.json", headers=bearer(late))
            assert (status, "late, has expired" in sentence) == (401, True)
            assert (await web.ask("GET", "/openapi.json", headers=bearer(kept)))[0] == 200

    async def test_closes_the_door_for_programs_of_this_machine_that_have_none(self, tmp_path: Path) -> None:
        async with interface(tmp_path) as web:
            await book(web).create("any", "submit", 0.0)
            assert (await web.refusal("GET", "/openapi.json"))[0] == 401
            assert (await web.ask("GET", "/health"))[1] == {"live": True, "ready": True}

    async def test_leaves_the_door_closed_when_the_last_goes_until_tokens_are_turned_off(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tokens, "FRESH_SECONDS", 0.0)
        async with interface(tmp_path) as web:
            await book(web).create("any", "submit")
            await book(web).revoke("any")
            assert (await web.refusal("GET", "/tickets"))[0] == 401
            await book(web).turn_off()
            assert (await web.ask("GET", "/tickets"))[0] == 200

    async def test_stands_beside_that_of_the_configuration(self, tmp_path: Path) -> None:
        async with interface(tmp_path, token=TOKEN) as web:
            made = await book(web).create("made", "operate")
            for headers in (bearer(made), bearer(TOKEN)):
                assert (await web.refusal("POST", "/tickets/T-1/cancel", headers=headers))[0] == 404


class TestATrustedProxy:
    async def test_tells_who_asks_and_their_groups_give_the_role(self, tmp_path: Path) -> None:
        async with interface(tmp_path, **PROXY) as web:
            assert (await web.refusal("POST", "/tickets/T-1/cancel", headers=ANN))[0] == 404
            status, sentence = await web.refusal("GET", "/openapi.json", headers={**ANN, "X-Forwarded-Groups": "staff"})
            assert (status, "in none of the groups" in sentence) == (403, True)
            assert (await web.refusal("GET", "/openapi.json"))[0] == 401

    @pytest.mark.parametrize("name", ["X-Forwarded-User", "x-forwarded-user", "X-Forwarded-Groups"])
    async def test_is_the_only_one_who_may(self, tmp_path: Path, name: str) -> None:
        async with interface(tmp_path, token=TOKEN, **{**PROXY, "proxy": ("10.0.0.5", "10.1.0.0/24")}) as web:
            for path in ("/openapi.json", "/health"):
                status, sentence = await web.refusal("GET", path, headers={name: "it"})
                assert (status, "Only a proxy" in sentence) == (403, True)

    async def test_is_nobody_where_none_is_configured(self, tmp_path: Path) -> None:
        async with interface(tmp_path, token=TOKEN) as web:
            headers = {**ANN, "X-Forwarded-Groups": "it", "Authorization": ""}
            assert (await web.refusal("GET", "/openapi.json", headers=headers))[0] == 401

    @pytest.mark.parametrize("lines", [
        ["X_Forwarded_User: ann", "X-Forwarded_User: ann"],
        ["X-Forwarded-User : ann"],
        ["X-Forwarded-User:"],
        ["X-Forwarded-User: ann", "X-Forwarded-User: root"],
        ["X-Forwarded-User: ann", "X-Forwarded-Groups: staff", "X-Forwarded-Groups: it"],
        ["X-Forwarded-User: " + "a" * 201, "X-Forwarded-Groups: it"],
        ["X-Forwarded-User: a\x85b", "X-Forwarded-Groups: it"],
        ["X-Forwarded-User: " + "a" * 20_000, "X-Forwarded-Groups: it"],
        ["X-Forwarded-User: ann", "X-Forwarded-Groups: it*"],
        ["X-Forwarded-User: ann", "X-Forwarded-Groups: IT"],
    ])  # fmt: skip
    async def test_is_not_played_by_other_forms_of_the_header(self, tmp_path: Path, lines: list[str]) -> None:
        async with interface(tmp_path, **PROXY) as web:
            assert await ask_raw(web, *lines) in {400, 401, 403, 431}

    async def test_goes_before_a_token_that_the_same_request_has(self, tmp_path: Path) -> None:
        async with interface(tmp_path, token=TOKEN, **{**PROXY, "roles": {"*": "submit"}}) as web:
            assert (await web.refusal("POST", "/tickets/T-1/cancel", headers={**ANN, **bearer(TOKEN)}))[0] == 403

    def test_gives_the_highest_role_of_all_groups(self) -> None:
        roles: dict[str, Role] = {"*": "submit", "support": "operate", "it": "admin"}
        assert find_role({"support", "it"}, roles) == "admin"
        assert find_role({"support", "*"}, roles) == "operate"
        assert find_role(set(), roles) == "submit"
        assert find_role({"x"}, {"it": "admin"}) is None


@pytest.mark.parametrize("query", [
    "token={}", "access_token={}", "TOKEN={}", "wait=1&api_key={}", "%74oken={}", "x={}",
])  # fmt: skip
async def test_a_token_in_an_address_is_refused_though_it_is_right(
    tmp_path: Path, query: str, capfd: pytest.CaptureFixture[str]
) -> None:
    from runtime.observe import logs
    from tests.runtime.http.kit import settings

    with logs.to_stderr(settings(tmp_path)):
        async with interface(tmp_path) as web:
            token = await book(web).create("any", "admin")
            for path in (f"/openapi.json?{query.format(token)}", f"/tickets/{token}", f"/x/{token}?a"):
                for headers in ({}, bearer(token)):
                    assert (await web.refusal("GET", path, headers=headers))[0] == 400
    written = capfd.readouterr().err
    assert "request.refused" in written
    assert token[22:] not in written


async def test_no_line_of_the_log_holds_a_token_however_it_is_sent(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from runtime.observe import logs
    from tests.runtime.http.kit import settings

    with logs.to_stderr(settings(tmp_path, token=TOKEN)):
        async with interface(tmp_path, token=TOKEN) as web:
            token = await book(web).create("any", "submit")
            for headers in (bearer(token), bearer(TOKEN), {"X-Token": token, **bearer(token + "x")}):
                await web.ask("POST", f"/tickets/{token[9:40]}/cancel", headers=headers)
                await web.ask("POST", "/tickets", json={"text": TEXT, "requester": token}, headers=headers)
    written = capfd.readouterr().err
    assert len(written.splitlines()) > 5
    assert token[22:] not in written
    assert TOKEN not in written


@pytest.mark.parametrize("lines", [
    [f"Authorization: Bearer {TOKEN}", "Authorization: Bearer x"],
    ["Authorization: Bearer x", f"Authorization: Bearer {TOKEN}"],
    [f"Authorization: Bearer {TOKEN}", "Host: other"],
    [f"Authorization: Bearer {TOKEN}", "Origin: http://127.0.0.1", "Origin: http://evil.example"],
    [f"Authorization: Bearer {TOKEN}", "Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"],
    [f"Authorization:\x0bBearer {TOKEN}"],
    [f"Authorization : Bearer {TOKEN}"],
    ["Authorization: Bearer", f" {TOKEN}"],
    ["Authorization: Bearer " + "a" * 100_000],
])  # fmt: skip
async def test_a_header_that_two_readers_may_read_in_two_ways_opens_nothing(tmp_path: Path, lines: list[str]) -> None:
    async with interface(tmp_path, token=TOKEN) as web:
        assert await ask_raw(web, *lines, target="/openapi.json") in {400, 401, 403, 431}
        assert await ask_raw(web, f"Authorization: Bearer {TOKEN}", target="/openapi.json") == 200


class TestTooMany:
    async def test_requests_of_one_principal_are_told_when_to_come_again_and_others_are_served(
        self, tmp_path: Path
    ) -> None:
        async with interface(tmp_path, requests_per_minute=1, request_burst=3) as web:
            one, other = await book(web).create("one", "submit"), await book(web).create("other", "submit")
            got = [(await web.ask("GET", "/openapi.json", headers=bearer(one)))[0] for _ in range(5)]
            assert got == [200, 200, 200, 429, 429]
            async with web.client.get("/openapi.json", headers=bearer(one)) as response:
                assert 0 < int(response.headers["Retry-After"]) <= 60
            assert (await web.ask("GET", "/openapi.json", headers=bearer(other)))[0] == 200

    async def test_wrong_tokens_silence_that_of_the_configuration_but_none_that_nobody_can_guess(
        self, tmp_path: Path
    ) -> None:
        async with interface(tmp_path, token=TOKEN, failed_logins=3) as web:
            made = await book(web).create("made", "submit")
            got = [(await web.ask("GET", "/openapi.json", headers=bearer(f"guess {n}")))[0] for n in range(5)]
            assert got == [401, 401, 401, 429, 429]
            assert (await web.refusal("GET", "/openapi.json", headers=bearer(TOKEN)))[0] == 429
            assert (await web.ask("GET", "/openapi.json", headers=bearer(made)))[0] == 200
            assert await web.ask("GET", "/health", headers=bearer(TOKEN)) == (200, {"live": True, "ready": True})


async def test_a_name_that_the_server_does_not_have_is_refused(tmp_path: Path) -> None:
    async with interface(tmp_path, token=TOKEN, hosts=("help.example.org",)) as web:
        for host, status in (("help.example.org:443", 200), ("HELP.example.org", 200), ("evil.example", 403)):
            assert await ask_raw(web, f"Authorization: Bearer {TOKEN}", target="/openapi.json", host=host) == status


async def test_every_answer_has_the_headers_that_keep_a_browser_from_harm(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        receipt = await web.submit(wait=20)
        paths = [
            "/health",
            "/nowhere",
            "/openapi.json",
            *(f"/tickets/{receipt['ticket']}{each}" for each in ("", "/events")),
        ]
        for path in paths:
            async with web.client.get(path) as response:
                assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
                assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
                assert response.headers["X-Content-Type-Options"] == "nosniff"
                assert response.headers["Referrer-Policy"] == "no-referrer"
                assert response.headers["Cache-Control"] == "no-store"


class TestWhoDidIt:
    async def test_stands_in_status_and_trace_and_never_a_token(self, tmp_path: Path) -> None:
        async with interface(tmp_path, memory=True) as web:
            intake, desk = await book(web).create("intake", "submit"), await book(web).create("desk", "operate")
            more: dict[str, Any] = {"json": {"text": TEXT, "id": "T-1"}, "headers": bearer(intake)}
            assert (await web.ask("POST", "/tickets?wait=20", **more))[0] == 200
            given = {"json": {"answer": "Renew the certificate.", "person": "Bo"}, "headers": bearer(desk)}
            assert (await web.ask("POST", "/tickets/T-1/feedback", **given))[0] == 200

            for path in ("/tickets/T-1", "/tickets/T-1/trace"):
                _, told = await web.ask("GET", path, headers=bearer(intake))
                done = [(each["what"], each["by"]) for each in told["actions"]]
                assert done == [("submitted", "token:intake"), ("taught", "token:desk")]
                assert all(token not in json.dumps(told) for token in (intake, desk))

    async def test_is_the_person_whom_a_proxy_names(self, tmp_path: Path) -> None:
        async with interface(tmp_path, **PROXY, memory=True) as web:
            more: dict[str, Any] = {"json": {"text": TEXT, "id": "T-1"}, "headers": ANN}
            _, told = await web.ask("POST", "/tickets?wait=20", **more)
            assert told["requester"] == "ann@example.org"
            given = {"json": {"answer": "Renew it.", "person": "the boss"}, "headers": ANN}
            assert (await web.ask("POST", "/tickets/T-1/feedback", **given))[0] == 200
            _, told = await web.ask("GET", "/tickets/T-1", headers=ANN)
            assert {each["by"] for each in told["actions"]} == {"user:ann@example.org"}
            served = web.node.database.rows("SELECT person FROM remembered WHERE person != ''")
            assert served == [("ann@example.org",)]

    async def test_is_this_machine_where_nobody_has_to_say(self, tmp_path: Path) -> None:
        async with interface(tmp_path) as web:
            receipt = await web.submit(wait=20)
            _, told = await web.ask("GET", f"/runs/{receipt['run']}")
            assert [(each["what"], each["by"]) for each in told["actions"]] == [("submitted", "local")]

    async def test_goes_with_its_ticket(self, tmp_path: Path) -> None:
        from runtime.upkeep.purge import purge

        async with interface(tmp_path) as web:
            await web.submit(wait=20, id="T-1")
            kept = "SELECT 1 FROM record WHERE kind = 'action'"
            assert len(web.node.database.rows(kept)) == 1
            purge(web.node.folder, ["T-1"], judged=True)
            assert web.node.database.rows(kept) == []


@pytest.mark.parametrize("more", [{"token": TOKEN}, {"proxy": ("10.0.0.5",)}, {"host": "127.0.0.1"}, {"host": "::1"}])
async def test_a_server_that_only_some_may_use_may_be_reached(tmp_path: Path, more: dict[str, Any]) -> None:
    async with interface(tmp_path) as web:
        await require_access(ServerSettings(**{"host": "192.0.2.1", **more}), book(web))


async def test_a_server_that_anybody_could_use_does_not_listen_where_others_reach_it(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        server = ServerSettings(host="0.0.0.0")  # noqa: S104 - refused
        with pytest.raises(ServiceError, match=r"needs a token: make one with .*tokens create NAME --role admin"):
            await require_access(server, book(web))
        await book(web).create("any", "submit")
        await require_access(server, book(web))


def test_a_role_may_what_the_one_before_it_may() -> None:
    assert ("open", *ROLES) == LADDER
    assert [[may(role, access) for access in LADDER] for role in ROLES] == [
        [True, True, False, False, False], [True, True, True, False, False], [True, True, True, True, False],
        [True, True, True, True, True],
    ]  # fmt: skip


async def test_what_was_done_to_a_run_is_found_without_looking_at_that_of_others(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        (plan,) = web.node.database.rows(f"EXPLAIN QUERY PLAN {listing._ACTIONS}", ("action", "R-1", "R-1", 9))
        assert "(kind=? AND id>? AND id<?)" in plan[3]
