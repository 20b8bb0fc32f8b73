"""
What every reader keeps, ours and anybody else's.

From a checkout: `check_reader(READER, Path("sample.adoc").read_bytes())`.
"""

import random
import time
from collections.abc import Iterator

from runtime.knowledge.readers.parsed_document import UNIT_LIMIT, Document, Unreadable, pieces
from runtime.knowledge.readers.reader import Reader

CUTS = 60
DAMAGES = 60
GROWN = 50_000
"""Bytes of what is read to see that a reader comes to an end,"""
SECONDS = 10.0
"""and the processor's time that it may take."""


def check_reader(reader: Reader, sample: bytes) -> None:
    """
    Whether a reader reads a sample, and makes whole documents or refusals of what is made of it to do harm.

    :param sample: a file of its format with a few headings and paragraphs.
    """
    check_document(reader.read(sample))
    assert reader.read(sample).sections, "there are passages in the sample"
    for data in (*_damage(sample), *_grow(sample)):
        began = time.process_time()
        try:
            document = reader.read(data)
        except Unreadable as error:
            assert str(error), "a refusal says why"  # noqa: PT017 - most are read
        else:
            check_document(document)
        assert time.process_time() - began < SECONDS, f"bounded: {data[:40]!r}"


def check_document(document: Document) -> None:
    """Units are slices of the text, in its order and each in a passage; headings are lines, one below the other."""
    cut = pieces(document)
    assert all(0 <= each.start < each.end <= len(document.text) for each in cut)
    at = 0
    for section in document.sections:
        assert all(name and "\n" not in name for name in section.path), section.path
        assert section.units, "a section holds something"
        for unit in section.units:
            assert at <= unit.start < unit.end <= len(document.text)
            assert unit.end - unit.start <= UNIT_LIMIT
            assert any(each.start <= unit.start and unit.end <= each.end for each in cut)
            at = unit.end


def _damage(sample: bytes) -> Iterator[bytes]:
    """The sample cut off, and with other bytes in it."""
    dice = random.Random(1)
    yield b""
    for _ in range(CUTS):
        yield sample[: dice.randrange(len(sample))]
    for _ in range(DAMAGES):
        at = dice.randrange(len(sample))
        yield sample[:at] + dice.randbytes(dice.randrange(1, 9)) + sample[at + dice.randrange(9) :]
    yield dice.randbytes(2000)


def _grow(sample: bytes) -> Iterator[bytes]:
    """Far more of the same: the sample, its lines, its signs, and what opens and never closes."""
    lines = {line for line in sample.splitlines(keepends=True) if line.strip()}
    for part in (
        sample,
        *sorted(lines)[:20],
        b"[",
        b"((",
        b"<a ",
        b"`",
        b"*a ",
        b"= a\n",
        b"- a\n  ",
        b"|a",
        b" ",
        b"\n",
    ):
        yield part * (GROWN // len(part) or 1)
    yield b"".join(b" " * depth + b"- a\n\n" for depth in range(400))
