"""
One OpenAI-compatible server: a request under one deadline, tried again where that can help, failing
in one sentence.

The SDK is imported with the first call, in a thread: it costs half a second that a start must not
wait for. A completion that comes in pieces is put together as if it had come whole; who reads along
gets a few pieces a second.
"""

import asyncio
import codecs
import json
import random
import re
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol, TypeVar, cast
from urllib.parse import parse_qsl, urlsplit

import msgspec
import structlog

from actors.ports import ModelFailed
from bus import Clock
from runtime.llm import errors
from runtime.llm.errors import Fault
from runtime.llm.output_schema import Path, TextReader
from runtime.llm.usage import Reservation
from runtime.resilience.limiters import (
    PATIENCE_SECONDS,
    CircuitBreaker,
    CircuitOpen,
    Deadline,
    Paused,
    RateLimiter,
    TooManyWaiting,
    wait,
)
from runtime.settings import ModelSettings

T = TypeVar("T", bound=msgspec.Struct)

MOST_TOKENS = 10_000_000
"""Of one call, in or out: ten times what any model takes. Who reports more has miscounted."""
DIGITS = 20
"""A number with so many is no count of anything."""


class Function(msgspec.Struct, frozen=True):
    name: str = ""
    arguments: str | dict[str, Any] | None = ""  # JSON as text, or as some servers have it, JSON itself


class ToolCall(msgspec.Struct, frozen=True):
    id: str | None = ""
    function: Function = Function()


class Part(msgspec.Struct, frozen=True):
    text: str | None = ""


class Message(msgspec.Struct, frozen=True):
    content: str | list[Part] | None = None
    refusal: str | None = None
    tool_calls: list[ToolCall] | None = None
    reasoning_content: Any = None
    """Where some servers put all that a model wrote, the answer with it."""

    @property
    def text(self) -> str:
        """What the model wrote; of a message without a text what it thought, or what it wanted to call with."""
        content = self.content
        text = "".join(part.text or "" for part in content) if isinstance(content, list) else content or ""
        if text.strip():
            return text
        if isinstance(self.reasoning_content, str) and self.reasoning_content.strip():
            return self.reasoning_content
        arguments = self.tool_calls[0].function.arguments if self.tool_calls else None
        return arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else text


class Choice(msgspec.Struct, frozen=True):
    message: Message
    finish_reason: str | None = None


class Reply(msgspec.Struct, frozen=True):
    choices: list[Choice] = []
    error: Any = None
    """What went wrong, as gateways report it with a status that says that all is well."""
    usage: Any = None
    """As the server has it: `tokens` says what of it can be believed."""
    length: int = 0
    """Bytes of the whole body."""

    @property
    def tokens(self) -> tuple[int, int] | None:
        """Tokens in and out, as the server counts them; nothing when it does not say, or says what cannot be."""
        if not isinstance(self.usage, dict):
            return None
        tokens_in, tokens_out = (_count(self.usage.get(name)) for name in ("prompt_tokens", "completion_tokens"))
        return None if tokens_in is None or tokens_out is None else (tokens_in, tokens_out)


def read(body: bytes) -> Reply:
    """
    A chat completion.

    :raises msgspec.DecodeError: it is none.
    """
    return msgspec.structs.replace(convert(body, Reply), length=len(body))


def convert(body: bytes, shape: type[T]) -> T:
    """
    A completion, or a piece of one, from its JSON.

    :raises msgspec.DecodeError: it is none.
    """
    try:
        return msgspec.json.decode(body, type=shape)
    except msgspec.DecodeError:
        # Servers in Python send NaN, which is no JSON; a number of a thousand digits is, but none that anybody needs.
        try:
            return msgspec.convert(json.loads(body, parse_constant=lambda _: None, parse_int=_whole), shape)
        except (ValueError, RecursionError):
            pass
        raise


def _whole(digits: str) -> int | None:
    return int(digits) if len(digits) < DIGITS else None


