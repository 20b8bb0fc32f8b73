"""How one kind of helpdesk is spoken to, as a TOML file says it. A wrong file is refused with its place."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from runtime.intake.queries import AdapterError, compile_query
from runtime.intake.signature import SignatureRule
from runtime.intake.templates import find_names

PRESETS = Path(__file__).parent / "presets"
"""A file a system, named as the system is."""
FILE_BYTES = 64_000
Query = Annotated[str, Meta(min_length=1, max_length=2_000)]
"""A JMESPath expression, with the functions of runtime/intake/queries.py."""
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
CONNECTION = frozenset({"token", "user", "bot", "origin", "client", "client_secret"})
"""What config.toml says of a connection, for any call."""
TICKET = CONNECTION | {"ticket", "version", "subject", "requester"}
WRITES = TICKET | {
    "text",
    "html",
    "key",
    "run",
    "status",
    "tag",
    "tags",
    "tag_list",
    "field",
    "value",
    "person",
    "now",
    "message",
}
SINCE = frozenset({"day_before", "now", "now_unix", "minutes_ago"})
"""When a first poll begins: a day, ISO 8601, Unix seconds, and minutes before now."""


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file."""


class Call(Table, frozen=True, kw_only=True):
    """One request. Places such as `{ticket}` are filled: runtime/intake/templates.py."""

    method: Method = "GET"
    path: Annotated[str, Meta(min_length=1, max_length=1_000, pattern="^/")]
    """Behind the address of config.toml."""
    query: dict[str, str] = {}
    """What becomes empty is not sent."""
    headers: dict[str, str] = {}
    json: Any = None
    """The body; null: there is none."""
    accepts: tuple[int, ...] = (200, 201, 202, 204)
    """Statuses with which it was done."""
    succeeds: Query | None = None
    """True of an answer `{status, headers, body}` that says it was done, where the status alone lies."""
    keeps: dict[str, Query] = {}
    """Of the answer, and of what was filled in (`values`), by names: places of the calls behind this one."""
    conflicts: tuple[int, ...] = (409, 412)
    """Statuses that say: the ticket has changed since it was read."""
    when: Query | None = None
    """Of the values of its places: made only where this is true."""


class EventMap(Table, frozen=True, kw_only=True):
    """Where a delivery `{headers, body}` says what; each a JMESPath expression that gives a text, or nothing."""

    id: Query | None = None
    """Without it each delivery counts, also when it comes again."""
    kind: Query
    """It gives `created`, `replied`, or anything else, which starts nothing."""
    ticket: Query
    actor: Query | None = None
    message_id: Query | None = None
    automatic: Query | None = None


class TicketMap(Table, frozen=True, kw_only=True):
    """Where the answers `{NAME: {status, headers, body}}` of the calls that fetch a ticket say what."""

    subject: Query
    status: Query
    closed: Query
    messages: Query
    """
    It gives a list of `{id, author, role, public, text, html, file, at, message_id, attachments}`, the oldest first.
    `html` is read where there is no `text`; entries of one id are parts of one message, those with `file`, a name, are
    attached to it; `attachments` are `{name, text}`.
    """
    queue: Query | None = None
    category: Query | None = None
    requester: Query | None = None
    assignee: Query | None = None
    tags: Query | None = None
    due: Query | None = None
    version: Query | None = None


class Poll(Table, frozen=True, kw_only=True):
    """How to ask what happened since a cursor."""

    call: Call
    """`{cursor}`, `{page}` and what the page before `keeps` are filled; the first cursor is `start`."""
    start: str = "0"
    """
    `{now}`, `{now_unix}` and `{minutes_ago}`: a time a little before the helpdesk was connected; `{day_before}`: the
    day before, for systems that read times in a zone of their own.
    """
    cursor: Query | None = None
    """Of the answer: where the next page begins, and the next poll; without it, those of the events say it."""
    events: Query
    """
    Of the answer `{status, headers, body}`: a list of `{id, kind, ticket, actor, message_id, automatic, cursor, at}`.
    `at`: when something was last written to the ticket; what is older than the connection is not fetched then.
    """
    more: Query | None = None
    """True: there is a next page."""
    newest_first: bool = False
    """
    The ticket of the latest `cursor`, which is a time then, comes first: pages behind those that tell of something
    since the last poll are not asked for.
    """
    total: Query | None = None
    """
    Of the first page's answer, where tickets come oldest first and none can be asked for by a time: how many there are,
    `per_page` a page. Behind the first page the last ones are read, from the end, for the newest are there.
    """
    per_page: Annotated[int, Meta(ge=0, le=10_000)] = 0


