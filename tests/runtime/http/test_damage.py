"""Rows that cannot be read: each door says so in a sentence that is documented, and everything else goes on."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from actors.ports import Completion, ModelRequest
from actors.research.models import ResearchOptions
from actors.research.workflow import ResearchCase
from runtime.engine.node import Node
from runtime.http.openapi import document
from runtime.storage.private import DATABASE
from runtime.storage.records import Wanted
from runtime.tickets import Ticket
from tests.fakes import Knows, Thinks
from tests.runtime.http.kit import Held, Interface, OneModel, interface, sentence, settings, until

UNREADABLE = b"\xc1 this is no MessagePack"
DAMAGES: dict[str, list[tuple[str, tuple[Any, ...]]]] = {
    "the beginning is no MessagePack": [("UPDATE run SET initial = ? WHERE ticket = 'T-1'", (UNREADABLE,))],
    "the beginning is another thing": [("UPDATE run SET initial = ? WHERE ticket = 'T-1'", (b"\x93\x01\x02\x03",))],
    "the beginning is a text": [("UPDATE run SET initial = 'gone' WHERE ticket = 'T-1'", ())],
    "the beginning is a number": [("UPDATE run SET initial = 7 WHERE ticket = 'T-1'", ())],
    "the workflow is unknown": [("UPDATE run SET workflow = 'alchemy' WHERE ticket = 'T-1'", ())],
    "the workflow is a blob": [("UPDATE run SET workflow = X'ff00' WHERE ticket = 'T-1'", ())],
    "the workflow is another": [("UPDATE run SET workflow = 'research' WHERE ticket = 'T-1'", ())],
    "an event is no MessagePack": [("UPDATE event SET event = ? WHERE n = 2", (UNREADABLE,))],
    "an event is a number": [("UPDATE event SET event = 3 WHERE n = 2", ())],
    "an event is of the future": [("UPDATE event SET event = ? WHERE n = 2", (b"\x81\xa4type\xa6Beamed",))],
    "an event has a text for its time": [("UPDATE event SET at = 'noon' WHERE n = 2", ())],
    "an event has a text for its handoff": [("UPDATE event SET number = 'two' WHERE n = 2", ())],
    "the first event is missing": [("DELETE FROM event WHERE n = 1", ())],
    "an event is missing": [("DELETE FROM event WHERE n = 3", ())],
}
LOST: dict[str, list[tuple[str, tuple[Any, ...]]]] = {
    "the last event is missing": [("DELETE FROM event WHERE n = (SELECT max(n) FROM event)", ())],
    "all events are missing": [("DELETE FROM event", ())],
}
ENDINGS: dict[str, list[tuple[str, tuple[Any, ...]]]] = {
    "the end is no MessagePack": [("UPDATE run SET ending = ? WHERE ticket = 'T-1'", (UNREADABLE,))],
    "the end is a text": [("UPDATE run SET ending = 'good' WHERE ticket = 'T-1'", ())],
    "the end is missing": [("UPDATE run SET ending = NULL WHERE ticket = 'T-1'", ())],
    "the end has an unknown reason": [("UPDATE run SET ending = ? WHERE ticket = 'T-1'", (b"\x81\xa3why\xa5bored",))],
}
ROWS: dict[str, list[tuple[str, tuple[Any, ...]]]] = {
    "moments are texts": [("UPDATE run SET started = 'noon', ended = 'night' WHERE ticket = 'T-1'", ())],
    "moments are beyond any calendar": [("UPDATE run SET started = 9e999, ended = -1e300 WHERE ticket = 'T-1'", ())],
    "texts are no UTF-8": [("UPDATE run SET status = CAST(X'ff' AS TEXT), owner = CAST(X'fe' AS TEXT) WHERE 1", ())],
    "texts are blobs": [("UPDATE run SET status = X'ff', owner = X'00' WHERE ticket = 'T-1'", ())],
    "the ticket is another thing": [
        ("UPDATE ticket SET text = X'ff', subject = 7, created = 'x' WHERE id = 'T-1'", ())
    ],
    "the ticket is gone": [("DELETE FROM ticket WHERE id = 'T-1'", ())],
}


class HeldLater(Held):
    """Thinks at once for the first agent of each run, and for the others when it is let."""

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        if task.agent == "ticketing":
            return await Thinks.fill(self, shape, task, within=within)
        return await super().fill(shape, task, within=within)


def harm(folder: Path, statements: list[tuple[str, tuple[Any, ...]]]) -> None:
    """What a bad disk, another program or another version does to the file."""
    run = "(SELECT id FROM run WHERE ticket = 'T-1')"
    with sqlite3.connect(folder / DATABASE) as db:
        for sql, parameters in statements:
            if " event" in sql:
                joined = " AND " if "WHERE" in sql else " WHERE "
                sql = sql.replace("FROM event)", f"FROM event WHERE run = {run})") + f"{joined}run = {run}"
            assert db.execute(sql, parameters).rowcount > 0, sql
    db.close()


async def doors(web: Interface, run: str) -> dict[str, tuple[int, Any]]:
    """What each address says of the ticket; the first answer of a stream is its last event."""
    said: dict[str, tuple[int, Any]] = {
        path: await web.ask(method, path)
        for method, path in (
            ("GET", "/tickets/T-1"), ("GET", f"/runs/{run}"), ("GET", "/tickets/T-1/report"),
            ("POST", "/tickets/T-1/cancel"),
        )
    }  # fmt: skip
    async with web.client.get("/tickets/T-1/events") as response:
        *_, last = (await response.text()).strip().split("\n\n")
        said["events"] = (response.status, last)
    return said


@pytest.mark.parametrize("what", [*DAMAGES, *LOST])
async def test_a_run_that_is_over_is_shown_from_its_outcome_whatever_became_of_the_rest(
    what: str, tmp_path: Path
) -> None:
    async with interface(tmp_path) as web:
        receipt = await web.submit(id="T-1", wait=20)
        harm(web.node.folder, (DAMAGES | LOST)[what])

        said = await doors(web, receipt["run"])

        for path in ("/tickets/T-1", f"/runs/{receipt['run']}"):
            status, body = said[path]
            assert (status, body["outcome"]["status"], body["outcome"]["why"]) == (200, "resolved", "completed")
        assert "event: ended\n" in said["events"][1] + "\n"
        assert said["/tickets/T-1/cancel"][0] == 200, "it has ended"


@pytest.mark.parametrize("what", ENDINGS)
async def test_a_damaged_run_that_is_over_is_a_documented_problem(what: str, tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        receipt = await web.submit(id="T-1", wait=20)
        await web.submit(id="T-2", wait=20)
        harm(web.node.folder, ENDINGS[what])

        said = await doors(web, receipt["run"])

        for path in ("/tickets/T-1", f"/runs/{receipt['run']}"):
            status, body = said[path]
            assert status == 500
            assert receipt["run"] in sentence(body)
            assert "submit the ticket again under a new id" in sentence(body)
        name, _, data = said["events"][1].partition("\n")
        assert name == "event: failed"
        assert receipt["run"] in sentence(json.loads(data.removeprefix("data: ")))
        assert said["/tickets/T-1/cancel"][0] == 200, "it has ended, whatever else is known"
        # and all else goes on
        assert (await web.ask("GET", "/tickets/T-2"))[1]["outcome"]["status"] == "resolved"
        assert [run.ticket for run, _ in (await web.node.journal.store.search(Wanted())).runs] == ["T-2", "T-1"]
        again = await web.submit("Another question.", id="T-1", wait=20)
        assert (again["why"], again["run"] != receipt["run"]) == ("completed", True)


@pytest.mark.parametrize("what", ROWS)
async def test_a_row_of_other_kinds_hides_nothing(what: str, tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        receipt = await web.submit(id="T-1", wait=20)
        await web.submit(id="T-2", wait=20)
        harm(web.node.folder, ROWS[what])

        for path in ("/tickets/T-1", f"/runs/{receipt['run']}", "/tickets/T-2"):
            status, body = await web.ask("GET", path)
            assert status == 200
            assert body["outcome"]["status"] == "resolved"
        assert {run.ticket for run, _ in (await web.node.journal.store.search(Wanted())).runs} == {"T-1", "T-2"}
        assert [each.ticket for each in await web.node.journal.list_open()] == []


@pytest.mark.parametrize("what", [each for each in DAMAGES if each != "an event is missing"])
async def test_resume_goes_on_with_the_others(what: str, tmp_path: Path) -> None:
    # given three runs that were interrupted after two events or more, and one of them damaged meanwhile
    chosen = settings(tmp_path)
    async with interface(tmp_path, model=HeldLater()) as web:
        for n in (1, 2, 3):
            await web.submit(id=f"T-{n}")
        events = "SELECT count(*) FROM event WHERE n = 2"
        await until(lambda: web.node.database.rows(events)[0][0] == 3)
    before = Path(chosen.storage.folder)
    harm(before, DAMAGES[what])

    # when the next process takes them up
    async with Node.open(chosen) as node:
        await node.models.close()
        node.models, node.knowledge = OneModel(Thinks()), Knows()  # type: ignore[assignment]
        handles = await node.resume()
        ended = {each.ticket: (await each.outcome()).status for each in handles}
        assert {name: ended[name] for name in ("T-2", "T-3")} == {"T-2": "resolved", "T-3": "resolved"}
        # then the damaged one is over, and is not tried at each start
        assert await node.resume() == []
        await until(lambda: bool(node.database.rows("SELECT 1 FROM run WHERE ticket = 'T-1' AND ended IS NOT NULL")))
        assert (await node.journal.find("T-1")).status != "running"


def test_every_door_documents_the_problem() -> None:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            assert "500" in operation["responses"], (method, path)
    described = document()["paths"]["/tickets/{id}/events"]["get"]["responses"]["200"]["description"]
    assert "`failed`" in described


async def test_a_damaged_research_that_nobody_runs_is_given_up(tmp_path: Path) -> None:
    async with Node.open(settings(tmp_path)) as node:
        flow = node.flows["research"]
        case = ResearchCase(ticket_id="T-1", text="How?", brief=ResearchOptions())
        await node.journal.accept(
            Ticket(id="T-1", text="How?", workflow="research", options=ResearchOptions()), "R-1", flow, case, "gone"
        )
        harm(node.folder, DAMAGES["the beginning is no MessagePack"])

        assert await node.resume() == []
        await until(lambda: bool(node.database.rows("SELECT 1 FROM run WHERE ticket = 'T-1' AND ended IS NOT NULL")))
        assert (await node.journal.find("T-1")).status == "error"
        assert await node.journal.list_open() == []
