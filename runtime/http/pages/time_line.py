"""The spans of a run as bars over its time, each below what it was done for. Pure."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from runtime.tracing.span import TraceSpan
from runtime.user_text import spell_out

SCALE = 1000
"""Units of the whole time."""
SHORTEST = 3
"""Units: what took no time is seen all the same."""
MOST_BARS = 200
DEEPEST = 6
"""What is deeper stands no further in."""


class Bar(NamedTuple):
    """A span and where its bar stands."""

    span: TraceSpan
    note: str
    """What came of it, or why nothing did; empty: its name says all."""
    depth: int
    x: int
    width: int


class TimeLine(NamedTuple):
    """What a template draws."""

    bars: tuple[Bar, ...]
    seconds: float
    """The whole time."""
    omitted: int
    """Spans for which there was no room."""


def draw_time_line(spans: Sequence[TraceSpan]) -> TimeLine | None:
    """The time line; nothing where nothing is known."""
    if not spans:
        return None
    whole = max(max(each.begin + (each.seconds or 0.0) for each in spans), 1e-3)
    return TimeLine(tuple(_draw(spans[:MOST_BARS], whole)), whole, max(0, len(spans) - MOST_BARS))


def _draw(spans: Sequence[TraceSpan], whole: float) -> Iterator[Bar]:
    depths: dict[str, int] = {}
    for each in spans:
        depth = depths[each.id] = depths.get(each.parent, -1) + 1
        begin = min(SCALE - SHORTEST, round(SCALE * max(0.0, each.begin) / whole))
        goes_on = each.seconds is None and each.status == "running"
        end = SCALE if goes_on else round(SCALE * (each.begin + (each.seconds or 0.0)) / whole)
        yield Bar(each, _describe(each), min(depth, DEEPEST), begin, max(SHORTEST, min(SCALE, end) - begin))


def _describe(span: TraceSpan) -> str:
    if span.status not in {"ok", "running"}:
        return span.why
    match span.kind:
        case "agent":
            return spell_out(span.output.partition(" ")[0])
        case "search" | "claims":
            return span.output
        case "classification":
            return " · ".join(
                filter(None, (spell_out(span.category), f"{span.confidence:.0%}" if span.confidence else ""))
            )
        case "model":
            return f"{span.input} · {span.tokens_in:,} + {span.tokens_out:,}"
        case _:
            return ""
