"""
The daemon: listens, resumes what was running, reads its configuration again on SIGHUP, and ends
well when it is told to.

When the system has no files left it stops taking connections for a moment and says so in one line:
the event loop's own way is to try again at once for each place of the backlog. What is no HTTP is
refused with problem details, as everything else.
"""

import asyncio
import contextlib
import errno
import gc
import ipaddress
import resource
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from typing import Any, TypeVar

import msgspec
import structlog
from aiohttp import http_exceptions, web

from actors.ports import PortFailed
from actors.roster import Roster
from runtime.access.shares import ShareBook
from runtime.access.tokens import Access, TokenBook
from runtime.agent_folder import load_roster
from runtime.config import ConfigError, is_loopback
from runtime.daemon.listener import hear_commands
from runtime.engine.node import Node
from runtime.engine.service import TicketService, open_service
from runtime.http import openapi  # noqa: F401 - routes of its own
from runtime.http.endpoints.desk import DESK
from runtime.http.endpoints.intake_routes import connect_helpdesks
from runtime.http.endpoints.knowledge_routes import open_indexing
from runtime.http.endpoints.share_routes import SHARES
from runtime.http.errors import PROBLEM, ApiError, make_problem
from runtime.http.gate import GATE, Gate
from runtime.http.liveness import Liveness, Systemd
from runtime.http.middleware import HEADERS, add_headers, expect, explain, nowhere, refuse_strangers, tell_problem
from runtime.http.pages import every_page  # noqa: F401 - routes of its own
from runtime.http.pages.page_routes import PAGE_ROUTES
from runtime.http.routes import ROUTES
from runtime.knowledge.index import is_lapsed
from runtime.observe.logs import set_level
from runtime.observe.loop_watch import watch_loop
from runtime.processes.terminal import Terminal
from runtime.program import command
from runtime.service_error import ServiceError
from runtime.settings import ServerSettings, Settings, check
from runtime.upkeep.purge import run_daily
from runtime.user_text import as_json, display

log = structlog.get_logger()

AT_ONCE = 64
"""Connections that are taken in before others have their turn."""
PAUSE_SECONDS = 0.25
"""How long nothing is taken in once there are no files left."""
LINE_SECONDS = 60.0
"""How often the log says so while it lasts."""
EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
GONE = frozenset({errno.ECONNABORTED, errno.EPROTO, errno.EPERM})
"""The client went away, or a firewall was faster."""


class Acceptor:
    """Gives each connection of a listening socket a protocol of its own, until it is closed."""

    def __init__(self, sock: socket.socket, protocol: Callable[[], asyncio.Protocol]) -> None:
        self._sock = sock
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[object]] = set()
        self._pause: asyncio.TimerHandle | None = None
        self._failures = 0
        self._last_line = float("-inf")
        sock.setblocking(False)
        self._loop.add_reader(sock, self._accept)

    def close(self) -> None:
        """Take no more in; what was taken in goes on."""
        if self._pause is not None:
            self._pause.cancel()
        self._loop.remove_reader(self._sock)

    def _accept(self) -> None:
        for _ in range(AT_ONCE):
            try:
                connection, _ = self._sock.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno in GONE:
                    continue
                self._rest(error)
                return
            self.take(connection)

    def take(self, connection: socket.socket) -> None:
        """Take in a connection that was accepted already."""
        task = self._loop.create_task(self._open(connection))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _open(self, connection: socket.socket) -> None:
        try:
            connection.setblocking(False)
            await self._loop.connect_accepted_socket(self._protocol, connection)
        except Exception as error:  # one connection is no reason to take no others
            connection.close()
            log.warning("connection.failed", error=repr(error))

    def _rest(self, error: OSError) -> None:
        """Take nothing in for a moment: whoever waits in the backlog goes on waiting."""
        self._loop.remove_reader(self._sock)
        self._pause = self._loop.call_later(PAUSE_SECONDS, self._go_on)
        self._failures += 1
        now = self._loop.time()
        if now - self._last_line >= LINE_SECONDS:
            remedy = "raise the limit of open files (ulimit -n), or lower [server] max_connections"
            log.error("connections.exhausted", reason=error.strerror, times=self._failures,
                      remedy=remedy if error.errno in EXHAUSTED else "")  # fmt: skip
            self._last_line, self._failures = now, 0

    def _go_on(self) -> None:
        self._pause = None
        self._loop.add_reader(self._sock, self._accept)


LINE_BYTES = 8190
"""The longest line of a request's head."""