def _count(said: object) -> int | None:
    """A number of tokens, if it is one."""
    if isinstance(said, float) and said.is_integer():
        said = int(said)
    if isinstance(said, bool) or not isinstance(said, int):
        return None
    return said if 0 <= said <= MOST_TOKENS else None


TELL_SECONDS = 0.1
"""Pieces that come closer together are told together."""
HELD_CHARACTERS = 300
"""The longest word that is held back until it is whole: it may be an address."""
_WORD = re.compile(rf"[!-~]{{1,{HELD_CHARACTERS}}}\Z")


class DraftStream:
    """Of one answer in the making. What was told is the answer's text, or is taken back."""

    __slots__ = ("_at", "_clean", "_clock", "_draft", "_on_text", "_read", "_reader", "_shown", "_told_at")

    def __init__(
        self, on_text: Callable[[int, str], object], shown: frozenset[Path], clean: Callable[[str], str], clock: Clock
    ) -> None:
        """
        :param on_text: as in `ModelRequest`.
        :param shown: where in the answer the texts stand that people will read.
        :param clean: takes out of a text what may not be told.
        """
        self._on_text, self._shown, self._clean, self._clock = on_text, shown, clean, clock
        self._reader = TextReader(shown)
        self._told_at = clock.time() - TELL_SECONDS
        self._draft = self._read = self._at = 0
        """Which draft is told; how much of it was read, and told."""

    def begin(self) -> None:
        """The answer is asked for again, or given up: what was told of it is void."""
        self._reader, self._draft, self._read = TextReader(self._shown), 0, 0
        if self._at:
            self._at = 0
            self._on_text(0, "")

    def feed(self, piece: str) -> None:
        """The model wrote on."""
        self._reader.feed(piece)
        if self._clock.time() - self._told_at >= TELL_SECONDS:
            self._tell(held_back=True)

    def finish(self) -> None:
        """It is whole."""
        self._tell(held_back=False)

    def _tell(self, *, held_back: bool) -> None:
        text = self._reader.text
        if self._reader.drafts != self._draft:
            self._draft, self._read, self._at = self._reader.drafts, 0, 0
        word = _WORD.search(text, self._read) if held_back else None
        end = word.start() if word else len(text)
        if end <= self._read:
            return
        said = self._clean(text[self._read : end])
        start, self._read, self._at = self._at, end, self._at + len(said)
        self._told_at = self._clock.time()
        self._on_text(start, said)


WANTED = {"counted": b',"stream":true,"stream_options":{"include_usage":true}}', "plain": b',"stream":true}'}
"""What a request ends with that asks for pieces; with `counted` the last of them says how many tokens it took."""
CALLS = 128
"""Tool calls of one message that are put together."""

FIRST = b":deir"
"""What a line of server-sent events begins with: a comment, `data`, `event`, `id`, `retry`."""
BLANK = codecs.BOM_UTF8 + b" \t\r\n"
"""Bytes that say nothing at the head of a line; a byte order mark may stand at that of the first one."""


class BrokenStream(Exception):
    """It stopped before the answer was whole."""


class FunctionDelta(msgspec.Struct, frozen=True):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class CallDelta(msgspec.Struct, frozen=True):
    index: int | None = None
    id: str | None = None
    function: FunctionDelta | None = None


class Delta(msgspec.Struct, frozen=True):
    content: str | list[Part] | None = None
    refusal: str | None = None
    tool_calls: list[CallDelta] | None = None
    reasoning_content: Any = None


class ChunkChoice(msgspec.Struct, frozen=True):
    delta: Delta | None = None
    message: Delta | None = None
    """In the place of `delta`, where a server sends all at once."""
    finish_reason: str | None = None
    index: int | None = 0


class Chunk(msgspec.Struct, frozen=True):
    choices: list[ChunkChoice] | None = None
    error: Any = None
    usage: Any = None


class StreamedRequest(msgspec.Struct, frozen=True):
    """What a client needs to have an answer written while somebody reads along."""

    body: bytes
    """Of the request that asks for pieces."""
    draft: DraftStream


