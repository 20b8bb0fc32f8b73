"""A clock on which everything takes a hundredth of the time, for waits that a test must see the end of."""

import asyncio
from collections.abc import Callable
from typing import Any

FASTER = 100


class Hasty:
    """Real time, seen from somebody who lives slowly."""

    def time(self) -> float:
        return asyncio.get_running_loop().time() * FASTER

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(delay / FASTER, callback, *args)
