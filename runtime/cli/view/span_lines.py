"""The spans of a trace as lines for people: a tree with the time of each. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from runtime.cli.view.printing import Line
from runtime.cli.view.width import fit
from runtime.times import format_duration
from runtime.tracing.span import TraceSpan
from runtime.user_text import safe, spell_out

COLUMNS, COLUMNS_OF_ALL = 60, 400
DEEPER = 2
"""Columns by which a span stands further in than the one above it."""
STYLES: Mapping[str, str] = {
    "failed": "bad", "refused": "unsure", "timed_out": "bad", "cancelled": "poor", "running": "going",
}  # fmt: skip
KINDS: Mapping[str, str] = {
    "classification": "intent", "routing": "routed to", "search": "searched", "model": "model", "tool": "tool",
}  # fmt: skip
"""How a span is introduced; the others go by their names."""


def span_lines(spans: Sequence[TraceSpan], *, full: bool) -> Iterator[Line]:
    """
    Each span below the one that it was done for: when it began, how long it took, what it was and how it ended.

    :param full: with what each was given and what came of it.
    """
    if not spans:
        return
    yield Line("What took how long", "strong")
    depths: dict[str, int] = {}
    for each in spans:
        depth = depths[each.id] = depths.get(each.parent, -1) + 1
        took = "" if not each.seconds else _tell_seconds(each.seconds)
        text = f"{each.begin:9.3f} s  {took:>9}  {' ' * DEEPER * depth}{_describe(each, full=full)}"
        yield Line(text, STYLES.get(each.status, ""), 1)
        inside = 24 + DEEPER * depth
        if full:
            said = (("given", each.input), ("came", each.output))
            yield from (Line(f"{name}: {fit(text, COLUMNS_OF_ALL)}", "faint", inside) for name, text in said if text)
    yield Line("")


def _describe(span: TraceSpan, *, full: bool) -> str:
    name = " ".join(filter(None, (KINDS.get(span.kind, ""), safe(span.name))))
    parts = []
    if span.kind == "agent" and span.status == "ok":
        parts.append(spell_out(span.output.partition(" ")[0]))
    if span.kind in {"search", "claims"}:
        parts.append(span.output)
    if span.kind == "classification":
        sure = "" if span.confidence is None else f"{span.confidence:.0%} sure, "
        parts += [*filter(None, [spell_out(span.category)]), f"{sure}by {span.by}"]
    if span.kind == "model":
        parts += [span.input, f"{span.tokens_in:,} + {span.tokens_out:,} tokens"]
        parts += [f"cost {span.cost:g}"] if span.cost is not None else []
    if span.status != "ok":
        parts.append(spell_out(span.status))
    if span.why and (full or span.status not in {"ok", "running"}):
        parts.append(fit(span.why, COLUMNS_OF_ALL if full else COLUMNS))
    said = "; ".join(map(safe, filter(None, parts)))
    return f"{name}: {said}" if said else name


def _tell_seconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else format_duration(seconds)
