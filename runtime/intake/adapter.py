"""A helpdesk behind its adapter file: believed or not, understood, polled, read and written."""

import asyncio
import datetime
import math
import re
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, get_args

import msgspec

from runtime.intake.adapter_file import (
    AdapterFile,
    Call,
    Poll,
    Refusal,
    TicketMap,
    answer_challenge,
    fill,
    search,
    verify,
)
from runtime.intake.events import Attachment, EventKind, HelpdeskEvent, HelpdeskTicket, Message, Role, parse_time
from runtime.intake.helpdesk_client import Answer, HelpdeskError, HelpdeskUnavailable
from runtime.intake.html_text import read_text, write_html
from runtime.processes.atomic_files import write_bytes
from runtime.storage.private import make_folder

FOLDER = "helpdesk-recordings"
"""In the storage folder; a folder in it is a connection that is recorded."""
MOST_FILES = 50
FILE_BYTES = 1_000_000
HIDDEN = "***"
SECRET_CHARACTERS = 6
"""Shorter ones stand in too many words by chance."""
SECRET_KEY = re.compile(r"token|secret|password|authorization|cookie|signature|api[-_]?key|hmac", re.IGNORECASE)


class Recorder:
    """Of one connection; while its folder is there, what comes is kept in it."""

    def __init__(self, storage: str | Path, name: str, secrets: tuple[str, ...] = ()) -> None:
        """:param secrets: texts that are hidden wherever they stand."""
        self.folder = Path(storage) / FOLDER / name
        self._secrets = tuple(each for each in secrets if len(each) >= SECRET_CHARACTERS)

    def start(self) -> Path:
        """
        Keep what comes from now on, in the folder that is returned.

        :raises OSError: it cannot be made.
        """
        return make_folder(self.folder)

    def keep(self, kind: str, value: Mapping[str, Any]) -> Path | None:
        """Keep something, if that is wanted and there is room; where, else None."""
        try:
            known = [each.name for each in self.folder.iterdir()]
        except OSError:
            return None
        content = msgspec.json.format(msgspec.json.encode(hide_secrets(value, self._secrets)), indent=2)
        if len(known) >= MOST_FILES or len(content) > FILE_BYTES:
            return None
        numbers = (each.partition("-")[0] for each in known)
        last = max((int(each) for each in numbers if each.isdecimal()), default=0)  # older ones may be gone
        path = self.folder / f"{last + 1:02}-{kind}.json"
        write_bytes(path, content)
        return path


def hide_secrets(value: Any, secrets: tuple[str, ...]) -> Any:
    """The same, with what is called like a secret, or is one, made unreadable; what it is called stays."""
    if isinstance(value, Mapping):
        return {
            key: HIDDEN if SECRET_KEY.search(str(key)) and isinstance(each, str) else hide_secrets(each, secrets)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [hide_secrets(each, secrets) for each in value]
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, HIDDEN)
    return value


ID_CHARACTERS = 200
TEXT_CHARACTERS = 100_000
MOST_MESSAGES = 500
MOST_TAGS = 100
MOST_CHANGES = 1_000
"""Of a ticket's tags."""
MOST_ATTACHMENTS = 20
ATTACHMENT_CHARACTERS = 10_000
"""Of each that is text."""
ROLES: tuple[Role, ...] = get_args(Role)
KINDS: tuple[EventKind, ...] = get_args(EventKind)


class UnreadablePayload(Exception):
    """A payload does not say what it has to. One sentence."""


def read_event(adapter: AdapterFile, source: str, headers: Mapping[str, str], body: Any) -> HelpdeskEvent:
    """
    What a delivery tells.

    :param headers: by names in lower case.
    :raises UnreadablePayload: it does not say of which ticket, or has nothing to know it again by.
    """
    payload = {"headers": dict(headers), "body": body}
    queries = adapter.event
    found = {
        name: search(query, payload) for name, query in {
            "id": queries.id, "kind": queries.kind, "ticket": queries.ticket, "actor": queries.actor,
            "message_id": queries.message_id, "automatic": queries.automatic,
        }.items()
    }  # fmt: skip
    if queries.id is None:
        found["id"] = uuid.uuid4().hex
    return _make_event(source, found)


def read_events(adapter: AdapterFile, source: str, answer: Mapping[str, Any]) -> list[tuple[HelpdeskEvent, str]]:
    """What a poll found, each with the cursor behind it; what cannot be read is left out."""
    if adapter.poll is None:
        return []
    found = search(adapter.poll.events, answer)
    events = []
    for each in found if isinstance(found, list) else ():
        if isinstance(each, Mapping):
            try:
                events.append((_make_event(source, each), _as_text(each.get("cursor"), ID_CHARACTERS)))
            except UnreadablePayload:
                continue
    return events


