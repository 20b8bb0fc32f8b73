"""What workers answer about an index: apart from their work, so that who asks loads no readers of documents."""

from typing import Literal

import msgspec

from runtime.knowledge.index.folder_records import Ignored


class Listing(msgspec.Struct, frozen=True):
    """The files of a folder that can be read, in order of their paths."""

    folder: int
    name: str
    root: str
    files: list[str]
    skipped: list[tuple[str, str]]
    ignored: list[Ignored]
    unopened: list[str]
    """Folders below it whose files are not known."""


class Forgotten(msgspec.Struct, frozen=True):
    """What was in the index and is not in the folder any more."""

    paths: list[str]
    kept: int
    """Documents that stay although the folder is not there or shows none of them."""


class Taken(msgspec.Struct, frozen=True):
    """What became of one file."""

    status: Literal["read", "unchanged", "twin", "skipped"]
    reason: str = ""
    passages: int = 0


class Removed(msgspec.Struct, frozen=True):
    """What became of a folder that was to be taken out."""

    documents: int | None
    """How many it held; None: the index holds no such folder."""
