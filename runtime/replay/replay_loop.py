"""An event loop without a network, whose time jumps to the next timer when nothing is to be done."""

import asyncio
import selectors
from collections.abc import Callable
from typing import Any, NoReturn


class NetworkOff(OSError):
    """Something wanted to reach the network during a replay."""


class ReplayStalled(RuntimeError):
    """Nothing is to be done, and nothing waits for time: what is awaited never comes."""


class _Selector(selectors.DefaultSelector):
    """Never waits, but lets the loop's time pass instead."""

    passed = 0.0
    """Seconds of the loop's time."""

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise ReplayStalled
            self.passed += max(0.0, timeout)
        return ready


class ReplayLoop(asyncio.SelectorEventLoop):
    """Deterministic: the same calls and timers happen in the same order and at the same time, however fast."""

    def __init__(self) -> None:
        self._passing = _Selector()
        super().__init__(self._passing)

    def time(self) -> float:
        return self._passing.passed

    def run_in_executor(  # type: ignore[override] # its own has a type variable for each argument
        self, _: Any, func: Callable[..., Any], *args: Any
    ) -> Any:
        """At once, for no time passes while a thread works."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done

    async def create_connection(self, *_: Any, **__: Any) -> NoReturn:
        raise NetworkOff("the network is off during a replay")

    sock_connect = getaddrinfo = create_connection
