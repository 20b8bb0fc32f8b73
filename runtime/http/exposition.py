"""What is counted, as Prometheus reads it."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from bus.supervision import counters
from runtime.engine.service import TicketService
from runtime.observe.meters import Histogram, meters
from runtime.storage.condition import Condition

if TYPE_CHECKING:
    from prometheus_client.core import Metric

T = TypeVar("T")

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class _Reading:
    """A registry that gives out what was read, once."""

    def __init__(self, metrics: "Iterable[Metric]") -> None:
        self._metrics = metrics

    def collect(self) -> "Iterator[Metric]":
        return iter(self._metrics)


def render(desk: TicketService, seen: Condition) -> bytes:
    """All figures of a process, in the text format of Prometheus."""
    from prometheus_client import generate_latest  # 80 ms, which nobody pays who is not asked for figures

    return generate_latest(_Reading([*_count_runs(desk), *_count_calls(), *_measure_process(desk, seen)]))


def _count_runs(desk: TicketService) -> "Iterator[Metric]":
    states = desk.node.runs.live.count_states()
    yield _gauge("runs", "Runs in progress here", ("workflow", "state"), states)
    yield _counter("runs_ended", "Runs that have ended here", ("workflow", "status", "why"), meters.ends)
    yield _counter("handoffs", "Handoffs of runs that have ended", ("workflow",), _name_keys(meters.handoffs))
    yield _histogram("run_seconds", "From submit to end", ("workflow",), _name_keys(meters.run_seconds))
    answer = {(): meters.answer_seconds}
    yield _histogram("answer_seconds", "From the end of a run to the answer for who waits", (), answer)


def _count_calls() -> "Iterator[Metric]":
    yield _counter("model_calls", "Answers that models were asked for", ("model", "result"), meters.calls)
    yield _histogram("model_call_seconds", "One answer of a model", ("model",), _name_keys(meters.call_seconds))
    yield _counter("model_tokens", "Tokens of models", ("model", "direction"), meters.tokens)
    yield _counter("searches", "Searches", ("where", "result"), meters.searches)


def _measure_process(desk: TicketService, seen: Condition) -> "Iterator[Metric]":
    node = desk.node
    queues: dict[tuple[str, ...], float] = {
        ("accepting",): node.runs.count_accepting,
        ("recording",): len(node.journal.pending),
    }
    queues[("writing",)] = node.database.waiting
    yield _gauge("queue_length", "What waits to be done, by queue", ("queue",), queues)
    for name, said, value in (
        ("dead_letters", "Messages that no actor will read", counters.dead_letters),
        ("abandoned_turns", "Turns of actors that did not end when they had to", counters.abandoned),
        ("workers_killed", "Worker processes that were killed", node.workers.killed),
        ("commits", "Commits of the database", node.database.commits),
        ("loop_stalls", "How often the event loop stood still for a quarter of a second or more", meters.stalls),
        ("loop_stall_seconds", "For how long it did altogether", meters.stall_seconds),
    ):
        yield _counter(name, said, (), {(): value})
    for name, said, gauged in (
        ("ready", "Whether it takes tickets: 1 or 0", float(desk.ready and not seen.why)),
        ("streams", "Clients that listen to events", desk.streams),
        ("loop_longest_stall_seconds", "The longest time for which the event loop stood still", meters.longest_stall),
        ("unattended_runs", "Runs without an end that nobody works on", seen.unattended),
        ("disk_free_megabytes", "Of the disk that the database is on", seen.free_megabytes),
    ):
        if gauged is not None:
            yield _gauge(name, said, (), {(): gauged})


def _gauge(name: str, said: str, labels: Sequence[str], values: Mapping[Any, float]) -> "Metric":
    from prometheus_client.core import GaugeMetricFamily

    family = GaugeMetricFamily(f"terminus_{name}", said, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def _counter(name: str, said: str, labels: Sequence[str], values: Mapping[Any, float]) -> "Metric":
    from prometheus_client.core import CounterMetricFamily

    family = CounterMetricFamily(f"terminus_{name}", said, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def _histogram(name: str, said: str, labels: Sequence[str], values: Mapping[Any, Histogram]) -> "Metric":
    from prometheus_client.core import HistogramMetricFamily

    family = HistogramMetricFamily(f"terminus_{name}", said, labels=labels)
    for key, each in values.items():
        buckets = [("+Inf" if bound == math.inf else str(bound), count) for bound, count in each.buckets()]
        family.add_metric(key, buckets, each.total)
    return family


def _name_keys(values: Mapping[str, T]) -> dict[tuple[str, ...], T]:
    return {(name,): value for name, value in values.items()}
