"""A lock that processes share by a file: the system releases it when its holder dies, however it dies."""

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from runtime.storage.private import make_file

LOOK_SECONDS = 0.05
"""Between two tries: the system has no wait with a bound."""


class LockHeld(Exception):
    """Somebody else holds the lock, and still did when the time was up."""


@contextlib.asynccontextmanager
async def hold_lock(path: Path, *, within: float, waits: Callable[[], None]) -> AsyncIterator[None]:
    """
    Hold the lock of this file, which is made and left there.

    :param within: seconds to wait for it.
    :param waits: is told once, when it has to be waited for.
    :raises LockHeld: it was not free in time.
    :raises OSError: the file cannot be made.
    """
    file = os.open(make_file(path), os.O_RDWR | os.O_CLOEXEC)
    try:
        if not take(file):
            waits()
            await _wait_for(file, within)
        yield
    finally:
        os.close(file)


async def _wait_for(file: int, within: float) -> None:
    clock = asyncio.get_running_loop().time
    until = clock() + within
    while not take(file):
        if clock() >= until:
            raise LockHeld
        await asyncio.sleep(LOOK_SECONDS)


def take(file: int) -> bool:
    """Lock an open file if nobody holds it; closing it lets go."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
