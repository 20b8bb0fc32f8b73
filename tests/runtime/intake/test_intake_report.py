"""What became of helpdesks' tickets in a week."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.evidence.shortfalls import Shortfall
from runtime.intake.intake import _was_incomplete, classify
from runtime.intake.writes import Write, WriteBack
from runtime.storage.records import StoredRun
from tests.runtime.http.kit import TEXT, interface, until
from tests.runtime.intake.fake_helpdesk import fake_helpdesk
from tests.runtime.intake.test_writes import outcome

RUN = StoredRun(
    id="R-1", ticket="hd.desk.7", workflow="helpdesk", version="", initial=b"", started=0.0, boot="", uptime=0.0,
    owner="", cancel=0, ended=1.0, status="suggested", ending=None, seq=1,
)  # fmt: skip
NOTE = Write(number=1, what="note", state="confirmed")


@pytest.mark.parametrize(
    ("status", "writes", "counts"),
    [
        ("resolved", [Write(number=1, what="reply", state="confirmed")], "answered"),
        ("suggested", [NOTE, Write(number=2, what="reply", state="confirmed", by="token:ann")], "approved"),
        ("suggested", [NOTE, Write(number=2, what="reply", state="waiting")], "waiting"),
        ("suggested", [NOTE, Write(number=2, what="reply", state="failed")], "not_sent"),
        ("suggested", [NOTE, Write(number=2, what="reply", state="stale")], "not_sent"),
        ("suggested", [NOTE], "suggested"),
        ("not_found", [NOTE], "not_found"),
        ("error", [NOTE], "others"),
        ("suggested", [], "others"),
    ],
)
def test_a_run_counts_by_what_came_of_it(status: str, writes: list[Write], counts: str) -> None:
    stored = msgspec.structs.replace(RUN, status=status)

    assert classify(stored, WriteBack(source="desk", ticket="hd.desk.7", planned=True, writes=tuple(writes))) == counts


def test_nothing_found_by_a_search_that_was_not_complete_tells_nothing_of_the_documents() -> None:
    lacks = (Shortfall("no_meaning", "It took too long."),)
    ending = msgspec.msgpack.encode(msgspec.structs.replace(outcome(), status="not_found", incomplete=lacks))

    assert _was_incomplete(msgspec.structs.replace(RUN, ending=ending))
    assert not _was_incomplete(msgspec.structs.replace(RUN, ending=msgspec.msgpack.encode(outcome())))
    assert not _was_incomplete(RUN)


async def test_a_week_is_told_with_what_no_document_tells(tmp_path: Path) -> None:
    async with fake_helpdesk() as desk:
        desk.connect(tmp_path)
        async with interface(tmp_path, memory=True) as web:
            asks = [TEXT, "The coffee machine leaks.", "Who cleans the coffee machine?"]
            for number, text in enumerate(asks):
                await desk.deliver(web.client, desk.write(str(number), "ann", text))
            await until(partial(_is_written, desk, len(asks)))
            await web.ask("POST", "/tickets/hd.desk.0/feedback", json={"answer": "Ask Bob."})
            async with asyncio.timeout(20):
                while (await web.ask("GET", "/intake"))[1]["unwritten"]:  # noqa: ASYNC110 - it is about to be written
                    await asyncio.sleep(0.01)
            status, told = await web.ask("GET", "/reports/helpdesks")
            refused, why = await web.refusal("GET", "/reports/helpdesks?since=soon")

    assert status == 200
    assert (told["suggested"], told["not_found"], told["corrected"], told["others"]) == (1, 2, 1, 0)
    assert {each["word"]: each["questions"] for each in told["lacking"]} == {"coffee": 2}
    assert set(told["unanswered"]) == {"hd.desk.1", "hd.desk.2"}
    assert told["complete"]
    assert refused == 400
    assert "since" in why


def _is_written(desk: Any, count: int) -> bool:
    return all(desk.said(str(number), public=False) for number in range(count))
