"""Moments and durations as a person says them."""

import datetime
import time
from collections.abc import Iterator

import pytest

from runtime.times import ago, format_duration, iso, local, since

NOON = 1_769_860_800.0
"""2026-01-31 12:00:00 UTC."""


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("past", "said"),
    [
        (0, "just now"), (4, "just now"), (40, "40 s ago"), (60, "1 min ago"), (3599, "59 min ago"), (3600, "1 h ago"),
        (5 * 3600 + 3599, "5 h ago"), (11 * 3600, "11 h ago"), (13 * 3600, "yesterday 23:00"),
        (36 * 3600, "yesterday 00:00"), (37 * 3600, "2 days ago"), (6 * 86_400, "6 days ago"),
        (7 * 86_400, "2026-01-24"), (-30, "just now"), (-3600, "2026-01-31 13:00"),
    ],
)  # fmt: skip
def test_recent_is_relative_and_the_rest_a_date(past: float, said: str) -> None:
    assert ago(NOON - past, NOON) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-1, "0.0 s"),
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (12.4, "12 s"),
        (59.6, "1 min 0 s"),
        (185, "3 min 5 s"),
        (7500, "2 h 5 min"),
    ],
)
def test_how_long_it_took(seconds: float, said: str) -> None:
    assert format_duration(seconds) == said


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("45s", NOON - 45), ("30m", NOON - 1800), ("12h", NOON - 43_200), ("2d", NOON - 172_800),
        (" 1W ", NOON - 604_800),
        ("2026-01-31", NOON - 43_200), ("2026-01-31 11:00", NOON - 3600), ("soon", None), ("", None), ("-2d", None),
        ("0001-01-01", None), ("9" * 50 + "d", None),
    ],
)  # fmt: skip
def test_since(text: str, wanted: float | None) -> None:
    if text == "0001-01-01":
        found = since(text, NOON)
        assert found is None or found < 0
    else:
        assert since(text, NOON) == wanted


def test_programs_get_utc_to_a_millisecond_and_people_their_wall() -> None:
    assert iso(NOON + 0.12345) == datetime.datetime(2026, 1, 31, 12, 0, 0, 123_000, tzinfo=datetime.UTC)
    assert local(NOON) == "2026-01-31 12:00:00"
