"""One process of Terminus: its ports, its storage, and what may be asked of its runs."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

import runtime.observe.logs  # first: it keeps structlog from loading rich
from actors.documents.template import Document
from actors.evidence.claims import Citation, Resolution
from actors.evidence.confirmed_places import keep_places, shown_places
from actors.ports import Knowledge, PortFailed
from actors.reporting.report import Report
from actors.text.languages import guess_language
from actors.workflow.outcome import Outcome
from actors.workflow.tables import Case
from bus.turns import mark_tasks
from runtime import families
from runtime.agent_folder import load_roster
from runtime.embeddings.embedder import warm
from runtime.embeddings.providers import open_embedder
from runtime.engine.runs import Handle, RunHandle, Runs
from runtime.engine.wiring import Wiring
from runtime.families.limits import configure_all
from runtime.intake.writes import add_write_back
from runtime.knowledge.knowledge_index import KnowledgeIndex
from runtime.llm.model_choice import Models, chosen
from runtime.memory.ticket_memory import GivenAnswer, TicketMemory
from runtime.observe.recording import Recorders
from runtime.observe.run_trace import Traces
from runtime.plugins import use_files
from runtime.processes.pool import Workers
from runtime.program import command
from runtime.search.source import SourcePorts
from runtime.search.source_registry import Sources
from runtime.service_error import ServiceError
from runtime.settings import Settings, check
from runtime.storage.effects import SWEPT
from runtime.storage.errors import UnknownRun
from runtime.storage.journal import RunJournal
from runtime.storage.private import DATABASE, OWNERS, make_storage
from runtime.storage.records import StoredRun
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.effect_store import SqliteEffects
from runtime.storage.sqlite.integrity import check as check_integrity
from runtime.storage.sqlite.memory_store import SqliteMemory
from runtime.storage.sqlite.process_lock import ProcessLock
from runtime.storage.sqlite.recording_store import SqliteRecordings
from runtime.storage.sqlite.run_store import SqliteRuns
from runtime.storage.sqlite.schema import migrate
from runtime.tickets import Ticket, validate
from runtime.tools.tool_registry import load_tools
from runtime.tools.toolbox import Toolbox
from runtime.user_text import safe

if TYPE_CHECKING:
    from runtime.knowledge.indexing import IndexProgress, IndexReport


def check_choice(ticket: str, shown: Sequence[Citation], chosen: Sequence[int], *, right: bool) -> None:
    """
    Compare the numbers of the places that were chosen with those that an answer shows.

    :raises ServiceError: nothing was chosen of several, or what is not shown.
    """
    numbers = [each.number for each in shown]
    if chosen and not right:
        raise ServiceError("A place can only be named of an answer that was right.")
    if unknown := [each for each in chosen if each not in numbers]:
        has = f"it shows {', '.join(map(str, numbers))}" if numbers else "it shows none to choose from"
        raise ServiceError(f"The answer to {ticket} shows no place {unknown[0]}: {has}.")
    if len(numbers) > 1 and not chosen:
        raise ServiceError(
            f"The answer to {ticket} shows {len(numbers)} places: say which of them was right, with --place N on the "
            'command line or "places": [N] over HTTP.'
        )


class NoReport(PortFailed):
    """There is no report of this id. The text says why."""


class Node:
    """Everything a process needs to run tickets. Open it with `async with Node.open(settings) as node`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = make_storage(Path(settings.storage.folder))
        self.families = {family.name: family for family in families.FAMILIES}
        self.roster = load_roster(settings)
        self.flows = configure_all(self.families.values(), settings, self.roster)
        check_integrity(self.folder / DATABASE, self.folder / OWNERS, settings.storage.check_seconds)
        self.database = Database(self.folder / DATABASE, migrate=migrate)
        self.effects = SqliteEffects(self.database)
        self.owner = ProcessLock(self.folder / OWNERS)
        self.traces = Traces(redact=settings.trace.redact)
        self.recordings = SqliteRecordings(self.database)
        self.recorders = Recorders(self.recordings if settings.trace.replay else None)
        told = add_write_back(self.recorders.finish), self.traces.take, families.find_intent
        self.journal = self.tickets = RunJournal(SqliteRuns(self.database), self.flows, self.owner.slots, *told)
        self.workers = Workers(settings.workers.processes)
        self.embedder = open_embedder(settings, self.workers)
        self.documents = KnowledgeIndex(self.folder, self.workers, settings.knowledge, self.embedder)
        self.knowledge: Knowledge = self.documents
        self.memory = TicketMemory(
            SqliteMemory(self.database), self.workers, settings.memory, self.documents,
            has_model=chosen(settings.model) != "extractive", embedder=self.embedder,
        )  # fmt: skip
        self.tools = Toolbox(self, load_tools(settings))
        named = {name: spec.model for name, spec in self.roster.specs.items() if spec.model}
        self.models = Models(settings.model, self.tools, families.extractive(), named)
        self.wiring = Wiring(self)
        begin, most = self.wiring.begin, settings.server.max_runs
        self.runs = Runs(self.journal, self.owner, self.flows, begin, most, self.make_case)

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, settings: Settings) -> AsyncIterator[Self]:
        """
        Open what the settings say. Runs that have not ended when this closes stay in the journal, for `resume`.

        :raises ConfigError: a setting is out of its bounds.
        :raises PortFailed: the storage folder cannot be used.
        """
        check(settings)
        runtime.observe.logs.to_logging(settings)
        use_files(settings.plugins.modules)
        try:
            node = cls(settings)
        except OSError as error:
            what = f"The storage folder {safe(settings.storage.folder)} cannot be used: {error.strerror}"
            raise PortFailed(f"{what}. Mend it, or set [storage] folder to another.") from error
        with mark_tasks(asyncio.get_running_loop()):
            try:
                await node.effects.sweep(SWEPT)
                await node.runs.settle_dead()
                yield node
            finally:
                await node.close()

    async def warm(self) -> None:
        """Have the sentence model loaded in all worker processes, if there is one."""
        if self.embedder is not None:
            await warm(self.embedder, self.workers.size)

    async def close(self) -> None:
        """Stop at once what still runs, without an end."""
        await self.runs.close()
        await self.wiring.close()
        await self.documents.close()
        await self.models.close()
        await self.tools.close()
        if "sources" in self.__dict__:
            await self.sources.close()
            await self.sources.ports.client.close()
        await self.memory.close()
        if self.embedder is not None:
            await self.embedder.close()
        self.workers.close()
        self.database.close()
        self.journal.pending.close()
        self.owner.close(leaves=len(self.journal.pending) > 0)

    @cached_property
    def sources(self) -> Sources:
        """What can be searched besides the documents, with limits that hold for all runs of this process."""
        from runtime.crawl.http_client import Client  # most tickets search the documents only

        return Sources(SourcePorts(self.settings, self.knowledge, self.workers, Client(self.settings.fetch)))

    @property
    def live(self) -> int:
        """Runs in progress in this process."""
        return self.runs.live.count_open

    async def submit(self, ticket: Ticket, *, seen: int | None = None) -> Handle:
        """
        Return once the ticket is durable and its run has begun. A ticket whose run is going on is not run twice.

        :param seen: the latest run of the ticket that the caller knows of, by `seq`: a later one is the answer, too.
        :raises Busy: too many runs are going on.
        :raises ServiceError: there is no such workflow, or it takes no such options.
        """
        return await self.runs.submit(ticket, seen)

    def make_case(self, ticket: Ticket) -> Case:
        """
        What the run of a ticket begins with.

        :raises ServiceError: there is no such workflow, or it takes no such options.
        """
        family = families.find(ticket.workflow)
        if ticket.options is not None and type(ticket.options) is not family.options:
            takes = f"options of the type {family.options.__name__}" if family.options else "no options"
            raise ServiceError(f"A {family.label} takes {takes}, not {type(ticket.options).__name__}.")
        return msgspec.structs.replace(family.make_case(ticket, self.settings), answers=ticket.answers)

    def is_same(self, stored: StoredRun, ticket: Ticket) -> bool:
        """
        Whether a run is of this very ticket: of its workflow, with its words and its options.

        :raises JournalDamaged: nobody can tell what the run was asked.
        """
        case, family = self.journal.case(stored), families.find(ticket.workflow)
        return stored.workflow == ticket.workflow and family.order_of(case) == family.order_of(self.make_case(ticket))

    async def resume(self) -> list[Handle]:
        """Go on with every run whose process is gone."""
        return await self.runs.resume()

    async def restore(self) -> tuple[list[RunHandle], list[str]]:
        """Go on with what families keep of runs that the database does not know, and say so in a sentence on each."""
        handles, sentences = list[RunHandle](), list[str]()
        for family in self.families.values():
            if family.restore:
                begun, told = await family.restore(self)
                handles, sentences = handles + begun, sentences + told
        return handles, sentences

    async def status(self, some_id: str) -> tuple[StoredRun, Outcome | None]:
        """A run, or the latest of a ticket, and how it ended if it has."""
        stored = await self.journal.find(some_id)
        return stored, await self.journal.outcome(stored)

    async def report(self, some_id: str) -> Report:
        """
        The report of a run that has ended, if its family writes reports.

        :raises NoReport: it has none, or none yet.
        """
        stored = await self.journal.find(some_id)
        case, family = (await self.journal.fold(stored)).case, self.families[stored.workflow]
        if family.report is None:
            raise NoReport(f"{some_id} is a {family.label}; {command(f'status {some_id}')} shows it.")
        if (report := family.report(case)) is None:
            why = "has not ended yet" if stored.ended is None else "ended before there was anything to report"
            raise NoReport(f"The {family.label} {some_id} {why}; {command(f'status {some_id}')} shows where it stands.")
        return report

    async def document(self, stored: StoredRun) -> Document | None:
        """The document that a run has made so far, if its family makes any."""
        find = self.families[stored.workflow].document if stored.workflow in self.families else None
        return find((await self.journal.fold(stored)).case) if find else None

    async def cancel(self, some_id: str) -> bool:
        """Cancel a run, wherever it goes on; false when it has ended already."""
        return await self.runs.cancel(some_id)

    async def feedback(
        self, some_id: str, *, right: bool, places: Sequence[int] = (), for_all: bool = True
    ) -> tuple[str, int]:
        """
        Say whether a ticket's resolution was right.

        :param places: the numbers of the places that were right, of an answer that shows several: it keeps only them.
        :param for_all: whoever says so decides about others' tickets, too; else nobody's answer is changed by it, but
            the ticket's own is remembered no more where it was called wrong, unless somebody else has judged it.
        :returns: the ticket whose answer it was (one from memory only repeats another's), and how many it touched.
        :raises ServiceError: several are shown and none is named, or one that is not shown; or memory keeps no such
            answers.
        """
        stored = await self.journal.find(some_id)
        text_of = self._find_remembered_text(stored)
        ticket, case = await self.find_answered(stored)
        if not text_of(case):  # memory holds the answer to another question of this ticket
            return ticket, 0
        shown = await self.find_places(stored) if right else ()
        check_choice(ticket, shown, places, right=right)
        if not for_all:
            return stored.ticket, 0 if right else await self.memory.withdraw(stored.ticket)
        if len(shown) > 1:
            _, text, answer = await self._find_given(stored)
            await self.memory.confirm(ticket, text, keep_places(answer, places, guess_language(text)))
            return ticket, 1
        said = (text_of(case), case.resolution) if case.resolution and ticket == stored.ticket else None
        return ticket, await self.memory.feedback(ticket, right, said)

    def _find_remembered_text(self, stored: StoredRun) -> Callable[[Case], str]:
        """
        What of a case memory keeps as its ticket's text.

        :raises ServiceError: it keeps no answers to such tickets.
        """
        family = self.families[stored.workflow]
        if family.remembered_text is None:
            raise ServiceError(f"{stored.ticket} is a {family.label}: only answers to helpdesk tickets are remembered.")
        return family.remembered_text

    async def is_remembered(self, stored: StoredRun) -> bool:
        """Whether memory keeps the answer of a run: its family has one, and its question is no follow-up."""
        text_of = self.families[stored.workflow].remembered_text
        return text_of is not None and bool(text_of(self.journal.case(stored)))

    async def find_places(self, stored: StoredRun) -> tuple[Citation, ...]:
        """The places that a run's answer shows; where these are several, who calls it right has to name one."""
        if not await self.is_remembered(stored) or await self.memory.is_taught(stored.ticket):
            return ()
        return shown_places(await self._read_answer(stored))

    async def _read_answer(self, stored: StoredRun) -> Resolution:
        outcome = await self.journal.outcome(stored)
        return outcome.resolution if outcome and outcome.resolution else Resolution("")

    async def find_answered(self, stored: StoredRun) -> tuple[str, Case]:
        """The ticket whose remembered answer a run gave, unless a person has answered its own since; and its case."""
        case: Case = (await self.journal.fold(stored)).case
        if await self.memory.is_taught(stored.ticket):
            return stored.ticket, case
        return self.families[stored.workflow].answered_by(case), case

    async def _find_given(self, stored: StoredRun) -> GivenAnswer:
        """The answer of a run, and the ticket that it is remembered for."""
        ticket, case = await self.find_answered(stored)
        if ticket != stored.ticket:
            with contextlib.suppress(UnknownRun):  # it may have come from elsewhere
                case = (await self.journal.fold(await self.journal.find(ticket))).case
        return GivenAnswer(ticket, self._find_remembered_text(stored)(case), await self._read_answer(stored))

    async def teach(self, some_id: str, answer: str, person: str = "", *, edits: bool = False) -> str:
        """
        Give a ticket a person's answer: the same ticket, and later similar ones, get it word for word.

        :param person: who gives it, where that is known.
        :param edits: these are other words for the run's own answer, and rest on what that rests on.
        :returns: the answer as it is kept.
        :raises ServiceError: it is empty, too large, or to a ticket whose answers memory does not keep.
        """
        if not answer.strip():
            raise ServiceError("The answer is empty. Write what solved the ticket.")
        given = validate(Ticket(text=answer, requester=person), "The answer", self.settings.run.ticket_kilobytes)
        stored = await self.journal.find(some_id)
        text = self._find_remembered_text(stored)((await self.journal.fold(stored)).case)
        if not text:
            raise ServiceError(
                f"The question of {stored.ticket} is a follow-up: memory keeps answers to first questions only. "
                "Answer it in the helpdesk."
            )
        edited = await self._find_given(stored) if edits else None
        await self.memory.teach(stored.ticket, text, given.text, " ".join(person.split()), edited)
        await self.runs.note("taught", stored.id)
        return given.text

    async def index(
        self, folders: Sequence[str], progress: "Callable[[IndexProgress], None]" = lambda _: None,
        *, words_only: bool = False,
    ) -> "IndexReport":  # fmt: skip
        """
        Read folders of documents into the knowledge base; `PortFailed` where one, or the index, cannot be used.

        :param words_only: return when they can be found by their words, and leave the vectors to somebody else.
        """
        from runtime.knowledge.indexing import index  # the readers: a ticket needs none

        embedder = None if words_only else self.embedder
        return await index(folders, self.folder, self.workers, self.settings.knowledge, progress, embedder)
