"""How often each of many may do something: a bucket for each, which fills at a steady rate. Nobody waits here."""

import time
from collections import OrderedDict
from collections.abc import Callable

MOST_KEYS = 10_000
"""So many buckets are kept; the one that was used least lately goes first."""
MINUTE = 60.0


class TokenBuckets:
    """A bucket a key. A rate of 0 is no limit."""

    def __init__(self, per_minute: int, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        """:param most: what a bucket holds, and so how much may come at once."""
        self._rate = per_minute / MINUTE
        self._most = float(max(1, most))
        self._clock = clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> float:
        """Take one out: 0.0, or the seconds until there is one, when there is none."""
        if not self._rate:
            return 0.0
        level, now = self._look(key)
        taken = level >= 1.0
        self._levels[key] = (level - 1.0 if taken else level, now)
        self._levels.move_to_end(key)
        if len(self._levels) > MOST_KEYS:
            self._levels.popitem(last=False)
        return 0.0 if taken else (1.0 - level) / self._rate

    def wait(self, key: str) -> float:
        """The seconds until there is one; nothing is taken out."""
        if not self._rate:
            return 0.0
        level, _ = self._look(key)
        return 0.0 if level >= 1.0 else (1.0 - level) / self._rate

    def _look(self, key: str) -> tuple[float, float]:
        now = self._clock()
        level, at = self._levels.get(key, (self._most, now))
        return min(self._most, level + (now - at) * self._rate), now
