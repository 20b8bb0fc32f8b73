"""Requests to one helpdesk, and to no other address: bounded, without redirects, each failure with its kind."""

import base64
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import msgspec

from runtime.intake.adapter_file import AdapterFile, Call, TokenCall, fill, fill_header, fill_path, search
from runtime.resilience.limiters import retry_after

if TYPE_CHECKING:
    import aiohttp

SECONDS = 30.0
"""One request; helpdesks take seconds for some."""
CONNECT_SECONDS = 5.0
REST_SECONDS = 30.0
"""After "too many requests" that does not say for how long."""
MOST_REST_SECONDS = 3_600.0
"""After any: who asks for more is asked again by then."""
ANSWER_BYTES = 8_000_000
SAID_CHARACTERS = 300
TOKEN_SHARE = 0.8
"""Of a token's time, after which another one is asked for."""
Answer = dict[str, Any]
"""`{status, headers, body}`: headers by names in lower case; a body that is no JSON is its text."""


class HelpdeskError(Exception):
    """A request was not carried out. One sentence."""

    status = 0
    """Of its answer; 0: there was none, or it is not to blame."""


class HelpdeskUnavailable(HelpdeskError):
    """It cannot be reached, is busy or failed: it may go well later. Nobody knows whether it did what it was told."""

    def __init__(self, sentence: str, seconds: float | None = None, *, reached: bool = True) -> None:
        """
        :param seconds: how long it asks to be left alone.
        :param reached: whether the request may have been carried out.
        """
        super().__init__(sentence)
        self.seconds = seconds
        self.reached = reached


class TicketChanged(HelpdeskError):
    """Somebody changed the ticket since it was read."""


