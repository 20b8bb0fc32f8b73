"""A helpdesk behind its adapter file: believed or not, understood, polled, read and written."""

import asyncio
import datetime
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from runtime.intake.adapter_file import AdapterFile, Call, Poll
from runtime.intake.events import HelpdeskEvent, HelpdeskTicket, Message
from runtime.intake.helpdesk_client import Answer, HelpdeskError, HelpdeskUnavailable
from runtime.intake.helpdesk_times import parse_time
from runtime.intake.html_text import write_html
from runtime.intake.payload_map import UnreadablePayload, read_event, read_events, read_tagger, read_ticket
from runtime.intake.queries import search
from runtime.intake.recordings import Recorder
from runtime.intake.signature import Refusal, answer_challenge, verify
from runtime.intake.templates import fill

MOST_PAGES = 20
"""Of one poll; the next one goes on behind them, where the helpdesk can be asked so."""
OVERLAP_SECONDS = 60.0
"""What was told shortly before the last poll is asked for again: clocks differ, and each event counts once."""
GONE = frozenset({404, 410})
"""Answers that say a ticket is not there any more; one that was deleted must not hold up the others."""
WriteKind = Literal["claim", "note", "reply", "status", "tag", "untag", "field", "assign"]


class Polled(NamedTuple):
    """What a poll found, and where the next one begins."""

    events: tuple[HelpdeskEvent, ...]
    cursor: str
    beyond: bool = False
    """There are tickets that neither this poll nor the next one reaches: the bound on pages lies before them."""


class Client(Protocol):
    """What carries out the calls of an adapter file."""

    async def run(self, calls: Mapping[str, Call], values: Mapping[str, Any]) -> dict[str, Answer]:
        """:raises HelpdeskError: one of them failed."""

    async def wait(self, seconds: float) -> bool | None:
        """Wait until something is new: whether it is; None: this helpdesk cannot be waited for."""

    async def close(self) -> None: ...