class ProblemProtocol(web.RequestHandler):
    """A connection. aiohttp answers what its parser refuses by itself, before any middleware is asked."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002
    ) -> web.StreamResponse:
        """
        Refuse what could not be parsed, and close the connection; nothing of what was sent is repeated.

        :raises ConnectionError: the answer has begun, so that no other can be given.
        """
        if request.writer.output_size > 0:
            raise ConnectionError("The answer was cut off.")
        refused = _explain(status, exc)
        if refused.status == 500:
            log.error("request.crashed", remote=request.remote, error=repr(exc), exc_info=exc)
        else:
            kind = type(exc).__name__
            log.info("request.refused", status=refused.status, reason=str(refused), kind=kind, remote=request.remote)
        response = tell_problem(refused)
        response.headers.update(HEADERS)  # no application is asked that would add them
        response.force_close()
        return response


def _explain(status: int, error: BaseException | None) -> ApiError:
    match error:
        case http_exceptions.LineTooLong():
            return ApiError(431, f"A line of the request is over {LINE_BYTES:,} bytes. Shorten the address or header.")
        case http_exceptions.BadHttpMethod():
            return ApiError(400, "This is no HTTP request, or not one in plain HTTP. Ask for http://, not https://.")
        case http_exceptions.HttpProcessingError():
            return ApiError(400, "The request is not as HTTP has it. Look at its first line, headers and lengths.")
        case _ if status == 500:
            return ApiError(500, "The server failed at this; its log says more.")
        case _:
            return ApiError(status, "The request cannot be read. Look at its first line and its headers.")


Setting = tuple[str, str]
"""A section and a key."""
LIVE: frozenset[Setting] = frozenset({
    ("log", "level"),
    ("server", "free_megabytes"),
    ("server", "max_streams"),
    ("server", "stop_seconds"),
    ("storage", "keep_days"),
    ("trace", "replay_days"),
})  # fmt: skip
"""Whoever needs one of these asks the node's settings each time; all others are built into what has been opened."""
AGENTS = "the files of agents"


async def reload(node: Node, read: Callable[[], Settings]) -> None:
    """
    Take over what can be, and log by name what waits for a restart. What may not be is refused as a whole.

    :param read: the settings as they stand now; it may raise `ConfigError` or `ServiceError`.
    """
    try:
        wanted = await asyncio.to_thread(read)
        check(wanted)
        roster = await asyncio.to_thread(load_roster, wanted)
    except (ConfigError, ServiceError) as error:
        log.warning("settings.refused", reason=str(error), remedy="mend it and send SIGHUP again; all stays as it was")
        return
    changed = find_changes(node.settings, wanted)
    node.settings = take_over(node.settings, wanted, changed & LIVE)
    set_level(node.settings.log.level)
    waiting = _name(changed - LIVE) + ([AGENTS] if _describe(roster) != _describe(node.roster) else [])
    log.warning("settings.reloaded", changed=_name(changed & LIVE), after_restart=waiting)


def find_changes(old: Settings, new: Settings) -> frozenset[Setting]:
    """Which settings differ."""
    return frozenset(
        (section, key)
        for section in Settings.__struct_fields__
        for key in getattr(old, section).__struct_fields__
        if getattr(getattr(old, section), key) != getattr(getattr(new, section), key)
    )


def take_over(old: Settings, new: Settings, which: Iterable[Setting]) -> Settings:
    """The old settings with some of the new ones."""
    for section, key in which:
        table = msgspec.structs.replace(getattr(old, section), **{key: getattr(getattr(new, section), key)})
        old = msgspec.structs.replace(old, **{section: table})
    return old


def _describe(roster: Roster) -> dict[str, str]:
    """Each agent with all that its file says: equality of two is that of their intents, each equal to itself alone."""
    return {name: repr(spec) for name, spec in roster.specs.items()}


def _name(settings: Iterable[Setting]) -> list[str]:
    """Names alone: a value may be a secret."""
    return sorted(f"[{section}] {key}" for section, key in settings)


T = TypeVar("T")

BACKLOG = 4096
IDLE_SECONDS = 75.0
"""How long a connection may be silent, or a client may take to send its headers."""
UNREAD_SECONDS = 30.0
"""How long a client may leave what was sent to it unread before the system drops it."""
LINGER_SECONDS = 2.0
"""How long the rest of a refused body is read, so that the refusal arrives."""
ANSWER_SECONDS = 2.0
"""What is being answered when the process ends may take so long."""
POLL_SECONDS = 0.05
SPARE_FILES = 256
"""Files that are kept for the database, workers and calls to models."""
TOO_MANY = ApiError(503, "Too many connections are open; try it again soon.", retry_seconds=5)
TURNED_AWAY = (
    f"HTTP/1.1 503 Service Unavailable\r\nContent-Type: {PROBLEM}\r\nRetry-After: {TOO_MANY.headers['Retry-After']}\r\n"
    f"Connection: close\r\n\r\n{as_json(make_problem(TOO_MANY))}\n"
).encode()


