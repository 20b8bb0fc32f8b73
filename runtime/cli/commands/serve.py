"""`serve`: runs the daemon until it is asked to stop."""

import argparse
from typing import TYPE_CHECKING

from runtime.cli import Exit
from runtime.service_error import ServiceError
from runtime.user_text import display

if TYPE_CHECKING:
    from runtime.settings import Settings

SUMMARY = "run the daemon"
LOG = "stderr"
"""A daemon's log is its supervisor's."""
EPILOG = """\
Submit with:  curl -H 'Content-Type: text/plain' -d 'My VPN drops' 'http://127.0.0.1:8421/tickets?wait=60'
Everything it takes is listed at /openapi.json. It logs to stderr.

SIGTERM and Ctrl-C: no new tickets, those that run have [server] stop_seconds to end, the rest goes on at the
next start. A second one: at once.

SIGHUP: the configuration is read again. What cannot change while it runs is named in the log; it needs a restart.
Closing the terminal that it was started in stops it, as SIGTERM does.

exit status: 0 it was told to stop, 2 it cannot listen there, 1 something failed.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("--host", help="where to listen (default: [server] host)")
    parser.add_argument("--port", type=int, help="0: any free port, which is printed (default: [server] port)")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import asyncio
    import functools
    import os

    import structlog

    from runtime.config import load
    from runtime.embeddings.provider_check import name_missing_model
    from runtime.http.server import bound, serve
    from runtime.kubernetes import service_variables

    if theirs := service_variables(os.environ):
        structlog.get_logger().warning("environment.passed_over", variables=theirs, reason="Kubernetes' own")
    if missing := name_missing_model(settings.embeddings):
        structlog.get_logger().warning("embeddings.not_installed", detail=missing)
    settings = _chosen(arguments, settings)

    def reread() -> "Settings":
        return _chosen(arguments, load(arguments.config))

    with bound(settings.server) as sock:
        asyncio.run(serve(settings, sock, functools.partial(print, flush=True), reread))
    return Exit.DONE


def _chosen(arguments: argparse.Namespace, settings: "Settings") -> "Settings":
    """The settings with what the command line says of the address, held to the same rules."""
    import msgspec

    from runtime.config import TOKEN_CHARACTERS, is_loopback

    given = {name: getattr(arguments, name) for name in ("host", "port")}
    server = msgspec.structs.replace(settings.server, **{k: v for k, v in given.items() if v is not None})
    if not 0 <= server.port <= 65_535:
        raise ServiceError(f"--port must be a whole number from 0 to 65535, not {server.port}.")
    if not is_loopback(server.host) and server.token and len(server.token) < TOKEN_CHARACTERS:
        raise ServiceError(
            f"--host {display(server.host)} is reachable from other machines, which needs a token of at least "
            f"{TOKEN_CHARACTERS} characters: set a longer TERMINUS_SERVER_TOKEN, or leave --host away."
        )
    return msgspec.structs.replace(settings, server=server)
