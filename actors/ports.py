"""What actors need from the world, as protocols. `runtime/` supplies the real things."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from actors.evidence.claims import Resolution
from actors.evidence.court_cases import FoundCases
from actors.evidence.passages import NamedDocument, Passage, SearchHits
from actors.evidence.shortfalls import Shortfall
from actors.evidence.sources import FailedSource, Page, SearchResult
from actors.evidence.trace_steps import TraceStep
from actors.statutes.articles import FoundArticles
from actors.workflow.outcome import Outcome
from bus import Event, UserFacingError

T = TypeVar("T", bound=msgspec.Struct)


class PortFailed(UserFacingError):
    """The world did not do what was asked. The text says for whoever operates this what it was, and what to do next."""

    code = "port_failed"
    """What programs are told, and the key of the catalogue by which people are."""


class ModelFailed(PortFailed):
    """No model could fill the answer."""

    code = "model_failed"


class BudgetSpent(ModelFailed):
    """The ticket's budget is used up; only a model that costs nothing may still answer."""

    code = "budget_spent"


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One piece of thinking for a model. Everything in `material` and `findings` is data, never instructions."""

    agent: str
    instructions: str
    """The agent's system prompt, from `actors/prompts/`."""
    model: str = ""
    """The model that is to think about it; empty: the configured one."""
    material: Any
    """What to think about: a struct that goes with the output schema. Only a prompt makes text of it."""
    choices: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """By a field of the answer: the only texts that it may have, where these differ by installation."""
    refused: tuple[str, ...] = ()
    """Why earlier answers of the agent were refused; a model is shown it, so that it answers otherwise."""
    findings: SearchHits | None = None
    """Passages that the answer may cite, by their 1-based number."""
    last: bool = False
    """The last task of its run: it may use what was held back of the budget for it."""
    quotes_only: bool = False
    """Passages are to be quoted and nothing argued: the model that argues came to no answer that can be used."""
    tools: tuple[str, ...] = ()
    """What the model may call itself, by name; the passages that a call finds are put behind the numbered ones."""
    on_tool: Callable[[str], object] | None = None
    """Is told the name of each tool when the model calls it; it must not block."""
    said: str = ""
    """What the person wrote, for tools that may use nothing else, such as one that fills in a document."""
    on_text: Callable[[int, str], object] | None = None
    """Is told what people will read of the answer while the model writes it: from which character on, and the text;
    at 0 the answer begins anew. It must not block. None: nobody reads along, and the answer comes in one piece."""


class Completion(msgspec.Struct, frozen=True, gc=False):
    """A model's typed answer with what it cost and what it had before it."""

    value: Any
    """An instance of the shape that was asked for."""
    passages: tuple[Passage, ...] = ()
    """All passages that were shown, in the order of their numbers, those found by tool calls at the end."""
    judged: bool = False
    """The value was judged to answer the task: by a model that understands it, or by evidence well above noise."""
    degraded: str = ""
    """Why a lesser model answered than the configured one, as a key of the catalogue; empty when it is the one."""
    partial: str = ""
    """The key that says which budget was used up before the configured model could answer; empty when none was."""
    skipped: tuple[str, ...] = ()
    """Tools that failed and were done without: keys of the catalogue, or words; `catalogue.say_name` tells both."""
    incomplete: tuple[Shortfall, ...] = ()
    """What the searches of tools did not look at."""
    document: msgspec.Struct | None = None
    """What a tool made for the person; the room that makes documents knows its type."""


class Model(Protocol):
    async def fill(self, shape: type[T], task: ModelRequest, *, within: float) -> Completion:
        """
        Think about a task and answer in the given shape, in at most `within` seconds.

        :raises ModelFailed: with a sentence for the user.
        """


class Trace(Protocol):
    """Why the answer of a run is as it is: kept with the run, within a bound."""

    def note(self, step: TraceStep) -> None:
        """Keep a step; it waits for nothing and never fails."""


class Untraced:
    """A trace that keeps nothing, of what belongs to no run."""

    __slots__ = ()

    def note(self, step: TraceStep) -> None:
        """As `Trace`."""


class Knowledge(Protocol):
    async def search(
        self, question: str, *, within: float, limit: int | None = None, sources: Sequence[str] | None = None,
        linked: bool = False,
    ) -> SearchHits:  # fmt: skip
        """
        Find the passages that bear on a question, as many as configured. An empty index says so in its findings.

        :param sources: look only into these documents; None: into all.
        :param linked: a passage of each document, and of those that the question or the best of them name by title.
        """


class Documents(Knowledge, Protocol):
    """Knowledge that stands in documents, as it is now."""

    async def find_named(self, text: str, *, within: float) -> NamedDocument | None:
        """The document that a text names by its file; None: it names none, or several alike. Raises `PortFailed`."""

    async def digest_sections(self, quotes: Sequence[tuple[str, str]], *, within: float) -> list[str]:
        """
        For each quote of a document a digest of the section that it stands in; empty where it stands nowhere any more.

        :raises PortFailed: they cannot be read now.
        """