class Writes(Table, frozen=True, kw_only=True):
    """How something is written to a ticket: calls one behind the other. What is missing, the system cannot do."""

    claim: tuple[Call, ...] = ()
    """Done before a public reply; refused when the ticket has changed since it was read."""
    note: tuple[Call, ...] = ()
    """`{text}`, only for the people of the helpdesk."""
    reply: tuple[Call, ...] = ()
    """`{text}`, to the customer."""
    status: tuple[Call, ...] = ()
    tag: tuple[Call, ...] = ()
    untag: tuple[Call, ...] = ()
    """`{tag}` is taken off; `{tags}` are those that stay, a list, and `{tag_list}` the same with commas between."""
    field: tuple[Call, ...] = ()
    assign: tuple[Call, ...] = ()
    """To `{person}`."""


SIGNS: tuple[Literal["#", "!", "@"], ...] = ("#", "!", "@")
"""Of references: a system that does not say which it reads may read all of them."""


class Account(Table, frozen=True, kw_only=True):
    """How to ask whose the token is."""

    call: Call
    bot: Query
    """Of the answer `{status, headers, body}`: the account, as `bot` in a connection has to name it."""


class Tagged(Table, frozen=True, kw_only=True):
    """How to ask who gave a ticket its tags."""

    call: Call
    changes: Query
    """
    Of the answer `{status, headers, body}`: a list of `{tags, before, by}`, the oldest first: which tags a ticket had
    after a change and before it, as a list or a text with blanks between them, and whose change it was.
    """


class TokenCall(Table, frozen=True, kw_only=True):
    """How a token for the calls is got, by OAuth 2."""

    path: Annotated[str, Meta(min_length=1, max_length=1_000, pattern="^/")]
    form: dict[str, str]


class Setup(Table, frozen=True, kw_only=True):
    """What a person is told who connects such a helpdesk."""

    url: str
    """An example of its address; what stands behind the host is part of it."""
    bot: str
    """An example of an account, as the helpdesk names it in tickets."""
    smtp: str = ""
    """An example, where mails are sent."""
    user: str = ""
    client: str = ""
    """Examples, where a connection needs them."""
    steps: tuple[str, ...] = ()
    """What is to be done in the helpdesk, a sentence each; `{name}` is the connection's, `{NAME}` it in capitals."""


class AdapterFile(Table, frozen=True, kw_only=True):
    """All of a file."""

    title: Annotated[str, Meta(min_length=1, max_length=100)]
    setup: Setup | None = None
    account: Account | None = None
    signature: SignatureRule
    headers: dict[str, str] = {}
    """Of every call; secrets are places here, too."""
    auth: Literal["headers", "basic", "basic_token"] = "headers"
    """`basic`: user and token of config.toml, by HTTP; `basic_token`: the token as user name, and no password."""
    oauth: TokenCall | None = None
    """Calls bear the token that this gives, instead of that of config.toml."""
    event: EventMap
    fetch: dict[str, Call]
    """Calls by names, in their order; what one `keeps` is a place of those behind it."""
    ticket: TicketMap
    poll: Poll | None = None
    tagged: Tagged | None = None
    probe: Call | None = None
    """It fails where what is written would not be taken, and writes nothing."""
    write: Writes = Writes()
    open_status: str = ""
    solved_status: str = ""
    references: tuple[Literal["#", "!", "@"], ...] = SIGNS
    """The signs with which it reads texts: `#12` and `!12` as another ticket, `@name` as a person to tell."""


