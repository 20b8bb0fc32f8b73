"""A bucket a key, which fills at a steady rate."""

import pytest

from runtime.resilience import limiters as token_bucket
from runtime.resilience.limiters import TokenBuckets


class Hand:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_it_gives_what_it_holds_then_as_fast_as_it_fills() -> None:
    clock = Hand()
    buckets = TokenBuckets(60, 3, clock)
    assert [buckets.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, 1.0]
    clock.now = 0.5
    assert buckets.wait("a") == buckets.take("a") == 0.5
    clock.now = 1.0
    assert buckets.wait("a") == 0.0
    assert [buckets.take("a"), buckets.take("a")] == [0.0, 1.0]


def test_each_key_has_its_own_and_none_holds_more_than_its_most() -> None:
    clock = Hand()
    buckets = TokenBuckets(60, 2, clock)
    buckets.take("a")
    clock.now = 1e6
    assert [buckets.take("a") for _ in range(3)] == [0.0, 0.0, 1.0]
    assert buckets.take("b") == 0.0


def test_a_rate_of_nothing_is_no_limit() -> None:
    buckets = TokenBuckets(0, 1, Hand())
    assert [buckets.take("a") for _ in range(9)] == [0.0] * 9
    assert buckets.wait("a") == 0.0


def test_the_key_that_was_used_least_lately_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_bucket, "MOST_KEYS", 2)
    buckets = TokenBuckets(1, 1, Hand())
    for key in ("a", "b", "a", "c"):
        buckets.take(key)
    assert buckets.wait("a") > 0
    assert buckets.wait("c") > 0
    assert buckets.wait("b") == 0.0
