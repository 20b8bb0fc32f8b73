"""
A process that plays a node and dies by SIGKILL where it is told to: `python -m tests.runtime.crashing`.

Reads one JSON object a line, {"folder", "what": "submit", "crowd" or "resume", "scenario", "kill": n, "after": bool,
"seconds"}, forks a child for it, and writes how that ended: 0, or -9. Forking spares the start of an interpreter for
each position.
"""

import asyncio
import math
import os
import signal
import sys
from pathlib import Path
from typing import Any

from actors.drafting.drafts import Draft, HandoverRequest
from actors.evidence.passages import SearchHits
from actors.helpdesk.output_schemas import Analysis
from actors.ports import Completion, ModelRequest, Recall
from actors.workflow.outcome import Spent
from runtime.engine.node import Node
from runtime.memory.ticket_text import digest
from runtime.settings import Settings, StorageSettings
from runtime.tickets import Ticket
from tests.fakes import Knows, Thinks
from tests.runtime.forking import see_through, serve

TICKET = Ticket(id="T-1", text="My VPN drops every hour.")
POISON = "Nobody lives to read this."
CROWD = 50
"""Innocent tickets beside one whose text is `POISON`."""
THINKING_SECONDS = 0.4
"""What a model takes for an answer in a crowd."""


class Notes:
    """What the agents asked of the world, in a file that outlives this process."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "asked"

    def note(self, what: str) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(what + "\n")

    def lines(self) -> list[str]:
        return self._path.read_text(encoding="utf-8").split() if self._path.exists() else []


class Noting(Thinks):
    """A model for all scenarios: plain, a circle of two workers, workers that bring the process down, a silent one."""

    def __init__(self, notes: Notes, scenario: str) -> None:
        super().__init__()
        self._notes, self._scenario = notes, scenario

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        self._notes.note(f"{task.agent}:{shape.__name__}")
        if shape is Draft and self._scenario == "circle":
            to = "network" if task.agent == "worker" else "worker"
            return Completion(Draft(pass_on=HandoverRequest(to, "round we go")))
        if shape is Draft and self._scenario == "deadly":
            os.kill(os.getpid(), signal.SIGKILL)
        if shape is Draft and self._scenario == "exiting":
            sys.exit(3)
        if self._scenario == "crowd":
            if shape is Analysis and POISON in task.material.ticket:
                self._notes.note("poison")
                os.kill(os.getpid(), signal.SIGKILL)
            await asyncio.sleep(THINKING_SECONDS)
        if shape is Analysis and self._scenario == "silent":
            await asyncio.Event().wait()
        return await super().fill(shape, task, within=within)

    def for_run(self, run_id: str, *_: Any, **__: Any) -> tuple["Noting", Any]:
        return self, Spent

    async def close(self) -> None: ...


class NotingKnowledge(Knows):
    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        self._notes.note("knowledge:search")
        return await super().search(question, within=within, limit=limit)


def node_on(folder: Path, scenario: str) -> Node:
    """A node whose world is in this process and takes notes."""
    notes = Notes(folder)
    node = Node(Settings(storage=StorageSettings(folder=str(folder))))
    node.memory.documents = None  # the passages of its knowledge stand in no index
    store, recall = node.memory.store, node.memory._find_same

    async def noting_store(*arguments: Any) -> None:
        notes.note("memory:store")
        await store(*arguments)

    async def noting_recall(text: str, *, within: float) -> Recall:
        notes.note("memory:recall")
        return await recall(text, digest(text), math.inf) or Recall("miss")

    node.memory.store = noting_store  # type: ignore[method-assign,assignment]
    node.memory.recall = noting_recall  # type: ignore[method-assign]
    node.models = Noting(notes, scenario)  # type: ignore[assignment]
    node.knowledge = NotingKnowledge(notes)
    return node


def die_at(node: Node, kill: int, *, after: bool) -> None:
    """Die right before, or right after, the n-th durable write."""
    count, commit = 0, node.database._together

    def together(statements: Any) -> None:
        nonlocal count
        count += 1
        if count == kill and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        commit(statements)
        if count == kill and after:
            os.kill(os.getpid(), signal.SIGKILL)

    node.database._together = together  # type: ignore[method-assign]


async def play(order: dict[str, Any]) -> None:
    node = node_on(Path(order["folder"]), order["scenario"])
    try:
        die_at(node, order["kill"], after=order["after"])
        if order["what"] == "crowd":
            texts = [POISON, *(f"My VPN drops, says person {n}." for n in range(CROWD))]
            for n, text in enumerate(texts):
                await node.submit(Ticket(id=f"T-{n}", text=text))
            await asyncio.Event().wait()
        await see_through(node, order["what"], TICKET)
    finally:
        await node.close()


if __name__ == "__main__":
    serve(play)