def list_systems(folder: Path = PRESETS) -> list[str]:
    """The systems that ship."""
    return sorted(each.stem for each in folder.glob("*.toml"))


def load_tables(system: str, beside: Path, folder: Path = PRESETS) -> dict[str, Any]:
    """
    The tables of a system's file: of one that ships, by its name, or of a file of somebody's own.

    :param beside: the folder from which a path is meant.
    :raises AdapterError: there is none.
    """
    shipped = list_systems(folder)
    path = folder / f"{system}.toml" if system in shipped else beside / system
    try:
        with path.open("rb") as file:
            text = file.read(FILE_BYTES + 1)
    except OSError:
        known = ", ".join(shipped)
        raise AdapterError(f"There is no helpdesk system {system!r}: it is one of {known}, or a TOML file.") from None
    if len(text) > FILE_BYTES:
        raise AdapterError(f"{path} is larger than {FILE_BYTES // 1000} kB.")
    try:
        return tomllib.loads(text.decode())
    except ValueError as error:
        raise AdapterError(f"{path}: {str(error).rstrip('.')}.") from None


def read_adapter(tables: Mapping[str, Any], name: str) -> AdapterFile:
    """
    Read the tables of a file.

    :param name: for the sentence that says what is wrong.
    :raises AdapterError: something in them is wrong; the sentence names the place.
    """
    try:
        adapter = msgspec.convert(tables, AdapterFile)
        _check(adapter)
    except (AdapterError, msgspec.ValidationError) as error:
        raise AdapterError(f"{name}: {str(error).rstrip('.')}.") from None
    return adapter


def _check(adapter: AdapterFile) -> None:
    """Whether every expression is one, and every place will have a value."""
    for table in (adapter.event, adapter.ticket):
        for query in msgspec.structs.asdict(table).values():
            if query is not None:
                compile_query(query)
    if adapter.poll is not None:
        _check_poll(adapter.poll)
    if adapter.oauth is not None and (unknown := find_names(adapter.oauth.form) - CONNECTION):
        raise AdapterError(f"oauth: nothing is called {{{min(unknown)}}} there.")
    if adapter.account is not None:
        compile_query(adapter.account.bot)
        _check_calls("account", [adapter.account.call], CONNECTION)
    if adapter.probe is not None:
        _check_calls("probe", [adapter.probe], CONNECTION)
    if adapter.tagged is not None:
        compile_query(adapter.tagged.changes)
        _check_calls("tagged", [adapter.tagged.call], CONNECTION | {"ticket"})
    _check_calls("fetch", list(adapter.fetch.values()), CONNECTION | {"ticket"})
    for name, calls in msgspec.structs.asdict(adapter.write).items():
        _check_calls(f"write.{name}", calls, WRITES)
    if unknown := find_names(adapter.headers) - CONNECTION:
        raise AdapterError(f"headers: nothing is called {{{min(unknown)}}}.")


def _check_poll(poll: Poll) -> None:
    for query in filter(None, (poll.events, poll.more, poll.cursor, poll.total)):
        compile_query(query)
    if (poll.total is None) != (poll.per_page == 0):
        raise AdapterError("poll: total and per_page go together")
    if unknown := find_names(poll.start) - SINCE:
        raise AdapterError(f"poll.start: nothing is called {{{min(unknown)}}} there.")
    _check_calls("poll", [poll.call], CONNECTION | {"cursor", "page"} | poll.call.keeps.keys())


def _check_calls(place: str, calls: list[Call] | tuple[Call, ...], known: frozenset[str]) -> None:
    for call in calls:
        named = find_names([call.path, call.query, call.headers, call.json])
        if unknown := named - known:
            raise AdapterError(f"{place}: nothing is called {{{min(unknown)}}} there.")
        for query in filter(None, (call.succeeds, call.when, *call.keeps.values())):
            compile_query(query)
        known = known | call.keeps.keys()
