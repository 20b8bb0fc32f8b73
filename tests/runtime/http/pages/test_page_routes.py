"""Each page is for those who have its role; a form is ours or refused; a session is its token's, in one cookie."""

import re
import time
from pathlib import Path
from string import Formatter

import aiohttp
import pytest

from runtime.access import tokens
from runtime.access.sessions import SESSION_SECONDS
from runtime.access.tokens import may
from runtime.http.pages import page_routes as page_language
from runtime.http.pages.home_page import read_target
from runtime.http.pages.page_routes import FORM_FIELD, LANGUAGES, PAGE_ROUTES, load_texts
from tests.runtime.http.kit import TEXT, TOKEN, Interface, interface
from tests.runtime.http.test_access import ANN, PROXY, ROLES, bearer, book

COMPLAINT = "请帮我写一份民事起诉状。原告：张三。被告：李四。"
HTML = {"Accept": "text/html"}


async def ask(web: Interface, method: str, path: str, **headers: str) -> tuple[int, str]:
    async with web.client.request(method, path, headers={**HTML, **headers}) as response:
        return response.status, await response.text()


async def read(web: Interface, path: str, **headers: str) -> tuple[int, str]:
    return await ask(web, "GET", path, **headers)


async def read_key(web: Interface, path: str = "/", **headers: str) -> str:
    found = re.search(rf'name="{FORM_FIELD}" value="(\w+)"', (await read(web, path, **headers))[1])
    assert found is not None
    return found[1]


async def send(web: Interface, path: str, data: dict[str, str], **headers: str) -> aiohttp.ClientResponse:
    async with web.client.post(path, data=data, headers={**HTML, **headers}, allow_redirects=False) as response:
        await response.read()
        return response


async def test_each_page_is_for_those_who_have_its_role(tmp_path: Path) -> None:
    async with interface(tmp_path, failed_logins=0) as web:
        held = {role: bearer(await book(web).create(role, role)) for role in ROLES}
        wrong = []
        for each in PAGE_ROUTES:
            path = re.sub(r"\{[^}]*\}", "T-1", each.path)
            status, _ = await ask(web, each.method, path)
            if (status == 401) == (each.access == "open"):
                wrong.append((path, "nobody", status))
            for role, headers in held.items():
                status, text = await ask(web, each.method, path, **headers)
                if ("This needs the role" in text) == may(role, each.access):
                    wrong.append((path, role, status))
        assert wrong == []


