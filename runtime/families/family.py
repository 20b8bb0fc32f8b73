"""What a family of agents is to this program: one record, and what its runs share in a process."""

import importlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

import msgspec

from actors.documents.template import Document
from actors.evidence.trace_steps import SearchStep
from actors.ports import Documents, Knowledge, Memory, Model, Tickets, Trace, Untraced
from actors.reporting.report import Report
from actors.roster import Roster
from actors.workflow.outcome import Outcome
from actors.workflow.tables import Case, Run, Workflow
from bus import Actor, Event
from runtime.embeddings.embedder import Embedder
from runtime.engine.run import Children, LiveRun
from runtime.engine.runs import RunHandle, Runs
from runtime.observe.recording import Interceptor
from runtime.observe.span import FoundIntent
from runtime.processes.pool import Workers
from runtime.search.source_registry import Sources
from runtime.settings import Settings
from runtime.storage.effects import Effects
from runtime.storage.journal import RunJournal
from runtime.tickets import Ticket
from runtime.tools.toolbox import Toolbox


class RunDependencies(NamedTuple):
    """What is one run's own. Runs of the same family within it share all but the id and what is below them."""

    run: str
    ticket: str
    """As logs name it."""
    model: Model
    children: Children
    effects: Effects
    ports: Any = None
    """Those that the family makes for each outermost run; only the family knows their type."""
    trace: Trace = Untraced()
    """Of the outermost run: why its answer is as it is."""
    interceptor: Interceptor | None = None
    """Of the outermost run: what goes to the world and comes from it; None: nobody records."""


Roles = Mapping[str, Callable[[RunDependencies], Actor[Any]]]


class SharedPorts(Protocol):
    """What all runs of a process share."""

    @property
    def settings(self) -> Settings: ...
    @property
    def folder(self) -> Path: ...
    @property
    def workers(self) -> Workers: ...
    @property
    def embedder(self) -> Embedder | None: ...
    @property
    def memory(self) -> Memory: ...
    @property
    def knowledge(self) -> Knowledge: ...
    @property
    def documents(self) -> Documents: ...
    @property
    def sources(self) -> Sources: ...
    @property
    def tools(self) -> Toolbox: ...
    @property
    def tickets(self) -> Tickets: ...
    @property
    def roster(self) -> Roster: ...
    @property
    def journal(self) -> RunJournal: ...
    @property
    def runs(self) -> Runs: ...


class FamilyRuns:
    """What the runs of a family share in one process: made with the first of them, closed with the process."""

    money = 0.0
    """What one run may spend on models; 0: no limit."""
    held_back = 0.0
    """The share of its budget that only its last task may use."""

    def __init__(self, roles: Roles) -> None:
        """:param roles: who plays which role, save those that whole runs play; nobody exists before they are asked."""
        self.roles = roles

    @staticmethod
    def prepare(settings: Settings) -> None:
        """Read what its runs need, once: in a thread, and before the first of them."""

    def make_ports(self, run: str, ticket: str, effects: Effects) -> Any:  # noqa: ARG002 - most families need none
        """The ports of one run, which those of the same family within it share."""
        return None

    def follow(self, live: LiveRun) -> None:
        """A run begins, or goes on: watch it, or have something follow its end."""

    async def close(self) -> None:
        """The process ends."""


class ChildRole(NamedTuple):
    """A role that is played by a whole run, of this family or another."""

    workflow: str
    make_case: Callable[[Any, str, Settings], Case]
    """Of the request of the step, and of the child's id."""
    make_answer: Callable[[Run, Outcome], Event]
    """What the child's end means to the step that asked."""
    hold_back: Callable[[Settings], float] = lambda _: 0.0
    """Seconds of its parent's time that the child does not get, for what the parent has yet to do."""


class Round(NamedTuple):
    """A round of a run that goes deeper by runs of its own kind."""

    number: int
    of: int
    """At most."""
    direction: str
    """What it explores; empty in the first."""


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """A family of agents. It is registered in one line, in `runtime.families`."""

    flow: Workflow
    """Its table, with the limits that it was written with."""
    label: str
    """What one of its tickets is called, such as "research"."""
    runs: str
    """`module:class` of its `FamilyRuns`, which takes the `SharedPorts`; loaded with its first run."""
    make_case: Callable[[Ticket, Settings], Case]
    """How a ticket becomes its case."""
    order_of: Callable[[Any], object] = lambda case: case.text
    """What of a case came with its ticket: the same ticket again gives an equal value."""
    options: type[msgspec.Struct] | None = None
    """The type of `Ticket.options`; None: it takes none."""
    order: type[msgspec.Struct] | None = None
    """What a user may give for that, by name; None: the options themselves."""
    make_options: Callable[[Any, Settings, str], msgspec.Struct] = lambda order, _, __: order
    """Of an order, and how its names are spelled where it was given; a `ServiceError` says what cannot be had."""
    options_of: Callable[[Any], msgspec.Struct | None] = lambda _: None
    """The options that a case was made with: a ticket whose questions were answered goes on with them."""
    answers: Mapping[type[msgspec.Struct], str] = {}
    """What it answers without a model: for each output schema the module whose `ANSWERS` does so."""
    children: Mapping[str, ChildRole] = {}
    """Its roles that whole runs play."""
    played_by: Mapping[str, str] = {}
    """Its roles that work by another agent's file and settings, such as a field of law: by the role, that agent."""
    staff: Callable[[Workflow, Roster], Workflow] = lambda flow, _: flow
    """The table with the agents that there are, where these are not the same in every installation."""
    report: Callable[[Any], Report | None] | None = None
    """The report that a case holds; None: its outcome is a resolution."""
    document: Callable[[Any], Document | None] | None = None
    """The document that a case holds beside its outcome, such as a letter; None: it makes none."""
    round_of: Callable[[Any], Round | None] = lambda _: None
    """Which round a case is of, where runs of this family play roles in one another."""
    restore: Callable[[SharedPorts], Awaitable[tuple[list[RunHandle], list[str]]]] | None = None
    """Go on with runs that the database does not know, from what the family keeps besides; a sentence on each."""
    remembered_text: Callable[[Any], str] | None = None
    """
    The text of a case under which memory keeps its answer; None: memory keeps no answers of this family, empty: none of
    this case.
    """
    list_searches: Callable[[Any], Sequence[SearchStep]] = lambda _: ()
    """The searches that a case tells of: its trace need not keep them a second time."""
    intents: Mapping[type[Event], Callable[[Any], FoundIntent]] = {}
    """By the event that tells it, what a ticket asks for: for its trace, and for who looks for such tickets."""
    answered_by: Callable[[Any], str] = lambda case: str(case.ticket_id)
    """The ticket whose answer a case gives: what is said of that answer is said of this ticket's."""

    @property
    def name(self) -> str:
        return self.flow.name

    def load(self) -> Callable[[SharedPorts], FamilyRuns]:
        """Import its runs."""
        module, _, name = self.runs.partition(":")
        runs: Callable[[SharedPorts], FamilyRuns] = getattr(importlib.import_module(module), name)
        return runs

    def prepare(self, settings: Settings) -> None:
        """
        Import and read all that its runs need: in the loop it would hold up all others meanwhile.

        :raises ConfigError: a file of the user's cannot be used.
        """
        for module in dict.fromkeys(self.answers.values()):
            importlib.import_module(module)
        cast("type[FamilyRuns]", self.load()).prepare(settings)
