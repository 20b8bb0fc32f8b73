"""
What every front end calls, whatever the protocol: takes tickets and answers in once and durably,
waits for ends, shows progress.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec
import structlog

from actors.documents.template import Document
from actors.reporting.report import Report
from actors.workflow.outcome import AnswerRound, EndReason, GivenAnswer, Outcome, Question, RunEnded
from actors.workflow.progress import HEARTBEAT_SECONDS, ProgressEvent
from runtime.engine.event_feed import EventFeed, FeedEvent, number_of
from runtime.engine.node import Node, NoReport
from runtime.engine.run_record import Ended, Record, make_record
from runtime.engine.runs import Busy, Handle, RunHandle
from runtime.families import find as find_family
from runtime.families import writes_report
from runtime.knowledge.knowledge_index import find_source_files
from runtime.memory.ticket_memory import NotRemembered
from runtime.observe.trace_id import TRACE_DIGITS, make_trace_id
from runtime.program import command
from runtime.service_error import ServiceError
from runtime.settings import Settings
from runtime.storage.condition import Looks
from runtime.storage.damage import REMEDY, JournalDamaged
from runtime.storage.errors import StorageError, UnknownRun
from runtime.storage.port import nearest_ids
from runtime.storage.private import CHOOSE_ANOTHER, DATABASE
from runtime.storage.records import Action, Asked, NewRun, StoredRun
from runtime.tickets import Ticket, make_id_of_key, too_large
from runtime.user_text import display, nearest, safe, spell_out

log = structlog.get_logger()

ACCEPT_SECONDS = 30.0
"""How long a client waits for the disk."""
BUSY_SECONDS = 5.0
"""When a client may try again."""


class Submitted(NamedTuple):
    """The run of a ticket that is durable."""

    run: NewRun
    asked: Asked | None = None
    """What it asks, where the ticket is new: nobody need look for that."""


async def submit_durably(node: Node, ticket: Ticket, seen: int) -> Handle:
    """
    Wait until a ticket is durable. A client that goes away meanwhile changes nothing.

    :param seen: the latest run of the ticket that is known, by `seq`.
    :raises ServiceError: too many runs are going on, or the ticket was not written down.
    """
    task = asyncio.ensure_future(node.submit(ticket, seen=seen))
    await asyncio.wait([task], timeout=ACCEPT_SECONDS)
    try:
        if task.done():
            return task.result()
        error: Exception = TimeoutError(f"no commit in {ACCEPT_SECONDS:g} s")
    except Busy as busy:
        raise ServiceError(str(busy), "busy", retry_seconds=BUSY_SECONDS) from None
    except (StorageError, OSError) as failure:
        error = failure
    log.error("ticket.not_written", error=repr(error))
    raise write_failure() from error


def describe_new(handle: Handle, ticket: Ticket) -> Submitted | None:
    """The run of a ticket that came without an id, so that nobody has had it before; nothing of any other."""
    run = handle.new if isinstance(handle, RunHandle) and not ticket.id else None
    if run is None:
        return None
    log_accepted(run)
    return Submitted(run, Asked(ticket.text, ticket.subject, ticket.requester, run.started))


def log_accepted(run: NewRun) -> None:
    log.info("ticket.accepted", ticket=run.ticket, run=run.id, trace=run.trace[:TRACE_DIGITS])


def write_failure() -> ServiceError:
    """Says that a ticket may be lost."""
    return ServiceError(
        "The ticket could not be written down; send it again, under the same id or Idempotency-Key.", "unavailable",
        retry_seconds=BUSY_SECONDS,
    )  # fmt: skip


T = TypeVar("T")
Check = Callable[[StoredRun], Awaitable[None]]
LookAgain = Callable[[], Awaitable[None]]

TRIES = 3
"""How often a ticket is begun that others begin at the same time with other words."""


@contextlib.asynccontextmanager
async def open_service(settings: Settings, *, ready: bool = True) -> AsyncIterator["TicketService"]:
    """
    The service on the configured storage folder.

    :param ready: it takes tickets from the beginning.
    :raises ServiceError: also later, for whatever goes wrong with the storage.
    """
    place = f"{settings.storage.folder}/{DATABASE}"
    try:
        async with Node.open(settings) as node:
            service = TicketService(node)
            service.ready = ready
            yield service
    except UnknownRun as error:
        raise ServiceError(str(error), "not_found") from None
    except Busy as error:
        raise ServiceError(str(error), "busy") from None
    except JournalDamaged as error:
        raise ServiceError(f"{place}: {safe(str(error))}. {REMEDY}.", "failed") from error
    except StorageError as error:
        if not os.access(settings.storage.folder, os.W_OK):  # nor may root where the disk is read-only
            why = f"Nothing can be written below {settings.storage.folder}, which can only be read."
            raise ServiceError(f"{why} {CHOOSE_ANOTHER}", "failed") from error
        remedy = f"Check the disk; {command('doctor')} says more"
        raise ServiceError(f"The database {place} cannot be used: {error}. {remedy}.", "failed") from error


class TicketService:
    """One per process. It is `ready` once what was running has been resumed."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.looks = Looks(node, node.folder / DATABASE)
        self.ready = self.stopping = False
        self.streams = 0
        """Clients that listen."""
        self._waiting: set[asyncio.Future[Any]] = set()
        self.closed = False
        """It lets go of everybody who waits or watches."""
        self.feed = EventFeed(node.journal)

    def stop(self) -> None:
        """Take no more tickets; what runs goes on."""
        self.ready, self.stopping = False, True

    def close(self) -> None:
        """Let go of everybody who waits or watches."""
        self.ready = False
        self.closed = True
        for each in list(self._waiting):
            each.cancel()

    async def submit(
        self, ticket: Ticket, key: str = "", *, again: bool = False, check: Check | None = None
    ) -> Submitted:
        """
        Return once a ticket is durable; the same id or key again gives the same run.

        A key without an id becomes the ticket's id, so that what was accepted and under which key is one record.

        :param again: begin another run of a ticket whose run has ended.
        :param check: raises where whoever submits may not meet the run that has this id.
        """
        by_key = bool(key) and not ticket.id
        ticket = msgspec.structs.replace(
            ticket, id=make_id_of_key(key) if by_key else ticket.id, trace=ticket.trace or make_trace_id()
        )
        for _ in range(TRIES):
            latest = await self.node.journal.latest_of(ticket.id) if ticket.id else None
            if latest is not None and check is not None:
                await check(latest)
            over = latest is not None and latest.ended is not None
            if latest is not None and not (again and over) and self._answers(latest, ticket, by_key=by_key):
                return Submitted(await self._attend(latest))
            self.require_ready()
            seen = latest.seq if latest else 0
            handle = await submit_durably(self.node, ticket, seen)
            if (new := describe_new(handle, ticket)) is not None:
                return new
            # Another may have been faster, here or in another process, with the same id and other words.
            stored = await self.node.journal.run(handle.run)
            if check is not None:
                await check(stored)
            if self._answers(stored, ticket, by_key=by_key):
                log_accepted(stored)
                return Submitted(stored)
        raise write_failure()

    def require_ready(self) -> None:
        """:raises ServiceError: nothing can be taken in now, or it could not be written down."""
        stopping = "The server is stopping or not ready yet; send it again soon."
        if why := self.looks.loses() if self.ready else stopping:
            raise ServiceError(why, "unavailable", retry_seconds=BUSY_SECONDS)

    async def find(self, some_id: str) -> StoredRun:
        """
        A run, or the latest of a ticket.

        :raises ServiceError: there is none; it names the ids that may have been meant.
        """
        try:
            return await self.node.journal.find(some_id)
        except UnknownRun as error:
            near = await nearest_ids(self.node.journal.store, some_id)
            if not near:
                raise ServiceError(str(error), "not_found") from error
            meant = " or ".join(filter(None, (", ".join(near[:-1]), near[-1])))
            remedy = f"{command('status --search TEXT')} finds a ticket by its words"
            raise ServiceError(
                f"There is no ticket or run {display(some_id)}. Did you mean {meant}? {remedy}.", "not_found"
            ) from error

    async def describe(self, stored: StoredRun, asked: Asked | None = None) -> Record:
        """What is said of a run; one that nobody works on any more is interrupted."""
        gone = stored.ended is None and not self.node.owner.is_alive(stored.owner)
        return make_record(stored, asked or await self.read_question(stored), "interrupted" if gone else "")

    async def read_question(self, stored: StoredRun) -> Asked:
        """What a run was asked, and by whom."""
        return await self.node.journal.store.read_question(stored)

    async def read_both(self, run_id: str) -> tuple[StoredRun, Asked]:
        """A run and what it was asked, in one look: of thousands that wait for theirs each look counts."""
        journal, pending = self.node.journal, self.node.journal.pending.by_run()
        if (found := await journal.store.read_both(run_id)) is None:
            raise ServiceError(f"There is no run {run_id}.", "not_found")
        return journal.require(run_id, pending, found[0]), found[1]

    async def read_answer(self, stored: StoredRun) -> str:
        """What a run answered, if it did."""
        outcome = await self.node.journal.outcome(stored)
        return outcome.resolution.text if outcome and outcome.resolution else ""

    async def conclude(self, outcome: Outcome) -> Ended:
        """What came of a run that has ended."""
        stored, report = await self.node.journal.run(outcome.run), None
        if writes_report(outcome.workflow):
            with contextlib.suppress(NoReport, JournalDamaged):  # the outcome stands by itself
                report = await self.node.report(stored.ref)
        files = await find_source_files(self.node.folder, outcome.resolution)
        return Ended(outcome, await self.describe(stored), report, files=files)

    async def judgement(self, stored: StoredRun) -> str:
        """What a person said of the answer of a run: as `TicketMemory.judgement` names it; or nothing."""
        with contextlib.suppress(JournalDamaged):  # nobody can tell whose answer it was
            if not await self.node.is_remembered(stored):
                return ""
            ticket, case = await self.node.find_answered(stored)
            known = await self.node.memory.judgement(ticket, case.resolution.text if case.resolution else "")
            return known or _find_verdict((await self.read_question(stored)).actions)
        return ""

    async def report(self, some_id: str) -> Report | Document:
        """
        The report or the document of a run, or of the latest of a ticket.

        :raises ServiceError: there is no such run, or it has none.
        """
        stored = await self.find(some_id)
        try:
            return await self.node.document(stored) or await self.node.report(some_id)
        except NoReport as error:
            raise ServiceError(str(error), "not_found") from None

    async def feedback(
        self, stored: StoredRun, *, right: bool, places: Sequence[int] = (), for_all: bool = True
    ) -> tuple[StoredRun, str, int]:
        """
        Say whether an answer was right; `places`: the numbers of those places that were, of several that it shows.

        :param for_all: as `Node.feedback` has it.
        :returns: the run and the ticket whose answer it was (one from memory only repeats another's), and how many
            remembered answers it touched.
        :raises ServiceError: memory holds no answer of it, or it has to be said which place was right.
        """
        try:
            ticket, count = await self.node.feedback(stored.ref, right=right, places=places, for_all=for_all)
        except NotRemembered as error:
            raise ServiceError(str(error), "not_remembered") from None
        await self.node.runs.note("called right" if right else "called wrong", stored.id)
        if ticket != stored.ticket:
            with contextlib.suppress(UnknownRun):  # which may have come from elsewhere
                stored = await self.node.journal.find(ticket)
        return stored, ticket, count

    async def ticket(self, ticket_id: str) -> StoredRun:
        """The latest run of a ticket."""
        stored = await self.node.journal.latest_of(ticket_id)
        if stored is None:
            raise ServiceError(f"There is no ticket {ticket_id}.", "not_found")
        return await self._attend(stored)

    async def run(self, run_id: str) -> StoredRun:
        try:
            stored = await self.node.journal.run(run_id)
        except UnknownRun:
            raise ServiceError(f"There is no run {run_id}.", "not_found") from None
        return await self._attend(stored)

    async def _attend(self, stored: StoredRun) -> StoredRun:
        """A run as it is asked for: one that nobody runs goes on here, before anybody waits for it."""
        if stored.ended is None and self.ready:
            await self.node.runs.attend(stored)
        return stored

    async def outcome(self, run_id: str, seconds: float, look_again: LookAgain | None = None) -> Outcome | None:
        """
        How a run ended; nothing when it has not within some seconds, or this process ends before.

        :param look_again: asked at each heartbeat meanwhile; it raises where nobody may wait any longer.
        """
        waiting = self.wait_for((await self.handle(run_id)).outcome())
        until = asyncio.get_running_loop().time() + seconds
        try:
            while not waiting.done() and (left := until - asyncio.get_running_loop().time()) > 0:
                await asyncio.wait([waiting], timeout=min(left, HEARTBEAT_SECONDS))
                if look_again is not None and not waiting.done():
                    await look_again()
            return None if not waiting.done() or waiting.cancelled() else waiting.result()
        finally:
            waiting.cancel()

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Count a client that listens."""
        most = self.node.settings.server.max_streams
        if self.streams >= most:
            raise ServiceError(f"{most} clients listen already; try later.", "unavailable", retry_seconds=BUSY_SECONDS)
        self.streams += 1
        try:
            yield
        finally:
            self.streams -= 1

    async def handle(self, run_id: str) -> Handle:
        """A run, wherever it goes on."""
        return self.node.runs.here(run_id) or self.node.runs.follow(await self.node.journal.run(run_id))

    def wait_for(self, what: Awaitable[T]) -> "asyncio.Future[T]":
        """A wait that is cancelled when this process ends before."""
        waiting = asyncio.ensure_future(what)
        self._waiting.add(waiting)
        waiting.add_done_callback(self._waiting.discard)
        if self.closed:
            waiting.cancel()
        return waiting

    def _answers(self, stored: StoredRun, ticket: Ticket, *, by_key: bool) -> bool:
        """Whether this run is of this very ticket; one that has ended and is not gives way to another."""
        try:
            if self.node.is_same(stored, ticket):
                return True
        except JournalDamaged:
            if by_key:
                raise
            return False  # nobody can tell what it was: it begins anew
        if by_key:
            raise ServiceError(
                "This Idempotency-Key came with another ticket before. Use a new key for a new ticket.", "key_reused"
            )
        if stored.ended is None:
            raise ServiceError(
                f"Ticket {ticket.id} is being worked on with another text or order; wait for its end, or cancel it.",
                "conflict",
            )
        return False


def _find_verdict(actions: Sequence[Action]) -> str:
    """What was said last of a run, where memory does not know it: by somebody whose word is not for everybody."""
    verdicts = {"called right": "confirmed", "called wrong": "rejected"}
    return next((verdicts[each.what] for each in reversed(actions) if each.what in verdicts), "")


Sees = Callable[[set[str]], Awaitable[set[str]]]
"""Which of these runs a listener may know of."""


class Cursor(NamedTuple):
    """The numbered event that a listener heard last."""

    run: str
    number: int


class NumberedEvent(NamedTuple):
    """What happened on a run."""

    event: ProgressEvent
    number: int | None
    """Nothing for what no journal has: it is told again, or not, to whoever comes back."""
    is_new: bool = True
    """The listener has not heard it before."""


async def has_heard_all(desk: TicketService, stored: StoredRun, cursor: Cursor) -> bool:
    """Whether a run has ended, and a listener has heard that."""
    outcome = await desk.node.journal.outcome(stored)
    return outcome is not None and cursor.number >= (number_of(RunEnded(outcome=outcome)) or 0)


async def watch_run(
    desk: TicketService, run_id: str, after: int = -1, *, drafts: bool = True
) -> AsyncGenerator[NumberedEvent | None, None]:  # fmt: skip
    """
    What happened on a run and happens until it ends, new from an event of this number on; None when nothing does.

    :param drafts: answers' texts, too, while models write them.
    :raises WatcherTooSlow: more waits than is kept for one listener.
    """
    handle, at = await desk.handle(run_id), -1
    events = handle.watch(drafts=drafts, whole=True) if isinstance(handle, RunHandle) else desk.feed.follow(run_id)
    async with contextlib.aclosing(_with_heartbeat(desk, events)) as told:
        async for event in told:
            if event is None:
                yield None
                continue
            number = number_of(event)
            if isinstance(event, RunEnded):
                yield NumberedEvent(event, number)
                return
            if number is not None:
                if number <= at:
                    continue  # it was being written down when the past was asked for
                at = number
            yield NumberedEvent(event, number, at > after or (number is None and at == after))


async def watch_all(
    desk: TicketService, place: int, cursor: Cursor | None = None, sees: Sees | None = None
) -> AsyncGenerator[list[FeedEvent] | None, None]:
    """
    What the journal has of all runs after a place, but what a listener has heard; None when nothing happens.

    :param sees: which of them the listener may know of; nothing: all. A page of others alone is empty.
    """
    async with contextlib.aclosing(_with_heartbeat(desk, desk.feed.pages(place))) as pages:
        async for page in pages:
            if page is not None and sees is not None:
                seen = await sees({each.run for each in page})
                page = [each for each in page if each.run in seen]
            if page is None or cursor is None:
                yield page
            else:
                yield [each for each in page if each.run != cursor.run or each.number > cursor.number]


async def _with_heartbeat(desk: TicketService, events: AsyncGenerator[T, None]) -> AsyncGenerator[T | None, None]:
    """What comes, until this process ends or nothing comes any more, and None after some seconds without."""
    upcoming: asyncio.Future[T | None] | None = None
    try:
        while not desk.closed:
            upcoming = upcoming or desk.wait_for(anext(events, None))
            await asyncio.wait([upcoming], timeout=HEARTBEAT_SECONDS)
            if not upcoming.done():
                yield None
                continue
            if upcoming.cancelled() or (event := upcoming.result()) is None:
                return
            upcoming = None
            yield event
    finally:
        if upcoming is not None:
            upcoming.cancel()
            await asyncio.wait([upcoming])
        await events.aclose()  # the subscription ends with it


MOST_SHOWN = 5
"""How many open questions a sentence names."""


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """What a person answers, as it came in."""

    given: Mapping[str, str] = {}
    """By the questions' names."""
    text: str = ""
    """In free words, beside them or instead of them."""
    key: str = ""
    """The same again is the same; empty: the same words are."""


