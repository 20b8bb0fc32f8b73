"""The OpenAI SDK, loaded with the first call, and what this program needs of it whichever its version."""

import socket
import sys
from collections.abc import Callable
from typing import Any, Protocol, cast
from urllib.parse import parse_qsl

import msgspec

from runtime.llm import errors
from runtime.llm.streamed_completion import BrokenStream
from runtime.settings import ModelSettings

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
