"""Tickets that are run and recorded, for tests that replay them."""

from pathlib import Path
from typing import Any

from runtime.engine.node import Node
from runtime.observe.replay import Recording, load_recording
from runtime.settings import ModelSettings, Settings, StorageSettings
from runtime.tickets import Ticket

MANUAL = "# Press\n\n## Ink\n\nOrder new ink for the printing press nine days ahead of the fair.\n"
QUESTION = "When do I order new ink for the printing press?"


def settings(folder: Path, url: str = "", **model: Any) -> Settings:
    chosen = ModelSettings(base_url=url, name="small-1", tries=2, **model) if url else ModelSettings()
    return Settings(model=chosen, storage=StorageSettings(folder=str(folder / "data")))


async def run_and_record(its: Settings, folder: Path, text: str = QUESTION, **more: Any) -> Recording:
    """Run one ticket over a manual, and what another process reads of its recording."""
    (folder / "manual").mkdir(exist_ok=True)
    (folder / "manual" / "press.md").write_text(MANUAL, encoding="utf-8")
    async with Node.open(its) as node:
        await node.index([str(folder / "manual")])
        await (await node.submit(Ticket(id="T-1", text=text, **more))).outcome()
    return await read_back(its)


async def read_back(its: Settings, some_id: str = "T-1") -> Recording:
    """The recording, as a process reads it that did not run the ticket."""
    async with Node.open(its) as node:
        return await load_recording(node.journal, node.recordings, await node.journal.find(some_id))
