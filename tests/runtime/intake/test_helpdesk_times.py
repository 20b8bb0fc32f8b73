"""When tickets of helpdesks are due: read as each writes it, first in order, and told while a suggestion waits."""

import asyncio
import datetime
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.intake import intake, sender
from runtime.intake.events import needs_reminder, parse_time, read_due
from tests.patience import HANGS_SECONDS
from tests.runtime.http.kit import TEXT, interface
from tests.runtime.intake.fake_helpdesk import fake_helpdesk

NOON = 1795262400.0
"""2026-11-21, 12:00 UTC."""


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-11-21T20:31:18Z", 1795293078.0), ("2026-11-21T21:31:18.000+0100", 1795293078.0),
        ("1795293078", 1795293078.0), ("2026-11-21.20:31:18", 1795293078.0), ("yesterday", None), ("", None),
    ],
)  # fmt: skip
def test_times_of_helpdesks_are_read(text: str, seconds: float | None) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize(
    ("due", "seconds"),
    [
        ("2026-11-21T12:00:00Z", NOON), ("2026-11-21 13:00:00+01:00", NOON), (" 2026-11-21T12:00:00.000 ", NOON),
        ("2026-11-20", NOON - 12 * 3600), ("", math.inf), ("soon", math.inf),
    ],
)  # fmt: skip
def test_a_day_is_due_at_its_end_and_nothing_never(due: str, seconds: float) -> None:
    assert read_due(due) == seconds


@pytest.mark.parametrize(
    ("minutes_had", "minutes_left", "reminds"),
    [(600, 61, False), (600, 60, True), (600, 0, True), (600, -500, True), (40, 30, False), (40, 20, True),
     (0, 0, False), (-100, -200, False)],
    ids=["later", "now", "at", "over", "has just come", "half of its time", "was due", "was due long ago"],
)  # fmt: skip
def test_people_are_told_a_while_before_a_ticket_is_due(minutes_had: int, minutes_left: int, reminds: bool) -> None:
    began, now = NOON - minutes_had * 60, NOON - minutes_left * 60
    assert needs_reminder("2026-11-21T12:00:00Z", began, now, 60.0) is reminds


def test_nobody_is_told_of_what_is_never_due() -> None:
    assert not needs_reminder("", NOON - 1_000, NOON, 60.0)


async def test_what_is_due_soon_stands_first_and_is_told_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sender, "WORD_SECONDS", 0.05)
    monkeypatch.setattr(intake, "TICK_SECONDS", 0.02)
    soon, later = (_in_hours(hours) for hours in (8 / 3600, 48))
    async with fake_helpdesk() as desk:
        desk.connect(tmp_path, mode="approve")
        async with interface(tmp_path) as web, asyncio.timeout(HANGS_SECONDS):
            for ticket, due in (("1", ""), ("2", later), ("3", soon)):
                event = desk.write(ticket, f"ann{ticket}", TEXT)
                desk.tickets[ticket]["due"] = due
                await desk.deliver(web.client, event)
            await _until(lambda: len(desk.said("3", public=False)) == 2)
            waiting: list[dict[str, str]] = []
            while len(waiting) < 3 or not waiting[1]["due"]:
                waiting = (await web.ask("GET", "/intake"))[1]["approvals"]
                await asyncio.sleep(0.01)

            assert [each["ticket"] for each in waiting] == ["hd.desk.3", "hd.desk.2", "hd.desk.1"]
            assert [each["due"] for each in waiting] == [soon, later, ""]
            assert soon in desk.said("3", public=False)[1]
            assert "waits for somebody to approve" in desk.said("3", public=False)[1]
            assert (await web.ask("POST", "/tickets/hd.desk.3/approve"))[0] == 200
            await _until(lambda: len(desk.said("3", public=True)) == 1)
            assert [len(desk.said(each, public=False)) for each in "123"] == [1, 1, 2]


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - it may be true of anything
        await asyncio.sleep(0.01)


def _in_hours(hours: float) -> str:
    return (datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=hours)).isoformat(timespec="seconds")
