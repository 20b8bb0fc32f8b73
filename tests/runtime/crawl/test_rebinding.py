"""Names that mean another address when they are asked again, tried against the system's own way of resolving them."""

import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import quote

import pytest

from runtime.crawl.http_client import Client
from runtime.crawl.pages import Pages
from runtime.settings import FetchSettings
from runtime.storage.effects import Effects
from tests.runtime.crawl.kit import SOON, Here, make_pages, read, settings
from tests.site import Site

WITHIN = 20.0
FETCH = FetchSettings(allow=("127.0.0.1/32",))
"""The first host of the site stands for the public web, the second for the inner network."""
Answers = dict[str, Iterator[list[str]]]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Answers:
    """What each name is resolved to, one answer a question; it stands where the resolver of the system does."""
    known: Answers = {}

    def resolve(host: str, port: int, *_: Any, **__: Any) -> list[tuple[Any, ...]]:
        addresses = next(known[host])
        found: list[tuple[Any, ...]] = []
        for number, each in enumerate(addresses):
            canonical = "inner.example" if number == 0 else ""  # as behind a CNAME
            if ":" in each:
                scope = socket.if_nametoindex("lo") if each.startswith("fe80") else 0
                found.append((socket.AF_INET6, socket.SOCK_STREAM, 6, canonical, (each, port, 0, scope)))
            else:
                found.append((socket.AF_INET, socket.SOCK_STREAM, 6, canonical, (each, port)))
        return found

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return known


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    made = Client(FETCH, SOON)
    yield made
    await made.close()


@pytest.mark.parametrize(
    "answer",
    [
        "127.0.0.2", "127.255.255.254", "0.0.0.0", "169.254.169.254", "10.0.0.1", "::", "::1",  # noqa: S104
        "::ffff:127.0.0.2",
        "::ffff:169.254.169.254", "fe80::1", "64:ff9b::7f00:2", "2002:7f00:2::",
    ],
)  # fmt: skip
async def test_whatever_a_name_leads_to_is_looked_at_before_it_is_connected_to(
    web: Site, client: Client, names: Answers, answer: str
) -> None:
    names["pages.example"] = iter([[answer], [answer]])
    got = await client.get(f"http://pages.example:{web.port}/article", within=WITHIN)

    assert (got.reason, got.body) == ("refused", b"")
    assert "[fetch] allow" in got.detail
    assert web.asked == []


async def test_a_name_that_was_public_a_moment_ago_is_looked_at_again(
    web: Site, client: Client, names: Answers
) -> None:
    names["pages.example"] = iter([["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2", "127.0.0.1"]])
    url, got = f"http://pages.example:{web.port}/article", []
    for _ in range(3):
        got.append(await client.get(url, within=WITHIN))
        client._connect().connector.clear_dns_cache()  # type: ignore[union-attr] # as time does

    assert [each.reason for each in got] == [None, "refused", None]
    assert {host for host, _ in web.asked} == {"127.0.0.1"}


@pytest.mark.parametrize("hops", range(5))
async def test_the_last_of_several_redirects_leads_no_further_than_the_first(
    web: Site, client: Client, names: Answers, hops: int
) -> None:
    names["inner.example"] = iter([["127.0.0.2"], ["127.0.0.2"]])
    url = f"http://inner.example:{web.port}/article"
    for number in range(hops + 1):
        names[f"hop{number}.example"] = iter([["127.0.0.1"]])
        url = f"http://hop{number}.example:{web.port}/to?{quote(url, safe='')}"
    got = await client.get(url, within=WITHIN)

    expected = ("refused", "unreachable")[hops + 2 > FETCH.redirects + 1]
    assert (got.reason, got.body) == (expected, b""), "after five nobody goes on at all"
    assert {host for host, _ in web.asked} == {"127.0.0.1"}
    assert {path.partition("?")[0] for _, path in web.asked} == {"/to"}


WAYS = {
    "a name and a password": r"http://ann:pw@127.0.0.1:{port}/article",
    "an address before the at sign": r"http://127.0.0.1@127.0.0.2:{port}/article",
    "no scheme": r"//127.0.0.2:{port}/article",
    "backslashes": r"http:\\127.0.0.2:{port}\article",
    "a backslash before the at sign": r"http://127.0.0.1:{port}\@127.0.0.2:{port}/article",
    "a tab in the host": "http://127.0.0.1\t@127.0.0.2:{port}/article",
    "another port": "http://8.8.8.8:25/",
    "port zero": "http://127.0.0.2:0/",
    "another scheme": "file://127.0.0.1/etc/passwd",
    "octal": r"http://0177.0.0.02:{port}/article",
    "decimal": r"http://2130706434:{port}/article",
    "hexadecimal": r"http://0x7f000002:{port}/article",
    "two numbers": r"http://127.2:{port}/article",
    "mapped": r"http://[::ffff:7f00:2]:{port}/article",
    "nothing": r"http://0:{port}/article",
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_redirect_in_another_spelling_leads_nowhere(
    web: Site, client: Client, names: Answers, way: str
) -> None:
    for each in ("0x7f000002", "2130706434", "127.2", "0177.0.0.02", "0"):  # as the C library reads them
        names[each] = iter([["127.0.0.2"]] * 2)
    got = await client.get(web.url(f"/to?{quote(WAYS[way].format(port=web.port), safe='')}"), within=WITHIN)

    assert got.reason in {"refused", "unreachable", "dead"}, got
    assert b"barrage" not in got.body
    assert {host for host, _ in web.asked} == {"127.0.0.1"}
    assert web.hits("/article") == 0


async def test_a_page_of_a_name_that_changes_behind_its_robots_txt_is_not_read(
    web: Site, client: Client, names: Answers, here: Here, effects: Effects, tmp_path: Any
) -> None:
    names["pages.example"] = iter([["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2"]])
    ask = Client._ask

    async def forget(self: Client, *given: Any) -> Any:
        answer = await ask(self, *given)
        self._connect().connector.clear_dns_cache()  # type: ignore[union-attr] # as time does
        return answer

    pages: Pages = make_pages(settings(tmp_path, FETCH), here, client)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Client, "_ask", forget)
        heard = await read(pages, effects, [f"http://pages.example:{web.port}/article"])

    assert list(heard.missed.values()) == ["refused"]
    assert [path for _, path in web.asked] == ["/robots.txt"]
