"""What the daemon does for its storage once a day: it lets go of old tickets and gives their room back."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import msgspec
import structlog

from runtime.processes.pool import WorkError, Workers
from runtime.settings import DAY
from runtime.storage.effects import SWEPT
from runtime.storage.errors import StorageError
from runtime.upkeep.purge import Purged

if TYPE_CHECKING:
    from runtime.node import Node

log = structlog.get_logger()

TURN_SECONDS = 20.0
"""One turn of letting go, and one of giving back; what is left then is for the next turn."""
MARGIN_SECONDS = 60.0
"""How much longer than that a turn may take before its process is killed: one ticket with its files."""
TURNS = 1_000
"""A day."""
RETAIN = "runtime.upkeep.purge:retain"
GIVE_BACK = "runtime.storage.sqlite.compaction:give_back"


@contextlib.asynccontextmanager
async def run_daily(node: "Node") -> AsyncIterator[None]:
    """Keep the storage of a daemon for as long as this is open: at once, then daily. It never holds up tickets."""
    task = asyncio.create_task(_daily(node), name="upkeep")
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _daily(node: "Node") -> None:
    while True:
        if node.settings.storage.keep_days:
            await keep_to_age(node)
        if days := node.settings.trace.replay_days:
            await forget_recordings(node, time.time() - days * DAY)
        await node.effects.sweep(SWEPT)
        with contextlib.suppress(StorageError):  # tomorrow, then
            await node.journal.store.trim_feed()
        await asyncio.sleep(DAY)


async def forget_recordings(node: "Node", before: float) -> None:
    """Let go of what is recorded of runs that ended before this moment. What fails is tried again tomorrow."""
    try:
        count = await node.recordings.forget(before)
    except StorageError as error:
        log.warning("recordings.not_forgotten", error=str(error))
    else:
        if count:
            log.info("recordings.forgotten", runs=count)


async def keep_to_age(node: "Node") -> None:
    """Let go of what is older than [storage] keep_days, in a process of its own. What fails is tried again tomorrow."""
    folder, days = str(node.folder), node.settings.storage.keep_days
    workers = Workers(size=1)  # of its own: no search waits for it
    tickets = remembered = 0
    within = TURN_SECONDS + MARGIN_SECONDS
    try:
        for _ in range(TURNS):
            purged = await workers.call(RETAIN, folder, days, TURN_SECONDS, within=within, returns=Purged)
            tickets, remembered = tickets + len(purged.tickets), remembered + purged.remembered
            if purged.remembered:
                await node.memory.recount()
            if not purged.more:
                break
        if tickets:
            await workers.call(GIVE_BACK, folder, TURN_SECONDS, within=within, returns=type(None))
    except (WorkError, msgspec.MsgspecError) as error:
        log.warning("retention.failed", error=str(error), days=days)
    finally:
        workers.close()
    if tickets:
        log.info("retention.done", tickets=tickets, remembered=remembered, days=days)
