"""Ids of traces, as W3C Trace Context has them: taken from who sends a ticket, else made."""

import re
import secrets
from hashlib import blake2b

from runtime.storage.records import NewRun

TRACE_DIGITS, SPAN_DIGITS = 32, 16
UNSAMPLED = "00"
_SAMPLED = 1
"""The bit of the flags that says so."""
_TRACE = re.compile(r"(?!0{32})[0-9a-f]{32}")
_PARENT = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?P<trace>(?!0{32})[0-9a-f]{32})-(?P<span>(?!0{16})[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})(?P<more>-.*)?"
)
"""https://www.w3.org/TR/trace-context/#traceparent-header"""


def make_trace_id() -> str:
    """An id that nobody has."""
    return secrets.token_hex(TRACE_DIGITS // 2)


def read_trace_id(text: str) -> str:
    """The id of a trace as a person wrote it; empty if it is none."""
    found = text.strip().lower()
    return found if _TRACE.fullmatch(found) else ""


def parse_traceparent(header: str) -> str:
    """
    The trace of a `traceparent` header and the span of its caller, 48 digits together; empty if it is none.

    Where the caller does not sample the trace, `UNSAMPLED` follows.
    """
    found = _PARENT.fullmatch(header.strip())
    if found is None or (found["more"] and header.strip().startswith("00")):  # version 00 has four parts and no more
        return ""
    return found["trace"] + found["span"] + ("" if int(found["flags"], 16) & _SAMPLED else UNSAMPLED)


def split_trace(run: NewRun) -> tuple[str, str]:
    """
    The id of a run's trace and that of the caller's span, which may be empty.

    A run that was begun by a version without traces has one that is made of its own id.
    """
    trace = run.trace or blake2b(run.id.encode(), digest_size=TRACE_DIGITS // 2).hexdigest()
    return trace[:TRACE_DIGITS], trace[TRACE_DIGITS : TRACE_DIGITS + SPAN_DIGITS]


def is_sampled(run: NewRun) -> bool:
    """Whether its trace is to be sent anywhere: as the caller has it, and without a caller always."""
    return not run.trace[TRACE_DIGITS + SPAN_DIGITS :]
