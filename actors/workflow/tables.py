"""
Workflows as data: the tables, and where a run stands in one.

The rules that move a run are in `advance.py`; `verify.py` refuses a table that might not end.
"""

from collections.abc import Mapping
from typing import Any, Generic, Literal, TypeVar, final

import msgspec

from actors.evidence.claims import Resolution
from actors.evidence.passages import Passage
from actors.evidence.shortfalls import Shortfall
from actors.workflow.outcome import AnswerRound, EndReason, Handoff, Question
from bus import Event, Request

NEXT_MESSAGE = "\n\n* * *\n\n"
"""Between messages that are one question: nobody answered the first before the next one came."""


class EarlierMessage(msgspec.Struct, frozen=True, gc=False):
    """One contribution that the customer has seen or written."""

    role: Literal["customer", "person", "terminus"]
    """`person`: somebody of the helpdesk; `terminus`: what was answered by us."""
    at: str
    """When, as the helpdesk writes it; empty: it does not say."""
    text: str


ORCHESTRATOR = "orchestrator"
MAX_HANDOFFS = 20
MAX_SECONDS = 600.0
CLOSING_SECONDS = 1.5
"""How long the terminator has to close a case after a breach; the caller has the outcome within 2 s of it."""
FAN_OUT_SECONDS = 30.0
"""What a member of a fan-out has, unless its table says otherwise; the configuration may give it less."""
MAX_RESUMES = 5
"""How often in a row a run is picked up again after the process died at its work, with no answer in between."""