class WholeBody:
    """The body of a completion that comes in one piece, however many packets that takes."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []

    begun = False
    """Whether something of an answer has come."""

    def feed(self, data: bytes) -> bool:
        """Take the next bytes; say whether they were the last that count."""
        self._chunks.append(data)
        return False

    def finish(self) -> Reply:
        """
        The completion, at the end of the body.

        :raises msgspec.DecodeError: it is none.
        """
        return read(self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks))


class StreamBody:
    """As `WholeBody`, of server-sent events; a server that was asked for these and sends JSON is understood, too."""

    def __init__(self, draft: DraftStream) -> None:
        self._draft = draft
        self._half = ""
        """The first half of a character whose second half comes with the next piece."""
        self._rest = b""
        """A line that is not whole yet."""
        self._whole: WholeBody | None = None
        self._texts: dict[str, list[str]] = {"content": [], "refusal": [], "reasoning_content": []}
        self._calls: dict[int, tuple[str, str, list[str]]] = {}
        """By its place each tool call: id, name, pieces of its arguments."""
        self._reason: str | None = None
        self._usage: Any = None
        self._error: Any = None
        self.begun = self._answers = self._over = False

    def feed(self, data: bytes) -> bool:
        """
        As `WholeBody`.

        :raises msgspec.DecodeError: an event is no part of a completion.
        """
        if self._whole is not None:
            return self._whole.feed(data)
        self._rest += data
        if not self._answers and (first := self._rest.lstrip(BLANK)[:1]) and first not in FIRST:
            self._whole = WholeBody()
            return self._whole.feed(self._rest)
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            self._take(line)
        return self._over

    def finish(self) -> Reply:
        """
        As `WholeBody`.

        :raises BrokenStream: the end is missing.
        """
        if self._whole is not None:
            return self._whole.finish()
        self._take(self._rest)
        if self._error is not None:
            return Reply(error=self._error, usage=self._usage)
        if self._reason is None and not self._over:
            raise BrokenStream
        if not self._answers:
            return Reply(usage=self._usage)
        content, refusal, thought = (_mend("".join(pieces)) for pieces in self._texts.values())
        calls = [ToolCall(number, Function(name, "".join(given))) for number, name, given in self._calls.values()]
        message = Message(content, refusal or None, calls or None, thought or None)
        written = len(content) + len(thought) + sum(len(call.function.arguments or "") for call in calls)
        return Reply([Choice(message, self._reason)], usage=self._usage, length=4 * written)

    def _take(self, line: bytes) -> None:
        """One line; whatever is no data, such as a comment that keeps the connection open, says nothing."""
        name, _, value = line.partition(b":")
        value = value.strip()
        if name.strip(BLANK) != b"data" or not value or self._over:
            return
        if value == b"[DONE]":
            self._over = True
            return
        chunk = convert(value, Chunk)
        self._usage = chunk.usage or self._usage
        self._error = self._error or chunk.error
        for choice in chunk.choices or ():
            if not choice.index:  # one answer was asked for
                self._add(choice)

    def _add(self, choice: ChunkChoice) -> None:
        self._answers = True
        self._reason = choice.finish_reason or self._reason
        delta = choice.delta or choice.message or Delta()
        content = delta.content
        written = "".join(part.text or "" for part in content) if isinstance(content, list) else content or ""
        text, self._half = _split_half(self._half + written)
        self._texts["content"].append(text)
        self._texts["refusal"].append(delta.refusal or "")
        if isinstance(delta.reasoning_content, str):
            self._texts["reasoning_content"].append(delta.reasoning_content)
        for call in delta.tool_calls or ():
            self._add_call(call)
        self.begun = self.begun or bool(text or delta.tool_calls)
        if text:
            self._draft.feed(text)

    def _add_call(self, call: CallDelta) -> None:
        """A new one has a place, or an id, of its own; what has neither goes on with the last."""
        last = max(self._calls, default=-1)
        place = call.index if call.index is not None else last + (last < 0 or bool(call.id))
        if len(self._calls) >= CALLS and place not in self._calls:
            return
        number, name, given = self._calls.get(place, ("", "", []))
        function = call.function or FunctionDelta()
        arguments = function.arguments
        given.append(json.dumps(arguments) if isinstance(arguments, dict) else arguments or "")
        self._calls[place] = (number or call.id or "", name or function.name or "", given)


def _split_half(text: str) -> tuple[str, str]:
    """A text that can be shown, and the first half of a character that it ends with."""
    half = text[-1:] if "\ud800" <= text[-1:] < "\udc00" else ""
    return _mend(text[: len(text) - len(half)]), half


def _mend(text: str) -> str:
    """A character beyond the first plane that came as two halves in two pieces; half of one is shown by nobody."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


