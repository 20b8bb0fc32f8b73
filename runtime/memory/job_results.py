"""What goes between the store and its worker processes; plain, so that the store needs no numpy."""

from typing import Literal

import msgspec

from runtime.memory.ticket_text import Digest

NOTHING_LEARNT = "nothing was learnt yet"


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """An earlier ticket whose answer may be right."""

    row: int
    answer: Digest
    verdict: Literal["hit", "suggestion"]
    why: str


class Looked(msgspec.Struct, frozen=True, gc=False):
    """What a look-up found, best first."""

    candidates: tuple[Candidate, ...] = ()
    problem: str = ""
    """Why there is no model to ask."""
    why: str = ""
    """Why there are no candidates."""


class Learnt(msgspec.Struct, frozen=True, gc=False):
    """What a training made."""

    texts: int
    answers: int
    """Those that may be hits."""
    scripts: tuple[str, ...]
    """Writings in which similar texts may be hits."""
    seconds: float