async def test_programs_get_at_the_root_what_they_got_before_there_was_a_page(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        assert (await web.refusal("GET", "/"))[0] == 404
        status, text = await read(web, "/")
        assert (status, "<h1" in text) == (200, True)


async def test_a_page_may_run_our_script_alone_and_loads_nothing_of_others(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        async with web.client.get("/", headers=HTML) as response:
            policy, text = response.headers["Content-Security-Policy"], await response.text()
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in policy
        assert not re.search(r"""<(?:script|link|img)[^>]+(?:src|href)="(?!/ui/|data:)""", text)
        assert not re.search(r"<[^>]+\s(?:on\w+|style)=", text)
        for path, kind in (("terminus.css", "text/css"), ("terminus.js", "text/javascript")):
            async with web.client.get(f"/ui/static/{path}") as response:
                assert (response.status, response.content_type) == (200, kind)
        assert (await read(web, "/ui/static/page.py"))[0] == 404


@pytest.mark.parametrize("key", ["", "0" * 64, "é"])
async def test_a_form_that_is_not_ours_does_nothing(tmp_path: Path, key: str) -> None:
    async with interface(tmp_path) as web:
        answer = await send(web, "/ui/tickets", {FORM_FIELD: key, "text": TEXT})
        assert answer.status == 403
        assert (await web.ask("GET", "/tickets"))[1]["tickets"] == []


async def test_a_form_of_another_site_does_nothing_though_a_link_to_a_page_may_be_followed(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        key = await read_key(web)
        sent = {FORM_FIELD: key, "text": TEXT}
        for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            answer = await send(web, "/ui/tickets", sent, **{"Sec-Fetch-Mode": "navigate", **headers})
            assert answer.status == 403
        followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        assert (await read(web, "/", **followed))[0] == 200
        assert (await read(web, "/tickets", **followed))[0] == 403
        assert (await read(web, "/", **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}))[0] == 403
        assert (await send(web, "/ui/tickets", sent)).status == 303


async def test_the_same_form_sent_twice_is_one_ticket(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        sent = {FORM_FIELD: await read_key(web), "text": TEXT, "key": "one"}
        places = {(await send(web, "/ui/tickets", sent)).headers["Location"] for _ in range(2)}
        assert len(places) == 1


class TestASession:
    async def open(self, web: Interface, token: str, **headers: str) -> aiohttp.ClientResponse:
        key = await read_key(web, "/ui/sign-in", **headers)
        sent = {FORM_FIELD: key, "token": token, "to": "/ui/tickets/T-1"}
        return await send(web, "/ui/sign-in", sent, **headers)

    async def test_is_one_cookie_that_no_script_and_no_other_site_has(self, tmp_path: Path) -> None:
        async with interface(tmp_path) as web:
            answer = await self.open(web, await book(web).create("ann", "submit"))
            cookie = answer.cookies["terminus_session"]
            assert (answer.status, answer.headers["Location"]) == (303, "/ui/tickets/T-1")
            assert (cookie["httponly"], cookie["samesite"], cookie["secure"]) == (True, "Strict", "")
            with_it = {"Cookie": f"terminus_session={cookie.value}"}
            status, text = await read(web, "/", **with_it)
            assert (status, "token:ann" in text) == (200, True)

    async def test_is_secure_where_a_trusted_proxy_says_https(self, tmp_path: Path) -> None:
        async with interface(tmp_path, **PROXY) as web:
            answer = await self.open(web, await book(web).create("ann", "submit"), **{"X-Forwarded-Proto": "https"})
            assert answer.cookies["terminus_session"]["secure"] is True

    async def test_ends_with_its_token_with_its_time_and_when_it_is_told_to(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tokens, "FRESH_SECONDS", 0.0)
        async with interface(tmp_path) as web:
            opened = {}
            for name in ("revoked", "left", "late"):
                answer = await self.open(web, await book(web).create(name, "submit"))
                opened[name] = {"Cookie": f"terminus_session={answer.cookies['terminus_session'].value}"}
                assert (await read(web, "/", **opened[name]))[0] == 200
            await book(web).revoke("revoked")
            assert (await read(web, "/", **opened["revoked"]))[0] == 401

            key = await read_key(web, "/", **opened["left"])
            assert (await send(web, "/ui/sign-out", {FORM_FIELD: key}, **opened["left"])).status == 303
            assert (await read(web, "/", **opened["left"]))[0] == 401

            now = time.monotonic()
            monkeypatch.setattr("runtime.access.sessions.time.monotonic", lambda: now + SESSION_SECONDS)
            assert (await read(web, "/", **opened["late"]))[0] == 401

    async def test_changes_something_by_the_pages_alone(self, tmp_path: Path) -> None:
        async with interface(tmp_path) as web:
            answer = await self.open(web, await book(web).create("ann", "admin"))
            cookie = {"Cookie": f"terminus_session={answer.cookies['terminus_session'].value}"}
            assert (await web.ask("GET", "/tickets", headers=cookie))[0] == 200
            assert (await web.refusal("POST", "/tickets", json={"text": TEXT}, headers=cookie))[0] == 401
            key = await read_key(web, "/", **cookie)
            sent = {FORM_FIELD: key, "text": TEXT}
            assert (await send(web, "/ui/tickets", sent)).status == 401
            assert (await send(web, "/ui/tickets", sent, **cookie)).status == 303

    async def test_is_not_opened_by_a_wrong_token(self, tmp_path: Path) -> None:
        async with interface(tmp_path, failed_logins=2) as web:
            await book(web).create("ann", "submit")
            statuses = [(await self.open(web, "wrong")).status for _ in range(3)]
            assert statuses == [401, 401, 429]


async def test_a_form_key_is_of_one_session(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        keys = set()
        for token in [await book(web).create(name, "submit") for name in ("ann", "ben")]:
            answer = await TestASession().open(web, token)
            keys.add(await read_key(web, "/", Cookie=f"terminus_session={answer.cookies['terminus_session'].value}"))
        assert len(keys) == 2


async def test_a_proxys_person_needs_no_session_and_sees_what_the_role_allows(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True, **PROXY, token=TOKEN) as web:
        await web.submit(id="T-1", wait=20)
        status, text = await read(web, "/ui/tickets/T-1", **ANN)
        assert (status, "ann@example.org" in text, "/ui/tickets/T-1/teach" in text) == (200, True, True)
        token = await book(web).create("reader", "submit")
        _, text = await read(web, "/ui/tickets/T-1", **bearer(token))
        assert "/ui/tickets/T-1/teach" not in text


@pytest.mark.parametrize(
    "to", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:1", "/tickets", ""]
)
def test_signing_in_leads_to_pages_of_ours_alone(to: str) -> None:
    assert read_target(to) == "/"


async def test_a_page_speaks_the_language_that_the_browser_wants_or_that_was_chosen(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        for wanted, tag in (
            ("ko-KR,ko;q=0.9,en;q=0.8", "ko"),
            ("fr, zh-CN;q=0.5", "zh"),
            ("fr", "en"),
            ("x;q=?", "en"),
        ):
            assert f'<html lang="{tag}' in (await read(web, "/", **{"Accept-Language": wanted}))[1]
        async with web.client.get("/?lang=ko", headers=HTML) as response:
            assert '<html lang="ko' in await response.text()
            kept = response.cookies["terminus_language"].value
        assert '<html lang="ko' in (await read(web, "/", Cookie=f"terminus_language={kept}"))[1]


def test_each_language_has_the_same_texts_with_the_same_places() -> None:
    def places(language: str) -> dict[str, set[str | None]]:
        return {
            key: {name for _, name, _, _ in Formatter().parse(text) if name}
            for key, text in load_texts(language).items()
        }

    for language in LANGUAGES:
        assert places(language) == places("en")
        assert all(load_texts(language).values())


def test_no_text_is_kept_that_no_page_says() -> None:
    folder = Path(page_language.__file__).parent
    said = "".join(file.read_text(encoding="utf-8") for kind in ("*.html", "*.py") for file in folder.rglob(kind))
    begun = tuple(f"{one or other}_" for one, other in re.findall(r't\.name\("(\w+)"|t\("(\w+)_" ~', said))
    kept = (key for key in load_texts("en") if not key.startswith(begun))
    assert {key for key in kept if f'"{key.removesuffix("_one")}"' not in said} == set()
