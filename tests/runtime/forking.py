"""Carries out orders in children of its own, which may be killed: spares an interpreter's start for each of them."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

from runtime.engine.node import Node
from runtime.tickets import Ticket


async def see_through(node: Node, what: str, ticket: Ticket) -> None:
    """Submit a ticket, or resume what there is, and wait for the ends."""
    for handle in [await node.submit(ticket)] if what == "submit" else await node.resume():
        await handle.outcome()


def serve(play: Callable[[dict[str, Any]], Coroutine[Any, Any, None]]) -> None:
    """
    Read one JSON object a line, play it in a child, and write how that ended: 0, or -9.

    An order's "seconds" are after how many it is killed; 0 or without: never.
    """
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            asyncio.run(play(order))
            os._exit(0)
        print(_wait(child, order.get("seconds", 0.0)), flush=True)


def _wait(child: int, seconds: float) -> int:
    """Wait for a child, and kill it when its time is over."""
    if seconds:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
