"""
What asyncio itself costs: the least code that does the same work, without state, log, limits or supervision.

Five actors are shared by all tickets; each is a task that waits at a deque, and a turn that asks the model is a task of
its own. Where it is durable, a thread commits together whatever waits, and a handoff is delivered once it is on disk.
"""

import asyncio
import sqlite3
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar

import msgspec

TABLE = """
CREATE TABLE handoff (ticket TEXT, n INTEGER, target TEXT, state BLOB, PRIMARY KEY (ticket, n)) WITHOUT ROWID
"""

T = TypeVar("T")
LLM = Callable[[str, str], Awaitable[str]]

HUB = "orchestrator"
PLAN = ("memory", "ticketing", "worker", "memory", "summarization", "ticketing")
TURNS = [name for specialist in PLAN for name in (HUB, specialist)]
"""The order in which the agents of a plain ticket have their turns."""


class Box(Generic[T]):
    """A mailbox for one reader."""

    __slots__ = ("_letters", "_reader")

    def __init__(self) -> None:
        self._letters: deque[T] = deque()
        self._reader: asyncio.Future[None] | None = None

    def put(self, letter: T) -> None:
        self._letters.append(letter)
        if self._reader is not None:
            self._reader.set_result(None)
            self._reader = None

    async def get(self) -> T:
        while not self._letters:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        return self._letters.popleft()


class Case:
    """A ticket on its way."""

    __slots__ = ("answers", "done", "id", "turns")

    def __init__(self, ticket_id: str, done: "asyncio.Future[list[str]]") -> None:
        self.id = ticket_id
        self.done = done
        self.turns: list[str] = []
        self.answers: list[tuple[str, str]] = []

    def row(self, to: str) -> tuple[str, int, str, bytes]:
        """All that is known, for a store."""
        state = {"id": self.id, "turns": self.turns, "answers": self.answers}
        return self.id, len(self.turns), to, msgspec.msgpack.encode(state)


class GroupCommit:
    """SQLite with an fsync a commit, and one thread that commits everything that came while it was busy."""

    def __init__(self, path: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._rows: list[tuple[tuple[str, int, str, bytes], asyncio.Future[None]]] = []
        self._arrived = threading.Condition()
        self._closing = False
        self.commits = 0
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=FULL")
        self._database.execute(TABLE)
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    async def keep(self, row: tuple[str, int, str, bytes]) -> None:
        """Return when the row is on disk."""
        kept: asyncio.Future[None] = self._loop.create_future()
        with self._arrived:
            self._rows.append((row, kept))
            self._arrived.notify()
        await kept

    def close(self) -> None:
        with self._arrived:
            self._closing = True
            self._arrived.notify()
        self._thread.join()
        self._database.close()

    def _write(self) -> None:
        while True:
            with self._arrived:
                self._arrived.wait_for(lambda: self._rows or self._closing)
                batch, self._rows = self._rows, []
            if not batch:
                return
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany("INSERT INTO handoff VALUES (?, ?, ?, ?)", [row for row, _ in batch])
            self._database.execute("COMMIT")
            self.commits += 1
            self._loop.call_soon_threadsafe(_answer, [kept for _, kept in batch])


def _answer(waiting: "list[asyncio.Future[None]]") -> None:
    for each in waiting:
        each.set_result(None)


class Runner:
    """The same twelve turns and six questions to the model as a plain ticket of the product."""

    def __init__(self, llm: LLM, path: str | None = None) -> None:
        self._llm = llm
        self.store = GroupCommit(path) if path else None
        self._loop = asyncio.get_running_loop()
        self._boxes: dict[str, Box[Case]] = {name: Box() for name in (HUB, *PLAN)}
        self._turns: set[asyncio.Task[None]] = set()
        self._actors = [self._loop.create_task(self._hub())]
        self._actors += [self._loop.create_task(self._specialist(name)) for name in dict.fromkeys(PLAN)]

    async def run(self, ticket_id: str) -> list[str]:
        case = Case(ticket_id, self._loop.create_future())
        await self._send(HUB, case)
        return await case.done

    async def close(self) -> None:
        for actor in self._actors:
            actor.cancel()
        await asyncio.wait(self._actors)
        if self.store is not None:
            self.store.close()

    async def _send(self, to: str, case: Case) -> None:
        if self.store is not None:
            await self.store.keep(case.row(to))
        self._boxes[to].put(case)

    async def _hub(self) -> None:
        box = self._boxes[HUB]
        while True:
            case = await box.get()
            case.turns.append(HUB)
            to = PLAN[len(case.answers)]
            if self.store is None:
                self._boxes[to].put(case)
            else:
                self._begin(self._send(to, case))

    async def _specialist(self, name: str) -> None:
        box = self._boxes[name]
        while True:
            self._begin(self._turn(name, await box.get()))

    def _begin(self, turn: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(turn)
        self._turns.add(task)
        task.add_done_callback(self._turns.discard)

    async def _turn(self, name: str, case: Case) -> None:
        case.turns.append(name)
        case.answers.append((name, await self._llm(name, case.id)))
        if len(case.answers) < len(PLAN):
            await self._send(HUB, case)
            return
        if self.store is not None:
            await self.store.keep(case.row("end"))
        case.done.set_result(case.turns)
