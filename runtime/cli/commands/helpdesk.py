"""`helpdesk`: connects helpdesks, and shows what they say and what is made of it."""

import argparse
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.cli import Exit, utf8
from runtime.cli.view.printing import Line, print_result
from runtime.service_error import ServiceError

if TYPE_CHECKING:
    from actors.workflow.outcome import Outcome
    from runtime.intake.connections import Connection
    from runtime.intake.setup import Mapping, PastTicket, Verdict
    from runtime.settings import Settings
    from runtime.tickets import Ticket

SUMMARY = "connect a helpdesk, and look at what it says"
LOG = "errors"
MOST_SAID = 600
"""Characters of an answer that `replay` shows."""
STYLES: "dict[Verdict, str]" = {
    "answered": "good", "asked back": "unsure", "not found": "unsure", "failed": "bad", "left alone": "faint",
}  # fmt: skip
EPILOG = """\
Nothing of this writes to a helpdesk. What a connection is: docs/helpdesks.md.

exit status: 0 all is well, 1 something is wrong, 2 there is no such system or connection, or a file cannot be used.

examples:
  %(prog)s init zammad --url https://zammad.example.org   (writes helpdesks/zammad.toml, and says what to do next)
  %(prog)s check                                          (the address, the token, the account, of each connection)
  %(prog)s test-map delivery.json --source zammad         (the event that a payload becomes, and where each value stood)
  %(prog)s record zammad                                  (keeps what it says as files for test-map)
  %(prog)s replay zammad --since 30d --dry-run            (what would have been said, beside what people said)
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    begin = actions.add_parser("init", help="write the file of a new connection, and say what to do next")
    begin.add_argument("system", type=utf8, metavar="SYSTEM", help="a system that ships, or a TOML file of your own")
    begin.add_argument("--name", type=utf8, default="", help="of the connection (default: the system's)")
    begin.add_argument("--url", type=utf8, default="", help="the helpdesk's address")
    check = actions.add_parser("check", help="whether a helpdesk can be spoken to, and as whom; it only reads")
    check.add_argument("name", nargs="?", type=utf8, metavar="NAME", help="one connection (default: all)")
    look = actions.add_parser("test-map", help="what a payload becomes, and of which expression each value is")
    look.add_argument("file", metavar="FILE", help="the JSON of a delivery, or what `record` wrote")
    look.add_argument("--source", type=utf8, default="", metavar="NAME", help="a connection or a system")
    past = actions.add_parser("replay", help="what would have been said about past tickets; nothing is written to them")
    past.add_argument("name", type=utf8, metavar="NAME", help="the connection")
    past.add_argument("--since", type=utf8, default="30d", metavar="AGE", help="how far back (default: %(default)s)")
    past.add_argument("--most", type=int, default=50, metavar="N", help="so many tickets (default: %(default)s)")
    past.add_argument("--dry-run", action="store_true", required=True, help="say that nothing is to be written")
    keep = actions.add_parser("record", help="keep what a helpdesk says as files, for test-map; secrets are taken out")
    keep.add_argument("name", type=utf8, metavar="NAME", help="the connection")
    for each in (begin, check, look, past, keep):
        each.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


async def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    from runtime.intake.adapter import UnreadablePayload
    from runtime.intake.adapter_file import AdapterError
    from runtime.intake.helpdesk_client import HelpdeskError

    folder = Path(settings.helpdesks.folder)
    try:
        if arguments.action == "init":
            return _init(arguments, folder)
        if arguments.action == "check":
            return await _check(arguments, folder)
        if arguments.action == "record":
            return await _record(arguments, folder, settings)
        if arguments.action == "replay":
            return await _replay(arguments, folder, settings)
        return _test_map(arguments, folder)
    except HelpdeskError as error:
        raise ServiceError(str(error), "unavailable") from None
    except (AdapterError, UnreadablePayload) as error:
        raise ServiceError(str(error)) from None


def _init(arguments: argparse.Namespace, folder: Path) -> int:
    from runtime.intake.setup import write_connection

    path, steps = write_connection(folder, arguments.system, arguments.name, arguments.url)
    steps = (f"look through {path}", *steps, f"run `terminus helpdesk check {path.stem}`")
    lines = [Line(f"{path} is written. Next:", "good")]
    lines += [Line(f"{number}. {step[:1].upper()}{step[1:]}.", "", 2) for number, step in enumerate(steps, 1)]
    print_result(lines, {"file": str(path), "steps": list(steps)}, json=arguments.json)
    return Exit.DONE


async def _check(arguments: argparse.Namespace, folder: Path) -> int:
    from runtime.cli.view.check_lines import Check, check_lines
    from runtime.intake.setup import check_connection

    found: dict[str, list[Check]] = {}
    for connection in _read_connections(folder, arguments.name):
        found[connection.name] = [Check(*each) for each in await check_connection(connection)]

    def show() -> Iterator[Line]:
        for name, checks in found.items():
            yield Line(name, "strong")
            yield from check_lines(checks)

    healthy = all(each.state != "problem" for checks in found.values() for each in checks)
    print_result(show(), {"healthy": healthy, "helpdesks": found}, json=arguments.json)
    return Exit.DONE if healthy else Exit.FAILED


def _test_map(arguments: argparse.Namespace, folder: Path) -> int:
    from runtime.intake.adapter_file import list_systems, load_tables, read_adapter
    from runtime.intake.setup import map_capture, read_capture

    source = arguments.source
    if source in list_systems() and not (folder / f"{source}.toml").exists():
        adapter = read_adapter(load_tables(source, folder), source)
    else:
        (connection, *others) = _read_connections(folder, source)
        if others:
            raise ServiceError("There are several connections: say with --source which one it is of.")
        adapter, source = connection.file, connection.name
    mapping = map_capture(adapter, source, read_capture(Path(arguments.file)))
    print_result(_show_mapping(mapping), mapping, json=arguments.json)
    return Exit.FAILED if mapping.problem else Exit.DONE


async def _record(arguments: argparse.Namespace, folder: Path, settings: "Settings") -> int:
    from runtime.intake.adapter import MOST_FILES, Recorder
    from runtime.intake.setup import check_connection

    (connection,) = _read_connections(folder, arguments.name)
    to = Recorder(settings.storage.folder, connection.name).start()
    await check_connection(connection, settings.storage.folder)
    files = sorted(map(str, to.glob("*.json")))
    lines = [Line(each) for each in files]
    lines.append(Line(f"A daemon keeps what comes from now on in {to}, {MOST_FILES} files at most.", "good"))
    lines.append(Line("They hold what customers wrote, and no purge knows them: remove the folder when you are done."))
    print_result(lines, {"folder": str(to), "files": files}, json=arguments.json)
    return Exit.DONE


async def _replay(arguments: argparse.Namespace, folder: Path, settings: "Settings") -> int:
    import time

    from runtime.times import since

    (connection,) = _read_connections(folder, arguments.name)
    begins = since(arguments.since, time.time())
    if begins is None or arguments.most < 1:
        raise ServiceError("--since must be an age such as 30d, or a day, and --most a number of tickets.")
    found = [each async for each in _ask_again(connection, settings, begins, arguments.most)]
    counts = Counter(each.verdict for each in found)
    reasons = Counter(each.why for each in found if each.verdict == "left alone")

    def show() -> Iterator[Line]:
        for each in found:
            yield Line(f"{each.ticket}  {each.subject}", "strong")
            yield Line(each.verdict + (f": {each.why}" if each.why else ""), STYLES[each.verdict], 2)
            for who, said in (("Terminus", each.answer), ("then", each.people)):
                yield from _quote(who, said)
        tally = ", ".join(f"{counts[verdict]} {verdict}" for verdict in STYLES)
        yield Line(f"{len(found)} tickets: {tally}. Nothing was written to {connection.name}.", "strong")
        yield from (Line(f"{count} left alone: {why}", "faint", 2) for why, count in reasons.most_common())

    value = {"counts": {verdict: counts[verdict] for verdict in STYLES}, "left_alone": reasons, "tickets": found}
    print_result(show(), value, json=arguments.json)
    return Exit.DONE


async def _ask_again(
    connection: "Connection", settings: "Settings", since: float, most: int
) -> "AsyncIterator[PastTicket]":
    """Past tickets on the index as it is, but in a storage of their own: they are no tickets here, nor remembered."""
    import tempfile

    import msgspec

    from runtime.engine.service import open_service
    from runtime.intake.setup import replay_past

    with tempfile.TemporaryDirectory(prefix="terminus-past-") as folder:
        _link_index(settings.storage.folder, folder)
        storage = msgspec.structs.replace(settings.storage, folder=folder)
        adapter = connection.open()
        async with open_service(msgspec.structs.replace(settings, storage=storage)) as service:

            async def answer(ticket: "Ticket") -> "Outcome":
                return await (await service.node.submit(ticket)).outcome()

            try:
                async for each in replay_past(adapter, connection.settings, since, most, answer):
                    yield each
            finally:
                await adapter.close()


def _link_index(storage: str, to: str) -> None:
    from runtime.knowledge import FILE

    for file in Path(storage).absolute().glob(f"{FILE}*"):
        Path(to, file.name).symlink_to(file)


def _show_mapping(mapping: "Mapping") -> Iterator[Line]:
    width = max(len(each.name) for each in mapping.values)
    for each in mapping.values:
        shown = each.problem or _shorten(each.value)
        yield Line(f"{each.name:<{width}}  {shown}", "bad" if each.problem else "")
        yield Line(_shorten(each.expression), "faint", width + 2)
    if mapping.problem:
        yield Line(mapping.problem, "bad")
    else:
        yield Line(f"It becomes: {_shorten(mapping.made, 1_000)}", "good")


def _quote(who: str, said: str) -> Iterator[Line]:
    """What somebody said, as it stands: a line each, the first behind who it was."""
    lines = [line for line in _shorten(said, MOST_SAID).splitlines() if line.strip()]
    for number, line in enumerate(lines):
        yield Line(f"{who}: {line}" if not number else line, "", 4 if number else 2)


def _shorten(value: Any, most: int = 200) -> str:
    from runtime.user_text import as_json

    text = value if isinstance(value, str) else as_json(value)
    return text if len(text) <= most else f"{text[:most]}..."


def _read_connections(folder: Path, name: str | None) -> "tuple[Connection, ...]":
    """One connection or all; at least one."""
    from runtime.intake.connections import load_connections, read_connection
    from runtime.user_text import nearest

    if name:
        known = [each.stem for each in folder.glob("*.toml")]
        if name not in known:
            raise ServiceError(
                f"There is no file {folder / name}.toml. {nearest(name, known) if known else ''}".strip()
            )
        return (read_connection(folder / f"{name}.toml"),)
    if not (found := load_connections(folder)):
        raise ServiceError(
            f"No helpdesk is connected: there is no file in {folder}. `helpdesk init SYSTEM` writes one."
        )
    return found
