"""What a person wrote is kept with nothing but the run's own recording, and goes with it."""

import asyncio
import sqlite3
from pathlib import Path

from runtime.engine.node import Node
from runtime.observe.replay import load_recording, replay
from runtime.storage.packing import unpack
from runtime.storage.private import DATABASE
from runtime.tickets import Ticket
from runtime.upkeep.purge import purge
from tests.actors.legal.test_contract_review import LEASE
from tests.fake_openai import says
from tests.runtime.tools import test_legal_tools as law

WORD = "押金概不退还"
"""No document says this, only the contract."""


def tables_with(word: str, folder: Path) -> set[str]:
    """The tables of a database in which a value has a word."""
    with sqlite3.connect(folder / DATABASE) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [(table, value) for table in tables for row in db.execute(f'SELECT * FROM "{table}"') for value in row]
    return {table for table, value in rows if _has(value, word)}


def _has(value: object, word: str) -> bool:
    if not isinstance(value, bytes):
        return word in str(value)
    try:
        body = unpack(value)
    except ValueError:
        body = b""
    return word.encode() in value or word.encode() in body


async def test_a_purged_contract_is_in_no_table_while_an_older_recording_is_left(tmp_path: Path) -> None:
    async with law.opened(tmp_path, law.claim(1, law.NINTH), says({"risks": [], "pass_on": None})) as (node, _):
        for name, text in (("T-1", "《租赁法》第九条规定了什么？"), ("T-2", LEASE)):
            await (await node.submit(Ticket(id=name, text=text, workflow="legal"))).outcome()
        its = node.settings
        recording = await load_recording(node.journal, node.recordings, await node.journal.find("T-2"))
    folder = Path(its.storage.folder)

    done = await asyncio.to_thread(replay, recording, its)
    before = tables_with(WORD, folder)
    await asyncio.to_thread(purge, folder, ["T-2"], judged=True)

    assert WORD.encode() in b"".join(call.answer for call in recording.calls if call.name == "Model.fill")
    assert done.is_same, done.differences
    assert "recording" in before
    assert "part" not in before
    assert tables_with(WORD, folder) == set()
    async with Node.open(its) as node:
        assert node.database.rows("SELECT count(*) FROM part") != [(0,)], "what the other ticket needs is still there"
