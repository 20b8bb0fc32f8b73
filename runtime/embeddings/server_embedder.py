"""Any server with OpenAI's `/v1/embeddings`: Ollama, vLLM, OpenAI. What it sends is believed only as far as it fits."""

import asyncio
import functools
import math
import re
import time
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from actors.ports import PortFailed
from bus import Clock
from runtime.embeddings.embedder import (
    FLOOR,
    MOST_CHARACTERS,
    EmbeddingFailed,
    Kind,
    extend_name,
    prepare,
    work_in_batches,
)
from runtime.resilience.limiters import retry_after
from runtime.search.results import quote_error
from runtime.search.source import SourceClient, SourceFailed
from runtime.settings import Settings
from runtime.user_text import redact

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

OPENAI_URL = "https://api.openai.com/v1"
SIDE_BY_SIDE = 4
"""Requests at once."""
CONNECT_SECONDS = 10.0
ANSWER_BYTES = 64 << 20
ERROR_BYTES = 64 << 10
DIMENSIONS = 16_384
"""The most numbers of one vector."""
LEAST_CHARACTERS = 200
"""Texts are not cut below this for a server that minds their length."""
_TOO_LONG = re.compile(
    r"too (long|large|many tokens)|context[ _-]?(length|size|window)|max\w{0,20}[ _-](tokens|length)", re.IGNORECASE
)


class TextTooLong(SourceFailed):
    """The server minds the length of a text; a shorter beginning may do."""


class _Item(msgspec.Struct):
    embedding: list[float]
    index: int | None = None


class _Answer(msgspec.Struct):
    data: list[_Item]


def find_server(settings: Settings) -> tuple[str, str]:
    """Its address and key: those of [model] where none are set; a key goes to no server that it was not given for."""
    own, model = settings.embeddings, settings.model
    url = own.base_url or model.base_url or OPENAI_URL
    return url.rstrip("/"), own.api_key or ("" if own.base_url else model.api_key)


