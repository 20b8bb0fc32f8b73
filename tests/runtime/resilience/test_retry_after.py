"""What a server asks for is understood in all its forms, and bounded."""

import os
import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.resilience.limiters import MOST_SECONDS, retry_after

TODAY = 1_795_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0 "}, 0.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "Wed, 18 Nov 2026 11:06:50 GMT"}, 10.0),
        ({"retry-after": "Wed, 18 Nov 2026 11:06:50"}, 10.0),
        ({"retry-after": "Wed, 18 Nov 2020 11:06:50 GMT"}, 0.0),
        ({"retry-after": formatdate(TODAY + 90, usegmt=True)}, 90.0),
        ({"retry-after": "1e7"}, 1e7),
        ({"retry-after": "1e9"}, MOST_SECONDS),
        ({"retry-after": "1e999"}, MOST_SECONDS),
        ({"retry-after": "9" * 400}, MOST_SECONDS),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, MOST_SECONDS),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "-1e9"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "\u0661"}, None),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after": "Wed, 99 Nov 2026 11:06:50 GMT"}, None),
        ({}, None),
    ],
)
def test_all_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, TODAY) == seconds


def test_a_date_without_a_zone_does_not_depend_on_this_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.environ.get("TZ")
    monkeypatch.setenv("TZ", "Asia/Seoul")
    time.tzset()
    try:
        assert retry_after({"retry-after": "Wed, 18 Nov 2026 11:06:50"}, TODAY) == 10.0
    finally:
        monkeypatch.undo()
        assert os.environ.get("TZ") == before
        time.tzset()


@given(st.none() | st.text(max_size=40))
def test_any_text_is_understood_or_none(text: str | None) -> None:
    seconds = retry_after({"retry-after": text} if text is not None else {}, TODAY)

    assert seconds is None or 0.0 <= seconds <= MOST_SECONDS
