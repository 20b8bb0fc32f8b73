"""A tool that a model may call: the record that a file in `shipped/` has, and what a call of it is given and gives."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from actors.documents.template import Document
from actors.evidence.passages import Passage
from actors.evidence.shortfalls import Shortfall
from actors.ports import Knowledge, Trace

if TYPE_CHECKING:
    from runtime.processes.pool import Workers
    from runtime.search.source_registry import Sources
    from runtime.settings import Settings
    from runtime.storage.effects import Effects


class InvalidArguments(Exception):
    """A call that makes no sense, as a model is told in a sentence: nothing was done, and nothing is wrong."""


class ToolResult(msgspec.Struct, frozen=True, gc=False):
    """What a call came to. All of it is data to a model, never instructions."""

    text: str = ""
    """For the model, which cannot cite it."""
    passages: tuple[Passage, ...] = ()
    """What was really read, and may be cited: they are numbered behind those that the model has."""
    document: Document | None = None
    """What was made for the person: the answer carries it."""
    incomplete: tuple[Shortfall, ...] = ()
    """What a search did not look at, though it was to."""


class ToolPorts(Protocol):
    """What a tool may use of the process."""

    @property
    def settings(self) -> "Settings": ...
    @property
    def folder(self) -> Path: ...
    @property
    def workers(self) -> "Workers":
        """Those of searches that ship; a function of the user's own never holds them up."""
        ...

    @property
    def knowledge(self) -> Knowledge: ...
    @property
    def sources(self) -> "Sources": ...


class ToolContext(NamedTuple):
    """Whose call it is, and what it may use."""

    run: str
    """Empty outside of any run."""
    agent: str
    ports: ToolPorts
    workers: "Workers"
    """Processes in which a call that blocks can be killed."""
    trace: Trace
    effects: "Effects | None" = None
    """What the run did to the world, durable before it is used; None outside of any run."""
    said: str = ""
    """What the person wrote, in full: nothing else may be put into their mouth."""


class Tool(NamedTuple):
    """All that the product knows of a tool: what a model is told, and what comes of a call."""

    name: str
    description: str
    """For a model: when to call it, and what comes back."""
    arguments: type[msgspec.Struct]
    """Refuses fields that it has not. Its fields may have descriptions: `Annotated[str, Meta(description=...)]`."""
    call: Callable[[Any, ToolContext, float], Awaitable[ToolResult]]
    """
    Of the arguments, the context and the seconds that it may take; it is cancelled when these are over.

    It may raise `PortFailed`, or `InvalidArguments`. What fails is tried once more, and then done without.
    """
    title: str = ""
    """What people are told was not available: a key of the catalogue, or words; empty: its name."""
    counts: int = 1
    """How many of the calls that one answer may take ([model] tool_calls) a call uses up."""
    configured: Callable[["Settings"], bool] = lambda _: True
    """Whether a model is offered it at all."""
    remedy: str = ""
    """What configures it, such as "set TAVILY_API_KEY"."""
    searches: bool = False
    """It looks for what there is: where it fails, "nothing found" is no fact."""
