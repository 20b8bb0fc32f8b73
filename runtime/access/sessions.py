"""Who is signed in with a browser, which cannot send a token: a key in a cookie, of which only a hash is kept here."""

import hashlib
import secrets
import time
from typing import NamedTuple

from runtime.access.tokens import SERVER_TOKEN, SHAPE, Principal, TokenBook, describe, has_expired

SESSION_SECONDS = 12 * 3600.0
"""A working day: whoever comes back tomorrow signs in again."""
MOST_SESSIONS = 10_000
"""The oldest goes when there are more."""


class Session(NamedTuple):
    """One browser that is signed in."""

    token: str
    """The id of the token by which; empty: that of the configuration."""
    until: float
    """By the monotonic clock."""


class SessionBook:
    """The sessions of one process; they end with it, with their time, and with their tokens."""

    def __init__(self, tokens: TokenBook) -> None:
        self._tokens = tokens
        self._sessions: dict[bytes, Session] = {}

    def open(self, principal: Principal, token: str) -> str:
        """A new session's key, for its cookie; `token` is the text by which this principal was known."""
        shaped = SHAPE.fullmatch(token)
        known = "" if principal == SERVER_TOKEN or not shaped else shaped[1]
        while len(self._sessions) >= MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        key = secrets.token_urlsafe(32)
        self._sessions[_digest(key)] = Session(known, time.monotonic() + SESSION_SECONDS)
        return key

    async def find(self, key: str) -> Principal | None:
        """Who is signed in with this key; nobody any more once the token behind it was revoked or has expired."""
        session = self._sessions.get(_digest(key))
        if session is None:
            return None
        if time.monotonic() < session.until:
            if not session.token:
                return SERVER_TOKEN
            token = await self._tokens.find_id(session.token)
            if token is not None and not has_expired(token):
                return describe(token)
        self.close(key)
        return None

    def close(self, key: str) -> None:
        """Sign out."""
        self._sessions.pop(_digest(key), None)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