async def answer_ticket(service: TicketService, asking: StoredRun, answers: Answers, *, named: bool) -> StoredRun:
    """
    Go on with a ticket whose run asks something, once the answers are durable with its next run.

    The same answers again give the same run.

    :param asking: the run that was answered.
    :param named: the caller named this very run, so it is not just the latest of the ticket.
    :returns: the run that goes on, or went on, with these answers.
    :raises ServiceError: the ticket does not wait for answers, or these are none to its questions.
    """
    node = service.node
    latest = await node.journal.latest_of(asking.ticket) or asking
    earlier = node.journal.case(latest).answers
    if _is_repeated(earlier, asking.id if named else "", answers):
        return await service.run(latest.id)
    questions = await _read_questions(service, asking, latest)
    checked = check_answers(questions, answers, node.settings.run.ticket_kilobytes)
    service.require_ready()
    one = AnswerRound(asking.id, checked, answers.text.strip(), answers.key, tuple(each.ask for each in questions))
    ticket = await _make_ticket(service, latest, (*earlier, one))
    handle = await submit_durably(node, ticket, latest.seq)
    stored = await node.journal.run(handle.run)
    if node.journal.case(stored).answers != ticket.answers:
        raise ServiceError(
            f"{asking.ticket} was answered by somebody else at the same moment. "
            f"{command(f'status {asking.ticket}')} shows how it goes on.", "conflict",
        )  # fmt: skip
    log.info("ticket.answered", ticket=asking.ticket, run=stored.id, round=len(ticket.answers))
    return stored


