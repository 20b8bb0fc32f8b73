"""Tickets are listed by their latest runs, page by page, however many there are; what is no filter gets a sentence."""

from pathlib import Path
from typing import Any

import pytest

from bench.listing import fill
from runtime.http.endpoints import ticket_routes as list_routes
from runtime.storage.records import Wanted
from runtime.storage.sqlite import run_store as listing
from tests.runtime.http.kit import Held, Interface, interface


async def pages(web: Interface, path: str) -> list[list[str]]:
    """The ids of each page, from the first to the last."""
    found = []
    while path:
        status, page = await web.ask("GET", path)
        assert status == 200, page
        found.append([each["ticket"] for each in page["tickets"]])
        path = page["next"]
    return found


async def test_a_list_is_walked_to_its_end_without_a_gap_while_others_come_in(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        await fill(web.node, 7)
        _, first = await web.ask("GET", "/tickets?limit=3")
        await web.submit("The printer jams.", wait=20, id="NEW")

        assert [each["ticket"] for each in first["tickets"]] == ["HD-6", "HD-5", "HD-4"]
        assert await pages(web, first["next"]) == [["HD-3", "HD-2", "HD-1"], ["HD-0"]]
        assert (await pages(web, "/tickets?limit=4"))[0] == ["NEW", "HD-6", "HD-5", "HD-4"]
        assert await pages(web, "/tickets?limit=8") == [["NEW", *(f"HD-{n}" for n in range(6, -1, -1))]]


async def test_a_ticket_that_was_run_again_stands_once_where_its_latest_run_does(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        await web.submit("The printer jams.", wait=20, id="T-1")
        await web.submit("My VPN drops.", wait=20, id="T-2")
        again = await web.submit("The printer jams again.", wait=20, id="T-1")
        _, page = await web.ask("GET", "/tickets")

    assert [each["ticket"] for each in page["tickets"]] == ["T-1", "T-2"]
    assert page["tickets"][0]["run"] == again["run"]
    assert page["tickets"][0]["question"] == "The printer jams again."
    assert page["tickets"][0]["links"]["ticket"] == "/tickets/T-1"
    assert page["tickets"][0]["agents"] == ["memory", "ticketing", "worker", "summarization"]
    assert (page["next"], page["stopped"]) == ("", False)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status=running", ["T-3"]),
        ("status=cancelled", []),
        ("q=%EF%BC%B6PN", ["T-2"]),
        ("q=kim", ["T-1"]),
        ("q=jams&status=running", []),
        ("workflow=helpdesk", ["T-3", "T-2", "T-1"]),
        ("workflow=legal", []),
        ("since=1h", ["T-3", "T-2", "T-1"]),
        ("since=2100-01-01", []),
        ("intent=incident", ["T-2", "T-1"]),
        ("intent=connection", []),
        ("agent=summarization", ["T-2", "T-1"]),
        ("agent=ticketing&q=kim", ["T-1"]),
        ("agent=nobody", []),
        ("slow=1h", []),
        ("failed=true", []),
        ("failed=false", ["T-3", "T-2", "T-1"]),
        ("", ["T-3", "T-2", "T-1"]),
    ],
)
async def test_filters_hold_together(tmp_path: Path, query: str, found: list[str]) -> None:
    model = Held()
    model.free.set()
    async with interface(tmp_path, model=model) as web:
        await web.submit("The printer jams.", wait=20, id="T-1", requester="Kim")
        await web.submit("My VPN drops.", wait=20, id="T-2")
        model.free.clear()
        await web.submit("The door is stuck.", id="T-3")

        assert await pages(web, f"/tickets?{query}") == [found]
        model.free.set()


async def test_a_search_stops_where_it_would_take_long_and_the_next_page_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_routes, "MOST_LOOKED_THROUGH", 200)
    async with interface(tmp_path) as web:
        await fill(web.node, 500)
        _, first = await web.ask("GET", "/tickets?q=number+7%2C&limit=5")

        assert (first["tickets"], first["stopped"]) == ([], True)
        assert await pages(web, first["next"]) == [[], ["HD-7"]]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("status=solved", "There is no status 'solved'"),
        ("workflow=leagl", "There is no workflow 'leagl'"),
        ("since=soon", "since must be such as 30m"),
        ("slow=soon", "slow must be a duration"),
        ("failed=yes", "failed must be true or false"),
        ("limit=0", "limit must be a whole number from 1 to 200"),
        ("limit=201", "limit must be"),
        ("limit=%D9%A1", "limit must be"),
        ("cursor=0", "There is no page"),
        ("cursor=-1", "There is no page"),
        ("cursor=9999999999999999999", "There is no page"),
        ("page=2", "There is no filter 'page'; there are status, workflow"),
    ],
)
async def test_what_cannot_be_meant_gets_a_sentence(tmp_path: Path, query: str, says: str) -> None:
    async with interface(tmp_path) as web:
        status, sentence = await web.refusal("GET", f"/tickets?{query}")

    assert status == 400
    assert sentence.startswith(says)


PAGES = (
    Wanted(latest=True), Wanted(latest=True, status="error"), Wanted(latest=True, workflow="legal"),
    Wanted(latest=True, failed=True), Wanted(latest=True, intent="connection"),
)  # fmt: skip


async def test_the_page_costs_what_is_on_it_not_what_there_is(tmp_path: Path) -> None:
    """By what the database does, which no neighbour on the machine slows down."""
    steps: dict[int, int] = {}
    async with interface(tmp_path) as web:
        for count in (1_000, 4_000):
            await web.node.database.run(("DELETE FROM run", ()), ("DELETE FROM ticket", ()))
            await fill(web.node, count)
            steps[count] = await web.node.database.read(lambda db: _count_steps(db, *PAGES))
            assert await web.node.journal.store.list_intents() == ["connection", "printer"]

    assert steps[4_000] < steps[1_000] * 1.5


async def test_filters_are_worked_out_once_however_many_tickets_are_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: dict[int, int] = {}
    wanted = Wanted(latest=True, agent="nobody", slow=1.0, since=1.0)
    async with interface(tmp_path) as web:
        await fill(web.node, 1_000)
        for batch in (20, 1_000):
            monkeypatch.setattr(listing, "BATCH", batch)
            steps[batch] = await web.node.database.read(lambda db: _count_steps(db, wanted))

    assert steps[20] < steps[1_000] * 1.5


def _count_steps(db: Any, *wanted: Wanted) -> int:
    """How often SQLite looked up after a hundred of its instructions."""
    seen = 0

    def look() -> int:
        nonlocal seen
        seen += 1
        return 0

    db.set_progress_handler(look, 100)
    for each in wanted:
        listing.list_runs(db, each)
    db.set_progress_handler(None, 0)
    return seen
