"""Large bodies are stored compressed: SQLite gives a row of more than about 1,000 bytes a page of its own otherwise."""

import zlib

import msgspec

MOST_PLAIN = 900
"""Bytes. Of a row of `event`, about 1,000 stand in the page of its key; with more, it takes 4,096 more."""
MOST_PLAIN_OUTCOME = 200
"""Bytes. One of six handoffs has 1,800, most of them names of fields, and comes to 670."""
LEVEL = 1
"""Takes a sixtieth of a millisecond for 1,800 bytes; higher levels save little."""
COMPRESSED = 0x78
"""How zlib begins. No event does: MessagePack begins a map or an array otherwise."""
MOST_BYTES = 1 << 30
"""What nothing that was packed comes to: a damaged row is not to fill the memory."""


def pack(body: bytes, most: int = MOST_PLAIN) -> bytes:
    """A body as it is stored: as it is up to so many bytes, else the shorter of the two."""
    if len(body) <= most:
        return body
    return min(body, zlib.compress(body, LEVEL), key=len)


def unpack(stored: bytes) -> bytes:
    """
    A body as it was.

    :raises msgspec.DecodeError: it is damaged.
    """
    if not stored or stored[0] != COMPRESSED:
        return stored
    reader = zlib.decompressobj()
    try:
        body = reader.decompress(stored, MOST_BYTES)
    except zlib.error as error:
        raise msgspec.DecodeError(f"its compressed data is damaged ({error})") from None
    if not reader.eof:
        raise msgspec.DecodeError("its compressed data is cut off, or far too large")
    return body
