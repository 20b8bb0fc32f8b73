"""The client against a site that does to it all that the web does."""

import asyncio
from urllib.parse import quote

import pytest

from runtime.crawl.http_client import Client, FetchResult
from runtime.settings import FetchSettings
from tests.clock import hurried
from tests.patience import HANGS_SECONDS
from tests.runtime.crawl.kit import SOON, Names
from tests.site import Site

WITHIN = 20.0
INNER = [
    "http://127.0.0.2:{port}/article", "http://[::1]:{port}/", "http://[::ffff:127.0.0.2]:{port}/article",
    "http://2130706434:{port}/article", "http://0177.0.0.2:{port}/article",
    "http://127.2:{port}/article", "http://0:{port}/", "http://0.0.0.0:{port}/", "http://127.0.0.2.:{port}/article",
    "http://①②⑦.0.0.2:{port}/article", "http://127。0。0。2:{port}/article", "http://169.254.169.254/latest/",
    "http://[fd00:ec2::254]/", "http://10.0.0.1:22/", "http://8.8.8.8:22/", "file:///etc/passwd", "ftp://127.0.0.2/",
    "gopher://127.0.0.2:6379/_x", "http://user:pw@127.0.0.1:{port}/article", "http://", "http://[::1",
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/gone", "dead"), ("/forbidden", "blocked"), ("/unauthorized", "paywall"), ("/broken", "unreachable"),
        ("/bad-gateway", "unreachable"), ("/busy", "rate_limited"), ("/overloaded", "rate_limited"),
        ("/pdf", "binary"), ("/pdf-as-html", "binary"), ("/image-as-html", "binary"), ("/binary", "binary"),
        ("/attachment", "binary"), ("/big-declared", "too_large"), ("/gzip-bomb", "too_large"),
        ("/gzip-bad", "unreachable"), ("/gzip-twice", "binary"), ("/zstd", "unreachable"),
        ("/header-long", "unreachable"), ("/header-flood", "unreachable"), ("/endless-headers", "unreachable"),
        ("/short", "unreachable"), ("/not-http", "unreachable"), ("/hang-up", "unreachable"),
        ("/loop", "unreachable"), ("/chain/0", "unreachable"), ("/to-nowhere", "unreachable"),
        ("/to-private", "refused"), ("/to-file", "refused"),
    ],
)  # fmt: skip
@pytest.mark.req("RE-4", "RE-7")
async def test_each_failure_is_told_with_a_reason_and_a_sentence(
    web: Site, client: Client, path: str, reason: str
) -> None:
    got = await client.get(web.url(path), within=WITHIN)

    assert (got.reason, got.body) == (reason, b"")
    assert got.detail.endswith(".")
    assert got.detail[0].isupper()


@pytest.mark.req("PR-25", "RE-4")
@pytest.mark.parametrize("path", ["/drip", "/drip-headers", "/silent", "/trickle"])
async def test_whatever_does_not_arrive_ends_with_its_time_and_not_before(web: Site, client: Client, path: str) -> None:
    with hurried():
        loop = asyncio.get_running_loop()
        start = loop.time()
        got = await client.get(web.url(path), within=11.0)
        took = loop.time() - start

    assert (got.reason, got.detail) == ("timed_out", "The page did not arrive within 11 seconds.")
    assert 10.9 < took < 13.0


async def test_a_body_that_never_ends_within_a_chunk_ends_with_the_time(web: Site, client: Client) -> None:
    got = await client.get(web.url("/endless-chunks"), within=0.5)

    assert got.reason == "timed_out"


@pytest.mark.req("PR-25")
async def test_a_page_may_be_as_slow_as_its_time_allows(web: Site, client: Client) -> None:
    with hurried():
        trickled = await client.get(web.url("/trickle"), within=30.0)
        web.latency = 500.0
        late = await client.get(web.url("/articles/tram"), within=600.0)

    assert (trickled.reason, late.reason) == (None, None)
    assert trickled.body == late.body


