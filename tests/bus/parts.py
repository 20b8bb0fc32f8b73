"""Messages and small actors for the tests of the bus."""

import asyncio
from collections.abc import Callable
from typing import Any

from bus import Actor, Context, Event, Message, Request


class Said(Event, frozen=True):
    what: str = ""


class Say(Request[Said], frozen=True):
    what: str = ""


class Start(Message, frozen=True):
    what: str = ""


class Does(Actor[Any]):
    """Plays a plain function."""

    def __init__(self, play: Callable[[Any, Context], Any]) -> None:
        self._play = play

    def receive(self, message: Any, ctx: Context) -> Any:
        return self._play(message, ctx)


class Hears(Actor[Any]):
    """Notes what it is told, by whom and with which number; answers requests with their own words."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, int]] = []

    @property
    def words(self) -> list[str]:
        return [what for what, _, _ in self.heard]

    def receive(self, message: Any, ctx: Context) -> Any:
        what = getattr(message, "what", None) or type(message).__name__
        self.heard.append((what, ctx.sender, ctx.number))
        return Said(what=message.what) if isinstance(message, Say) else None


class Waits(Actor[Any]):
    """Is busy with each message until it is let go."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.finished: list[str] = []
        self.interrupted: list[str] = []
        self.go = asyncio.Event()

    async def receive(self, message: Any, ctx: Context) -> Said:
        self.heard.append(message.what)
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.interrupted.append(message.what)
            raise
        self.finished.append(message.what)
        return Said(what=message.what)
