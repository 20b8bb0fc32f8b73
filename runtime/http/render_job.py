"""Makes a report into the bytes of a file, in a worker process: without loading anything of the web."""

import tempfile
from pathlib import Path

import msgspec

from actors.reporting.report import Report


def render(report: bytes, suffix: str) -> bytes:
    """A report, encoded as MessagePack, as a file of this suffix."""
    from runtime.reports import write

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, f"report.{suffix}")
        write(msgspec.msgpack.decode(report, type=Report), place)
        return place.read_bytes()
