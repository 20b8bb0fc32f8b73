"""What a command may ask a daemon, and what it hears: msgpack behind its length, over a connection for each request."""

import asyncio
import contextlib
import os
import socket
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from actors.workflow.progress import ProgressEvent
from runtime.service_error import Kind

LENGTH_BYTES = 4
PEER = struct.Struct("3i")
"""Process, user and group, as Linux tells them of the other side."""
MOST_BYTES = 64 * 1024 * 1024
"""Of one message; a ticket's text and a run's outcome have limits of their own far below."""

T = TypeVar("T")


class Greeting(msgspec.Struct, frozen=True):
    """The first that a daemon says: it is awake, and of this version."""

    version: str


class SubmitTicket(msgspec.Struct, frozen=True, tag=True):
    """Take this ticket in; `Accepted` or `Refused` answers."""

    text: str
    id: str
    """Never empty, so that who hears no answer may submit it again, and it is not run twice."""
    subject: str
    requester: str
    workflow: str
    options: bytes = b""
    """As the type that the workflow declares for them; empty: none."""
    again: bool = False
    """Begin another run of a ticket whose run has ended."""


class AnswerQuestions(msgspec.Struct, frozen=True, tag=True):
    """These answer what a run asks; `Accepted` or `Refused` answers."""

    run: str
    given: Mapping[str, str]
    text: str
    named: bool
    """The caller named this very run, so it is not just the latest of its ticket."""


class WatchRun(msgspec.Struct, frozen=True, tag=True):
    """Tell what happens on a run, from its beginning to its end; each answer is a `ProgressEvent`."""

    run: str
    drafts: bool


DaemonRequest = SubmitTicket | AnswerQuestions | WatchRun


class Accepted(msgspec.Struct, frozen=True, tag=True):
    """It is durable, and this run goes on with it."""

    run: str


class Refused(msgspec.Struct, frozen=True, tag=True):
    """A `ServiceError` of the daemon."""

    sentence: str
    kind: Kind


DaemonAnswer = Accepted | Refused

GREETINGS = msgspec.msgpack.Decoder(Greeting)
REQUESTS = msgspec.msgpack.Decoder[DaemonRequest](DaemonRequest)
ANSWERS = msgspec.msgpack.Decoder[DaemonAnswer](DaemonAnswer)
EVENTS = msgspec.msgpack.Decoder[ProgressEvent](ProgressEvent)


async def send(writer: asyncio.StreamWriter, message: msgspec.Struct) -> None:
    """Write one message, once the other side has read enough of those before."""
    body = msgspec.msgpack.encode(message)
    writer.write(len(body).to_bytes(LENGTH_BYTES) + body)
    await writer.drain()


async def receive(reader: asyncio.StreamReader, decoder: "msgspec.msgpack.Decoder[T]") -> T:
    """
    Read one message.

    :raises OSError: the other side went away.
    :raises msgspec.MsgspecError: it is none of those that are understood.
    """
    try:
        length = int.from_bytes(await reader.readexactly(LENGTH_BYTES))
        if length > MOST_BYTES:
            raise ConnectionError(f"a message of {length} bytes")
        return decoder.decode(await reader.readexactly(length))
    except asyncio.IncompleteReadError as error:
        raise ConnectionError("it went away") from error


def find_peer(writer: asyncio.StreamWriter) -> int:
    """The user at the other end; where the system does not say, it is whoever may open the socket: this one."""
    if not hasattr(socket, "SO_PEERCRED"):
        return os.geteuid()
    sock = writer.get_extra_info("socket")
    return int(PEER.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, PEER.size))[1])


def is_trusted(user: int) -> bool:
    """Whether a user may be at the other end: this one, or root; rights that somebody has widened change nothing."""
    return user in {os.geteuid(), 0}


@contextlib.contextmanager
def shorten(path: Path) -> Iterator[str]:
    """A path as a socket takes it, which may have 107 bytes: by way of its open folder where the system knows how."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        short = f"/proc/self/fd/{folder}"
        yield f"{short}/{path.name}" if Path(short).exists() else str(path)
    finally:
        os.close(folder)