class Findings(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What was read for a task, by whoever passed it on."""

    passages: tuple[Passage, ...] = ()
    tools: tuple[str, ...] = ()
    """What found them: asked the same again it would find the same."""


class Handover(Event, frozen=True):
    """An agent's own choice to pass its task on instead of answering."""

    to: str
    reason: str
    context: str = ""
    """What the next one needs to know; becomes the case's `context`."""
    found: Findings = Findings()
    """What it has by then; becomes the case's `handed_over`."""


class InvalidAnswer(Event, frozen=True, tag="NoAnswer"):  # as journals name it
    """What an agent sent instead of an answer: an event that its workflow does not know, or one with wrong types."""

    what: str


class SystemEvent(Event, frozen=True):
    """An event that no agent may send."""


class RunStarted(SystemEvent, frozen=True):
    """The run may begin; its case is journalled already."""


class RunResumed(SystemEvent, frozen=True):
    """Another process picked this run up, or knows at least that the one before died at its work."""

    orderly: bool = False
    """
    It was not this run's work at which that process died: it was stopped, or killed while it did something else.

    Earlier versions of this program did not know that, and said `False` of each run that a dead process had open.
    """


class RunStopped(SystemEvent, frozen=True):
    """Somebody cancelled the run. The second time, nobody waits for agents to hand in."""


class TimeUp(SystemEvent, frozen=True):
    """The moment that `advance.next_due` named has come."""


class NotDelivered(SystemEvent, frozen=True):
    """The handoff of this number did not reach its target."""

    handoff: int
    error: str


SYSTEM_EVENTS: frozenset[type[Event]] = frozenset({RunStarted, RunResumed, RunStopped, TimeUp, NotDelivered})
"""The events that move a run without an agent."""


class Case(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """What every family's case holds; requests read it and events write it, by field name."""

    ticket_id: str
    status: str = "open"
    """As in `outcome.Status`, once the terminator has said so."""
    reason: str = "completed"
    """Why the terminator is told to close: "completed", or an `EndReason`."""
    detail: str = ""
    """One sentence on that, for the ticket."""
    context: str = ""
    """What the last agent that passed its task on wants the next one to know."""
    handed_over: Findings = Findings()
    """What that agent had read."""
    resolution: Resolution | None = None
    vouched: bool = False
    """The resolution is a remembered one that a person called right, or that a model judged when it was given."""
    summary: str = ""
    unavailable: tuple[str, ...] = ()
    """What could not be asked, each in a few words for the user."""
    incomplete: tuple[Shortfall, ...] = ()
    """What the searches lacked."""
    degraded: str = ""
    """Why a lesser model answered than the configured one."""
    language: str = ""
    """ISO 639-1 code of what the ticket is written in, and answered in; empty when it cannot be told."""
    questions: tuple[Question, ...] = ()
    """What the terminator asks the person behind the ticket, with the status `needs_input`."""
    answers: tuple[AnswerRound, ...] = ()
    """What that person answered to the earlier runs of the ticket, the first round first."""
    max_seconds: float = 0.0
    """What this run has, if less than its workflow allows: a child gets no more than its parent has. 0: the same."""


class Limits(msgspec.Struct, frozen=True):
    """How long one agent may take for one answer, and how often it is asked again."""

    within: float = 300.0
    """Seconds. The run's own deadline wins where it is tighter."""
    retries: int = 1


@final
class RetryStage(msgspec.Struct, frozen=True):
    """Go back to an earlier state, a limited number of times, and only while that adds something to the case."""

    to: str
    at_most: int
    otherwise: str
    """Where the run goes instead when the count is used up, or when the last repetition added nothing."""


@final
class Step(msgspec.Struct, frozen=True):
    """Hand to this role, ask this, and go where its answer leads."""

    hand_to: str
    ask: type[Request[Any]]
    then: Mapping[type[Event], str | RetryStage]
    peers: frozenset[str] = frozenset()
    """Roles to which the task may be handed over."""
    pick: str = ""
    """A field of the case that may name the peer to begin with instead of `hand_to`."""
    limits: Limits | None = None
    """Instead of the role's own."""
    returns_partial: bool = False
    """
    When the run is cancelled, its agent is given time to hand in what it has.

    On the step that closes the case: closing takes long, so it can be cancelled, and then closes at once.
    """
    on_failed: str = ""
    """
    Where the run goes when its agent failed, was silent or gave no answer as often as it may, the case's `detail`
    saying so; empty: the run is closed.
    """


@final
class FanOut(msgspec.Struct, frozen=True):
    """
    Hand to several roles at once, each with its own time; go on when all have settled, whatever became of them.

    A member that fails is asked again, as often as its limits say, while its time lasts.
    """

    team: tuple[str, ...]
    ask: type[Request[Any]]
    answer: type[Event]
    into: str
    """The field of the case that holds what has settled, a `tuple[MemberResult, ...]` in the order of the team."""
    on_all: str
    """Where the run goes when everybody who was asked has answered."""
    on_some: str
    """Where it goes when at least one has."""
    on_none: str
    """Where it goes when nobody has, or nobody was asked."""
    pick: str = ""
    """
    A field of the case that names those of the team to ask; all of them when it is empty.

    Other names are left out with a warning; where none is left, nobody is asked.
    """
    limits: Limits | None = None
    """Instead of the role's own, whose time is cut to `FAN_OUT_SECONDS`."""
    returns_partial: bool = False
    """When the run is cancelled, members are given time to hand in what they have."""
    at_most: int = 0
    """So many of the team are asked, the first that the case picks; the others are left out with a warning. 0: all."""

    @property
    def seats(self) -> int:
        """How many of the team can be asked in one run."""
        return min(self.at_most or len(self.team), len(self.team))

    @property
    def exits(self) -> tuple[str, str, str]:
        return self.on_all, self.on_some, self.on_none


E = TypeVar("E", bound=Event)


class MemberResult(msgspec.Struct, Generic[E], frozen=True, gc=False):
    """What became of one member of a fan-out. A field names the answer, `MemberResult[Seen]`, so it can be stored."""

    role: str
    answer: E | None
    error: str = ""


class Workflow(msgspec.Struct, frozen=True, eq=False):
    """A table of steps by state. A run starts in the first state. Compared by identity."""

    name: str
    case: type[Case]
    terminator: str
    close: type[Request[Any]]
    closed: type[Event]
    steps: Mapping[str, Step | FanOut]
    final: str = "terminated"
    max_handoffs: int = MAX_HANDOFFS
    max_seconds: float = MAX_SECONDS
    cancel_seconds: float = 30.0
    limits: Mapping[str, Limits] = {}
    """By role, from the configuration."""
    default_limits: Limits = Limits()
    asking_loops: bool = False
    """The Orchestrator's own handoffs count for loops, too: asking the same agent three times in a row is one."""

    @property
    def first(self) -> str:
        """The state that a run starts in."""
        return next(iter(self.steps))

    def limits_of(self, step: Step | FanOut, role: str) -> Limits:
        if step.limits:
            return step.limits
        own = self.limits.get(role, self.default_limits)
        return Limits(min(own.within, FAN_OUT_SECONDS), own.retries) if type(step) is FanOut else own


REFUSED = "refused"
"""The field of a request that says why earlier answers were refused, so that the agent thinks again."""


class PendingHandoff(msgspec.Struct, frozen=True, gc=False):
    """A handoff that waits for its answer."""

    number: int
    role: str
    due: float
    """Seconds since the run began; `advance` takes control back then."""
    retries: int = 0
    """How often its agent was asked again."""
    overreaches: int = 0
    """How often its agent tried to end the run without being its terminator."""
    refused: tuple[str, ...] = ()
    """Why its agent's answers were refused so far."""


class StageRetry(msgspec.Struct, frozen=True, gc=False):
    """A retry of a stage that was taken, and the case at that moment."""

    source: str
    target: str
    case: Any


class Run(msgspec.Struct, frozen=True, gc=False):
    """Where a run stands in its workflow: the fold of its accepted events. Replaced, never changed."""

    state: str
    case: Any
    handoffs: tuple[Handoff, ...] = ()
    open: tuple[PendingHandoff, ...] = ()
    handovers: tuple[tuple[str, str], ...] = ()
    """(source, target) of those that agents chose: where loops come from."""
    stage_retries: tuple[StageRetry, ...] = ()
    loop: tuple[tuple[str, str], ...] = ()
    """The pattern of (source, target) that came three times in a row, when that is the breach."""
    breach: EndReason | None = None
    """Why the terminator was told to close, when not all went to plan."""
    cancelling: bool = False
    """Agents were asked to hand in what they have."""
    resumed: int = 0
    """How often the process died at its work since it last had an answer: above 0, it may be what killed it."""