async def test_what_is_there_arrives_with_its_type_and_charset(web: Site, client: Client) -> None:
    got = await client.get(web.url("/article"), within=WITHIN)

    assert got.reason is None
    assert (got.status, got.content_type, got.charset) == (200, "text/html", "utf-8")
    assert b"tidal barrage" in got.body
    assert not got.truncated


async def test_packed_pages_are_unpacked(web: Site, client: Client) -> None:
    packed = await client.get(web.url("/gzip"), within=WITHIN)

    assert packed.body == (await client.get(web.url("/articles/tram"), within=WITHIN)).body


async def test_a_redirect_is_followed_and_the_last_address_told(web: Site, client: Client) -> None:
    got = await client.get(web.url("/moved") + "#part", within=WITHIN)

    assert got.url == web.url("/articles/ferry")
    assert b"Petrel" in got.body


@pytest.mark.parametrize("path", ["/big", "/endless", "/gzip-many"])
async def test_of_what_is_too_long_the_beginning_is_read(web: Site, path: str) -> None:
    client = Client(FetchSettings(allow=("127.0.0.0/8",), page_megabytes=0.2), SOON)
    try:
        got = await client.get(web.url(path), within=WITHIN)
    finally:
        await client.close()

    assert got.reason is None or got.reason == "too_large"
    assert len(got.body) in {0, 200_000}
    assert got.truncated == bool(got.body)


@pytest.mark.parametrize("url", INNER)
async def test_no_spelling_of_an_inner_address_gets_through(web: Site, url: str) -> None:
    client = Client(FetchSettings(allow=("127.0.0.1/32",)), SOON)
    target = url.format(port=web.port)
    try:
        straight = await client.get(target, within=WITHIN)
        round_about = await client.get(web.url(f"/to?{quote(target, safe='')}"), within=WITHIN)
    finally:
        await client.close()

    for got in (straight, round_about):
        assert got.reason in {"refused", "unreachable"}, got
        assert got.body == b""
    assert {host for host, _ in web.asked} == {"127.0.0.1"}
    assert {path.partition("?")[0] for _, path in web.asked} == {"/to"}


async def test_without_an_allowed_network_nothing_of_this_machine_is_read(web: Site) -> None:
    client = Client(FetchSettings(), SOON)
    try:
        got = [await client.get(url, within=WITHIN) for url in (web.url("/article"), f"http://localhost:{web.port}/")]
    finally:
        await client.close()

    assert [each.reason for each in got] == ["refused", "refused"]
    assert "[fetch] allow" in got[0].detail
    assert web.asked == []


async def named(web: Site, *answers: list[str]) -> list[FetchResult]:
    """What a name that is resolved like this gets, one client a time, as when the answers have expired."""
    client = Client(FetchSettings(allow=("127.0.0.1/32",)), SOON, Names(*answers))
    got = []
    try:
        for _ in answers:
            got.append(await client.get(f"http://rebind.example:{web.port}/article", within=WITHIN))
            session = client._connect()
            session.connector.clear_dns_cache()  # type: ignore[union-attr] # as time does
    finally:
        await client.close()
    return got


async def test_a_name_that_leads_to_an_inner_address_is_refused_and_not_asked_twice(web: Site) -> None:
    (got,) = await named(web, ["127.0.0.2"])

    assert got.reason == "refused"
    assert web.asked == []


async def test_of_the_addresses_of_a_name_only_permitted_ones_are_used(web: Site) -> None:
    (got,) = await named(web, ["127.0.0.2", "::1", "127.0.0.1"])

    assert got.status == 200
    assert {host for host, _ in web.asked} == {"127.0.0.1"}


async def test_a_name_that_changes_its_address_is_checked_at_each_connection(web: Site) -> None:
    first, second = await named(web, ["127.0.0.1"], ["127.0.0.2"])

    assert first.status == 200
    assert second.reason == "refused"
    assert {host for host, _ in web.asked} == {"127.0.0.1"}


