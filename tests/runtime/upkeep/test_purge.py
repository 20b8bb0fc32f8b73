"""What is purged is found nowhere any more, and nothing else is touched."""

import asyncio
import os
import random
import sqlite3
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from actors.evidence.claims import Resolution
from bench.solved_tickets import SolvedTicket, remember_all
from runtime.crawl import originals
from runtime.engine.node import Node
from runtime.families.research_state.state_file import save
from runtime.memory import learning
from runtime.memory.ticket_memory import TicketMemory
from runtime.memory.ticket_text import digest
from runtime.processes import array_file
from runtime.processes.pool import Workers
from runtime.settings import DAY, MemorySettings, Settings, StorageSettings
from runtime.state_files.backups import name_in
from runtime.storage.effects import Effects
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.integrity import compact, give_back, size
from runtime.storage.sqlite.memory_store import SqliteMemory
from runtime.storage.sqlite.purging import find, of_requester, older_than, open_database
from runtime.storage.sqlite.schema import migrate
from runtime.tickets import Ticket
from runtime.upkeep import purge as module
from runtime.upkeep.purge import forget_files, forget_lines, forget_recordings, purge, retain
from tests.research import a_case
from tests.runtime.cli.commands.program import QUESTION, Place, read_until, silent_server
from tests.runtime.families.research_state.kit import a_project
from tests.runtime.memory.kit import TopicEmbedder, solved
from tests.runtime.upkeep.kit import files_with

WORD, OTHER = "Quallenwurzel", "Zimtgeflecht"
"""No document says these."""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
async def node(tmp_path: Path) -> AsyncIterator[Node]:
    settings = Settings(
        storage=StorageSettings(folder=str(tmp_path / "store")), memory=MemorySettings(learn_after=1_000_000)
    )
    async with Node.open(settings) as opened_:
        yield opened_


async def ended(node: Node, ticket_id: str, text: str, *, days_ago: float = 0.0, **more: Any) -> str:
    """A ticket that ended so long ago; returns its run."""
    handle = await node.submit(Ticket(id=ticket_id, text=text, **more))
    await handle.outcome()
    then = time.time() - days_ago * DAY
    await node.database.run(("UPDATE run SET started = ?, ended = ? WHERE id = ?", (then - 1, then, handle.run)))
    return handle.run


def counts(node: Node, ticket: str) -> dict[str, int]:
    sql = {
        "ticket": "SELECT count(*) FROM ticket WHERE id = ?",
        "run": "SELECT count(*) FROM run WHERE ticket = ?",
        "event": "SELECT count(*) FROM event WHERE run IN (SELECT id FROM run WHERE ticket = ?)",
        "remembered": "SELECT count(*) FROM remembered WHERE ticket_id = ?",
    }
    return {table: node.database.rows(each, (ticket,))[0][0] for table, each in sql.items()}


def test_after_a_purge_no_word_of_a_ticket_is_in_the_storage_folder(place: Place) -> None:
    place.article()
    storage = place.folder / "task-data"
    logged = {"TERMINUS_LOG_LEVEL": "debug"}
    texts = {"HD-1": f"{QUESTION} It is the one called {WORD}.", "HD-2": f"{QUESTION} Ours is {OTHER}."}
    for name, text in texts.items():
        assert place.run("submit", "--quiet", "--id", name, "--subject", text, text, **logged).status == 0
    assert place.run("submit", "--research", "--id", "HD-3", f"{QUESTION} {WORD}?", **logged).status == 0
    assert place.run("feedback", "HD-1", "--right").status == 0
    assert {"terminus.db", "HD-3.md"} <= {path.split("/")[0] for path in files_with(storage, WORD)}
    before = place.run("status", "HD-2", "--json").json

    planned = place.run("purge", "HD-1", "HD-3", "--dry-run")
    refused = place.run("purge", "HD-1", "HD-3")
    assert files_with(storage, WORD)
    done = place.run("purge", "HD-1", "HD-3", "--yes")

    assert (planned.status, refused.status, done.status) == (0, 1, 0), done.err
    assert planned.out.startswith("2 tickets would go, with 2 runs and 1 remembered answer:\n  HD-1  2")
    assert "say so with --yes" in refused.err
    assert done.out.startswith("2 tickets let go\n")
    assert files_with(storage, WORD) == []
    assert files_with(storage, "HD-3") == files_with(storage, "HD-1") == []
    assert place.run("status", "HD-2", "--json").json == before
    assert files_with(storage, OTHER)
    assert (place.run("status", "HD-1").status, place.run("purge", "HD-1", "--yes").status) == (3, 3)


