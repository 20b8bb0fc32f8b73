"""Ids of traces, as W3C Trace Context has them: taken from who sends a ticket, else made."""

import re
import secrets

TRACE_DIGITS, SPAN_DIGITS = 32, 16
_TRACE = re.compile(r"(?!0{32})[0-9a-f]{32}")
_PARENT = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?P<trace>(?!0{32})[0-9a-f]{32})-(?P<span>(?!0{16})[0-9a-f]{16})-[0-9a-f]{2}(?P<more>-.*)?"
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
    """The trace of a `traceparent` header and the span of its caller, 48 digits together; empty if it is none."""
    found = _PARENT.fullmatch(header.strip())
    if found is None or (found["more"] and header.startswith("00")):  # version 00 has four parts and no more
        return ""
    return found["trace"] + found["span"]