async def _read_questions(service: TicketService, asking: StoredRun, latest: StoredRun) -> tuple[Question, ...]:
    """What a run asks, if it is the one that waits."""
    ticket, shown = latest.ticket, command(f"status {latest.ticket}")
    if latest.ended is None:
        raise ServiceError(f"{ticket} is being worked on and asks nothing now; {shown} shows where it is.", "conflict")
    outcome = await service.node.journal.outcome(latest)
    if outcome is not None and outcome.why is EndReason.ASKED_TOO_OFTEN:
        raise ServiceError(
            f"{ticket} was asked as often as may be. Submit it again, with all that {shown} says is missing.",
            "conflict",
        )
    if outcome is None or outcome.status != "needs_input":
        stands = spell_out(latest.status)
        raise ServiceError(f"{ticket} waits for no answers: it ended as {stands}; {shown} shows how.", "conflict")
    if asking.id != latest.id:
        raise ServiceError(
            f"Run {asking.id} was answered before, with other words; {shown} shows what came.", "conflict"
        )
    return outcome.questions


def _is_repeated(earlier: Sequence[AnswerRound], run: str, answers: Answers) -> bool:
    """
    Whether these answers are kept already.

    :param run: whose questions they answer; empty: the caller does not say, so they may be those of the last round.
    :raises ServiceError: their key came with others.
    """
    if answers.key and (known := next((each for each in earlier if each.key == answers.key), None)):
        if not _are_same(known, answers):
            raise ServiceError(
                "This Idempotency-Key came with other answers before. Use a new key for new answers.", "key_reused"
            )
        return True
    if answers.key and not run:
        return False
    of_run = [each for each in earlier if each.run == run] if run else earlier[-1:]
    return any(_are_same(each, answers) for each in of_run)


