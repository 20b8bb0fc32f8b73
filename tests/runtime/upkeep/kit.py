"""Looks for words in all that a folder holds, packed or not."""

import contextlib
import zlib
from pathlib import Path

MOST_BYTES = 10_000_000


def files_with(folder: Path, word: str) -> list[str]:
    """Files in which a word stands, however it is written, also within what is compressed there."""
    wanted = word.lower().encode()
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [str(path.relative_to(folder)) for path in found if wanted in everything(path.read_bytes()).lower()]


def everything(content: bytes) -> bytes:
    """Bytes, and what unpacks from any place in them."""
    unpacked = [content]
    at = content.find(b"\x78")
    while at >= 0:
        with contextlib.suppress(zlib.error):
            unpacked.append(zlib.decompressobj().decompress(content[at : at + MOST_BYTES], MOST_BYTES))
        at = content.find(b"\x78", at + 1)
    return b"\n".join(unpacked)
