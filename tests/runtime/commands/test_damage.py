"""A run that cannot be read: the command line says so in a sentence, and lists the others."""

from collections.abc import Callable

import pytest

from tests.runtime.commands.program import Place
from tests.runtime.web.test_damage import DAMAGES, harm

SAYS: dict[str, Callable[[Place, str], tuple[str, ...]]] = {
    "status": lambda place, run: ("status", "T-1"), "status of a run": lambda place, run: ("status", run),
    "trace": lambda place, run: ("trace", "T-1"), "feedback": lambda place, run: ("feedback", "T-1", "--wrong"),
    "cancel": lambda place, run: ("cancel", "T-1"), "json": lambda place, run: ("status", "T-1", "--json"),
    "report": lambda place, run: ("report", "T-1"),
}  # fmt: skip


@pytest.mark.parametrize("what", ["the beginning is no MessagePack", "an event is missing"])
def test_the_command_line_says_a_sentence_and_lists_the_others(place: Place, what: str) -> None:
    for n in (1, 2):
        assert place.run("submit", "--id", f"T-{n}", "When do I change the toner?").status in {0, 3}
    run = place.run("status", "T-1", "--json").json["run"]
    harm(place.folder / "task-data", DAMAGES[what])

    for words in SAYS.values():
        done = place.run(*words(place, run))
        assert (done.status, done.out.count("Traceback")) == (1, 0), done.out + done.err
        assert run in done.err
        assert "submit the ticket again under a new id" in done.err
        assert len(done.err.splitlines()) == 1
    rows = place.run("status", "--json").json["runs"]
    assert [row["ticket"] for row in rows] == ["T-2", "T-1"]
