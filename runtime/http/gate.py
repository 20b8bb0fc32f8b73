"""Who asks: by a token, by the word of a trusted proxy, or as a program of this machine where that needs neither."""

import functools
import hashlib
import hmac
import ipaddress
from collections.abc import Mapping
from urllib.parse import SplitResult, unquote, urlsplit

import structlog
from aiohttp import web

from runtime.access.sessions import SessionBook
from runtime.access.tokens import (
    LADDER,
    LOCAL,
    SERVER_TOKEN,
    SHAPE,
    Access,
    Principal,
    Role,
    TokenBook,
    describe,
    has_expired,
    may,
)
from runtime.config import is_loopback
from runtime.http.errors import ApiError
from runtime.program import command
from runtime.resilience.limiters import TokenBuckets
from runtime.settings import ServerSettings
from runtime.user_text import display

log = structlog.get_logger()

PRINCIPAL = web.RequestKey("principal", Principal)
"""Where a request keeps who asks."""
COOKIE = "terminus_session"
PAGES = "/ui/"
"""What stands below is for browsers, as the page at / is."""
PERSON_CHARACTERS = 200
IN_ADDRESS = frozenset(
    {"token", "access_token", "auth_token", "api_key", "apikey", "api-key", "authorization", "bearer"}
)
"""Under these names other servers take tokens in an address."""
SINGLE = ("Authorization", "Host", "Origin", "Sec-Fetch-Site")
"""Headers of which a second one would let two readers see two things."""
IPV6_SITE = 64
"""Bits of an address that one customer of a provider has: whoever has one address has all of them."""

