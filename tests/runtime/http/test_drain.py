"""Told to stop, a daemon takes nothing new, tells what it knows, and lets its listeners go so that they can go on."""

import json
import signal
import socket
from pathlib import Path
from typing import Any

from tests.runtime.cli.commands.program import SECONDS, Place, read_until, silent_server
from tests.runtime.cli.commands.test_serve import Daemon, daemon

TEXT = "My printer smokes."


class Line:
    """A stream of events as a client has it that reads the bytes itself."""

    def __init__(self, server: Daemon, path: str, last: str = "") -> None:
        self._sock = socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS)
        again = f"Last-Event-ID: {last}\r\n" if last else ""
        self._sock.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{again}\r\n".encode())
        self.heard = b""

    def read_to(self, word: bytes) -> None:
        while word not in self.heard:
            self.heard += self._read()

    def read_to_end(self) -> list[str]:
        """The ids of all that was told; the line must have been ended in its form, and not cut."""
        while not self.heard.endswith(b"\r\n0\r\n\r\n"):
            self.heard += self._read()
        self._sock.close()
        return [line[4:] for line in self.heard.decode().splitlines() if line.startswith("id: ")]

    def _read(self) -> bytes:
        more = self._sock.recv(65_536)
        assert more, self.heard
        return more


def post(server: Daemon, ticket: dict[str, str]) -> tuple[int, int, Any]:
    """Status, seconds of Retry-After, and what was said."""
    body = json.dumps(ticket).encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as sock:
        head = "POST /tickets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
        sock.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        head, _, said = b"".join(iter(lambda: sock.recv(65_536), b"")).decode().partition("\r\n\r\n")
    fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:])
    if int(head.split()[1]) >= 400:
        assert fields["content-type"].startswith("application/problem+json")
    return int(head.split()[1]), int(fields.get("retry-after", 0)), json.loads(said)


def test_what_is_told_to_stop_refuses_what_is_new_and_ends_streams_where_they_can_go_on(tmp_path: Path) -> None:
    place, known = Place(tmp_path), {"text": TEXT, "id": "HD-1"}
    with silent_server() as model, daemon(place, TERMINUS_SERVER_STOP_SECONDS="600", **model) as server:
        first = post(server, known)[2]
        lines = [Line(server, f"/tickets/HD-1/events{query}") for query in ("", "?after=" + first["run"] + ":0")]
        lines.append(Line(server, "/events"))
        for line in lines[:2]:
            line.read_to(f"id: {first['run']}:3\n".encode())  # from there on the model is waited for
        lines[2].read_to(b"\r\n\r\n")

        # when it is told to stop while a ticket runs
        server.popen.send_signal(signal.SIGTERM)
        read_until(server.popen, "server.stopping")

        # then it says so to who comes anew, and goes on for who was there
        status, seconds, said = post(server, {"text": "Another printer smokes."})
        assert (status, seconds > 0, said["status"]) == (503, True, 503)
        assert (post(server, known)[0], post(server, known)[2]["run"]) == (202, first["run"])
        assert server.ask("/health/live")[0] == 200
        status, health = server.ask("/health/ready")
        assert (status, health["why"].split(",")[0]) == (503, "It is stopping")
        assert server.ask("/tickets/HD-1")[1]["status"] == "running"

        # and at the end each stream is ended as HTTP has it, behind an event that has an id
        server.popen.send_signal(signal.SIGTERM)
        told = [line.read_to_end() for line in lines]
        assert server.popen.wait(SECONDS) == 0
    assert told[0][0] == f"{first['run']}:0"
    assert told[0][1:] == told[1]
    assert not any(b"event: ended" in line.heard or b"event: failed" in line.heard for line in lines)

    # who comes back with it after the next start hears the rest, and nothing twice
    with daemon(place) as server:
        rest = Line(server, "/tickets/HD-1/events", last=told[0][-1])
        later = rest.read_to_end()
        everything = Line(server, "/tickets/HD-1/events").read_to_end()
        assert b"event: ended" in rest.heard
        assert [*told[0], *later] == everything
        assert len(set(everything)) == len(everything)
        assert len(server.ask("/tickets")[1]["tickets"]) == 1, "what was refused was not taken"
        assert server.stop()[0] == 0
