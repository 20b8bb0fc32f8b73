"""What a trace is made of: spans, each something that took its time, below what it was done for."""

import hashlib
from typing import Literal, NamedTuple

import msgspec

SpanKind = Literal["run", "agent", "classification", "routing", "search", "model", "tool", "claims"]
SpanStatus = Literal["ok", "failed", "refused", "timed_out", "cancelled", "running"]
"""`refused`: what came back was no answer; `cancelled`: nobody waited for it any more."""


class FoundIntent(NamedTuple):
    """What a ticket asks for, as an event tells it."""

    name: str
    category: str = ""
    """What it is about, such as a field of law."""
    confidence: float | None = None
    """0 to 1, where that is told."""


class TraceSpan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One piece of a run's work."""

    id: str
    """16 hexadecimal digits, the same whenever it is asked for."""
    parent: str = ""
    """The id of the span that it was done for; empty: of the whole run."""
    kind: SpanKind
    name: str
    """The workflow, the agent, the intent, where it was searched, the model or the tool."""
    begin: float
    """Seconds since the outermost run began."""
    seconds: float | None = None
    """How long it took; null: it goes on, or nobody knows."""
    status: SpanStatus = "ok"
    input: str = ""
    """What it was given, shortened."""
    output: str = ""
    """What came of it, shortened."""
    why: str = ""
    """Why it failed, or was refused."""
    by: str = ""
    """Of a classification: `rules` or `model`."""
    category: str = ""
    confidence: float | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    """By the prices of [model], in their currency; null: there are none."""


def make_span_id(*path: object) -> str:
    """The id of what stands at a place of a trace."""
    return hashlib.blake2b("/".join(map(str, path)).encode(), digest_size=8).hexdigest()