ADDRESSES = 4096
"""Of so many it is remembered what they are: to parse one takes longer than all the rest."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class InNoGroup(ApiError):
    """A person of the proxy may do nothing here but what anybody may."""


class Gate:
    """Finds out who asks, for one server."""

    def __init__(self, server: ServerSettings, tokens: TokenBook) -> None:
        self._server = server
        self._tokens = tokens
        self.sessions = SessionBook(tokens)
        self._proxies: list[Network] = [ipaddress.ip_network(each, strict=False) for each in server.proxy]
        self._failures = TokenBuckets(server.failed_logins, server.failed_logins)
        self._requests = TokenBuckets(server.requests_per_minute, server.request_burst)
        self._single = (*SINGLE, server.user_header, server.groups_header)

    async def admit(self, request: web.Request, access: Access) -> Principal | None:
        """
        Who asks, once that is enough for this access; nothing where anybody may ask, and nobody said who it is.

        :raises ApiError: it is not enough, or too much was asked; the sentence says what is needed.
        """
        self._check_form(request)
        try:
            principal = await self._identify(request)
        except ApiError as refused:
            if access != "open" or not (refused.status in {401, 429} or isinstance(refused, InNoGroup)):
                raise
            return None
        if access == "open":
            return principal
        if not may(principal.role, access):
            needed = " or ".join(LADDER[LADDER.index(access) :])
            raise ApiError(
                403, f"This needs the role {needed}, and {display(principal.by)} has the role {principal.role}. An "
                "administrator can give it, by another token or another group.",
            )  # fmt: skip
        if principal is not LOCAL:
            self._count(principal.by)
        return principal

    def count(self, request: web.Request) -> None:
        """
        Count a request of a page that opens without signing in: for who asks, or for the address that it came from.

        :raises ApiError: there were too many.
        """
        principal = find_principal(request)
        if principal is not LOCAL:
            self._count(principal.by if principal else f"address:{_find_site(request.remote)}")

    def _count(self, name: str) -> None:
        if seconds := self._requests.take(name):
            raise ApiError(
                429, f"More than {self._server.requests_per_minute} requests a minute came from "
                f"{display(name)}; go on more slowly.", retry_seconds=seconds,
            )  # fmt: skip

    async def knows_still(self, by: str, since: float) -> bool:
        """
        Whether a principal is let in still, as far as that is known here: of a person, whether a proxy may name any.

        :param by: as `Principal.by`.
        :param since: when they were, in seconds since 1970: a token that was made later is another of the same name.
        """
        kind, _, name = by.partition(":")
        if kind == "token":
            token = await self._tokens.find_name(name)
            return token is not None and token.created <= since and not has_expired(token)
        if kind == "user":
            return bool(self._proxies and self._server.roles)
        return bool(self._server.token) if by == SERVER_TOKEN.by else by == LOCAL.by and await self._has_local()

    async def look_again(self, request: web.Request) -> None:
        """
        See whether who was admitted still would be, for what goes on for long: a stream, or a wait.

        :raises ApiError: their token was revoked or has expired, they have signed out, or have another role now.
        """
        before = find_principal(request)
        if before is None:
            return
        now = await self._identify(request, again=True)
        if now.by != before.by or not may(now.role, before.role):
            raise _ask_for_token(f"{display(before.by)} may no longer do what this was begun with; ask again")

    def is_taken_at_its_word(self, request: web.Request) -> bool:
        """Whether a proxy said who asks: nobody can look at that again, but by having them come again."""
        return self._user(request) is not None

    def _check_form(self, request: web.Request) -> None:
        """Refuse what can be read in two ways, and tokens where logs and histories keep them."""
        for name in self._single:
            if len(request.headers.getall(name, ())) > 1:
                raise ApiError(400, f"The header {name} came more than once. Send it once.")
        if self._server.hosts and not _is_loopback(host := _find_host(request)) and host not in self._server.hosts:
            raise ApiError(403, f"This server is not called {display(host)}: [server] hosts lists its names.")
        if not IN_ADDRESS.isdisjoint(map(str.lower, request.query)) or SHAPE.search(unquote(request.raw_path)):
            raise ApiError(
                400, "A token does not belong into an address, which logs and histories keep: send it as "
                "`Authorization: Bearer ...`, and revoke the one that was sent.",
            )  # fmt: skip

    async def _identify(self, request: web.Request, *, again: bool = False) -> Principal:
        principal = await self._find_principal(request, again=again)
        if principal.role == "submit" and self._server.submit_reads == "all":
            return principal._replace(role="read")
        return principal

    async def _find_principal(self, request: web.Request, *, again: bool) -> Principal:
        if (user := self._user(request)) is not None:
            return self._find_person(request, user)
        if "Authorization" in request.headers:
            return await self._find_bearer(request, request.headers["Authorization"], again=again)
        if (signed_in := await self._find_session(request)) is not None:
            return signed_in
        if await self._needs_none(request):
            if not _is_loopback(_find_host(request)):
                raise ApiError(
                    403, "Without a token only this machine is served: ask for http://127.0.0.1 or localhost."
                )
            return LOCAL
        raise _ask_for_token("Send a token as `Authorization: Bearer ...`")

    async def _find_session(self, request: web.Request) -> Principal | None:
        """Whom a browser's cookie names: to read anything, and to change something by the pages, which check forms."""
        key = request.cookies.get(COOKIE, "")
        reads = request.method in {"GET", "HEAD"} or is_page(request.path)
        return await self.sessions.find(key) if key and reads else None

    async def sign_in(self, request: web.Request, token: str) -> str:
        """
        Open a session by a token.

        :returns: its key, for the cookie.
        :raises ApiError: it is no token of this server, or too many wrong ones came.
        """
        principal = await self._find_bearer(request, f"Bearer {token.strip()}")
        return self.sessions.open(principal, token.strip())

    def is_secure(self, request: web.Request) -> bool:
        """Whether the browser came by https, as far as that is known here: by a trusted proxy's word."""
        told = request.headers.get("X-Forwarded-Proto", "").lower() == "https"
        return request.secure or (told and self._is_proxy(request.remote))

    def _user(self, request: web.Request) -> str | None:
        """Whom a trusted proxy names; nothing where there is none, or no such header."""
        given = request.headers.get(self._server.user_header)
        if not self._proxies or not (given or self._server.groups_header in request.headers):
            return None
        if not self._is_proxy(request.remote):
            log.warning("proxy.forged", remote=request.remote)
            raise ApiError(
                403, f"Only a proxy that [server] proxy names may send {self._server.user_header}; ask through it, or "
                "send a token.",
            )  # fmt: skip
        return given or None

    def _find_person(self, request: web.Request, user: str) -> Principal:
        user = user.strip()
        if not user or len(user) > PERSON_CHARACTERS or not user.isprintable():
            raise ApiError(400, f"The proxy's {self._server.user_header} is not the name of a person.")
        groups = {each.strip() for each in request.headers.get(self._server.groups_header, "").split(",")}
        if (role := find_role(groups, self._server.roles)) is None:
            raise InNoGroup(403, f"{display(user)} is in none of the groups that [server] roles names.")
        return Principal(f"user:{user}", role, user)

    async def _find_bearer(self, request: web.Request, authorization: str, *, again: bool = False) -> Principal:
        """
        Who has the token that was sent.

        From an address of many wrong ones, the token of the configuration, which a person may have thought up, is not
        heard for a while; one that was made here cannot be guessed, so nobody can keep its owner out.

        :param again: it was heard before, so that it is no guess.
        """
        scheme, _, text = authorization.partition(" ")
        text = text.strip()
        site = _find_site(request.remote)
        blocked = 0.0 if again else self._failures.wait(site)
        ours = bool(self._server.token) and not blocked
        same = hmac.compare_digest(_digest(text), _digest(self._server.token))
        found = await self._tokens.find(text)
        if scheme.lower() == "bearer" and ours and same:
            return SERVER_TOKEN
        if scheme.lower() == "bearer" and found is not None:
            if not has_expired(found):
                return describe(found)
            raise _ask_for_token(f"This token, {found.name}, has expired")
        if again:
            raise _ask_for_token("This token was revoked")
        self._failures.take(site)
        if blocked:
            raise ApiError(429, "Too many wrong tokens came from this address; wait a little.", retry_seconds=blocked)
        raise _ask_for_token("This is no token of this server; send one as `Authorization: Bearer ...`")

    async def _needs_none(self, request: web.Request) -> bool:
        """Whether this machine's own programs are heard as they are: where nobody has set up any access."""
        return _is_loopback(request.remote or "") and await self._has_local()

    async def _has_local(self) -> bool:
        server = self._server
        if server.token or self._proxies or not _is_loopback(server.host):
            return False
        return not await self._tokens.are_wanted()

    def _is_proxy(self, remote: str | None) -> bool:
        address = _parse_address(remote)
        return address is not None and any(address in each for each in self._proxies)


