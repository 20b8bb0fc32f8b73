"""Connects Terminus to a real helpdesk, and waits for what becomes of it there."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.helpdesks.real_helpdesks import RealHelpdesk
from tests.patience import HANGS_SECONDS


def connect(folder: Path, helpdesk: RealHelpdesk, **more: Any) -> None:
    """Write the file of a connection called `desk`."""
    (folder / "helpdesks").mkdir()
    (folder / "token").write_text(helpdesk.token, encoding="utf-8")
    known = {
        **helpdesk.connection,
        "token": f"file:{folder / 'token'}",
        "poll_seconds": 1,
        "spacing_seconds": 0,
        **more,
    }
    lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in known.items())
    (folder / "helpdesks" / "desk.toml").write_text(lines, encoding="utf-8")


async def until(condition: Callable[[], bool]) -> None:
    """Ask a helpdesk again and again whether something is true of it."""
    async with asyncio.timeout(HANGS_SECONDS):
        while not await asyncio.to_thread(condition):  # noqa: ASYNC110 - another process decides it
            await asyncio.sleep(0.2)


async def looked_again(reads: Counter[str], ticket: str) -> None:
    """A ticket that waits for a person's word was looked at for it, and what followed is done."""
    before = reads[ticket]
    async with asyncio.timeout(HANGS_SECONDS):
        while reads[ticket] < before + 3:  # noqa: ASYNC110 - whoever looks tells nobody
            await asyncio.sleep(0.05)


def count(helpdesk: RealHelpdesk, ticket: str, *, public: bool) -> int:
    """How much has been written behind the customer's first words."""
    return sum(seen is public for _, seen in helpdesk.read(ticket)[1:])
