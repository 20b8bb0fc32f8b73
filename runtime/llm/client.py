"""
One OpenAI-compatible server: a request under one deadline, tried again where that can help, failing in one sentence.

The SDK is imported with the first call, in a thread: it costs half a second that a start must not wait for.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import urlsplit

import msgspec
import structlog

from actors.ports import ModelFailed
from bus import Clock
from runtime.llm import errors
from runtime.llm.chat_completion import Reply
from runtime.llm.errors import Fault
from runtime.llm.sdk import OPENAI_URL, HttpClient, LoadedSdk
from runtime.llm.streamed_completion import BrokenStream, StreamBody, StreamedRequest, WholeBody
from runtime.llm.usage import Reservation
from runtime.resilience.circuit_breaker import CircuitBreaker, CircuitOpen
from runtime.resilience.deadline import Deadline, wait
from runtime.resilience.rate_limiter import PATIENCE_SECONDS, Paused, RateLimiter, TooManyWaiting
from runtime.settings import ModelSettings

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
