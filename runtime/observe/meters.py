"""What a process counts of its work, for who watches it: plain numbers, so that counting costs next to nothing."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from actors.evidence.trace_steps import CallStep, SearchStep, TraceStep
from actors.workflow.outcome import Outcome

RUN_BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""Seconds of whole runs, and of calls to models."""
ANSWER_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Seconds from the end of a run until whoever waits for it has the answer."""


class Histogram:
    """How many values lie below each of some bounds, and their sum."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Count one more value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def buckets(self) -> Iterator[tuple[float, int]]:
        """Each bound with how many values are not above it; the last bound is infinite."""
        below = 0
        for bound, count in zip((*self.bounds, float("inf")), self.counts, strict=True):
            below += count
            yield bound, below


class Meters:
    """Of one process since it began: runs that were its own, with what they took."""

    def __init__(self) -> None:
        self.ends: dict[tuple[str, str, str], int] = defaultdict(int)
        """By workflow, status and why it ended."""
        self.run_seconds: dict[str, Histogram] = defaultdict(lambda: Histogram(RUN_BOUNDS))
        """From submit to end, by workflow."""
        self.answer_seconds = Histogram(ANSWER_BOUNDS)
        self.handoffs: dict[str, int] = defaultdict(int)
        """By workflow."""
        self.calls: dict[tuple[str, str], int] = defaultdict(int)
        """Answers that models were asked for: by model, and `answered` or `failed`."""
        self.call_seconds: dict[str, Histogram] = defaultdict(lambda: Histogram(RUN_BOUNDS))
        self.tokens: dict[tuple[str, str], int] = defaultdict(int)
        """By model, `in` or `out`."""
        self.searches: dict[tuple[str, str], int] = defaultdict(int)
        """By where it was searched, and `found`, `nothing` or `failed`."""
        self.stalls = 0
        """How often the event loop stood still."""
        self.stall_seconds = 0.0
        """For how long altogether."""
        self.longest_stall = 0.0
        """Seconds."""

    def count_end(self, outcome: Outcome) -> None:
        """A run has ended."""
        self.ends[outcome.workflow, outcome.status, outcome.why] += 1
        self.run_seconds[outcome.workflow].add(outcome.seconds)
        self.handoffs[outcome.workflow] += len(outcome.handoffs)

    def count_stall(self, seconds: float) -> None:
        """The event loop stood still for so long."""
        self.stalls += 1
        self.stall_seconds += seconds
        self.longest_stall = max(self.longest_stall, seconds)

    def count_step(self, step: TraceStep) -> None:
        """An agent searched, or asked a model."""
        match step:
            case CallStep():
                self.calls[step.model, "failed" if step.failed else "answered"] += 1
                self.call_seconds[step.model].add(step.seconds)
                self.tokens[step.model, "in"] += step.tokens_in
                self.tokens[step.model, "out"] += step.tokens_out
            case SearchStep():
                found = "failed" if step.failed else "found" if step.found else "nothing"
                self.searches[step.where, found] += 1
            case _:
                pass


meters = Meters()
