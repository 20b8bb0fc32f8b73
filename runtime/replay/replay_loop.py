"""An event loop without a network, whose time jumps to the next timer when nothing is to be done."""

import asyncio
import contextlib
import selectors
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn


class NetworkOff(OSError):
    """Something wanted to reach the network during a replay."""


class ReplayStalled(RuntimeError):
    """Nothing is to be done, and nothing waits for time: what is awaited never comes."""


class _Selector(selectors.DefaultSelector):
    """Never waits, but lets the loop's time pass instead."""

    passed = 0.0
    """Seconds of the loop's time."""
    outside = 0
    """How many wait for the real world."""

    def select(self, timeout: float | None = None) -> Any:
        if self.outside:
            began = time.monotonic()
            ready = super().select(timeout)
            self.passed += time.monotonic() - began
            return ready
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

    @contextlib.contextmanager
    def allow_network(self) -> Iterator[None]:
        """Wait for the real world, network and all, for as long as this is open."""
        self._passing.outside += 1
        try:
            yield
        finally:
            self._passing.outside -= 1

    def run_in_executor(  # type: ignore[override] # its own has a type variable for each argument
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> Any:
        """At once, for no time passes while a thread works."""
        if self._passing.outside:
            return super().run_in_executor(executor, func, *args)
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done

    async def create_connection(self, *arguments: Any, **named: Any) -> Any:
        self._require_outside()
        return await super().create_connection(*arguments, **named)

    async def sock_connect(self, sock: Any, address: Any) -> None:
        self._require_outside()
        await super().sock_connect(sock, address)

    async def getaddrinfo(self, *arguments: Any, **named: Any) -> Any:
        self._require_outside()
        return await super().getaddrinfo(*arguments, **named)

    def _require_outside(self) -> None:
        if not self._passing.outside:
            self._refuse()

    def _refuse(self) -> NoReturn:
        raise NetworkOff("the network is off during a replay")
