"""What a helpdesk says, kept as files for whoever writes or mends an adapter: bounded, for a while, without secrets."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from runtime.processes.atomic_files import write_bytes
from runtime.storage.private import make_folder

FOLDER = "helpdesk-recordings"
"""In the storage folder; a folder in it is a connection that is recorded."""
MOST_FILES = 50
FILE_BYTES = 1_000_000
HIDDEN = "***"
SECRET_CHARACTERS = 6
"""Shorter ones stand in too many words by chance."""
SECRET_KEY = re.compile(r"token|secret|password|authorization|cookie|signature|api[-_]?key|hmac", re.IGNORECASE)


class Recorder:
    """Of one connection; while its folder is there, what comes is kept in it."""

    def __init__(self, storage: str | Path, name: str, secrets: tuple[str, ...] = ()) -> None:
        """:param secrets: texts that are hidden wherever they stand."""
        self.folder = Path(storage) / FOLDER / name
        self._secrets = tuple(each for each in secrets if len(each) >= SECRET_CHARACTERS)

    def start(self) -> Path:
        """
        Keep what comes from now on, in the folder that is returned.

        :raises OSError: it cannot be made.
        """
        return make_folder(self.folder)

    def keep(self, kind: str, value: Mapping[str, Any]) -> Path | None:
        """Keep something, if that is wanted and there is room; where, else None."""
        try:
            known = [each.name for each in self.folder.iterdir()]
        except OSError:
            return None
        content = msgspec.json.format(msgspec.json.encode(hide_secrets(value, self._secrets)), indent=2)
        if len(known) >= MOST_FILES or len(content) > FILE_BYTES:
            return None
        numbers = (each.partition("-")[0] for each in known)
        last = max((int(each) for each in numbers if each.isdecimal()), default=0)  # older ones may be gone
        path = self.folder / f"{last + 1:02}-{kind}.json"
        write_bytes(path, content)
        return path


def hide_secrets(value: Any, secrets: tuple[str, ...]) -> Any:
    """The same, with what is called like a secret, or is one, made unreadable; what it is called stays."""
    if isinstance(value, Mapping):
        return {
            key: HIDDEN if SECRET_KEY.search(str(key)) and isinstance(each, str) else hide_secrets(each, secrets)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [hide_secrets(each, secrets) for each in value]
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, HIDDEN)
    return value
