"""
Tokens of programs and people: made here, shown once, and kept as a hash with the rest of what is stored.

A plain SHA-256 is right for them. A slow hash and a salt protect what people choose, for that can be guessed; a token
is 256 random bits, which nobody guesses, and a slow hash would cost every request what it costs a thief.
"""

import asyncio
import hashlib
import hmac
import re
import secrets
import time
from typing import Literal, NamedTuple

import msgspec
import structlog

from runtime.program import command
from runtime.service_error import ServiceError
from runtime.storage.errors import Conflict
from runtime.storage.port import RunStore
from runtime.storage.records import Record, RecordKey
from runtime.user_text import display

Role = Literal["submit", "read", "operate", "admin"]
"""
`submit`: ask, and read and judge one's own tickets. `read`: read everybody's. `operate`: decide about others' tickets.
`admin`: change what all answers rest on.
"""
Access = Literal["open", "submit", "read", "operate", "admin"]
"""What a route needs: a role, or nothing."""
LADDER: tuple[Access, ...] = ("open", "submit", "read", "operate", "admin")


class Principal(NamedTuple):
    """Whoever asks, once it is known who that is."""

    by: str
    """Names it wherever it does something: `token:NAME`, `user:NAME`, `server-token` or `local`."""
    role: Role
    person: str = ""
    """The name of a person, where a proxy has told it."""


LOCAL = Principal("local", "admin")
"""A program of this machine, where nobody has to say who they are."""
SERVER_TOKEN = Principal("server-token", "admin")
"""Who has the one token of the configuration."""


def may(role: Role, access: Access) -> bool:
    """Whether a role is enough."""
    return LADDER.index(role) >= LADDER.index(access)


log = structlog.get_logger()

KIND = "token"
WANTED = Record(kind="access", id="tokens", body=b"", replaces=True)
"""Kept with the first token, and after the last: who asks has to say who they are until tokens are turned off."""
SHAPE = re.compile(r"terminus_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")
"""Its id, by which it is found, and its secret."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
MOST = 1000
FRESH_SECONDS = 1.0
"""How long what was read is taken for true: so long a token is heard after another process has revoked it."""
NOBODY = hashlib.sha256(b"").digest()
"""Compared with where there is no such token, so that it takes the same time."""


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a token, of which nobody can make the token again."""

    name: str
    role: Role
    id: str
    digest: bytes
    created: float
    """Seconds since 1970."""
    expires: float | None
    """Seconds since 1970; nothing: it is good until it is revoked."""


class _Known(NamedTuple):
    """What the store held when it was read last."""

    at: float
    records: int
    """How many, those that cannot be read as well."""
    tokens: dict[str, Token]
    """By their ids."""
    wanted: bool
    """There is a token, or there was one and nobody has turned tokens off since."""


class TokenBook:
    """The tokens of one storage folder."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._known: _Known | None = None
        self._reading = asyncio.Lock()

    async def create(self, name: str, role: Role, seconds: float | None = None) -> str:
        """
        A new token, which nobody can read again.

        :param seconds: how long it is good; nothing: until it is revoked.
        :raises ServiceError: the name cannot be used, or a token has it.
        """
        if not NAME.fullmatch(name):
            raise ServiceError(
                f"A token's name is 1 to 64 letters, digits, dots, dashes, underscores or @, not {display(name)}."
            )
        if (await self._read(anew=True)).records >= MOST:
            raise ServiceError(f"There are {MOST} tokens already. Revoke those that nobody uses.", "conflict")
        key, now = secrets.token_hex(6), time.time()
        text = f"terminus_{key}_{secrets.token_urlsafe(32)}"
        expires = None if seconds is None else now + seconds
        token = Token(name=name, role=role, id=key, digest=_digest(text), created=now, expires=expires)
        try:
            await self._store.put(WANTED, Record(kind=KIND, id=name, body=msgspec.msgpack.encode(token)))
        except Conflict:
            remedy = f"{command(f'tokens revoke {name}')} takes that one away"
            raise ServiceError(f"A token has the name {name} already; {remedy}.", "conflict") from None
        self._known = None
        log.info("token.created", name=name, role=role, id=key)
        return text

    async def revoke(self, name: str) -> int:
        """
        Take a token away, also one whose record cannot be read. Whoever asks has to send one after the last, too.

        :returns: how many are left.
        :raises ServiceError: there is none of this name.
        """
        names = {each.id for each in await self._records()}
        if name not in names:
            shown = command("tokens list")
            raise ServiceError(f"There is no token {display(name)}; {shown} shows those that there are.", "not_found")
        await self._store.put(WANTED, remove=(RecordKey(KIND, name),))
        self._known = None
        log.info("token.revoked", name=name)
        return len(names) - 1

    async def turn_off(self) -> list[str]:
        """
        Want no token any more, and take all away that there are.

        :returns: their names.
        """
        names = sorted(each.id for each in await self._records())
        gone = (RecordKey(WANTED.kind, WANTED.id), *(RecordKey(KIND, name) for name in names))
        await self._store.put(remove=gone)
        self._known = None
        log.warning("token.turned_off", revoked=names)
        return names

    async def read_all(self) -> list[Token]:
        """All that can be read, by their names, those that have expired as well."""
        return sorted((await self._read(anew=True)).tokens.values(), key=lambda each: each.name)

    async def exist(self) -> bool:
        """Whether there is any. One that has expired or is damaged counts."""
        return (await self._read()).records > 0

    async def are_wanted(self) -> bool:
        """Whether everybody has to say who they are: from the first token on, until tokens are turned off."""
        return (await self._read()).wanted

    async def find(self, text: str) -> Token | None:
        """The token of this text, which may have expired; in a time that tells nothing of others."""
        shaped = SHAPE.fullmatch(text)
        found = (await self._read()).tokens.get(shaped[1]) if shaped else None
        same = hmac.compare_digest(_digest(text), found.digest if found else NOBODY)
        return found if same else None

    async def find_name(self, name: str) -> Token | None:
        """The token of this name, which may have expired."""
        return next((each for each in (await self._read()).tokens.values() if each.name == name), None)

    async def find_id(self, key: str) -> Token | None:
        """The token of this id, which may have expired."""
        return (await self._read()).tokens.get(key)

    async def _read(self, *, anew: bool = False) -> _Known:
        if not anew and (known := self._find_fresh()):
            return known
        async with self._reading:  # many who ask at once wait for one look
            if anew or (known := self._find_fresh()) is None:
                at = time.monotonic()
                records = await self._records()
                tokens = {token.id: token for each in records if (token := _decode(each))}
                wanted = bool(records) or bool(await self._store.records(WANTED.kind, most=1))
                known = self._known = _Known(at, len(records), tokens, wanted)
            return known

    def _find_fresh(self) -> _Known | None:
        known = self._known
        return known if known and time.monotonic() - known.at <= FRESH_SECONDS else None

    async def _records(self) -> list[Record]:
        return await self._store.records(KIND, most=MOST)


def describe(token: Token) -> Principal:
    """Who has this token."""
    return Principal(f"token:{token.name}", token.role)


def has_expired(token: Token) -> bool:
    """Whether it is good no more, by the machine's clock."""
    return token.expires is not None and time.time() >= token.expires


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def _decode(record: Record) -> Token | None:
    """One that cannot be read hides no others; it opens nothing."""
    try:
        return msgspec.msgpack.decode(record.body, type=Token)
    except msgspec.MsgspecError as error:
        log.warning("token.damaged", name=record.id, error=str(error))
        return None
