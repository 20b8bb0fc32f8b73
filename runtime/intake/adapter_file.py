"""
How one kind of helpdesk is spoken to, as a TOML file says it. A wrong file is refused with its
place.

Calls are templates whose values go into whole leaves of JSON, segments of a path or headers; what a
payload says is found by JMESPath; a delivery is believed by its signature or its secret.
"""

import base64
import contextlib
import datetime
import functools
import hashlib
import hmac
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

import msgspec
from msgspec import Meta

from runtime.intake.html_text import read_text

PLACE = re.compile(r"\{([a-z_]+)(:number)?\}")
"""`{status:number}`, alone in its leaf, becomes a number where the value is one: some helpdesks take no text there."""
Json = Any


def find_names(value: Json) -> frozenset[str]:
    """The names of all places in a template."""
    if isinstance(value, str):
        return frozenset(name for name, _ in PLACE.findall(value))
    parts = (
        [*value, *value.values()] if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    )
    return frozenset().union(*map(find_names, parts))


def fill(value: Json, values: Mapping[str, Json]) -> Json:
    """
    Fill each leaf. A leaf that is one place and nothing else takes the value as it is, a list or a number too; nothing
    is ever pasted into JSON text.

    :raises KeyError: a place has no value.
    """
    if isinstance(value, str):
        if (whole := PLACE.fullmatch(value)) is not None:
            found = values[whole[1]]
            return int(found) if whole[2] and str(found).isdecimal() else found
        return PLACE.sub(lambda place: str(values[place[1]]), value)
    if isinstance(value, Mapping):
        return {str(fill(key, values)): fill(each, values) for key, each in value.items()}
    return [fill(each, values) for each in value] if isinstance(value, list | tuple) else value


def fill_path(path: str, values: Mapping[str, Json]) -> str:
    """
    Fill a path: a value stays one segment, whatever it holds.

    :raises ValueError: it would lead elsewhere.
    """

    def fill_segment(place: re.Match[str]) -> str:
        value = str(values[place[1]])
        if not value.strip("."):
            raise ValueError(f"{value!r} is no segment of a path")
        return quote(value, safe="")

    return PLACE.sub(fill_segment, path)


def fill_header(header: str, values: Mapping[str, Json]) -> str:
    """Fill a header; a value cannot begin another one."""
    return re.sub(r"[\r\n\0]+", " ", str(fill(header, values)))


MOST_JOINED = 5_000
TWO_TEXTS = ({"types": ["string"]}, {"types": ["string"]})
CompiledQuery = Callable[[Any], Any]


class AdapterError(Exception):
    """An adapter file cannot be used. One sentence: which, where in it, and what is wrong."""


def compile_query(query: str) -> CompiledQuery:
    """
    Compile an expression: what it gives of a value, nothing where it does not fit the value.

    :raises AdapterError: it is none.
    """
    _compile(query)
    return functools.partial(search, query)


def search(query: str | None, value: Any) -> Any:
    """What an expression gives of a value; None: nothing, or there is no expression."""
    return None if query is None else explain(query, value)[0]


def explain(query: str, value: Any) -> tuple[Any, str]:
    """What an expression gives of a value, and why it gives nothing where it does not fit it."""
    import jmespath

    try:
        return _compile(query)(value), ""
    except jmespath.exceptions.JMESPathError as error:
        return None, str(error).strip().split("\n")[0]
    except RecursionError:
        return None, "the value is nested too deeply"


@functools.lru_cache(maxsize=512)
def _compile(query: str) -> CompiledQuery:
    """Compile an expression, once a process."""
    import jmespath  # only where a helpdesk is connected

    try:
        compiled = jmespath.compile(query)
    except jmespath.exceptions.JMESPathError as error:
        said = str(error).strip().split("\n")[0].rstrip(".")
        raise AdapterError(f"{query!r} is no JMESPath expression: {said}.") from None
    except (RecursionError, ValueError):  # a number of thousands of digits, too
        raise AdapterError(f"{query[:80]!r} is nested too deeply, or too long: write a shorter expression.") from None
    options = _make_options()

    def find(value: Any) -> Any:
        return compiled.search(value, options=options)

    return find


@functools.cache
def _make_options() -> Any:
    """The functions that expressions have besides those of JMESPath."""
    import jmespath

    class HelpdeskFunctions(jmespath.functions.Functions):  # type: ignore[misc] # it has no types
        """`join_on`, `split`, `cut` and `plain`."""

        @jmespath.functions.signature({"types": ["array", "null"]}, {"types": ["array", "null"]}, *TWO_TEXTS)  # type: ignore[untyped-decorator]
        def _func_join_on(self, left: Any, right: Any, key: str, other: str) -> list[Any]:
            """Each of the left with that of the right, as `other`, of which the key is the same."""
            by_key = {str(each.get(other)): each for each in (right or ())[:MOST_JOINED] if isinstance(each, dict)}
            joined = [each for each in (left or ())[:MOST_JOINED] if isinstance(each, dict)]
            return [{**each, "other": by_key.get(str(each.get(key)))} for each in joined]

        @jmespath.functions.signature({"types": ["string", "null"]}, {"types": ["string"]})  # type: ignore[untyped-decorator]
        def _func_split(self, text: str | None, mark: str) -> list[str]:
            """The parts between marks, without blanks around them."""
            return [part.strip() for part in (text or "").split(mark) if part.strip()]

        @jmespath.functions.signature({"types": ["string", "null"]}, {"types": ["number"]})  # type: ignore[untyped-decorator]
        def _func_cut(self, text: str | None, characters: float) -> str:
            """The beginning of a text."""
            return (text or "")[: int(characters)]

        @jmespath.functions.signature({"types": ["string", "null"]})  # type: ignore[untyped-decorator]
        def _func_plain(self, html: str | None) -> str:
            """What HTML shows, as text."""
            return read_text(html or "")

    return jmespath.Options(custom_functions=HelpdeskFunctions())


