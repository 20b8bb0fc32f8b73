"""Another user of the same system: reads nothing of a daemon's folder, tells it nothing, and does not pass for it."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.program import version
from tests.runtime.cli.commands.program import SECONDS, Place
from tests.runtime.cli.commands.test_serve import daemon

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="only root becomes another user")
NOBODY = 65_534
STRANGER = """
import json, os, socket, sys
from pathlib import Path
import msgspec
from runtime.daemon.requests import SubmitTicket
place, sock = Path(sys.argv[1]), sys.argv[2]
body = msgspec.msgpack.encode(SubmitTicket("Let me in.", "HD-9", "", "", "helpdesk"))
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)

def talk():
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(30)
        line.connect(sock)
        line.sendall(len(body).to_bytes(4) + body)
        return line.recv(99).hex()

tries = {
    "list": lambda: os.listdir(place), "owners": lambda: os.listdir(place / "owners"),
    "database": lambda: (place / "terminus.db").read_bytes()[:9].hex(),
    "log": lambda: (place / "logs" / "terminus.log").read_text(),
    "write": lambda: (place / "owners" / "x.sock").write_text("x"), "remove": lambda: os.unlink(sock), "talk": talk,
}
said = {}
for name in sys.argv[3:]:
    try:
        said[name] = tries[name]()
    except OSError as error:
        said[name] = type(error).__name__
print(json.dumps(said))
"""
INFO = {"TERMINUS_LOG_LEVEL": "info"}


@pytest.fixture
def open_place() -> Iterator[Place]:
    """A folder that anybody may enter, as pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Place(Path(name))


def try_as_stranger(place: Place, sock: Path, *what: str) -> Any:
    done = subprocess.run(  # noqa: S603 - ours
        [sys.executable, "-c", STRANGER, str(place.folder / "task-data"), str(sock), *what],
        env=place.environ, capture_output=True, timeout=SECONDS, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def test_another_user_reads_nothing_and_is_not_heard_though_somebody_opened_the_folder(open_place: Place) -> None:
    storage = open_place.folder / "task-data"
    with daemon(open_place, **INFO) as server:
        (sock,) = (storage / "owners").glob("*.sock")
        everything = ("list", "owners", "database", "log", "write", "remove", "talk")
        assert try_as_stranger(open_place, sock, *everything) == dict.fromkeys(everything, "PermissionError")

        for path in (storage, storage / "owners", sock):
            path.chmod(0o777)
        assert try_as_stranger(open_place, sock, "talk")["talk"] in {"", "ConnectionResetError", "BrokenPipeError"}
        ours = open_place.run("submit", "--id", "HD-1", "-q", "My printer smokes.")
        assert ours.status == 3, ours.err
        assert server.ask("/tickets/HD-9")[0] == 404
        _, _, err = server.stop()

    events = [json.loads(line) for line in err.splitlines()]
    assert [each["user"] for each in events if each["event"] == "command.refused"] == ["nobody"]
    assert [each["ticket"] for each in events if each["event"] == "ticket.accepted"] == ["HD-1"]


def test_another_users_socket_gets_no_ticket(open_place: Place) -> None:
    storage = open_place.folder / "task-data"
    assert open_place.run("submit", "-q", "My printer smokes.").status == 3
    heard: list[bytes] = []
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.socket(socket.AF_UNIX))
        path = storage / "owners" / "0000.sock"
        os.seteuid(0)
        _listen_as_stranger(listening, path)

        def impersonate() -> None:
            with contextlib.suppress(OSError):
                line, _ = listening.accept()
                with line:
                    body = b"\x81\xa7version" + bytes([0xA0 + len(version())]) + version().encode()
                    line.sendall(len(body).to_bytes(4) + body)
                    heard.append(line.recv(9999))

        thread = threading.Thread(target=impersonate)
        thread.start()
        done = open_place.run("submit", "-q", "--id", "HD-1", "My salary is wrong.")
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(SECONDS)

    assert done.status == 3
    assert not any(b"salary" in each for each in heard)
    assert open_place.run("status", "HD-1", "--json").json["status"] == "not_found"
    shutil.rmtree(storage / "owners")


def _listen_as_stranger(listening: socket.socket, path: Path) -> None:
    """The peer of a socket is whoever said that it listens."""
    listening.bind(str(path))
    path.chmod(0o777)
    os.seteuid(NOBODY)
    try:
        listening.listen()
    finally:
        os.seteuid(0)
