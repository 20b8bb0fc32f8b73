"""The daemon: listens, resumes what was running, and ends well when it is told to."""

import asyncio
import contextlib
import errno
import gc
import ipaddress
import resource
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

import structlog
from aiohttp import web

from actors.ports import PortFailed
from runtime.access.roles import Access
from runtime.access.shares import ShareBook
from runtime.access.tokens import TokenBook
from runtime.config import is_loopback
from runtime.daemon.listener import hear_commands
from runtime.http import openapi  # noqa: F401 - routes of its own
from runtime.http.acceptor import Acceptor
from runtime.http.endpoints.desk import DESK
from runtime.http.endpoints.intake_routes import connect_helpdesks
from runtime.http.endpoints.knowledge_routes import open_indexing
from runtime.http.endpoints.share_routes import SHARES
from runtime.http.errors import PROBLEM, ApiError, make_problem
from runtime.http.gate import GATE, Gate
from runtime.http.liveness import Liveness, Systemd
from runtime.http.middleware import add_headers, expect, explain, nowhere, refuse_strangers
from runtime.http.pages import every_page  # noqa: F401 - routes of its own
from runtime.http.pages.page_routes import PAGE_ROUTES
from runtime.http.problem_protocol import LINE_BYTES, ProblemProtocol
from runtime.http.reload import reload
from runtime.http.routes import ROUTES
from runtime.knowledge.index import is_lapsed
from runtime.loop_watch import watch_loop
from runtime.node import Node
from runtime.processes.terminal import Terminal
from runtime.program import command
from runtime.service import TicketService, open_service
from runtime.service_error import ServiceError
from runtime.settings import ServerSettings, Settings
from runtime.upkeep.daily import run_daily
from runtime.user_text import as_json, display

log = structlog.get_logger()

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