class Recall(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What memory knows about a ticket like this one."""

    verdict: Literal["hit", "suggestion", "miss"]
    resolution: Resolution | None = None
    ticket_id: str = ""
    """The earlier ticket it comes from: the source that is shown."""
    why: str = ""
    """One sentence for the log and the trace."""
    rejected: tuple[str, ...] = ()
    """Texts of answers to this very ticket that a person called wrong: none of them may come again."""
    stale: str = ""
    """Why a suggestion is not to be repeated as it is, in one sentence: what it quotes is gone, say."""
    answered: str = ""
    """The day on which the earlier ticket was answered, as YYYY-MM-DD; empty: nobody knows."""
    vouched: bool = False
    """A person called the answer right, or a model judged it when it was given."""
    told: str = ""
    """`why`, for who wrote the ticket and in the ticket's language."""


class Memory(Protocol):
    async def recall(self, text: str, *, within: float) -> Recall:
        """Decide whether an earlier resolution answers this ticket."""

    async def store(self, key: str, ticket_id: str, text: str, resolution: Resolution, degraded: str = "") -> None:
        """
        Remember what solved a ticket, durably, before this returns. The same `key` again changes nothing.

        :param degraded: why no model made it although one is configured; empty: what is configured made it.
        """


class Tickets(Protocol):
    async def close(self, key: str, ticket_id: str, status: str, note: str) -> None:
        """Mark a ticket. The same `key` again changes nothing."""


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One accepted input of a run. What followed from it is replayed, so it need not be kept."""

    run: str
    n: int
    at: float
    """Seconds since the run began."""
    sender: str
    number: int
    event: Event


class Journal(Protocol):
    """Where accepted events become durable. All calls return at once and say `then` on the loop how it went."""

    def record(self, entry: Entry, then: Callable[[Exception | None], None]) -> None:
        """Keep one accepted event."""

    def finish(self, entry: Entry, outcome: Outcome, then: Callable[[Exception | None], None]) -> None:
        """Keep the last event together with the end that it led to; the ticket gets its status."""

    def keep(self, outcome: Outcome, events: int, then: Callable[[], None]) -> None:
        """
        Keep an end that is told before it is recorded: tried until it is, and never any other for its run.

        :param events: on how many it rests; what was written of later ones goes.
        :param then: is called once it would survive this process.
        """


class Search(Protocol):
    """All configured sources."""

    @property
    def names(self) -> tuple[str, ...]:
        """The sources that can be asked, the best first."""

    def prior(self, source: str) -> float:
        """How far a source is trusted to bring what was asked for, 0 to 1."""

    async def search(
        self, source: str, query: str, *, limit: int, within: float
    ) -> tuple[SearchResult | FailedSource, ...]:
        """
        Ask one source one query. Its limits on concurrency and rate are kept inside.

        A part of a source that did not answer, such as one of several feeds, is a `FailedSource` among the results.

        :raises PortFailed: with a sentence for the user.
        """


class Fetch(Protocol):
    """Reads what was found."""

    async def read(
        self,
        results: Sequence[SearchResult],
        *,
        wanted: int,
        query: str,
        within: float,
        done: Callable[[Page | FailedSource], None],
        arrived: Callable[[Page | FailedSource], None],
    ) -> None:
        """
        Read results in their order, several at once, until `wanted` pages are good or the time is up.

        The others are spares. `done` is called once for each that was tried, when that is durable. A page that fails
        is a `FailedSource`, never an exception; what was read before a crash is not fetched again. `arrived` is called
        as soon as something is there, whatever slower page stands before it: it may yet be a spare, or a duplicate.
        """


class Reading(Protocol):
    """Finds in what was read the passages that bear on a question."""

    async def passages(
        self, questions: Sequence[str], pages: Sequence[Page], *, within: float
    ) -> tuple[SearchHits, ...]:
        """
        For each question its findings, in order; every passage is of one of these pages.

        :raises PortFailed: with a sentence for the user.
        """


class Cases(Protocol):
    """Decided cases that this installation was given."""

    async def search(self, question: str, *, limit: int, within: float) -> FoundCases:
        """
        Cases that a question names, looked up, then those that bear on it, at most `limit` together.

        :raises PortFailed: with a sentence for the user.
        """


class Statutes(Protocol):
    """The laws that this installation was given."""

    async def search(
        self, question: str, *, within: float, on: str = "", limit: int = 8, fields: Mapping[str, float] | None = None
    ) -> FoundArticles:
        """
        The articles that a question names, looked up, then those that fit it best, in the version of a day.

        :param on: that day, ISO 8601; empty: the day that the question tells of, else today.
        :param fields: the fields of law that the question is of, each with how sure that is, 0 to 1; above 1 for one
            that is looked at by itself.
        :raises PortFailed: with a sentence for the user.
        """

    async def find_miscited(self, texts: Sequence[str], question: str, *, within: float) -> list[list[str]]:
        """
        Of each text the articles that it names and that are not there, or in force neither today nor when it counts.

        :param question: what the texts answer; the day that it tells of counts.

        :raises PortFailed: with a sentence for the user.
        """