async def test_the_model_of_memory_goes_with_the_words_that_it_knew(node: Node) -> None:
    memory = node.memory
    await remember_all(memory, solved(4, 6))
    texts = [SolvedTicket(f"HD-{n}", f"please help with my {WORD} since today", Resolution("A.")) for n in range(5)]
    await remember_all(memory, texts)
    await memory.learn()
    assert f"{memory.model.name}" in files_with(node.folder, WORD)

    purged = await asyncio.to_thread(purge, node.folder, [each.ticket_id for each in texts], judged=True)
    await asyncio.to_thread(compact, node.folder, node.folder / "nobody")
    await memory.recount()

    assert purged.remembered == 5
    assert files_with(node.folder, WORD) == []
    assert not memory.model.exists()
    await memory.learn()
    assert memory.model.exists()
    assert files_with(node.folder, WORD) == []


async def test_a_text_s_vector_goes_with_the_last_ticket_that_has_the_text(tmp_path: Path) -> None:
    database, workers = Database(tmp_path / "terminus.db", migrate=migrate), Workers(size=1)
    memory = TicketMemory(
        SqliteMemory(database), workers, MemorySettings(learn_after=1_000_000), embedder=TopicEmbedder([[WORD]])
    )
    try:
        for ticket in ("HD-1", "HD-2"):
            await memory.store(ticket, ticket, f"my {WORD} is broken", Resolution("A."))
        await memory.store("HD-3", "HD-3", "my scanner is broken", Resolution("B."))
        await memory.learn()
        kept = "SELECT count(*) FROM remembered_vector"
        left = [database.rows(kept)[0][0]]
        for ticket in ("HD-1", "HD-2"):
            await asyncio.to_thread(purge, tmp_path, [ticket], judged=True)
            left.append(database.rows(kept)[0][0])
        # a vector that was on its way meanwhile comes too late
        await SqliteMemory(database).keep_vectors("topics/1", [(digest(f"my {WORD} is broken"), b"1")])
        left.append(database.rows(kept)[0][0])
        assert left == [2, 2, 1, 1]
        assert not memory.model.exists()
    finally:
        await memory.close()
        workers.close()
        database.close()


