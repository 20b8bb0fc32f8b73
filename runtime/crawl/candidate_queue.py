"""
Which candidates are taken, by their rank alone. Pure: it is told what arrived.

Pages arrive in any order, but they are judged in the order of their ranks, each against those before it. So what is
chosen depends on what the pages hold and not on which server was faster, and a research that is resumed chooses again
what it chose before.
"""

from actors.evidence.sources import FailedSource, Page
from runtime.crawl.duplicates import Fetched

SPARES = 2
"""Candidates that are read beside those that are wanted, for those that fail (RE-10)."""

Settled = Fetched | Page | FailedSource
"""What came of a candidate; one that was judged in an earlier try is no longer a `Fetched`."""


class CandidateQueue:
    """The candidates of one reading, known by their rank."""

    def __init__(self, candidates: int, wanted: int) -> None:
        self.candidates = candidates
        self.wanted = wanted
        self.started = 0
        self.judged = 0
        self.good = 0
        self.settled: dict[int, Settled] = {}

    @property
    def complete(self) -> bool:
        """Enough are good, or nobody is left."""
        return self.good >= self.wanted or self.judged == self.candidates

    @property
    def may_start(self) -> bool:
        """Whether one more is needed, so that enough are good even when some of those under way fail."""
        failed = sum(not _is_good(each) for each in self.settled.values())
        hopeful = self.good + self.started - self.judged - failed
        return not self.complete and self.started < self.candidates and hopeful < self.wanted + SPARES

    @property
    def enough(self) -> bool:
        """Whether so many have arrived that the slower ones before them are not needed."""
        return self.good + sum(_is_good(each) for each in self.settled.values()) >= self.wanted

    def late(self) -> list[int]:
        """Those under way that stand before one that is needed and there; all of them if there are not enough."""
        needed, under_way = self.wanted - self.good, []
        for rank in range(self.judged, self.started):
            if needed == 0:
                break
            if rank in self.settled:
                needed -= _is_good(self.settled[rank])
            else:
                under_way.append(rank)
        return under_way

    def next(self) -> Settled | None:
        """What can be judged now: the settled candidate with no other before it."""
        return None if self.complete else self.settled.get(self.judged)

    def judge(self, *, good: bool) -> None:
        """Say how the next one was judged."""
        self.settled.pop(self.judged, None)
        self.judged += 1
        self.good += good


def _is_good(settled: Settled) -> bool:
    return isinstance(settled.read if isinstance(settled, Fetched) else settled, Page)