def _ask_for_token(sentence: str) -> ApiError:
    return ApiError(
        401, f"{sentence}; an administrator makes one with {command('tokens create NAME --role submit')}.",
        headers={"WWW-Authenticate": "Bearer"},
    )  # fmt: skip


def find_role(groups: set[str], roles: Mapping[str, Role]) -> Role | None:
    """The highest role of these groups; `*` is a group of everybody's."""
    found = [role for group, role in roles.items() if group == "*" or group in groups]
    return max(found, key=LADDER.index, default=None)


def _find_host(request: web.Request) -> str:
    """The name under which the server was asked, in small letters, without a port."""
    return split_address(f"//{request.headers.get('Host', '')}").hostname or ""


@functools.lru_cache(ADDRESSES)
def _is_loopback(host: str) -> bool:
    return is_loopback(host)


@functools.lru_cache(ADDRESSES)
def _find_site(remote: str | None) -> str:
    """What stands for an address where failures are counted."""
    address = _parse_address(remote)
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, IPV6_SITE), strict=False))
    return str(address)


@functools.lru_cache(ADDRESSES)
def _parse_address(remote: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address; one of version 4 that came in over a socket of version 6 is of version 4."""
    try:
        address = ipaddress.ip_address((remote or "").partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _digest(text: str) -> bytes:
    """Of one length whatever the text is, so that comparing tells nothing of that either."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def split_address(address: str) -> SplitResult:
    """What an Origin or a Host header names; nothing where that cannot be read."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


GATE = web.AppKey("gate", Gate)


def is_page(path: str) -> bool:
    """Whether a path is one of a page, for people."""
    return path == "/" or path.startswith(PAGES)


def find_person(request: web.Request) -> str:
    """The person who asks, where that is known."""
    principal = find_principal(request)
    return principal.person if principal else ""


def may_do(request: web.Request, access: Access) -> bool:
    """Whether who asks has a role that is enough."""
    principal = find_principal(request)
    return principal is not None and may(principal.role, access)


def find_principal(request: web.Request) -> Principal | None:
    """Who asks, where the gate has found that out."""
    return request.get(PRINCIPAL)
