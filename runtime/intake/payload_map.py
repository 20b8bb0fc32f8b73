"""What a payload says, by the expressions of an adapter file. Whatever it holds, only bounded texts come of it."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import msgspec

from runtime.intake.adapter_file import AdapterFile, TicketMap
from runtime.intake.events import Attachment, EventKind, HelpdeskEvent, HelpdeskTicket, Message, Role
from runtime.intake.html_text import read_text
from runtime.intake.queries import search

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
