"""What may be decided about a run, for its Orchestrator to carry out."""

import msgspec

from actors.workflow.outcome import EndReason
from actors.workflow.tables import Run, SystemEvent


class HandoffWarning(msgspec.Struct, frozen=True, gc=False):
    """What is written to the log as a warning when a verdict is carried out."""

    event: str
    """As logs name it, such as `handoff.repeated`."""
    target: str
    """The agent that it is about."""
    reason: str


class HandOff(msgspec.Struct, frozen=True, gc=False):
    """Ask the agents of these pending handoffs. A number that was handed out before asks its agent again."""

    numbers: tuple[int, ...]
    """Of the run's pending handoffs."""
    warnings: tuple[HandoffWarning, ...] = ()


class Wait(msgspec.Struct, frozen=True, gc=False):
    """Accepted; somebody else's answer is still to come."""

    made: int = 0
    """Handoffs that were made by now."""


class RequestPartial(msgspec.Struct, frozen=True, gc=False):
    """Ask everybody to hand in what they have."""


class Refuse(msgspec.Struct, frozen=True, gc=False):
    """The event is not accepted: nothing changes, and it is logged once."""

    reason: str


class Terminate(msgspec.Struct, frozen=True, gc=False):
    """The end of the run. `by` is empty when it is sealed without its terminator."""

    why: EndReason
    by: str


Verdict = HandOff | Wait | RequestPartial | Refuse | Terminate
Transition = tuple[Run, Verdict]


class Recorded(SystemEvent, frozen=True):
    """The journal holds the event that led to this verdict; now it may be carried out."""

    verdict: Verdict
    error: Exception | None = None


class JournalTimedOut(SystemEvent, frozen=True):
    """The journal was silent for too long about the end; whoever waits for the answer gets it without."""
