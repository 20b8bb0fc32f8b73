"""Hands a ticket to a node and waits until it is durable, or says why nobody may count on it."""

import asyncio
from typing import NamedTuple

import structlog

from runtime.node import Busy, Node
from runtime.run_handle import Handle, RunHandle
from runtime.service_error import ServiceError
from runtime.storage.errors import StorageError
from runtime.storage.records import Asked, NewRun
from runtime.tickets import Ticket
from runtime.tracing.trace_id import TRACE_DIGITS

log = structlog.get_logger()

ACCEPT_SECONDS = 30.0
"""How long a client waits for the disk."""
BUSY_SECONDS = 5.0
"""When a client may try again."""


class Submitted(NamedTuple):
    """The run of a ticket that is durable."""

    run: NewRun
    asked: Asked | None = None
    """What it asks, where the ticket is new: nobody need look for that."""


async def submit_durably(node: Node, ticket: Ticket, seen: int) -> Handle:
    """
    Wait until a ticket is durable. A client that goes away meanwhile changes nothing.

    :param seen: the latest run of the ticket that is known, by `seq`.
    :raises ServiceError: too many runs are going on, or the ticket was not written down.
    """
    task = asyncio.ensure_future(node.submit(ticket, seen=seen))
    await asyncio.wait([task], timeout=ACCEPT_SECONDS)
    try:
        if task.done():
            return task.result()
        error: Exception = TimeoutError(f"no commit in {ACCEPT_SECONDS:g} s")
    except Busy as busy:
        raise ServiceError(str(busy), "busy", retry_seconds=BUSY_SECONDS) from None
    except (StorageError, OSError) as failure:
        error = failure
    log.error("ticket.not_written", error=repr(error))
    raise write_failure() from error


def describe_new(handle: Handle, ticket: Ticket) -> Submitted | None:
    """The run of a ticket that came without an id, so that nobody has had it before; nothing of any other."""
    run = handle.new if isinstance(handle, RunHandle) and not ticket.id else None
    if run is None:
        return None
    log_accepted(run)
    return Submitted(run, Asked(ticket.text, ticket.subject, ticket.requester, run.started))


def log_accepted(run: NewRun) -> None:
    log.info("ticket.accepted", ticket=run.ticket, run=run.id, trace=run.trace[:TRACE_DIGITS])


def write_failure() -> ServiceError:
    """Says that a ticket may be lost."""
    return ServiceError(
        "The ticket could not be written down; send it again, under the same id or Idempotency-Key.", "unavailable",
        retry_seconds=BUSY_SECONDS,
    )  # fmt: skip