class ServerEmbedder:
    """An `Embedder` that asks a server. Its rate limits, its rests and its failures are those of any service we ask."""

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        own = settings.embeddings
        self._settings = own
        self._url, self._key = find_server(settings)
        self.name = extend_name(f"server/{own.model}", own)
        self.languages, self.floor = frozenset[str](), FLOOR
        self._who = f"The embedding server at {redact(self._url)}"
        self._client = SourceClient(
            self._who, clock or asyncio.get_running_loop(), seconds=own.seconds, concurrency=SIDE_BY_SIDE, tries=3
        )
        self._session: ClientSession | None = None
        self._characters = MOST_CHARACTERS
        self._dimensions = 0
        """Of each vector; 0: nothing has come yet."""

    async def embed(self, texts: Sequence[str], *, kind: Kind, within: float) -> list[bytes]:
        loop = asyncio.get_running_loop()
        until = loop.time() + within

        async def work(batch: Sequence[str]) -> list[bytes]:
            while True:
                shown = [text[: self._characters] for text in batch]
                try:
                    return await self._client.ask(functools.partial(self._ask, shown), within=until - loop.time())
                except TextTooLong:
                    longest = max(map(len, shown))
                    if longest <= LEAST_CHARACTERS:
                        raise
                    self._characters = min(self._characters, longest // 2)

        try:
            prepared = prepare(texts, kind, self._settings)
            return await work_in_batches(prepared, self._settings.batch, SIDE_BY_SIDE, work)
        except EmbeddingFailed:
            raise
        except PortFailed as error:
            raise EmbeddingFailed(str(error)) from error

    async def close(self) -> None:
        self._client.close()
        if self._session is not None:
            await self._session.close()

    async def _ask(self, texts: list[str], seconds: float) -> list[bytes]:
        """One request; what it may fail with is told apart by whether another try can help."""
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(trust_env=True)
        body = msgspec.json.encode({"model": self._settings.model, "input": texts})
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self._key}"} if self._key else {})
        try:
            async with self._session.post(
                f"{self._url}/embeddings", data=body, headers=headers, allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=seconds, connect=CONNECT_SECONDS),
            ) as response:  # fmt: skip
                if response.status != 200:
                    raise await self._understand(response)
                return self._read(await _read_at_most(response, ANSWER_BYTES), len(texts))
        except TimeoutError:
            raise SourceFailed("timed_out", f"{self._who} did not answer within {round(seconds, 1):g} s.") from None
        except aiohttp.ClientConnectorError:
            remedy = "check [embeddings] base_url, and that it runs"
            raise SourceFailed("unreachable", f"{self._who} cannot be reached: {remedy}.") from None
        except (aiohttp.ClientError, ConnectionError) as error:
            raise SourceFailed(
                "broken", f"The connection to {self._who[4:]} broke off: {type(error).__name__}."
            ) from None

    async def _understand(self, response: "ClientResponse") -> SourceFailed:
        status, said = response.status, self._quote(await _read_at_most(response, ERROR_BYTES))
        detail = f" ({said})" if said else ""
        model = self._settings.model
        if status in {401, 403}:
            return SourceFailed("refused", f"{self._who} refused the key{detail}: set [embeddings] api_key.")
        if status == 429:
            after = retry_after(response.headers, time.time())
            return SourceFailed("rate_limited", f"{self._who} is asked too much{detail}: try later.", retry_after=after)
        if status >= 500:
            return SourceFailed("broken", f"{self._who} failed with status {status}{detail}: try later.")
        if status in {400, 413, 422} and _TOO_LONG.search(said):
            return TextTooLong("rejected", f"{self._who} finds texts too long{detail}: lower [embeddings] batch.")
        remedy = "check [embeddings] model and base_url"
        return SourceFailed("refused", f"{self._who} did not embed with {model}, status {status}{detail}: {remedy}.")

    def _quote(self, body: bytes) -> str:
        """What the server says of an error, wherever in its answer it says so."""
        try:
            said: Any = msgspec.json.decode(body)
        except msgspec.DecodeError:
            return ""
        for name in ("error", "message", "detail"):
            if isinstance(said, dict) and name in said:
                said = said[name]
        return quote_error(said, self._key) if isinstance(said, str) else ""

    def _read(self, body: bytes, count: int) -> list[bytes]:
        """The vectors of an answer in the order of the texts, if there is nothing wrong with any."""
        try:
            items = msgspec.json.decode(body, type=_Answer).data
        except msgspec.DecodeError:
            raise self._complain("something that is no list of vectors: check [embeddings] base_url") from None
        if len(items) != count:
            raise self._complain(f"{len(items)} vectors for {count} texts")
        if any(item.index is not None for item in items):
            if sorted(-1 if item.index is None else item.index for item in items) != list(range(count)):
                raise self._complain("vectors of which nobody can tell whose they are")
            items.sort(key=lambda item: item.index or 0)
        return [self._shrink(item.embedding) for item in items]

    def _shrink(self, vector: list[float]) -> bytes:
        """127 times the unit vector, as int8."""
        length = math.hypot(*vector) if 0 < len(vector) <= DIMENSIONS else 0.0
        if not 0 < length < math.inf:
            raise self._complain(f"a vector that has no direction ({len(vector)} numbers)")
        self._dimensions = self._dimensions or len(vector)
        if len(vector) != self._dimensions:
            raise self._complain(f"vectors of {self._dimensions} and of {len(vector)} numbers: does the model change?")
        scale = 127 / length
        return array("b", [round(each * scale) for each in vector]).tobytes()

    def _complain(self, about: str) -> SourceFailed:
        return SourceFailed("broken", f"{self._who} sent {about}.")


async def _read_at_most(response: "ClientResponse", size: int) -> bytes:
    """:raises SourceFailed: more comes than any honest answer has."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > size:
            raise SourceFailed("refused", f"The embedding server sent more than {size / (1 << 20):g} MB.")
    return bytes(body)