class Adapter:
    """One connected helpdesk. Close it."""

    def __init__(self, name: str, file: AdapterFile, client: Client, *, secret: str = "", bot: str = "") -> None:
        """
        :param name: in config.toml.
        :param secret: with which deliveries are signed.
        :param bot: the account that we write with, as the helpdesk names it in events and messages.
        """
        self.name, self.file, self.bot = name, file, bot
        self._client, self._secret = client, secret
        self.recorder: Recorder | None = None
        """Keeps what the helpdesk says, where somebody wants that."""

    async def close(self) -> None:
        await self._client.close()

    @property
    def has_secret(self) -> bool:
        """Whether a signature can be checked."""
        return bool(self._secret)

    def verify(self, headers: Mapping[str, str], body: bytes, now: float) -> Refusal:
        """Why a delivery is not believed; empty: it is."""
        return verify(self.file.signature, self._secret, headers, body, now)

    def answer_challenge(self, given: str) -> str:
        """The answer to a helpdesk that asks whether we know the secret; empty: it does not ask so."""
        return answer_challenge(self.file.signature, self._secret, given) if self._secret else ""

    def read_delivery(self, headers: Mapping[str, str], body: bytes) -> HelpdeskEvent:
        """
        What a delivery tells.

        :raises UnreadablePayload: it is no JSON, or does not say of which ticket.
        """
        try:
            decoded = msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError):
            raise UnreadablePayload("The delivery is no JSON.") from None
        known = {key.lower(): value for key, value in headers.items()}
        self._record("delivery", {"delivery": {"headers": known, "body": decoded}})
        return read_event(self.file, self.name, known, decoded)

    def _record(self, kind: str, value: Mapping[str, Any]) -> None:
        if self.recorder is not None:
            self.recorder.keep(kind, value)

    async def whose(self) -> str:
        """
        The account that the token is of; empty: there is no way to ask.

        :raises HelpdeskError: it could not be asked.
        """
        account = self.file.account
        if account is None:
            return ""
        answers = await self._client.run({"account": account.call}, {})
        found = search(account.bot, answers["account"])
        return "" if found is None else str(found)

    async def poll(self, cursor: str, pages: int = MOST_PAGES) -> Polled:
        """
        What happened since a cursor, as it told the last one, or as `make_cursor` makes it.

        :param pages: so many at most; the next poll goes on behind them.
        :raises HelpdeskError: it could not be asked.
        """
        poll = self.file.poll
        if poll is None:
            return Polled((), cursor)
        found: list[tuple[HelpdeskEvent, str]] = []
        start, page, last, more, is_cut = cursor, 1, 0, True, False
        since = _find_since(poll, cursor)
        kept: dict[str, Any] = dict.fromkeys(poll.call.keeps, "")
        for asked in range(1, pages + 1):
            try:
                answers = await self._client.run({"poll": poll.call}, {**kept, "cursor": start, "page": page})
            except HelpdeskUnavailable:
                if asked == 1:
                    raise
                is_cut = True
                break  # what the pages before it told is not to be asked for again
            answer = answers["poll"]
            if events := read_events(self.file, self.name, answer):
                self._record("poll", {"poll": answer})
            new = [each for each in events if (parse_time(each[1]) or math.inf) >= since]
            found += new
            if (said := search(poll.cursor, answer)) is not None:
                start = str(said)
            last = _count_pages(poll, answer) if asked == 1 else last
            page = page + 1 if not last else last if asked == 1 else page - 1
            more = page > 1 if last else search(poll.more, answer) is True and len(new) == len(events)
            if not more:
                break
            kept = {name: search(query, answer) for name, query in poll.call.keeps.items()}
        behind = _find_end(poll, [at for _, at in found if at], start)
        stays = more and (poll.newest_first or behind == cursor)
        return Polled(tuple(event for event, _ in found), cursor if stays else behind, stays and not is_cut)

    def make_cursor(self, since: float) -> str:
        """
        Where a poll begins that is to tell of a time and what came later, as far as the helpdesk can be asked so.

        :param since: Unix seconds.
        """
        at = datetime.datetime.fromtimestamp(since, datetime.UTC)
        minutes = math.ceil((time.time() - since) / 60)
        known = {
            "now": f"{at:%Y-%m-%dT%H:%M:%SZ}", "now_unix": str(int(since)), "minutes_ago": str(minutes),
            "day_before": f"{at - datetime.timedelta(days=1):%Y-%m-%d}",
        }  # fmt: skip
        return str(fill(self.file.poll.start, known)) if self.file.poll else ""

    async def probe(self) -> bool:
        """
        Ask whether what we write would be taken, and write nothing; false: there is no way to ask.

        :raises HelpdeskError: it would not.
        """
        if self.file.probe is None:
            return False
        await self._client.run({"probe": self.file.probe}, {})
        return True

    async def wait(self, seconds: float) -> bool | None:
        """
        Wait until something is new: whether it is; None: this helpdesk cannot be waited for.

        :raises HelpdeskError: it could not be asked.
        """
        return await self._client.wait(seconds)

    async def fetch(self, ticket: str) -> HelpdeskTicket:
        """
        How a ticket stands now; one that is gone is closed, and nobody wrote in it.

        :raises HelpdeskError: it could not be read.
        """
        try:
            answers = await self._client.run(self.file.fetch, {"ticket": ticket})
        except HelpdeskError as error:
            if error.status not in GONE:
                raise
            return HelpdeskTicket(id=ticket, closed=True)
        self._record("ticket", {"ticket": ticket, "fetch": answers})
        # Megabytes of messages, maybe as HTML, would hold the loop.
        return _assign_roles(await asyncio.to_thread(read_ticket, self.file, ticket, answers), self.bot)

    async def find_tagger(self, ticket: HelpdeskTicket, tag: str) -> str:
        """Who gave a ticket a tag, as the helpdesk names people; empty: it does not tell."""
        tagged = self.file.tagged
        if tagged is None:
            return ""
        try:
            answers = await self._client.run({"tagged": tagged.call}, {"ticket": ticket.id})
        except HelpdeskError:  # it lets us read tickets, and not who did what: that holds up no answer
            return ""
        return read_tagger(tagged.changes, answers["tagged"], tag)

    def can(self, what: WriteKind) -> bool:
        """Whether the helpdesk takes writing of a kind."""
        return bool(self._calls(what))

    async def write(self, what: WriteKind, ticket: HelpdeskTicket, values: Mapping[str, Any]) -> None:
        """
        Write to a ticket.

        :param ticket: as it was read: where the helpdesk compares versions, this one must still be its.
        :raises TicketChanged: it is not.
        :raises HelpdeskError: it was not written, or nobody knows.
        """
        calls = {str(number): call for number, call in enumerate(self._calls(what))}
        known = {
            "ticket": ticket.id, "version": ticket.version, "subject": ticket.subject, "requester": ticket.requester,
        }  # fmt: skip
        await self._client.run(calls, {**known, "html": write_html(str(values.get("text", ""))), **values})

    def _calls(self, what: WriteKind) -> tuple[Call, ...]:
        calls: tuple[Call, ...] = getattr(self.file.write, what)
        return calls


def _find_since(poll: Poll, cursor: str) -> float:
    """Unix seconds, before which nothing of a poll that begins with the newest is new."""
    return (parse_time(cursor) or 0.0) - OVERLAP_SECONDS if poll.newest_first else -math.inf


def _count_pages(poll: Poll, answer: Answer) -> int:
    """How many pages there are, where they are read from the end; else 0."""
    total = search(poll.total, answer)
    return math.ceil(total / poll.per_page) if isinstance(total, int) and poll.per_page else 0


def _find_end(poll: Poll, cursors: Sequence[str], start: str) -> str:
    """Where the next poll begins: at the latest time, or behind the last event."""
    if poll.cursor is not None or not cursors:
        return start
    return max(cursors, key=lambda each: parse_time(each) or 0.0) if poll.newest_first else cursors[-1]


def _assign_roles(ticket: HelpdeskTicket, bot: str) -> HelpdeskTicket:
    """Who wrote each message, where the helpdesk does not say it."""
    customer = ticket.requester or next((each.author for each in ticket.messages if each.author), "")

    def assign(message: Message) -> Message:
        if message.author and message.author == bot:
            return msgspec.structs.replace(message, role="bot")
        if message.role != "unknown":
            return message
        is_customer = not message.author or message.author == customer
        return msgspec.structs.replace(message, role="customer" if is_customer else "agent")

    return msgspec.structs.replace(ticket, messages=tuple(map(assign, ticket.messages)))