class Stop:
    """
    What SIGTERM and Ctrl-C do: the first asks for the end, the second for an end at once.

    SIGHUP: reload; from a terminal that is being closed, it asks for the end.
    """

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.at_once = asyncio.Event()
        self.reload = asyncio.Event()

        self._terminal = Terminal()

    def __call__(self) -> None:
        (self.at_once if self.asked.is_set() else self.asked).set()

    def hang_up(self) -> None:
        (self.asked if self._terminal.is_closed() else self.reload).set()


class TurnedAway(asyncio.Protocol):
    """A connection above the limit: told so and closed."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.WriteTransport):
            transport.write(TURNED_AWAY)
        transport.close()


def bound(server: ServerSettings) -> socket.socket:
    """
    The socket to listen on, so that a port in use is known before any work is begun.

    :raises ServiceError: with a sentence that says why not.
    """
    host = "127.0.0.1" if server.host == "localhost" else server.host.strip("[]")
    where = f"{server.host} port {server.port}"
    try:
        version = ipaddress.ip_address(host).version
        family = socket.AF_INET6 if version == 6 else socket.AF_INET
        sock = socket.create_server((host, server.port), family=family, backlog=BACKLOG)
    except ValueError:
        raise ServiceError(
            f"The host {display(server.host)} is no IP address. Give one of this machine, or localhost, with --host."
        ) from None
    except PermissionError:
        raise ServiceError(f"This user may not listen on {where}. Choose a port above 1023 with --port.") from None
    except OSError as error:
        why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be listened on ({error.strerror})"
        raise ServiceError(f"{where} {why}. Stop what listens there, or choose another with --port.") from None
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # not on every system; connections inherit it
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(UNREAD_SECONDS * 1000))
    return sock


def address(sock: socket.socket) -> str:
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve(
    settings: Settings, sock: socket.socket, announce: Callable[[str], None], reread: Callable[[], Settings]
) -> None:
    """
    Take tickets until SIGTERM or SIGINT; what has not ended then stays in the journal. At SIGHUP, `reread` settings.

    It listens before it has resumed what was running, which takes seconds when that is thousands: who asks is told.
    """
    systemd = Systemd()
    with _stopping() as stop, contextlib.closing(Liveness(sock, settings.server.stall_seconds)) as liveness:

        def beat() -> None:
            liveness.beat()
            systemd.beat()

        async with open_service(settings, ready=False) as desk:
            node = desk.node
            await require_access(settings.server, TokenBook(node.journal.store))
            async with watch_loop(beat), listening(desk, sock, liveness), hear_commands(desk):
                gc.collect()
                gc.freeze()  # what is loaded by now stays for good: the collector need not look through it again
                resumed = await _resume(node, stop.asked)
                await _renew(node, stop.asked)
                await _unless(stop.asked, node.warm())
                if not stop.asked.is_set():
                    desk.ready = True
                    systemd.ready()
                    log.info("server.started", address=address(sock), resumed=resumed)
                    announce(f"Terminus listens on {address(sock)}" + (f"; {_tickets(resumed)} on" if resumed else ""))
                loading = asyncio.create_task(node.wiring.load_families(), name="families")
                watching = asyncio.create_task(node.runs.watch_orphans(), name="orphans")
                reloading = asyncio.create_task(_reload_when_told(node, reread, stop.reload), name="reload")
                async with run_daily(node):
                    await stop.asked.wait()
                for each in (watching, reloading, loading):
                    each.cancel()
                await asyncio.wait([watching, reloading, loading])
                desk.stop()
                await _let_end(node, node.settings.server.stop_seconds, stop.at_once)
            left = node.live
        log.info("server.stopped", left=left)
        announce("Stopped" + (f"; {_tickets(left)} on at the next start" if left else ""))


async def _resume(node: Node, asked: asyncio.Event) -> int:
    """How many runs go on that had no end. Told to stop meanwhile, it leaves the others to the next start."""
    return len(await _unless(asked, node.resume()) or [])


async def _renew(node: Node, asked: asyncio.Event) -> None:
    """An index of another version is made anew before tickets are taken; a failure is for whoever searches to say."""
    if is_lapsed(node.folder):
        with contextlib.suppress(PortFailed):
            await _unless(asked, node.documents.renew())


async def _reload_when_told(node: Node, reread: Callable[[], Settings], told: asyncio.Event) -> None:
    while True:
        await told.wait()
        told.clear()
        try:
            await reload(node, reread)
        except Exception:  # whatever it is, tickets go on
            log.exception("settings.not_reloaded")


async def _unless(asked: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """What comes of some work; None if the server was told to stop meanwhile."""
    working, stopping = asyncio.ensure_future(work), asyncio.ensure_future(asked.wait())
    try:
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        for each in (working, stopping):
            each.cancel()
        await asyncio.wait({working, stopping})


def application(desk: TicketService) -> web.Application:
    """The interface of one node."""
    server, needs = desk.node.settings.server, dict[web.AbstractRoute, Access]()
    store = desk.node.journal.store
    tokens = TokenBook(store)
    gate = Gate(server, tokens)
    app = web.Application(
        middlewares=[explain, refuse_strangers(gate, needs)], client_max_size=server.body_kilobytes * 1024
    )
    app[DESK], app[GATE], app[SHARES] = desk, gate, ShareBook(store, gate.knows_still)
    app.cleanup_ctx.append(open_indexing)
    app.cleanup_ctx.append(connect_helpdesks)
    app.on_response_prepare.append(add_headers)
    for each in (*ROUTES, *PAGE_ROUTES):
        needs[app.router.add_route(each.method, each.path, each.handler, expect_handler=expect)] = each.access
        if each.method == "GET" and not each.path.endswith("/events"):
            needs[app.router.add_route("HEAD", each.path, each.handler, expect_handler=expect)] = each.access
    needs[app.router.add_route("*", "/{nowhere:.*}", nowhere, expect_handler=expect)] = "submit"
    return app


async def require_access(server: ServerSettings, tokens: TokenBook) -> None:
    """:raises ServiceError: other machines can reach the server, and nothing says who of them may use it."""
    if is_loopback(server.host) or server.token or server.proxy or await tokens.exist():
        return
    raise ServiceError(
        f"The host {display(server.host)} is reachable from other machines, which needs a token: make one with "
        f"{command('tokens create NAME --role admin')}, set TERMINUS_SERVER_TOKEN or [server] proxy, or leave host at "
        "127.0.0.1."
    )


@contextlib.asynccontextmanager
async def listening(desk: TicketService, sock: socket.socket, liveness: Liveness | None = None) -> AsyncIterator[None]:
    """
    Answer on a socket; nobody new is heard once this is left, and nobody is left waiting.

    :param liveness: takes connections in while the loop stands still, which are handed over when it goes on.
    """
    runner = web.AppRunner(application(desk), handler_cancellation=True, shutdown_timeout=ANSWER_SECONDS)
    await runner.setup()
    loop = asyncio.get_running_loop()
    most, server = _most_connections(desk.node.settings.server.max_connections), runner.server

    def protocol() -> asyncio.Protocol:
        if server is None or len(server.connections) >= most:
            return TurnedAway()
        return ProblemProtocol(
            server, loop=loop, keepalive_timeout=IDLE_SECONDS, lingering_time=LINGER_SECONDS, auto_decompress=False,
            max_line_size=LINE_BYTES, max_field_size=LINE_BYTES,
            access_log=None,  # type: ignore[arg-type] # it is what keeps none
        )  # fmt: skip

    listener = Acceptor(sock, protocol)
    if liveness is not None:
        liveness.attach(listener.take)
    try:
        yield
    finally:
        if liveness is not None:
            liveness.detach()
        listener.close()
        desk.close()
        await runner.cleanup()


async def _let_end(node: Node, seconds: float, at_once: asyncio.Event) -> None:
    """Give what runs some seconds to end."""
    until = asyncio.get_running_loop().time() + seconds
    log.info("server.stopping", runs=node.live, seconds=seconds)
    while node.live and not at_once.is_set() and asyncio.get_running_loop().time() < until:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(at_once.wait(), POLL_SECONDS)


@contextlib.contextmanager
def _stopping() -> Iterator[Stop]:
    loop, stop = asyncio.get_running_loop(), Stop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stop)
    loop.add_signal_handler(signal.SIGHUP, stop.hang_up)
    try:
        yield stop
    finally:
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(each)


def _most_connections(wanted: int) -> int:
    """As many as are configured and as the system has files for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
    return max(1, min(wanted, soft - SPARE_FILES))


def _tickets(count: int) -> str:
    return "1 ticket that was running goes" if count == 1 else f"{count} tickets that were running go"
