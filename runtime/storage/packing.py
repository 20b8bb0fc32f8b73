"""Large bodies are stored compressed, with the help of what usually stands in them: most of it is names of fields."""

import zlib

import msgspec

MOST_PLAIN = 300
"""Bytes. With 100, `bench.durable` takes 300 bytes less a ticket and compresses two more of its events."""
SMALL = 8_192
"""Bytes. In more than that, what is alike stands further apart than a small window reaches."""
COMPRESSED = (0x48, 0x78)
"""How zlib begins, by its window. No event does: MessagePack begins a map or an array otherwise."""
MOST_BYTES = 1 << 30
"""What nothing that was packed comes to: a damaged row is not to fill the memory."""

_encode = msgspec.msgpack.Encoder().encode
_EVENTS: tuple[object, ...] = (
    {"type": "HandoverRequested"},
    {"type": "AgentFailed", "error": "", "retries": 0},
    {"type": "NothingFound", "reason": "The documents do not speak of '", "detail": "What comes closest: "},
    {
        "type": "ResolutionRecalled",
        "recalled": {"verdict": "miss", "why": "No earlier ticket is alike: nothing was learnt yet."},
        "verdict": "suggestion", "resolution": {"text": ""}, "ticket_id": "T-",
    },
    {
        "type": "TicketAnalyzed",
        "analysis": {"intent": "question", "urgency": "normal", "question": "", "language": "en"},
        "degraded": "", "assigned": "",
    },
    {"type": "WORKFLOW_COMPLETE", "summary": ""},
    {"type": "TERMINATE_WORKFLOW", "status": "suggested"},
    {
        "type": "ResolutionObtained",
        "resolution": {
            "text": "",
            "citations": [
                {
                    "number": 1, "source": "knowledge/", "title": "", "heading": "", "quote": "", "start": 0,
                    "end": 200, "anchor": "",
                }
            ],
            "grade": "suggested",
        },
        "unavailable": [], "degraded": "",
    },
)  # fmt: skip
_HANDOFFS = (
    ("orchestrator", "memory", "memory_check_pending", ""),
    ("memory", "orchestrator", "ResolutionRecalled", ""),
    ("orchestrator", "ticketing", "memory_checked", ""),
    ("ticketing", "orchestrator", "TicketAnalyzed", ""),
    ("orchestrator", "worker", "ticket_analyzed", ""),
    ("worker", "orchestrator", "NothingFound", ""),
    ("orchestrator", "summarization", "nothing_found", ""),
    ("worker", "orchestrator", "ResolutionObtained", ""),
    ("orchestrator", "memory", "resolution_obtained", ""),
    ("memory", "orchestrator", "ResolutionStored", ""),
    ("orchestrator", "summarization", "resolution_stored", ""),
    ("summarization", "orchestrator", "SummaryCompleted", "WORKFLOW_COMPLETE"),
    ("orchestrator", "ticketing", "summary_complete", ""),
)
_OUTCOME: dict[str, object] = {
    "run": "R-", "ticket": "T-", "workflow": "helpdesk", "status": "resolved", "why": "completed", "by": "ticketing",
    "state": "summary_complete", "resolution": None, "summary": "", "handoffs": [], "children": [],
    "marker": "TERMINATE_WORKFLOW", "loop": [], "seconds": 0.0, "detail": "", "unavailable": [], "degraded": "",
    "spent": {"calls": 0, "tokens_in": 0, "tokens_out": 0, "estimated": False}, "refused": 0,
}  # fmt: skip
_NAMES = ("source", "target", "reason", "at", "marker")
DICTIONARY = b"".join(
    _encode(each)
    for each in (
        *_EVENTS, *(dict(zip(_NAMES, (*way, 0.0, marker), strict=True)) for *way, marker in _HANDOFFS), _OUTCOME,
    )
)  # fmt: skip
"""
Never changed, whatever becomes of the fields: what was packed with it could not be read any more.

A better one would stand beside it; zlib writes into each body which one it needs.
"""


_PACKER = zlib.compressobj(1, zlib.DEFLATED, 12, 5, zlib.Z_DEFAULT_STRATEGY, DICTIONARY)
"""Copied for each small body, which takes less time than to make one that reads the dictionary first."""


def pack(body: bytes) -> bytes:
    """A body as it is stored: the shorter of what it is and what it is compressed."""
    if len(body) <= MOST_PLAIN:
        return body
    packer = _PACKER.copy() if len(body) <= SMALL else zlib.compressobj(1, zdict=DICTIONARY)
    return min(body, packer.compress(body) + packer.flush(), key=len)


def unpack(stored: bytes) -> bytes:
    """
    A body as it was, also where an earlier version packed it without the dictionary.

    :raises msgspec.DecodeError: it is damaged.
    """
    if not stored or stored[0] not in COMPRESSED:
        return stored
    reader = zlib.decompressobj(zdict=DICTIONARY)
    try:
        body = reader.decompress(stored, MOST_BYTES)
    except zlib.error as error:
        raise msgspec.DecodeError(f"its compressed data is damaged ({error})") from None
    if not reader.eof:
        raise msgspec.DecodeError("its compressed data is cut off, or far too large")
    return body
