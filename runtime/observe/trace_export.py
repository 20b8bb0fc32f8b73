"""Traces for a collector of OpenTelemetry: of runs that have ended, in the background, within bounds."""

import asyncio
import threading
from typing import TYPE_CHECKING

import structlog

from actors.workflow.outcome import Outcome
from runtime.observe.trace_id import is_sampled
from runtime.storage.damage import JournalDamaged
from runtime.storage.errors import StorageError, UnknownRun

if TYPE_CHECKING:
    from runtime.engine.node import Node
    from runtime.observe.otel_spans import SpanSender

log = structlog.get_logger()

MOST_WAITING = 10_000
"""Runs; what ends while so many wait is not exported."""
CLOSE_SECONDS = 2.0
"""What a process that ends gives to the last spans, and then to the collector."""


class TraceExporter:
    """Of one process. Nothing here can fail a run, or hold it up."""

    def __init__(self, node: "Node") -> None:
        self._node = node
        self._waiting: asyncio.Queue[str] = asyncio.Queue(MOST_WAITING)
        self._task: asyncio.Task[None] | None = None
        self._sender: SpanSender | None = None
        self._full = False

    def offer(self, outcome: Outcome) -> None:
        """A run has ended: its spans are sent when there is time."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._send_all())
        try:
            self._waiting.put_nowait(outcome.run)
        except asyncio.QueueFull:
            if not self._full:
                log.warning("trace.not_exported", reason=f"{MOST_WAITING} runs wait for it already")
            self._full = True
        else:
            self._full = False

    async def close(self) -> None:
        """Send what is left, as far as that takes no longer than it may."""
        if self._task is None:
            return
        try:
            await asyncio.wait_for(self._waiting.join(), CLOSE_SECONDS)
        except TimeoutError:
            log.warning("trace.not_exported", reason="the process ends", runs=self._waiting.qsize())
        self._task.cancel()
        await asyncio.wait([self._task])
        if self._sender is not None:
            # A thread of its own, that may be left behind: it waits as long as the collector keeps it waiting.
            closing = threading.Thread(target=self._sender.close, daemon=True, name="trace-export-close")
            closing.start()
            await asyncio.to_thread(closing.join, CLOSE_SECONDS)

    async def _send_all(self) -> None:
        while True:
            run = await self._waiting.get()
            try:
                await self._send(run)
            except (JournalDamaged, StorageError, UnknownRun) as error:
                log.warning("trace.not_exported", run=run, reason=str(error))
            except Exception as error:  # an exporter that breaks must not end with one run
                log.warning("trace.not_exported", run=run, error=repr(error))
            finally:
                self._waiting.task_done()

    async def _send(self, run: str) -> None:
        from runtime.observe.trace_record import read_trace

        stored = await self._node.journal.run(run)
        if not is_sampled(stored):
            return
        record = await read_trace(self._node, stored)
        if self._sender is None:
            self._sender = await asyncio.to_thread(_open_sender, self._node.settings.trace.otlp)
        self._sender.send(stored, record.spans)


def _open_sender(address: str) -> "SpanSender":
    from runtime.observe.otel_spans import SpanSender  # half a second of imports: only who exports pays for it

    return SpanSender(address)
