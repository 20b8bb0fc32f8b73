"""Says whose turn it is: from `begin` to `end` the thread does the work of one bus and nothing else's."""

import asyncio
import contextlib
from collections.abc import Coroutine, Iterator
from contextvars import ContextVar
from typing import Any, Protocol


class Turns(Protocol):
    """Hears of each turn of a bus. Both are called at every step, so they must cost next to nothing and never fail."""

    def begin(self) -> None: ...
    def end(self) -> None: ...


TURNS: ContextVar[Turns | None] = ContextVar("turns", default=None)
"""Those of the bus for which the current task works."""


class Stepwise(Coroutine[Any, Any, Any]):
    """A coroutine each of whose steps is a turn; while it waits, it has none."""

    __slots__ = ("_turns", "_work")

    def __init__(self, turns: Turns, work: Coroutine[Any, Any, Any]) -> None:
        self._turns = turns
        self._work = work

    def send(self, value: Any) -> Any:
        self._turns.begin()
        try:
            return self._work.send(value)
        finally:
            self._turns.end()

    def throw(self, *error: Any) -> Any:
        self._turns.begin()
        try:
            return self._work.throw(*error)
        finally:
            self._turns.end()

    def close(self) -> None:
        self._work.close()

    def __await__(self) -> "Stepwise":
        return self

    def __iter__(self) -> "Stepwise":
        return self

    def __next__(self) -> Any:
        return self.send(None)


@contextlib.contextmanager
def mark_tasks(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """
    Have the tasks that an actor starts for its work, such as those of `gather`, count as turns of its bus.

    A task factory that the loop has already goes on making the tasks.
    """
    before = loop.get_task_factory()

    def make(loop: asyncio.AbstractEventLoop, work: Any, **more: Any) -> Any:
        turns = TURNS.get() if (context := more.get("context")) is None else context.get(TURNS)
        if turns is not None and asyncio.iscoroutine(work) and type(work) is not Stepwise:
            work = Stepwise(turns, work)
        return asyncio.Task(work, loop=loop, **more) if before is None else before(loop, work, **more)

    loop.set_task_factory(make)
    try:
        yield
    finally:
        if loop.get_task_factory() is make:  # whoever came later keeps theirs
            loop.set_task_factory(before)
