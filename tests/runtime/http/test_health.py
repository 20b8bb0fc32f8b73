"""Ready is said only where what is accepted can be written down; what nobody works on is counted."""

import asyncio
import json
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from actors.helpdesk.workflow import TicketCase
from runtime.http.openapi import document
from runtime.storage import condition
from runtime.storage.condition import Condition
from runtime.storage.errors import Conflict
from runtime.storage.private import DATABASE
from runtime.tickets import Ticket
from tests.runtime.http.kit import TOKEN, Held, Interface, interface, until


async def health(web: Interface) -> tuple[int, Any]:
    """What is seen now, not what was seen a moment ago."""
    web.desk.looks._seen = None
    return await web.ask("GET", "/health")


async def test_it_tells_how_writing_goes_and_what_the_disk_can_take(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        await web.submit(wait=20)
        status, said = await health(web)

    assert (status, said["ready"], said["unattended"], said["last_write_failed"]) == (200, True, 0, False)
    assert "why" not in said
    assert 0 <= said["last_commit_seconds"] < 60
    assert said["free_megabytes"] > 0
    shape = document()["components"]["schemas"]["Health"]["properties"]
    assert set(said) <= set(shape)


async def test_what_it_sees_is_kept_for_a_moment_however_often_it_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with interface(tmp_path) as web:
        looks, seen = web.desk.looks, list[Condition]()
        look = looks._look

        async def counted() -> Condition:
            seen.append(await look())
            return seen[-1]

        monkeypatch.setattr(looks, "_look", counted)
        now = 0.0
        monkeypatch.setattr(looks, "_clock", lambda: now)
        for _ in range(50):
            await web.ask("GET", "/health")
        assert len(seen) == 1
        now = condition.KEPT_SECONDS
        await web.ask("GET", "/health")
        assert len(seen) == 2


@pytest.mark.parametrize("how", ["deleted", "replaced"])
async def test_without_its_database_it_is_not_ready_and_takes_nothing_that_would_be_lost(
    tmp_path: Path, how: str
) -> None:
    async with interface(tmp_path) as web:
        file = web.node.folder / DATABASE
        if how == "replaced":
            other = file.with_name("other.db")
            sqlite3.connect(other).close()
            other.touch()
            other.replace(file)
        else:
            file.unlink()

        status, said = await health(web)
        refused, why = await web.refusal("POST", "/tickets", json={"text": "My printer is on fire."})

        assert (status, said["ready"]) == (503, False)
        assert "database file is" in said["why"]
        assert "start" in said["why"]
        assert (refused, why) == (503, said["why"])


async def test_on_a_disk_without_room_it_is_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with interface(tmp_path, free_megabytes=70) as web:
        monkeypatch.setattr(condition, "free_megabytes", lambda _: 69)
        status, said = await health(web)
        assert (status, said["ready"], said["free_megabytes"]) == (503, False, 69)
        assert said["why"] == "The disk has 69 MB left, under the 70 of [server] free_megabytes: make room."
        monkeypatch.setattr(condition, "free_megabytes", lambda _: 70)
        assert (await health(web))[0] == 200


async def test_after_a_write_that_failed_it_is_not_ready_until_one_is_written(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        # given a database that takes no more pages, as on a full disk
        writing = web.node.database._writing
        pages = writing.execute("PRAGMA page_count").fetchone()[0]
        writing.execute(f"PRAGMA max_page_count = {pages}")
        status, _ = await web.refusal("POST", "/tickets", json={"text": "long " * 10_000})
        assert status == 503

        status, said = await health(web)

        assert (status, said["ready"], said["last_write_failed"]) == (503, False, True)
        assert "full" in said["why"]
        # when there is room again, it finds out though nobody sends anything
        writing.execute("PRAGMA max_page_count = 1000000")
        async with asyncio.timeout(20):
            while (await health(web))[0] != 200:
                continue
        assert web.node.database.rows("SELECT count(*) FROM effect") == [(0,)]


async def test_a_try_that_succeeds_at_once_does_not_contradict_what_was_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with interface(tmp_path) as web:
        web.node.database._failure = "disk I/O error"

        def succeed() -> None:
            web.node.database._failure = ""

        monkeypatch.setattr(web.node.journal.store, "try_to_write", succeed)
        _, said = await health(web)

    assert (said["ready"], said["last_write_failed"], "disk I/O error" in said["why"]) == (False, True, True)


async def test_a_statement_that_is_refused_says_nothing_of_the_disk(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        with pytest.raises(Conflict):
            await web.node.database.run(("INSERT INTO ticket (id) VALUES ('T-1')", ()))
        assert (await health(web))[1]["ready"] is True


async def test_a_write_that_hangs_is_seen_while_it_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(condition, "STUCK_SECONDS", 0.05)
    async with interface(tmp_path) as web:
        database, free = web.node.database, threading.Event()
        together = database._together
        monkeypatch.setattr(database, "_together", lambda statements: (free.wait(20), together(statements)))
        writing = asyncio.ensure_future(database.run(("DELETE FROM effect", ())))
        await until(lambda: database.pulse().waited > 0.06)

        status, said = await health(web)

        assert (status, "has waited for" in said["why"]) == (503, True)
        free.set()
        await writing
        assert (await health(web))[0] == 200


async def test_without_the_thread_that_writes_it_is_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with interface(tmp_path) as web:
        over = threading.Thread(target=lambda: None)
        over.start()
        over.join()
        monkeypatch.setattr(web.node.database, "_writer", over)
        status, said = await health(web)
        monkeypatch.undo()

    assert (status, "Nothing is written" in said["why"]) == (503, True)


async def test_open_runs_that_nobody_works_on_are_counted(tmp_path: Path) -> None:
    async with interface(tmp_path, model=Held()) as web:
        await web.submit(id="T-1")
        assert (await health(web))[1]["unattended"] == 0
        flow, node = web.node.flows["helpdesk"], web.node
        for n, owner in enumerate(("gone", node.owner.token), 2):
            case = TicketCase(ticket_id=f"T-{n}", text="x")
            await node.journal.accept(Ticket(id=f"T-{n}", text="x"), f"R-{n}", flow, case, owner)
        await node.journal.accept_child("R-1.1", flow, TicketCase(ticket_id="T-1", text="x"), "gone")

        status, said = await health(web)

        assert (status, said["runs"], said["unattended"]) == (200, 1, 2)


async def test_a_stranger_hears_only_whether_it_is_ready(tmp_path: Path) -> None:
    async with interface(tmp_path, token=TOKEN) as web:
        (web.node.folder / DATABASE).unlink()
        web.desk.looks._seen = None
        answer = await web.raw(b"GET /health HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 503 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2]) == {"live": True, "ready": False}


async def test_while_it_starts_or_stops_it_says_which(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        web.desk.ready = False
        status, said = await health(web)
        assert (status, said["why"]) == (503, "It is starting, and takes up what was running: ask again soon.")

        web.desk.stop()
        status, said = await health(web)
        assert (status, said["why"].split(",")[0]) == (503, "It is stopping")
