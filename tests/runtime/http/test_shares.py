"""A link opens one ticket to whoever has it, for a while, to be read: nothing else, and nobody else's."""

import re
import time
import urllib.parse
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from runtime.access import shares, tokens
from runtime.access.shares import MOST_OF_A_TICKET, ShareBook
from runtime.access.tokens import Role, TokenBook
from runtime.families import extractive
from runtime.http.gate import Gate
from runtime.http.pages.shared_page import COOKIE
from runtime.observe import logs
from runtime.settings import ServerSettings
from runtime.storage.records import Record
from runtime.upkeep.purge import purge
from tests.runtime.http.kit import TEXT, TOKEN, Interface, interface, settings
from tests.runtime.http.pages.test_page_routes import COMPLAINT, HTML, read_key, send
from tests.runtime.http.test_access import bearer, book
from tests.runtime.http.test_research import ONE_ROUND, QUESTION, knowing

Headers = dict[str, str]


@pytest.fixture(autouse=True)
def _tokens_are_known_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "FRESH_SECONDS", 0.0)


async def own_ticket(web: Interface, name: str = "ann", ticket: str = "T-1", **more: Any) -> Headers:
    """The headers of somebody who has a ticket."""
    headers = bearer(await book(web).create(name, "submit"))
    body = {"text": TEXT, "id": ticket, **more}
    status, told = await web.ask("POST", "/tickets?wait=20", json=body, headers=headers)
    assert status == 200, told
    return headers


async def make(web: Interface, headers: Headers, ticket: str = "T-1", **body: Any) -> tuple[str, str]:
    """The path and the code of a new link."""
    status, made = await web.ask("POST", f"/tickets/{ticket}/shares", json=body, headers=headers)
    assert status == 201, made
    found = re.fullmatch(rf"{web.url}(/ui/shared/{ticket})#([\w-]{{43}})", made["link"])
    assert found is not None
    return found[1], found[2]


async def open_link(web: Interface, path: str, code: str) -> aiohttp.ClientResponse:
    return await send(web, path, {"code": code})


async def read(web: Interface, path: str, code: str = "") -> tuple[int, str]:
    headers = {**HTML, "Cookie": f"{COOKIE}={code}"} if code else HTML
    async with web.client.get(path, headers=headers) as response:
        return response.status, await response.text()


async def test_a_link_opens_the_ticket_without_signing_in_to_be_read_and_nothing_else(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True) as web:
        path, code = await make(web, await own_ticket(web))
        status, asks = await read(web, path)
        assert (status, TEXT in asks, "data-code" in asks) == (200, False, True)

        opened = await open_link(web, path, code)
        cookie = opened.headers["Set-Cookie"]
        assert (opened.status, opened.headers["Location"]) == (303, path)
        assert all(part in cookie for part in ("HttpOnly", "SameSite=Strict", f"Path={path};"))
        async with web.client.get(path, headers={**HTML, "Cookie": f"{COOKIE}={code}"}) as response:
            text = await response.text()
        assert response.status == 200
        assert TEXT in text
        assert "Resolved" in text
        assert "<form" not in text
        assert "token:ann" not in text
        assert code not in text
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["Referrer-Policy"] == "no-referrer"
        assert response.headers["X-Robots-Tag"] == "noindex"
        for other in ("/tickets/T-1", "/tickets/T-1/events", "/ui/tickets/T-1", "/", f"{path}/x"):
            assert (await read(web, other, code))[0] == 401


async def test_its_report_is_as_open_as_the_ticket(tmp_path: Path) -> None:
    async with knowing(tmp_path, memory=True) as web:
        await web.submit(QUESTION, research=ONE_ROUND, id="RS-1", wait=20)
        path, code = await make(web, bearer(await book(web).create("any", "admin")), "RS-1")
        status, text = await read(web, path, code)
        assert (status, "used least recently" in text, "/tickets/RS-1/report" in text) == (200, True, False)
        assert f'href="{path}/report?format=md"' in text
        status, report = await read(web, f"{path}/report?format=md", code)
        assert (status, "used least recently" in report) == (200, True)
        assert (await read(web, f"{path}/report?format=md"))[0] == 404
        assert (await read(web, "/tickets/RS-1/report", code))[0] == 401


@pytest.mark.parametrize("wrong", ["{}A", "A{}", "{}{}", " ", "\udcff", "A" * 43, "%00{}"])
async def test_another_code_opens_nothing(tmp_path: Path, wrong: str) -> None:
    async with interface(tmp_path, memory=True) as web:
        path, code = await make(web, await own_ticket(web))
        body = urllib.parse.urlencode({"code": wrong.replace("{}", code)}, errors="surrogateescape")
        headers = {**HTML, "Content-Type": "application/x-www-form-urlencoded"}
        async with web.client.post(path, data=body, headers=headers, allow_redirects=False) as refused:
            assert refused.status in {200, 400, 403}
            assert TEXT not in await refused.text()
            assert "Location" not in refused.headers