Refusal = Literal["", "no signature", "bad signature", "no timestamp", "old timestamp"]
"""Why a delivery is not believed; empty: it is."""
ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z", re.ASCII)
DIGESTS = {"sha1": hashlib.sha1, "sha256": hashlib.sha256, "sha512": hashlib.sha512}


class SignatureRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a helpdesk signs. Header names are compared without regard to case."""

    scheme: Literal["hmac", "bearer", "header", "none"]
    """`hmac`: over the bytes; `bearer`, `header`: the secret itself stands there; `none`: it cannot, and is polled."""
    header: Annotated[str, Meta(max_length=100)] = "Authorization"
    algorithm: Literal["sha1", "sha256", "sha512"] = "sha256"
    encoding: Literal["hex", "base64"] = "hex"
    prefix: Annotated[str, Meta(max_length=40)] = ""
    """What stands before the signature, such as `sha256=`."""
    signed: Annotated[str, Meta(max_length=100)] = "{body}"
    """What is signed: `{body}`, `{time}` and `{id}` stand for the raw body and for the two headers below."""
    time_header: Annotated[str, Meta(max_length=100)] = ""
    """Unix seconds, milliseconds, or ISO 8601 in UTC."""
    id_header: Annotated[str, Meta(max_length=100)] = ""
    tolerance_seconds: Annotated[float, Meta(ge=1, le=86_400)] = 300.0
    """So old a delivery may be, or so far ahead its clock."""
    key: Literal["text", "base64"] = "text"
    """How the secret becomes the key: as it is, or decoded."""
    challenge: Annotated[str, Meta(max_length=100)] = ""
    """What a helpdesk signs to ask whether we know the secret; it expects the signature of that signature."""


def verify(rule: SignatureRule, secret: str, headers: Mapping[str, str], body: bytes, now: float) -> Refusal:
    """
    Why a delivery is not believed, before anything of it is read.

    :param now: Unix seconds.
    """
    if rule.scheme == "none":
        return ""
    given = _find(headers, rule.header)
    if not given:
        return "no signature"
    if rule.scheme in {"bearer", "header"}:
        expected = f"Bearer {secret}" if rule.scheme == "bearer" else rule.prefix + secret
        return "" if _is_same(given, expected) else "bad signature"
    time = _find(headers, rule.time_header) if rule.time_header else ""
    if rule.time_header:
        if (at := _read_time(time)) is None:
            return "no timestamp"
        if abs(now - at) > rule.tolerance_seconds:
            return "old timestamp"
    message = _compose(rule.signed, body, time, _find(headers, rule.id_header))
    expected = rule.prefix + _sign(rule, secret, message)
    return "" if any(_is_same(each, expected) for each in given.split()) else "bad signature"


def answer_challenge(rule: SignatureRule, secret: str, given: str) -> str:
    """
    The answer to a helpdesk that asks whether we know the secret; empty: it is none of its questions.

    Nothing else is ever signed for whoever asks: a delivery could be forged by it.
    """
    if not rule.challenge or not _is_same(given, _sign(rule, secret, rule.challenge.encode())):
        return ""
    return _sign(rule, secret, given.encode())


def _sign(rule: SignatureRule, secret: str, message: bytes) -> str:
    key = secret.encode()
    if rule.key == "base64":
        key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, message, DIGESTS[rule.algorithm])
    return digest.hexdigest() if rule.encoding == "hex" else base64.b64encode(digest.digest()).decode()


def _compose(signed: str, body: bytes, time: str, delivery: str) -> bytes:
    """The signed bytes; what is put in is never looked through for places of its own."""
    values = {"{body}": body, "{time}": time.encode(), "{id}": _encode(delivery)}
    return b"".join(values.get(part, part.encode()) for part in re.split(r"(\{[a-z]+\})", signed))


def _read_time(text: str) -> float | None:
    if ISO.fullmatch(text):
        with contextlib.suppress(ValueError):
            return datetime.datetime.fromisoformat(text).timestamp()
    if not text.isascii() or not text.isdecimal() or len(text) > 16:
        return None
    return int(text) / 1_000 if len(text) > 11 else float(text)


def _find(headers: Mapping[str, str], name: str) -> str:
    wanted = name.casefold()
    return next((value for key, value in headers.items() if key.casefold() == wanted), "")


def _is_same(given: str, expected: str) -> bool:
    return hmac.compare_digest(_encode(given), _encode(expected))


def _encode(header: str) -> bytes:
    """The bytes that came: a header may hold some that are no text."""
    return header.encode("utf-8", "surrogateescape")


PRESETS = Path(__file__).parent / "presets"
"""A file a system, named as the system is."""
FILE_BYTES = 64_000
Query = Annotated[str, Meta(min_length=1, max_length=2_000)]
"""A JMESPath expression, with the functions of runtime/intake/adapter_file.py."""
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
    """One request. Places such as `{ticket}` are filled: runtime/intake/adapter_file.py."""

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
