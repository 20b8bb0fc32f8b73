"""`tokens`: who may use the daemon, and for what: makes tokens, lists them and takes them away."""

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from runtime.cli import Exit, utf8
from runtime.cli.view.printing import Line, print_result
from runtime.program import command
from runtime.service_error import ServiceError
from runtime.user_text import display

if TYPE_CHECKING:
    from runtime.access.tokens import Token
    from runtime.settings import Settings

SUMMARY = "say who may use the daemon"
LOG = "errors"
ID_CHARACTERS = 22
"""Of a token, up to its secret."""
ROLES = ("submit", "read", "operate", "admin")
EPILOG = """\
roles, each with what the one before it may:
  submit    ask, and read and judge one's own tickets: for a form, a chat bot, a colleague who asks
  read      read everybody's tickets and the figures: for a dashboard, Prometheus, a team that helps each other
  operate   cancel, judge and answer tickets: for those who work in support, and their helpdesk's program
  admin     change what all answers rest on, such as documents: for whoever runs Terminus

A token is shown once, when it is made. As soon as there is one, whoever uses the daemon has to send one, also after the
last was revoked: `off --yes` revokes all that are left, and hears the programs of this machine without one again. A
daemon that runs knows of all this within a second. Tickets belong to a token's name: give each name to one user alone.

exit status: 0 it was done, 1 there is one of this name, or not without --yes, 2 it cannot be named so, 3 there is none
of this name.

examples:
  %(prog)s create helpdesk --role operate --expires 90d
  %(prog)s list
  %(prog)s revoke helpdesk
  %(prog)s off --yes
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("action", choices=("create", "list", "revoke", "off"))
    parser.add_argument("name", nargs="?", type=utf8, metavar="NAME", help="whose it is")
    parser.add_argument("--role", choices=ROLES, help="what it may do; needed to create one")
    parser.add_argument("--expires", metavar="AGE", help="how long it is good, such as 90d, 12w or 36h; else for ever")
    parser.add_argument(
        "--yes", action="store_true", help="off: hear every program of this machine as an administrator"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


async def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    from runtime.access.tokens import TokenBook
    from runtime.engine.service import open_service

    seconds = _check(arguments)
    async with open_service(settings) as service:
        book, name = TokenBook(service.node.journal.store), arguments.name
        if arguments.action == "create":
            token = await book.create(name, arguments.role, seconds)
            print_result(_show_new(token, name, arguments.role), {"name": name, "token": token}, json=arguments.json)
        elif arguments.action == "revoke":
            left = await book.revoke(name)
            print_result(_show_revoked(name, left), {"revoked": name, "left": left}, json=arguments.json)
        elif arguments.action == "off":
            gone = await book.turn_off()
            print_result(_show_off(gone), {"revoked": gone}, json=arguments.json)
        else:
            found, wanted = await book.read_all(), await book.are_wanted()
            told = {"tokens": [_describe(each) for each in found], "wanted": wanted}
            print_result(_list(found, wanted=wanted), told, json=arguments.json)
    return Exit.DONE


def _check(arguments: argparse.Namespace) -> float | None:
    """How long a new token is good, once what was asked for is whole."""
    from runtime.times import parse_age

    if (arguments.action in {"list", "off"}) == bool(arguments.name):
        wants = "takes no name" if arguments.name else "needs the NAME of a token"
        raise ServiceError(f"tokens {arguments.action} {wants}.")
    if arguments.yes != (arguments.action == "off"):
        if arguments.yes:
            raise ServiceError(f"tokens {arguments.action} takes no --yes.")
        raise ServiceError(
            "All tokens would be revoked, and every program of this machine would be an administrator of the daemon. "
            "Say so with --yes.", "failed",
        )  # fmt: skip
    if arguments.action != "create":
        if arguments.role or arguments.expires:
            raise ServiceError(f"tokens {arguments.action} takes neither --role nor --expires.")
        return None
    if not arguments.role:
        raise ServiceError("tokens create needs --role submit, read, operate or admin: what may it do?")
    if arguments.expires is None:
        return None
    if not (seconds := parse_age(arguments.expires)):
        raise ServiceError(f"--expires must be a number with h, d or w, such as 90d, not {display(arguments.expires)}.")
    return seconds


def _show_new(token: str, name: str, role: str) -> Iterator[Line]:
    """The token alone on stdout where that is no terminal, so that it can be piped into a file of secrets."""
    if not sys.stdout.isatty():
        yield Line(token)
        return
    yield Line(f"The token of {name}, with the role {role}. It is not shown again:")
    yield Line(token, "strong", 2)
    yield Line(f"Send it as  Authorization: Bearer {token[:ID_CHARACTERS]}...", "faint")


def _show_revoked(name: str, left: int) -> Iterator[Line]:
    yield Line(f"The token {name} is good no more.", "good")
    if not left:
        yield Line(
            "It was the last, and the daemon goes on wanting one: "
            f"{command('tokens create NAME --role admin')} makes another, and {command('tokens off --yes')} "
            "lets the programs of this machine in without."
        )


def _show_off(gone: list[str]) -> Iterator[Line]:
    yield Line("Programs of this machine are heard without a token, if [server] token and proxy are empty.", "good")
    if gone:
        yield Line(f"Revoked: {', '.join(gone)}")


def _list(tokens: "list[Token]", *, wanted: bool) -> Iterator[Line]:
    from runtime.access.tokens import has_expired
    from runtime.times import local

    if not tokens and wanted:
        yield Line(
            "There is no token any more, and the daemon wants one: "
            f"{command('tokens create NAME --role admin')} makes one, and {command('tokens off --yes')} lets the "
            "programs of this machine in without."
        )
    elif not tokens:
        yield Line("There is no token. Programs of this machine are heard without one, if [server] token is empty.")
    for each in tokens:
        until = "until it is revoked" if each.expires is None else f"until {local(each.expires)}"
        good = "expired" if has_expired(each) else f"good {until}"
        made = f"made {local(each.created)}, {good}"
        yield Line(f"{each.name}  {each.role}  {made}  terminus_{each.id}_...", "poor" if good == "expired" else "")


def _describe(token: "Token") -> dict[str, object]:
    """What is told of a token: all but its hash."""
    from runtime.times import iso

    expires = None if token.expires is None else iso(token.expires)
    return {
        "name": token.name, "role": token.role, "id": token.id, "created": iso(token.created), "expires": expires,
    }  # fmt: skip
