"""What may be decided about a run, for its Orchestrator to carry out."""

from typing import Any

import msgspec

from actors.workflow.outcome import EndReason
from actors.workflow.tables import Run, SystemEvent
from bus import Request


class Warned(msgspec.Struct, frozen=True, gc=False):
    """What is written to the log as a warning when a verdict is carried out."""

    event: str
    """As logs name it, such as `handoff.repeated`."""
    target: str
    """The agent that it is about."""
    reason: str


class HandOff(msgspec.Struct, frozen=True, gc=False):
    """Give control to an agent and ask it. One whose number was made before asks the same agent the same again."""

    number: int
    target: str
    request: Request[Any]
    within: float
    """Seconds until it is taken back."""
    warnings: tuple[Warned, ...] = ()


class HandOffs(msgspec.Struct, frozen=True, gc=False):
    """Several at once."""

    each: tuple[HandOff, ...]
    warnings: tuple[Warned, ...] = ()


class Wait(msgspec.Struct, frozen=True, gc=False):
    """Accepted; somebody else's answer is still to come."""

    made: int = 0
    """Handoffs that were made by now."""


class RequestPartial(msgspec.Struct, frozen=True, gc=False):
    """Ask everybody to hand in what they have."""


class Refuse(msgspec.Struct, frozen=True, gc=False):
    """Nothing changes; it is logged once."""

    reason: str


class Terminate(msgspec.Struct, frozen=True, gc=False):
    """The one end. `by` is empty when the run is sealed without its terminator."""

    why: EndReason
    by: str


Verdict = HandOff | HandOffs | Wait | RequestPartial | Refuse | Terminate
Transition = tuple[Run, Verdict]


class Recorded(SystemEvent, frozen=True):
    """The journal holds the event that led to this verdict; now it may be carried out."""

    verdict: Verdict
    error: Exception | None = None


class JournalTimedOut(SystemEvent, frozen=True):
    """The journal was silent for too long about the end; whoever waits for the answer gets it without."""