async def test_a_model_that_was_learnt_from_what_was_purged_meanwhile_is_not_kept(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    await remember_all(node.memory, solved(4, 6))
    texts = [SolvedTicket(f"HD-{n}", f"please help with my {WORD} since today", Resolution("A.")) for n in range(5)]
    await remember_all(node.memory, texts)
    write, kept = array_file.write, list[bool]()

    def later(path: Path, *arguments: Any) -> None:
        if not kept:  # it has read by now
            purge(node.folder, [each.ticket_id for each in texts], judged=True)
        write(path, *arguments)
        kept.append(WORD.lower().encode() in path.read_bytes())

    monkeypatch.setattr(array_file, "write", later)
    monkeypatch.setattr(os, "setpriority", lambda *_: None)
    arguments = (str(node.folder / "terminus.db"), str(node.memory.model), False, 0.016, "")
    await asyncio.to_thread(learning.learn, *arguments)

    assert kept == [True, False]
    assert WORD.lower().encode() not in node.memory.model.read_bytes()


async def test_retention_takes_what_ended_long_ago_and_leaves_the_rest(node: Node) -> None:
    old = await ended(node, "T-old", f"My {WORD} is broken.", days_ago=40)
    await ended(node, "T-new", "My scanner is broken.", days_ago=20)
    await ended(node, "T-again", "My mouse is broken.", days_ago=40)
    await ended(node, "T-again", "My mouse is broken once more.", days_ago=1)
    for state in ("unconfirmed", "confirmed", "rejected"):
        resolution = Resolution(f"{state} answer.")
        await node.memory.store(f"{old}:{state}", f"T-{state}", f"{OTHER} {state}", resolution)
        await ended(node, f"T-{state}", f"{OTHER} {state} once more.", days_ago=40)
        await node.database.run(("UPDATE remembered SET state = ? WHERE ticket_id = ?", (state, f"T-{state}")))
    running = "INSERT INTO run (id, ticket, workflow, initial, started, owner) VALUES ('R-1', 'T-open', '', '', 1, '')"
    await node.database.run((running, ()))
    await Effects(node.effects, f"{old}.9").put("page", "a", WORD)

    purged = await asyncio.to_thread(retain, str(node.folder), 30.0, 60.0)

    assert sorted(purged.tickets) == ["T-confirmed", "T-old", "T-rejected", "T-unconfirmed"]
    assert set(counts(node, "T-old").values()) == {0}
    assert counts(node, "T-again")["run"] == 2
    assert counts(node, "T-new")["event"] > 0
    assert [counts(node, f"T-{state}")["remembered"] for state in ("unconfirmed", "confirmed", "rejected")] == [0, 1, 1]
    assert node.database.rows("SELECT count(*) FROM effect") == [(0,)]
    assert node.database.rows("SELECT count(*) FROM run WHERE id = 'R-1'") == [(1,)]


async def test_what_is_being_worked_on_stays(node: Node) -> None:
    await ended(node, "T-1", "My scanner is broken.")
    running = "INSERT INTO run (id, ticket, workflow, initial, started, owner) VALUES ('R-1', 'T-1', '', '', 1, '')"
    await node.database.run((running, ()))
    before = counts(node, "T-1")

    purged = await asyncio.to_thread(purge, node.folder, ["T-1"], judged=True)

    assert (purged.tickets, purged.running, counts(node, "T-1")) == ([], ["T-1"], before)


async def test_a_run_that_begins_in_the_middle_is_not_torn_apart(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    await ended(node, "T-1", "My scanner is broken.")
    before = counts(node, "T-1")
    files = forget_files

    def begun(folder: Path, names: set[str]) -> int:
        with sqlite3.connect(node.folder / "terminus.db") as db:
            db.execute(
                "INSERT OR IGNORE INTO run (id, ticket, workflow, initial, started, owner) "
                "VALUES ('R-1', 'T-1', '', '', 1, '')"
            )
        db.close()
        return files(folder, names)

    monkeypatch.setattr(module, "forget_files", begun)
    purged = await asyncio.to_thread(purge, node.folder, ["T-1"], judged=True)

    assert purged.running == ["T-1"]
    assert counts(node, "T-1") == {**before, "run": before["run"] + 1}


async def test_after_its_time_the_rest_is_left_for_the_next_time(node: Node) -> None:
    for number in range(3):
        await ended(node, f"T-{number}", f"My scanner number {number} is broken.", days_ago=40)

    none = await asyncio.to_thread(retain, str(node.folder), 30.0, -1.0)
    rest = await asyncio.to_thread(retain, str(node.folder), 30.0, 60.0)

    assert (none.tickets, none.more, len(rest.tickets), rest.more) == ([], True, 3, False)


async def test_tickets_are_found_by_id_run_requester_and_memory(node: Node) -> None:
    run = await ended(node, "T-1", "My scanner is broken.", requester="Ann Other ")
    await ended(node, "T-2", "My mouse is broken.", requester="ann other")
    await ended(node, "T-3", "My screen is broken.", requester="Ann Otherwise")
    await remember_all(node.memory, [SolvedTicket("OLD-1", "text", Resolution("A."))])
    with open_database(node.folder) as db:
        assert [find(db, each) for each in ("T-1", run, "OLD-1", "T-", "")] == ["T-1", "T-1", "OLD-1", "", ""]
        assert [find(db, each) for each in (f"run:{run}", "run:T-1")] == ["T-1", ""]
        assert of_requester(db, " ANN OTHER") == ["T-1", "T-2"]
        assert of_requester(db, "%") == []
        assert older_than(db, time.time() - 1000) == []


async def test_room_is_given_back_also_while_others_have_the_database_open(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        await node.database.run(
            ("INSERT INTO ticket VALUES (?, '', ?, '', 'resolved', '', '', 0)", (f"T-{number}", "long " * 20_000))
        )
    before = size(node.folder)
    await asyncio.to_thread(purge, node.folder, [f"T-{number}" for number in range(20)], judged=True)

    await asyncio.to_thread(give_back, node.folder)
    given = size(node.folder)
    rewritten = await asyncio.to_thread(compact, node.folder, node.folder / "owners")
    monkeypatch.setattr("runtime.storage.sqlite.integrity.SMALL_BYTES", 0)
    left = await asyncio.to_thread(compact, node.folder, node.folder / "owners")

    assert before > 2_000_000
    assert given < 500_000
    assert (rewritten.rewritten, left.rewritten) == (True, False)
    assert rewritten.after <= given


def events(db: sqlite3.Connection, runs: int) -> list[str]:
    """Many runs at once, as a daemon has them; returns a word of each that no other has."""
    dice, live, words = random.Random(3), list[tuple[str, str, int]](), list[str]()
    for number in range(runs):
        words.append(f"{WORD}{number:04}")
        live.append((f"R-{dice.randbytes(6).hex()}", words[-1], 0))
        while len(live) > (20 if number < runs - 1 else 0):
            run, word, n = live.pop(dice.randrange(len(live)))
            body = f"{word} {'x' * dice.choice([40, 100, 300, 700])}".encode()
            db.execute("INSERT INTO event VALUES (?, ?, 0, 'worker', 0, ?)", (run, n, body))
            if n < 5:
                live.append((run, word, n + 1))
    return words


async def test_what_was_left_beside_rows_that_moved_is_gone_when_the_file_is_rewritten(node: Node) -> None:
    file = node.folder / "terminus.db"
    with open_database(node.folder) as db:
        words = events(db, 400)
        for word in words[::2]:
            db.execute("DELETE FROM event WHERE instr(event, CAST(? AS BLOB)) = 1", (word,))
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        left = [word for word in words[::2] if word.encode() in file.read_bytes()]
        assert 0 < len(left) < 100, "SQLite leaves some where it splits pages, and overwrites the rest"

        await asyncio.to_thread(compact, node.folder, node.folder / "owners")

        content = file.read_bytes()
        assert [word for word in words[::2] if word.encode() in content] == []
        assert all(word.encode() in content for word in words[1::2])


async def test_deleted_rows_are_overwritten_also_where_the_file_is_not_rewritten(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.storage.sqlite.integrity.SMALL_BYTES", 0)
    for number in range(3):
        await ended(node, f"T-{number}", f"My scanner {WORD}{number} is broken.")
    await asyncio.to_thread(purge, node.folder, ["T-1"], judged=True)

    done = await asyncio.to_thread(compact, node.folder, node.folder / "owners")

    assert not done.rewritten
    assert files_with(node.folder, f"{WORD}1") == []
    assert files_with(node.folder, f"{WORD}2") == ["terminus.db"]


def test_a_purge_of_a_requester_tells_what_it_leaves_and_asks_first(place: Place) -> None:
    place.article()
    for name, who in (("HD-1", "Ann"), ("HD-2", "Bob")):
        text = f'{{"id": "{name}", "text": "My {WORD} of {who} is broken.", "requester": "{who}"}}'
        assert place.run("submit", "--quiet", "-", stdin=text).status in {0, 3}
    with silent_server() as server:
        running = '{"id": "HD-3", "text": "anything", "requester": "Ann"}'
        (place.folder / "running.json").write_text(running)
        with place.running("submit", "running.json", **server) as popen:
            read_until(popen, "orchestrator → ticketing")
            asked = place.run("purge", "--requester", "ann", "--dry-run")
            done = place.run("purge", "--requester", "ann", "--yes", "--json")
            unknown = place.run("purge", "--requester", "Eve", "--yes")

    assert f"“My {WORD} of Ann is broken.”" in asked.out, "nobody knows tickets by their ids"
    assert done.status == 1
    assert (done.json["purged"]["tickets"], done.json["purged"]["running"]) == (["HD-1"], ["HD-3"])
    assert unknown.status == 3
    assert files_with(place.folder / "task-data", f"{WORD} of Ann") == []
    assert files_with(place.folder / "task-data", f"{WORD} of Bob")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["purge"], "What is to go?"),
        (["purge", "T-1", "--compact"], "What is to go?"),
        (["purge", "--older-than", "90"], "--older-than must be a number with h, d or w, such as 90d, not '90'."),
        (["purge", "--older-than", "0d"], "--older-than must be"),
        (["purge", "--older-than", ""], "--older-than must be"),
    ],
)
def test_what_is_not_clear_is_not_done(place: Place, words: list[str], sentence: str) -> None:
    done = place.run(*words, "--yes")

    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(sentence)


def test_files_of_a_ticket_are_its_own_only(tmp_path: Path) -> None:
    for name in (
        "T-1.md",
        "T-1.edited-20260101T000000Z.md",
        ".T-1.md.new",
        "T-10.md",
        "T-1.notes.md",
        "T-1*.md",
        "a.md",
    ):
        (tmp_path / name).write_text("x")
    for name in ("T-1", "T-10"):
        (tmp_path / "backups" / name).mkdir(parents=True)
        (tmp_path / "backups" / name / "latest").write_text("x")

    assert forget_files(tmp_path, ["T-1", "../a", "T-2"]) == 4

    assert sorted(path.name for path in tmp_path.glob("*.md")) == ["T-1*.md", "T-1.notes.md", "T-10.md", "a.md"]
    assert [path.name for path in (tmp_path / "backups").iterdir()] == ["T-10"]


def test_what_a_person_put_there_under_the_name_of_a_ticket_stays(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("This folder is ours.")
    saved_project = a_project(a_case(ticket_id="README"))
    save(str(tmp_path), saved_project)
    save(str(tmp_path), a_project())
    kept_elsewhere = tmp_path / f"{name_in(tmp_path, 'README')}.md"

    assert forget_files(tmp_path, ["README", "T-1"]) > 0

    assert not kept_elsewhere.exists()
    assert [path.name for path in tmp_path.glob("*.md")] == ["README.md"]
    assert list((tmp_path / "backups").iterdir()) == []


@pytest.mark.req("PR-12")
def test_pages_go_with_the_last_research_that_refers_to_them(tmp_path: Path) -> None:
    mine, shared = (
        originals.keep(str(tmp_path), "T-1", body.encode(), 1_000) for body in (f"a page on {WORD}", "a page for both")
    )
    originals.keep(str(tmp_path), "T-2", b"a page for both", 1_000)

    forget_files(tmp_path, {"T-1"})
    assert (originals.read(tmp_path, mine), originals.read(tmp_path, shared)) == (None, b"a page for both")
    forget_files(tmp_path, {"T-2"})
    assert originals.read(tmp_path, shared) is None


def test_what_was_recorded_of_a_helpdesk_goes_with_any_of_its_tickets_and_with_age(tmp_path: Path) -> None:
    names = ("mine/01-ticket.json", "mine/02-poll.json", "other/01-ticket.json", "other/02-ticket.json")
    for name in names:
        path = tmp_path / "helpdesk-recordings" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{"text": "{WORD}"}}', encoding="utf-8")
    os.utime(tmp_path / "helpdesk-recordings" / names[3], (0, 0))

    assert forget_recordings(tmp_path, "T-1") == 0
    assert forget_recordings(tmp_path, "hd.mine.7") == 2
    assert forget_recordings(tmp_path, before=1.0) == 1
    assert files_with(tmp_path, WORD) == ["helpdesk-recordings/other/01-ticket.json"]


async def test_recordings_go_with_a_ticket_that_somebody_purges_and_by_age_where_time_does(node: Node) -> None:
    fresh, old = (node.folder / "helpdesk-recordings" / "mine" / f"0{n}-ticket.json" for n in (1, 2))
    fresh.parent.mkdir(parents=True)
    for path in (fresh, old):
        path.write_text("{}", encoding="utf-8")
    os.utime(old, (0, 0))
    for name in ("hd.mine.7", "hd.mine.8"):
        await ended(node, name, "My scanner is broken.", days_ago=40 if name.endswith("7") else 0)

    assert (await asyncio.to_thread(retain, str(node.folder), 30.0, 60.0)).tickets == ["hd.mine.7"]
    assert (fresh.exists(), old.exists()) == (True, False)
    await asyncio.to_thread(purge, node.folder, ["hd.mine.8"], judged=True)
    assert not fresh.exists()


def test_lines_of_the_log_are_blanked_where_they_stand(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    lines = [
        '{"event": "handoff.made", "ticket": "T-1", "reason": "geheim"}', '{"event": "handoff.made", "ticket": "T-10"}',
        "2026 [info] handoff.made ticket=T-1 reason=geheim", 'ticket="a b" reason=geheim', "no id",
    ]  # fmt: skip
    path = tmp_path / "logs" / "terminus.log"
    path.write_text("\n".join(lines) + "\nlast T-1 geheim")
    before = path.stat().st_size, path.stat().st_ino

    assert forget_lines(tmp_path, {"T-1", "a b"}) == 4

    assert (path.stat().st_size, path.stat().st_ino) == before
    assert path.read_text().split() == " ".join([lines[1], lines[4]]).split()
