"""Work that stops when the run is cancelled or its time is over, and keeps what it has done so far."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from bus import Context

GRACE_SECONDS = 0.5
"""How long cancelled work may take to stop; then it is left behind."""


async def run_until_stop(work: Coroutine[Any, Any, object], ctx: Context, *, within: float) -> None:
    """
    Do some work that notes down its own results, until it is done, the run is stopping or the time is over.

    :param within: seconds.
    :raises Exception: what the work raised.
    """
    if ctx.stopping:  # nothing new is begun
        work.close()
        return
    loop = asyncio.get_running_loop()
    task, stopped = asyncio.ensure_future(work), loop.create_future()
    ctx.on_stop(lambda: None if stopped.done() else stopped.set_result(None))
    both: set[asyncio.Future[Any]] = {task, stopped}
    try:
        await asyncio.wait(both, timeout=within, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=GRACE_SECONDS)