def read_ticket(adapter: AdapterFile, ticket: str, answers: Mapping[str, Any]) -> HelpdeskTicket:
    """
    How a ticket stands.

    :param answers: by the names of the calls that fetched it, each `{status, headers, body}`.
    """
    queries: TicketMap = adapter.ticket

    def find(query: str | None, most: int = ID_CHARACTERS) -> str:
        return _as_text(search(query, answers), most)

    listed = search(queries.messages, answers)
    messages = _make_messages(listed if isinstance(listed, list) else [])
    tags = search(queries.tags, answers)
    return HelpdeskTicket(
        id=ticket, subject=find(queries.subject, 1_000), status=find(queries.status),
        closed=search(queries.closed, answers) is True, queue=find(queries.queue), category=find(queries.category),
        requester=find(queries.requester), assignee=find(queries.assignee), due=find(queries.due),
        version=find(queries.version), messages=tuple(messages[-MOST_MESSAGES:]),
        tags=tuple(_as_text(each, ID_CHARACTERS) for each in tags[:MOST_TAGS]) if isinstance(tags, list) else (),
    )  # fmt: skip


def read_tagger(query: str, answer: Mapping[str, Any], tag: str) -> str:
    """Who was the last to give a ticket a tag, by an expression as `Tagged.changes` is; empty: nobody is named."""
    found = search(query, answer)
    changes = [each for each in found[-MOST_CHANGES:] if isinstance(each, Mapping)] if isinstance(found, list) else []
    for each in reversed(changes):
        if tag in _list_tags(each.get("tags")) and tag not in _list_tags(each.get("before")):
            return _as_text(each.get("by"), ID_CHARACTERS)
    return ""


def _list_tags(value: Any) -> list[str]:
    """Tags as a helpdesk tells them: a list, or one text with blanks between them."""
    if isinstance(value, list):
        return [_as_text(each, ID_CHARACTERS) for each in value[:MOST_TAGS]]
    return _as_text(value, TEXT_CHARACTERS).split()


def _make_event(source: str, found: Mapping[str, Any]) -> HelpdeskEvent:
    ticket, name = _as_text(found.get("ticket"), ID_CHARACTERS), _as_text(found.get("id"), ID_CHARACTERS)
    if not ticket.strip(".") or not name:
        missing = "of which ticket it is" if not ticket.strip(".") else "an id of its own"
        raise UnreadablePayload(f"The delivery does not say {missing}.")
    kind = found.get("kind")
    return HelpdeskEvent(
        source=source, id=name, ticket=ticket, kind=kind if kind in KINDS else "other",
        actor=_as_text(found.get("actor"), ID_CHARACTERS), automatic=found.get("automatic") is True,
        message_id=_as_text(found.get("message_id"), ID_CHARACTERS), at=_as_text(found.get("at"), ID_CHARACTERS),
    )  # fmt: skip


def _make_messages(listed: Sequence[Any]) -> list[Message]:
    """The messages of a list; those of one id are parts of one."""
    made: dict[str, Message] = {}
    for number, each in enumerate(listed):
        if isinstance(each, Mapping):
            message = _make_message(each)
            known = made.get(message.id)
            made[message.id or f"#{number}"] = _join(known, message) if known else message
    return list(made.values())


def _join(known: Message, part: Message) -> Message:
    attachments = (*known.attachments, *part.attachments)[:MOST_ATTACHMENTS]
    return msgspec.structs.replace(known, text=known.text or part.text, attachments=attachments)


def _read_attachments(found: Mapping[str, Any]) -> tuple[Attachment, ...]:
    """The files of a message: those that it lists, or itself, where it has a file's name."""
    listed = found.get("attachments")
    files = listed if isinstance(listed, list) else [{"name": found.get("file"), "text": found.get("text")}]
    named = [
        Attachment(name=name, text=_as_text(each.get("text"), ATTACHMENT_CHARACTERS))
        for each in files[:MOST_ATTACHMENTS]
        if isinstance(each, Mapping) and (name := " ".join(_as_text(each.get("name"), ID_CHARACTERS).split()))
    ]
    return tuple(named)


def _make_message(found: Mapping[str, Any]) -> Message:
    role, is_file = found.get("role"), bool(_as_text(found.get("file"), ID_CHARACTERS))
    text = "" if is_file else _as_text(found.get("text"), TEXT_CHARACTERS)
    if not text.strip() and not is_file:
        text = read_text(_as_text(found.get("html"), TEXT_CHARACTERS * 5))
    return Message(
        id=_as_text(found.get("id"), ID_CHARACTERS), author=_as_text(found.get("author"), ID_CHARACTERS),
        role=role if role in ROLES else "unknown", public=found.get("public") is not False,
        text=text, attachments=_read_attachments(found), at=_as_text(found.get("at"), ID_CHARACTERS),
        message_id=_as_text(found.get("message_id"), ID_CHARACTERS).strip("<>"),
    )  # fmt: skip


def _as_text(value: Any, most: int) -> str:
    if isinstance(value, bool) or value is None or not isinstance(value, str | int | float):
        return ""
    return str(value)[:most]


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