OPENAI_URL = "https://api.openai.com/v1"
CONNECT_SECONDS = 10.0


class HttpClient(Protocol):
    """What the SDK sends through: its own aiohttp client, or an `httpx.AsyncClient`."""

    async def aclose(self) -> None: ...


class LoadedSdk:
    """The loaded SDK and the one client of the process."""

    __slots__ = ("client", "errors", "kinds", "response", "sdk")

    def __init__(self, settings: ModelSettings, http_client: Callable[[], HttpClient] | None) -> None:
        import aiohttp
        import openai

        self.sdk = openai
        libraries = [sys.modules[name] for name in ("httpx2", "httpx") if name in sys.modules]
        # The SDK's major versions differ in the library whose responses they return.
        self.response = next(each.Response for each in libraries if each.Timeout is openai.Timeout)
        refused = (ConnectionRefusedError, socket.gaierror, aiohttp.ClientConnectorError)
        self.kinds = errors.Kinds(
            status=openai.APIStatusError,
            timeout=(openai.APITimeoutError, *(each.TimeoutException for each in libraries)),
            unreachable=(*refused, *(each.ConnectError for each in libraries)),
            broken=(ConnectionError, aiohttp.ServerDisconnectedError, aiohttp.ClientOSError),
        )
        transport = [kind for each in libraries for kind in (each.HTTPError, each.StreamError)]
        self.errors = (msgspec.DecodeError, BrokenStream, openai.OpenAIError, aiohttp.ClientError, *transport)
        """How a try may end; a body that breaks off is raised by the transport, not by the SDK."""
        http = openai.DefaultAioHttpClient() if http_client is None else http_client()
        base, _, query = (settings.base_url or OPENAI_URL).partition("?")
        self.client = openai.AsyncOpenAI(
            api_key=settings.api_key or "none",
            base_url=base,
            default_query=dict(parse_qsl(query)) or None,
            default_headers={"api-key": settings.api_key} if settings.api_key and "api-version=" in query else None,
            max_retries=0,
            timeout=openai.Timeout(settings.call_seconds, connect=CONNECT_SECONDS),
            http_client=cast("Any", http),  # either of two libraries' clients; the SDK checks which
        )


log = structlog.get_logger()

REPLY_BYTES = 256 << 10
TOKEN_BYTES = 32
"""The largest completion that is read has so many bytes, and so many more for each token that it may have."""
PIECE_BYTES = 1024
"""As much as the piece is that one token comes in, where they come in pieces."""
OPENAI_HOSTS = (".openai.com", ".openai.azure.com")
BACKOFF_SECONDS = 0.5
BACKOFF_MOST = 8.0
HUNG_SECONDS = 30.0
"""A server that is silent for so long counts as one that is not there."""
REST_MOST = 600.0
"""A server that asks to be left alone is asked again after this at the latest."""