async def test_a_link_opens_no_other_ticket_and_an_unknown_one_looks_the_same(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True) as web:
        _, code = await make(web, await own_ticket(web))
        await make(web, await own_ticket(web, "bob", "T-2"), "T-2")
        pages = [await read(web, f"/ui/shared/{ticket}", code) for ticket in ("T-2", "T-404")]
        told = {(status, text.replace("T-404", "T-2")) for status, text in pages}
        assert len(told) == 1
        assert (await read(web, "/ui/shared/T-2", code))[0] == 403


class TestItIsGoodNoMore:
    async def test_once_it_was_taken_away(self, tmp_path: Path) -> None:
        async with interface(tmp_path, memory=True) as web:
            ann = await own_ticket(web)
            (path, code), (_, kept) = await make(web, ann), await make(web, ann, days=1)
            _, listed = await web.ask("GET", "/tickets/T-1/shares", headers=ann)
            first, second = listed["shares"]
            assert (first["by"], first["ticket"], first["created"] < second["expires"] < first["expires"]) == (
                "token:ann", "T-1", True,
            )  # fmt: skip
            assert code not in str(listed)
            address = f"/tickets/T-1/shares/{first['id']}"
            assert (await web.ask("DELETE", address, headers=ann))[0] == 204
            assert (await web.refusal("DELETE", address, headers=ann))[0] == 404
            assert [(await read(web, path, each))[0] for each in (code, kept)] == [403, 200]

    async def test_once_its_time_is_over(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        async with interface(tmp_path, memory=True, share_days=2.0) as web:
            ann = await own_ticket(web)
            (path, code), (_, short) = await make(web, ann), await make(web, ann, days=1)
            late = time.time() + 1.5 * 86_400
            monkeypatch.setattr(time, "time", lambda: late)
            assert [(await read(web, path, each))[0] for each in (code, short)] == [200, 403]

    @pytest.mark.parametrize("again", [False, True])
    async def test_once_the_token_that_made_it_was_revoked(self, tmp_path: Path, *, again: bool) -> None:
        async with interface(tmp_path, memory=True) as web:
            path, code = await make(web, await own_ticket(web))
            await book(web).revoke("ann")
            if again:
                await book(web).create("ann", "submit")
            assert (await read(web, path, code))[0] == 403

    async def test_once_this_machine_needs_a_token(self, tmp_path: Path) -> None:
        async with interface(tmp_path, memory=True) as web:
            await web.submit(id="T-1", wait=20)
            path, code = await make(web, {})
            assert (await read(web, path, code))[0] == 200
            await book(web).create("any", "admin")
            assert (await read(web, path, code))[0] == 403

    @pytest.mark.parametrize(
        ("access", "headers"),
        [
            ({"token": TOKEN}, bearer(TOKEN)),
            ({"proxy": ("127.0.0.1",), "roles": {"*": "submit"}}, {"X-Forwarded-User": "ann"}),
        ],
        ids=["token", "person"],
    )
    async def test_once_who_made_it_is_let_in_no_more(
        self, tmp_path: Path, access: dict[str, Any], headers: Headers
    ) -> None:
        async with interface(tmp_path, memory=True, **access) as web:
            await web.ask("POST", "/tickets?wait=20", json={"text": TEXT, "id": "T-1"}, headers=headers)
            path, code = await make(web, headers)
            assert (await read(web, path, code))[0] == 200
        async with interface(tmp_path, memory=True) as web:
            assert (await read(web, path, code))[0] == 403

    async def test_once_its_ticket_was_purged_though_its_id_comes_again(self, tmp_path: Path) -> None:
        async with interface(tmp_path, memory=True) as web:
            path, code = await make(web, await own_ticket(web))
            store = web.node.journal.store
            purge(web.node.folder, ["T-1"], judged=True)
            assert await store.records(shares.KIND) == []
            await own_ticket(web, "bob")
            assert (await read(web, path, code))[0] == 403

    async def test_where_its_record_is_damaged(self, tmp_path: Path) -> None:
        async with interface(tmp_path, memory=True) as web:
            path, code = await make(web, await own_ticket(web))
            (record,) = await web.node.journal.store.records(shares.KIND)
            await web.node.journal.store.put(Record(kind=shares.KIND, id=record.id, body=b"\xc1", replaces=True))
            assert (await read(web, path, code))[0] == 403


async def test_what_goes_on_with_the_ticket_is_shared_and_what_takes_its_place_is_not(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True, model=extractive()) as web:
        ann = await own_ticket(web, text=COMPLAINT, workflow="legal")
        desk = bearer(await book(web).create("desk", "operate"))
        path, code = await make(web, ann)
        status, told = await web.ask("POST", "/tickets/T-1/answers?wait=20", json={"text": "一万元"}, headers=ann)
        assert (status, "一万元" in (await read(web, path, code))[1]) == (200, True), told
        _, told = await web.ask("POST", "/tickets?wait=20", json={"text": "Mine.", "id": "T-1"}, headers=desk)
        text = (await read(web, path, code))[1]
        assert ("Mine." in text, "张三" in text) == (False, True)


async def test_only_its_owner_and_an_administrator_share_a_ticket(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True) as web:
        await own_ticket(web)
        expected: dict[Role, int] = {"submit": 404, "read": 403, "operate": 403, "admin": 201}
        for role, status in expected.items():
            headers = bearer(await book(web).create(role, role))
            got, _ = await web.ask("POST", "/tickets/T-1/shares", headers=headers)
            assert (role, got) == (role, status)


async def test_a_page_makes_lists_and_takes_away_links(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True) as web:
        ann = await own_ticket(web)
        key = await read_key(web, "/ui/tickets/T-1", **ann)
        async with web.client.post(
            "/ui/tickets/T-1/share", data={"form_key": key}, headers={**HTML, **ann}
        ) as response:
            text = await response.text()
        found = re.search(rf'value="{web.url}(/ui/shared/T-1)#([\w-]+)"', text)
        assert found is not None
        assert (await read(web, found[1], found[2]))[0] == 200
        _, page = await read_page(web, "/ui/tickets/T-1", ann)
        assert found[2] not in page, "it is told this once"
        (share,) = re.findall(r'name="share" value="(\w+)"', page)
        gone = await send(web, "/ui/tickets/T-1/unshare", {"form_key": key, "share": share}, **ann)
        assert (gone.status, gone.headers["Location"]) == (303, "/ui/tickets/T-1")
        assert (await read(web, found[1], found[2]))[0] == 403


async def read_page(web: Interface, path: str, headers: Headers) -> tuple[int, str]:
    async with web.client.get(path, headers={**HTML, **headers}) as response:
        return response.status, await response.text()


async def test_how_long_and_how_many_is_bounded(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True, share_days=3.0) as web:
        ann = await own_ticket(web)
        for days in (0, -1, 3.1, 1e300):
            status, why = await web.refusal("POST", "/tickets/T-1/shares", json={"days": days}, headers=ann)
            assert (status, "at most 3" in why) == (400, True)
        for _ in range(MOST_OF_A_TICKET):
            await make(web, ann)
        assert (await web.refusal("POST", "/tickets/T-1/shares", headers=ann))[0] == 409


async def test_nobody_makes_links_where_that_is_set(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True, share_days=0.0) as web:
        ann = await own_ticket(web)
        assert (await web.refusal("POST", "/tickets/T-1/shares", headers=ann))[0] == 409
        assert "/share" not in (await read_page(web, "/ui/tickets/T-1", ann))[1]


async def test_it_opens_for_a_person_of_the_proxy_who_may_nothing_else(tmp_path: Path) -> None:
    access: dict[str, Any] = {"proxy": ("127.0.0.1",), "roles": {"staff": "submit"}}
    async with interface(tmp_path, memory=True, **access) as web:
        ann = {"X-Forwarded-User": "ann", "X-Forwarded-Groups": "staff"}
        await web.ask("POST", "/tickets?wait=20", json={"text": TEXT, "id": "T-1"}, headers=ann)
        path, code = await make(web, ann)
        guest = {**HTML, "X-Forwarded-User": "guest", "Cookie": f"{COOKIE}={code}"}
        for address, status in ((path, 200), ("/ui/tickets/T-1", 403), ("/tickets/T-1", 403)):
            async with web.client.get(address, headers=guest) as response:
                assert (response.status, address) == (status, address)


async def test_who_opens_links_too_often_has_to_wait(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True, requests_per_minute=1, request_burst=5) as web:
        path, code = await make(web, await own_ticket(web))
        told = [(await read(web, path, each))[0] for each in (code, "x", "", code, "x", code)]
        assert told == [200, 403, 200, 200, 403, 429]
        assert (await open_link(web, path, code)).status == 429
        assert (await web.ask("GET", "/tickets/T-1", headers=bearer(await book(web).create("bob", "read"))))[0] == 200


async def test_its_code_is_in_no_file_and_in_no_line_of_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with logs.to_stderr(settings(tmp_path)):
        async with interface(tmp_path, memory=True) as web:
            path, code = await make(web, await own_ticket(web))
            await open_link(web, path, code)
            await open_link(web, path, code + "x")
            await read(web, path, code)
            await read(web, f"{path}/report", code)
            stored = b"".join(file.read_bytes() for file in web.node.folder.rglob("*") if file.is_file())
    written = capfd.readouterr().err
    assert "share.created" in written
    assert code not in written
    assert code.encode() not in stored


async def test_codes_are_compared_in_a_time_that_tells_nothing_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return one == other

    async with interface(tmp_path, memory=True) as web:
        ann = await own_ticket(web)
        codes = [(await make(web, ann))[1] for _ in range(3)]
        monkeypatch.setattr("runtime.access.shares.hmac.compare_digest", compare)
        store = web.node.journal.store
        links = ShareBook(store, Gate(ServerSettings(), TokenBook(store)).knows_still)
        for code in (codes[0], codes[2], "x", ""):
            await links.find("T-1", code)
        assert compared == [(32, 32)] * 12


async def test_an_encoded_share_holds_no_code(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True) as web:
        _, code = await make(web, await own_ticket(web))
        (record,) = await web.node.journal.store.records(shares.KIND)
        share = msgspec.msgpack.decode(record.body, type=shares.Share)
        assert (record.run, share.run) == (share.run, record.run)
        assert code not in repr(share)