class HelpdeskClient:
    """What speaks with one helpdesk. Close it."""

    def __init__(self, adapter: AdapterFile, url: str, values: Mapping[str, str]) -> None:
        """
        :param url: the helpdesk's address; paths come behind it.
        :param values: of the places that a connection has: `token`, `user`, `bot`, ...
        """
        self._adapter, self._url, self._values = adapter, url.rstrip("/"), dict(values)
        self._session: aiohttp.ClientSession | None = None
        self._token, self._token_until = "", 0.0
        self._rests_until = 0.0
        """By the monotonic clock: it asked to be left alone until then."""

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def wait(self, seconds: float) -> None:  # noqa: ARG002 - of its interface
        """Nobody tells by HTTP; webhooks do."""
        return

    async def run(self, calls: Mapping[str, Call], values: Mapping[str, Any]) -> dict[str, Answer]:
        """
        Make calls one behind the other; each answer by the name of its call.

        :raises HelpdeskError: one of them failed; those behind it were not made.
        """
        known: dict[str, Any] = {**self._values, **values}
        answers: dict[str, Answer] = {}
        for name, call in calls.items():
            if call.when is not None and not search(call.when, known):
                continue
            answers[name] = await self._ask(call, known)
            said = {**answers[name], "values": known}
            known |= {place: search(query, said) for place, query in call.keeps.items()}
        return answers

    async def _ask(self, call: Call, values: Mapping[str, Any]) -> Answer:
        import aiohttp
        from yarl import URL

        if (left := self._rests_until - time.monotonic()) > 0:
            said = f"{self._url} asked to be left alone for {left:.0f} s more."
            raise HelpdeskUnavailable(said, left, reached=False)
        if self._session is None:
            self._session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())
        filled = {key: fill(value, values) for key, value in call.query.items()}
        query = urlencode({key: str(value) for key, value in filled.items() if value not in (None, "")})
        url = URL(f"{self._url}{fill_path(call.path, values)}?{query}".rstrip("?"), encoded=True)
        body = None if call.json is None else msgspec.json.encode(fill(call.json, values))
        head = self._head(call, values, body)
        try:
            if self._adapter.oauth is not None:
                head["Authorization"] = f"Bearer {await self._get_token(self._session, self._adapter.oauth)}"
            async with self._session.request(
                call.method, url, data=body, headers=head,
                allow_redirects=False, timeout=aiohttp.ClientTimeout(total=SECONDS, connect=CONNECT_SECONDS),
            ) as response:  # fmt: skip
                answer = await _read(response)
        except aiohttp.ClientConnectorError as error:
            raise HelpdeskUnavailable(f"{self._url} cannot be reached.", reached=False) from error
        except (TimeoutError, aiohttp.ClientError, ConnectionError) as error:
            raise HelpdeskUnavailable(f"{self._url} did not answer: {type(error).__name__}.") from error
        if answer["status"] == 401:
            self._token_until = 0.0  # it may have been taken back
        return self._judge(call, answer)

    async def _get_token(self, session: "aiohttp.ClientSession", call: TokenCall) -> str:
        """A token that is good for a while, the one from before if it still is."""
        import aiohttp

        if time.monotonic() < self._token_until:
            return self._token
        form = {name: str(fill(value, self._values)) for name, value in call.form.items()}
        async with session.post(
            f"{self._url}{call.path}", data=form, headers={"Accept": "application/json"},
            allow_redirects=False, timeout=aiohttp.ClientTimeout(total=SECONDS, connect=CONNECT_SECONDS),
        ) as response:  # fmt: skip
            answer = self._judge(Call(method="POST", path=call.path), await _read(response))
        body = answer["body"] if isinstance(answer["body"], dict) else {}
        if not isinstance(token := body.get("access_token"), str):
            raise HelpdeskError(f"POST {call.path} gave no token.")
        seconds = body.get("expires_in")
        good = seconds if isinstance(seconds, int) else 0
        self._token, self._token_until = token, time.monotonic() + good * TOKEN_SHARE
        return token

    def _head(self, call: Call, values: Mapping[str, Any], body: bytes | None) -> dict[str, str]:
        head = {"Accept": "application/json", "User-Agent": "terminus"}
        head |= {"Content-Type": "application/json"} if body is not None else {}
        if self._adapter.auth != "headers":
            user = values["user"] if self._adapter.auth == "basic" else values["token"]
            password = values["token"] if self._adapter.auth == "basic" else "X"
            head["Authorization"] = f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"
        written = {**self._adapter.headers, **call.headers}
        return head | {name: fill_header(value, values) for name, value in written.items()}

    def _judge(self, call: Call, answer: Answer) -> Answer:
        status, where = answer["status"], f"{call.method} {call.path}"
        if status in call.conflicts:
            raise TicketChanged(f"{where}: the ticket has changed ({status}).")
        if status == 429 or status >= 500:
            wait = _read_rest(answer) if status in {429, 503} else None
            self._rests_until = time.monotonic() + (wait or 0.0)
            told = f"{where} was answered with {status}: {_excerpt(answer)}"
            raise HelpdeskUnavailable(told, wait, reached=status != 429)
        if status not in call.accepts:
            refused = HelpdeskError(f"{where} was refused with {status}: {_excerpt(answer)}")
            refused.status = status
            raise refused
        if call.succeeds is not None and search(call.succeeds, answer) is not True:
            raise HelpdeskError(f"{where} was answered with {status}, but was not done: {_excerpt(answer)}")
        return answer


def _read_rest(answer: Answer) -> float | None:
    """How long it asks to be left alone; None: it does not."""
    wait = retry_after(answer["headers"], time.time())
    if wait is None:
        return REST_SECONDS if answer["status"] == 429 else None
    return min(wait, MOST_REST_SECONDS)


async def _read(response: "aiohttp.ClientResponse") -> Answer:
    """:raises HelpdeskUnavailable: more comes than any honest answer has."""
    raw = bytearray()
    async for chunk in response.content.iter_any():
        raw += chunk
        if len(raw) > ANSWER_BYTES:
            raise HelpdeskUnavailable(f"An answer is longer than {ANSWER_BYTES // 1_000_000} MB.")
    try:
        body: Any = msgspec.json.decode(raw) if raw else None
    except msgspec.DecodeError:
        body = raw.decode(errors="replace")
    return {"status": response.status, "headers": {k.lower(): v for k, v in response.headers.items()}, "body": body}


def _excerpt(answer: Answer) -> str:
    """The beginning of what it said."""
    body = answer["body"]
    text = body if isinstance(body, str) else msgspec.json.encode(body).decode()
    return " ".join(text.split())[:SAID_CHARACTERS]