def _are_same(known: AnswerRound, answers: Answers) -> bool:
    given = {name: value.strip().casefold() for name, value in answers.given.items() if value.strip()}
    return given == {each.name: each.value.casefold() for each in known.given} and known.text == answers.text.strip()


async def _make_ticket(service: TicketService, latest: StoredRun, rounds: tuple[AnswerRound, ...]) -> Ticket:
    """The ticket as it was, with all that was answered."""
    asked, family = await service.read_question(latest), find_family(latest.workflow)
    options = family.options_of(service.node.journal.case(latest))
    return Ticket(
        text=asked.question, id=latest.ticket, subject=asked.subject, requester=asked.requester,
        workflow=latest.workflow, options=options, answers=rounds,
    )  # fmt: skip


def check_answers(questions: Sequence[Question], answers: Answers, kilobytes: int = 0) -> tuple[GivenAnswer, ...]:
    """
    The answers in the order of the questions; one that was left empty is none.

    :param kilobytes: how large all of them may be; 0: any size.
    :raises ServiceError: one answers nothing that was asked, or nothing answers a question that must be answered.
    """
    asked = {each.name: each for each in questions}
    for name in answers.given:
        if name not in asked:
            raise ServiceError(f"Nobody asked for {display(name)}. {nearest(name, asked)}")
    values = {name: _choose(asked[name], value.strip()) for name, value in answers.given.items() if value.strip()}
    everything = "".join((answers.text, *values.values()))
    if "\0" in everything:
        raise ServiceError("The answers hold the character U+0000, which is in no text. Remove it.")
    if kilobytes and len(everything.encode("utf-8", "surrogatepass")) > kilobytes * 1024:
        raise too_large("What was answered", kilobytes)
    if not answers.text.strip():
        _require_all(questions, values)
        if not answers.given:
            raise ServiceError("No question was answered. Answer one, or say in a text what is known.")
    return tuple(GivenAnswer(name, values[name]) for name in asked if name in values)


def _require_all(questions: Sequence[Question], values: Mapping[str, str]) -> None:
    missing = [each.name for each in questions if not each.optional and each.name not in values]
    if missing:
        more = f" and {len(missing) - MOST_SHOWN} more" if len(missing) > MOST_SHOWN else ""
        raise ServiceError(
            f"Still to be answered: {', '.join(missing[:MOST_SHOWN])}{more}. "
            "Answer each, or say in a text what is known."
        )


def _choose(question: Question, value: str) -> str:
    """An answer as the question has it, where it is one of several."""
    if not question.choices:
        return value
    for choice in question.choices:
        if choice.casefold() == value.casefold():
            return choice
    raise ServiceError(
        f"{display(value)} is none of the answers to {question.name}: {safe(', '.join(question.choices))}."
    )
