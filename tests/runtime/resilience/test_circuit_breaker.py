"""Calls that are bound to fail are refused, until one call has shown that the service is back."""

import pytest

from runtime.resilience.limiters import CircuitBreaker, CircuitOpen
from tests.clock import Jumping


def test_the_breaker_opens_after_three_equal_failures_and_looks_again_later() -> None:
    clock = Jumping()
    breaker = CircuitBreaker(clock, failures=3, seconds=15)
    for _ in range(2):
        breaker.record_failure("401", "The key is refused.")
        breaker.check()
    breaker.record_failure("unreachable", "Nobody is there.")
    breaker.record_failure("unreachable", "Nobody is there.")
    breaker.check()
    breaker.record_failure("unreachable", "Nobody is there.")
    with pytest.raises(CircuitOpen, match=r"Nobody is there\."):
        breaker.check()
    # when its time is over, one is let through to look, and the others are not
    clock.now = 15.0
    breaker.check()
    breaker.enter()
    with pytest.raises(CircuitOpen):
        breaker.enter()
    # when that one came back well, all may go
    breaker.record_success()
    breaker.enter()
    breaker.enter()
