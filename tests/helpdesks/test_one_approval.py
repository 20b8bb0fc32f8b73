"""Real helpdesks: one approval sends one answer, whatever follows, and nothing of it gets into another ticket."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import ANSWER, ON_A_MAC
from tests.helpdesks.connecting import connect, count, looked_again, until
from tests.helpdesks.real_helpdesks import RealHelpdesk
from tests.helpdesks.test_real_helpdesks import STARTS, TEXT
from tests.patience import HANGS_SECONDS
from tests.runtime.http.kit import Interface, interface

FOLLOW_UPS = ("And on a Mac?", "And on a Mac in the office?")
Start = Callable[[Path], contextlib.AbstractContextManager[RealHelpdesk]]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("can_untag", [False, True], ids=["leftover tag", "tag taken off"])
async def test_two_follow_ups_and_one_approval_are_one_answer_and_no_entry_elsewhere(
    start: Start, tmp_path: Path, reads: Counter[str], can_untag: bool
) -> None:
    (tmp_path / "helpdesk").mkdir()
    with start(tmp_path / "helpdesk") as helpdesk:
        other = await asyncio.to_thread(helpdesk.ask, "Printer", "Does the VPN print?")
        ticket = await asyncio.to_thread(helpdesk.ask, "VPN", TEXT)
        assert other == "1", "what a note ends with must not be taken for a reference to it"
        is_rt = helpdesk.connection["system"] == "rt"  # it is asked from the latest ticket on
        connect(tmp_path, helpdesk, mode="approve", **({} if can_untag else {"adapter.write.untag": []}))
        async with interface(tmp_path, memory=True) as web:
            for each in (ticket,) if is_rt else (ticket, other):
                await until_suggested(web, each)
            if helpdesk.has_notes and not is_rt:  # what is suggested for it stands in it, too, before it is looked at
                await until(lambda: any("[terminus" in text for text, _ in helpdesk.read(other)))
            before = await asyncio.to_thread(helpdesk.read, other)
            await looked_again(reads, ticket)
            assert count(helpdesk, ticket, public=True) == 0

            await asyncio.to_thread(helpdesk.tag, ticket, "ai-send")
            await until(lambda: count(helpdesk, ticket, public=True) == 1)
            if can_untag:
                await until(lambda: helpdesk.tags(ticket) == [])
            async with web.client.get(f"/ui/tickets/hd.desk.{ticket}", headers={"Accept": "text/html"}) as got:
                page = await got.text()
            for words in FOLLOW_UPS:
                await asyncio.to_thread(helpdesk.reply, ticket, words)
                await until_suggested(web, ticket, words)
                await looked_again(reads, ticket)

        said = await asyncio.to_thread(helpdesk.read, ticket)
        assert [ANSWER in text for text, seen in said if seen] == [False, True, False, False]
        assert [text.strip() for text, seen in said if seen and ANSWER not in text] == [TEXT, *FOLLOW_UPS]
        notes = [text for text, seen in said if not seen]
        assert [ON_A_MAC in text for text in notes] == ([False, True, True] if helpdesk.has_notes else [])
        assert helpdesk.tags(ticket) == ([] if can_untag else ["ai-send"])
        assert await asyncio.to_thread(helpdesk.read, other) == before
        assert ("set by helen" if is_rt else "does not tell who set it") in page


async def until_suggested(web: Interface, ticket: str, words: str = "") -> None:
    """A suggestion on words of a ticket is written where it is, and waits for a person's word."""
    name = f"hd.desk.{ticket}"

    async def waits() -> bool:
        told: Any = (await web.ask("GET", f"/tickets/{name}"))[1]
        state: Any = (await web.ask("GET", "/intake"))[1]
        approvals = [each["ticket"] for each in state["approvals"]]
        return words in told.get("question", "") and name in approvals and not state["waiting"]

    async with asyncio.timeout(HANGS_SECONDS):
        while not await waits():  # noqa: ASYNC110 - a helpdesk decides it
            await asyncio.sleep(0.2)