async def test_the_server_learns_who_asks_and_nothing_else(
    web: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    for _ in range(2):
        await client.get(web.url("/cookie"), within=WITHIN)

    assert len(web.requests) == 2
    for head in web.requests:
        names = {line.partition(":")[0].lower() for line in head.splitlines()[1:] if line}
        assert names == {"host", "user-agent", "accept", "accept-encoding"}
        assert "Terminus/0.1" in head


@pytest.mark.req("RE-13")
@pytest.mark.parametrize("path", ["/busy-once", "/flaky"])
async def test_a_server_that_was_busy_is_asked_once_more(web: Site, client: Client, path: str) -> None:
    got = await client.get(web.url(path), within=WITHIN)

    assert got.status == 200
    assert web.hits(path) == 2


@pytest.mark.req("RE-13")
async def test_a_wait_that_does_not_fit_the_time_is_not_begun(web: Site, client: Client) -> None:
    got = await client.get(web.url("/busy"), within=WITHIN)

    assert (got.reason, got.retry_after) == ("rate_limited", 3600.0)
    assert "3600 seconds" in got.detail
    assert web.hits("/busy") == 1


async def test_a_fault_is_tried_twice_and_a_refusal_once(web: Site, client: Client) -> None:
    for path in ("/bad-gateway", "/gone", "/broken"):
        await client.get(web.url(path), within=WITHIN)

    assert [web.hits(path) for path in ("/bad-gateway", "/gone", "/broken")] == [2, 1, 1]


async def test_encryption_that_fails_is_told(client: Client) -> None:
    async def speak_plainly(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(speak_plainly, "127.0.0.1", 0)
    async with server:
        got = await client.get(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/", within=WITHIN)

    assert (got.reason, got.detail) == ("unreachable", "The server's certificate or encryption is not valid.")


async def test_a_server_that_is_not_there_is_told(web: Site, client: Client) -> None:
    got = await client.get("http://127.0.0.9:1/", within=WITHIN)

    assert (got.reason, got.detail) == ("unreachable", "The server cannot be reached.")


@pytest.mark.req("RE-1", "RE-13")
async def test_limits_hold_for_each_host_and_for_all_together(web: Site) -> None:
    web.latency = 0.05
    client = Client(FetchSettings(allow=("127.0.0.0/8",), concurrency=5, per_host=2), SOON)
    try:
        got = await asyncio.gather(
            *(client.get(web.url("/article", n % 3), within=WITHIN) for n in range(15))
        )  # fmt: skip
    finally:
        await client.close()

    assert {each.status for each in got} == {200}
    assert web.most_at_once[""] == 5
    assert max(web.most_at_once[host] for host in ("127.0.0.1", "127.0.0.2", "127.0.0.3")) == 2
    assert client._turns._hosts == {}


@pytest.mark.req("RE-13")
async def test_one_host_is_asked_for_so_many_pages_at_once_however_many_places_are_free(web: Site) -> None:
    web.latency = 0.05
    client = Client(FetchSettings(allow=("127.0.0.0/8",), concurrency=20, per_host=2), SOON)
    try:
        got = await asyncio.gather(*(client.get(web.url("/article"), within=WITHIN) for _ in range(8)))
    finally:
        await client.close()

    assert {each.status for each in got} == {200}
    assert web.most_at_once["127.0.0.1"] == 2


async def test_each_hop_can_be_objected_to(web: Site, client: Client) -> None:
    asked = []

    async def hop(url: str) -> str:
        asked.append(url)
        return "Not this one." if url.endswith("/ferry") else ""

    got = await client.get(web.url("/moved"), within=WITHIN, hop=hop)

    assert (got.reason, got.detail) == ("robots", "Not this one.")
    assert asked == [web.url("/moved"), web.url("/articles/ferry")]
    assert web.hits("/articles/ferry") == 0


async def test_whoever_stops_waiting_leaves_no_connection_behind(web: Site, client: Client) -> None:
    task = asyncio.create_task(client.get(web.url("/silent"), within=WITHIN))
    async with asyncio.timeout(HANGS_SECONDS):
        while not web.asked:  # noqa: ASYNC110 - nobody tells when
            await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert client._turns._hosts == {}