class ChatClient:
    """Sends chat completions. Concurrency, rates, pauses and the breaker are shared by all who use it."""

    def __init__(
        self,
        settings: ModelSettings,
        *,
        http_client: Callable[[], HttpClient] | None = None,
        clock: Clock | None = None,
        dice: random.Random | None = None,
    ) -> None:
        self.settings = settings
        self.clock: Clock = clock or asyncio.get_running_loop()
        self.limiter = RateLimiter(
            self.clock,
            concurrency=settings.concurrency,
            requests_per_minute=settings.requests_per_minute,
            tokens_per_minute=settings.tokens_per_minute,
        )
        self.breaker = CircuitBreaker(self.clock, seconds=settings.pause_seconds)
        self.where = where(settings.base_url or OPENAI_URL)
        self._http_client = http_client
        self._dice = dice or random.Random()  # noqa: S311 - spreads retries, guards nothing
        self._line: LoadedSdk | None = None
        self._loading: asyncio.Future[LoadedSdk] | None = None

    async def load(self) -> LoadedSdk:
        """
        Import the SDK and make the client, once, off the loop.

        :raises ModelFailed: that is not possible here, such as without certificates.
        """
        if self._loading is None:
            loop = asyncio.get_running_loop()
            self._loading = loop.run_in_executor(None, LoadedSdk, self.settings, self._http_client)
        try:
            self._line = await asyncio.shield(self._loading)
        except Exception as error:  # whatever it is, another model can answer
            reason = f"{type(error).__name__}: {error}"
            raise ModelFailed(
                f"The OpenAI client cannot be loaded ({reason}): check SSL_CERT_FILE, or install again."
            ) from error
        return self._line

    async def close(self) -> None:
        self.limiter.close()
        if self._loading is None:
            return
        await asyncio.wait([self._loading])
        if self._loading.exception() is None:
            await self._loading.result().client.close()

    async def complete(
        self, body: bytes, charge: Reservation, *, within: float, streamed: StreamedRequest | None = None
    ) -> Reply:
        """
        Send one request and read its answer. `charge` hears of tries that were lost on the way.

        :param streamed: what to send instead, where somebody reads along.
        :raises Rejected: the server did not accept the request as it is.
        :raises BudgetSpent: too many tries were lost.
        :raises ModelFailed: it came to nothing, with a sentence for the user.
        """
        self._line = self._line or await self.load()  # what that takes is no silence of the server's
        try:
            outcome = await self._try(body, charge, min(within, self.settings.call_seconds), streamed)
        except (CircuitOpen, TooManyWaiting) as error:
            raise ModelFailed(str(error)) from None
        if isinstance(outcome, Reply):
            return outcome
        if outcome.fatal:
            self.breaker.record_failure(outcome.kind, outcome.sentence)
        raise outcome.error()

    async def _try(
        self, body: bytes, charge: Reservation, seconds: float, streamed: StreamedRequest | None
    ) -> Reply | Fault:
        """As many tries as are allowed and fit into the time."""
        outcome: Reply | Fault | None = None
        if seconds <= 0:
            return errors.given_up(self.where, 0.0, None, sent=False, hung=False)
        lost = charge.losses
        until = self.clock.time() + seconds
        try:
            async with Deadline(self.clock, seconds) as deadline:
                for attempt in range(1, self.settings.tries + 1):
                    lost = charge.losses
                    outcome = await self._attempt(body, charge, until, streamed)
                    if isinstance(outcome, Reply):
                        return outcome
                    if streamed is not None:
                        streamed.draft.begin()
                        streamed = None if outcome.paid else streamed  # pieces that went wrong are done without
                    outcome = msgspec.structs.replace(outcome, tries=attempt)
                    delay = self._delay(outcome, attempt)
                    if outcome.after is not None and (delay > PATIENCE_SECONDS or self.clock.time() + delay >= until):
                        return errors.left_alone(outcome, delay)
                    if not outcome.again or attempt == self.settings.tries or self.clock.time() + delay >= until:
                        return outcome
                    log.info("model.tried_again", reason=outcome.kind, attempt=attempt, seconds=round(delay, 2))
                    await wait(self.clock, delay)
        except TimeoutError:
            if not deadline.has_expired:
                raise
        # A request that the server had is its silence; one that waited in our line says nothing of it.
        return errors.given_up(
            self.where, seconds, outcome if isinstance(outcome, Fault) else None,
            sent=charge.losses > lost, hung=charge.losses > lost and seconds >= HUNG_SECONDS,
        )  # fmt: skip

    async def _attempt(
        self, body: bytes, charge: Reservation, until: float, streamed: StreamedRequest | None
    ) -> Reply | Fault:
        line = self._line or await self.load()
        self.breaker.check()
        try:
            grant = await self.limiter.acquire(charge.tokens, until=until)
        except Paused as paused:
            return errors.left_alone(paused.reason, paused.seconds)
        used: int | None = 0
        lost = False
        try:
            charge.check()
            self.breaker.enter()
            used, lost = None, True  # until there is an answer
            charge.tries += 1
            reply = await self._send(line, body, charge.tokens_out, streamed)
            used, lost = reply.tokens and sum(reply.tokens), not reply.choices
            if lost and reply.error:
                lost = False
                return self._note(errors.reported(reply.error, self.settings, self.where))
        except line.errors as error:
            fault = errors.understand(error, line.kinds, self.settings, self.where, time.time())
            lost = fault.paid
            return self._note(fault)
        finally:
            self.limiter.release(grant, used)
            if lost:
                charge.lost()
        self.breaker.record_success()
        return reply if reply.choices else errors.empty(self.where)

    async def _send(self, line: LoadedSdk, body: bytes, tokens: int, streamed: StreamedRequest | None) -> Reply:
        most = REPLY_BYTES + (PIECE_BYTES if streamed else TOKEN_BYTES) * tokens
        reader = StreamBody(streamed.draft) if streamed else WholeBody()
        response = await line.client.post(
            "/chat/completions",
            cast_to=line.response,
            content=streamed.body if streamed else body,
            options={"security": {"bearer_auth": True}, "follow_redirects": False},  # tickets go to no other address
            stream=True,
            stream_cls=line.sdk.AsyncStream[Any],
        )
        size = 0
        try:
            chunks = response.aiter_bytes()
            while (chunk := await self._next(chunks, reader)) is not None:
                size += len(chunk)
                if size > most:
                    raise errors.OutOfService(
                        f"The model server at {self.where} heeds no limit: its answer was cut off at {most >> 10:,} KB."
                    )
                if reader.feed(chunk):
                    break
        finally:
            await response.aclose()
        return reader.finish()

    async def _next(self, chunks: AsyncIterator[bytes], reader: WholeBody | StreamBody) -> bytes | None:
        """The next bytes of a body; None at its end. An answer that has begun has to go on."""
        if not reader.begun:
            return await anext(chunks, None)
        try:
            async with Deadline(self.clock, HUNG_SECONDS) as deadline:
                return await anext(chunks, None)
        except TimeoutError:
            if not deadline.has_expired:
                raise
            raise BrokenStream from None

    def _note(self, fault: Fault) -> Fault:
        if fault.answered and not fault.fatal:
            self.breaker.record_success()
        if fault.again and fault.after:
            self.limiter.pause(min(fault.after, REST_MOST), fault)
        return fault

    def _delay(self, fault: Fault, attempt: int) -> float:
        """Seconds before the next try: what the server asked for, else growing and spread in time."""
        if fault.after is not None:
            return fault.after
        most = min(BACKOFF_MOST, BACKOFF_SECONDS * 2.0 ** (attempt - 1))
        return most * self._dice.uniform(0.5, 1.0)


def is_openai(settings: ModelSettings) -> bool:
    """Whether the server is OpenAI's own, or Azure's of it: those keep to a schema that they take."""
    host = urlsplit(settings.base_url or OPENAI_URL).hostname or ""
    return host.endswith(OPENAI_HOSTS)


def where(url: str) -> str:
    """
    The address as it is named to users.

    :raises ModelFailed: it is none that could be called.
    """
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        raise ModelFailed("[model] base_url must be like https://host/v1; a key belongs into [model] api_key.")
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"
