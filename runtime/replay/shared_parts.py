"""Answers without the passages that many of them have: these are kept once, by their content, and put back in."""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, TypeVar

import msgspec

from actors.evidence.passages import TICKET_SOURCE, Passage, SearchHits
from actors.ports import Completion
from runtime.tools.tool import ToolResult

T = TypeVar("T")
DIGEST_BYTES = 12
STANDS_FOR = "\0part"
"""The source of a passage that only stands for another one, which has its id for a digest."""
HOLDERS: Mapping[type, tuple[str, ...]] = {
    SearchHits: ("passages",), Completion: ("passages",), ToolResult: ("passages",),
}  # fmt: skip
"""In which fields of an answer passages stand."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Passage).decode


def take_out(answer: T, parts: dict[bytes, bytes]) -> T:
    """
    An answer with what stands for its passages; they are added to `parts`, encoded, by their digests.

    A passage of the ticket itself is left where it is: a part outlives the ticket.
    """

    def take(passage: Passage) -> Passage:
        if passage.source == TICKET_SOURCE:
            return passage
        body = _encode(msgspec.structs.replace(passage, score=0.0))
        digest = blake2b(body, digest_size=DIGEST_BYTES).digest()
        parts[digest] = body
        return Passage(digest.hex(), STANDS_FOR, "", "", "", 0, 0, score=passage.score)

    hollow: T = _walk(answer, take)
    return hollow


def put_in(answer: T, parts: Mapping[bytes, bytes]) -> T:
    """
    The answer as it was.

    :raises KeyError: a part of it is not there any more.
    """

    def put(passage: Passage) -> Passage:
        if passage.source != STANDS_FOR:
            return passage
        found = _decode(parts[bytes.fromhex(passage.id)])
        return msgspec.structs.replace(found, score=passage.score)

    whole: T = _walk(answer, put)
    return whole


def _walk(value: Any, change: Callable[[Passage], Passage]) -> Any:
    kind = type(value)
    if kind is Passage:
        return change(value)
    if kind is tuple:
        return tuple([_walk(each, change) for each in value])
    fields = HOLDERS.get(kind, ())
    changed = {name: _walk(held, change) for name in fields if (held := getattr(value, name))}
    return msgspec.structs.replace(value, **changed) if changed else value
