"""Pages of the database that a disk has spoiled: each command says so, and an earlier backup is put in their place."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.storage.private import DATABASE
from tests.runtime.cli.commands.program import Place
from tests.runtime.cli.commands.test_serve import daemon

PAGE = 4096
TICKETS = ("T-1", "T-2", "T-3")


def spoil(file: Path, first: int = 1) -> None:
    """Flip bytes in every other page from one on."""
    dice, raw = random.Random(7), bytearray(file.read_bytes())
    for page in range(first, len(raw) // PAGE, 2):
        for _ in range(64):
            raw[page * PAGE + dice.randrange(PAGE)] ^= 0xFF
    with file.open("r+b") as stream:
        stream.write(raw)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "pages": spoil,
    "the first page": lambda file: file.write_bytes(file.read_bytes()[:24] + b"\xff" * 76 + file.read_bytes()[100:]),
    "the end": lambda file: file.write_bytes(file.read_bytes()[: -2 * PAGE - 100]),
}


@pytest.fixture
def kept(place: Place) -> Place:
    """Three tickets, and a backup of them."""
    for ticket in TICKETS:
        assert place.run("submit", "-q", "--id", ticket, "My printer smokes.").status == 3
    assert place.run("backup", "kept.tar").status == 0
    return place


def list_tickets(place: Place) -> list[str]:
    return sorted(each["ticket"] for each in place.run("status", "--json").json["runs"])


@pytest.mark.parametrize("what", DAMAGES)
def test_a_database_that_was_damaged_while_nobody_used_it_is_told_and_put_back(kept: Place, what: str) -> None:
    database = kept.folder / "task-data" / DATABASE
    DAMAGES[what](database)
    spoiled = database.read_bytes()

    for words in (("doctor",), ("status",), ("serve", "--port", "0"), ("backup", "again.tar")):
        done = kept.run(*words)
        assert done.status == 1, (words, done.out)
        assert "Traceback" not in done.out + done.err
        assert str(database) in done.out + done.err
        if words[0] != "doctor":
            told = [line for line in done.err.splitlines() if not line.startswith("{")]  # a daemon logs it, too
            assert (done.out, len(told), told[-1][-1]) == ("", 1, "."), done.err
    assert not (kept.folder / "again.tar").exists()
    assert database.read_bytes() == spoiled, "what can still be read of it is somebody's to read"

    assert kept.run("restore", "kept.tar").status == 0
    assert list_tickets(kept) == list(TICKETS)
    assert [each.read_bytes() for each in kept.folder.glob(f"*before-restore*/{DATABASE}")] == [spoiled]


def test_a_daemon_under_which_pages_are_damaged_answers_in_sentences_and_stops_when_told(kept: Place) -> None:
    database = kept.folder / "task-data" / DATABASE
    with daemon(kept) as server:
        spoil(database)
        said = [server.ask(f"/tickets/{each}") for each in TICKETS]
        said += [server.ask("/tickets", {"text": f"My printer smokes {each}.", "id": f"N-{each}"}) for each in "abc"]
        said.append(server.ask("/tickets"))
        for status, body in said:
            assert status in {200, 202} or (status in {500, 503} and body["detail"].endswith(".")), body
        assert server.ask("/health/live")[0] == 200
        assert server.stop()[0] == 0

    assert kept.run("doctor").status == 1
    assert kept.run("backup", "again.tar").status == 1
    assert kept.run("restore", "kept.tar").status == 0
    assert list_tickets(kept) == list(TICKETS)
