"""A run that cannot be read: the command line says so in a sentence, and lists the others."""

import pytest

from tests.runtime.cli.commands.program import Place
from tests.runtime.http.test_damage import DAMAGES, harm

WORDS = (
    ("trace", "T-1"), ("report", "T-1"), ("feedback", "T-1", "--wrong"),
)  # fmt: skip
"""What needs the events of a run; how it ended is stored beside them."""


@pytest.mark.parametrize("what", ["the beginning is no MessagePack", "an event is missing"])
def test_the_command_line_says_a_sentence_and_lists_the_others(place: Place, what: str) -> None:
    for n in (1, 2):
        assert place.run("submit", "--id", f"T-{n}", "When do I change the toner?").status in {0, 3}
    run = place.run("status", "T-1", "--json").json["run"]
    harm(place.folder / "task-data", DAMAGES[what])

    for of in ("T-1", run):
        assert place.run("status", of).status in {0, 3}
    for words in WORDS:
        done = place.run(*(word.format(run=run) for word in words))
        assert (done.status, done.out.count("Traceback")) == (1, 0), done.out + done.err
        assert run in done.err
        assert "submit the ticket again under a new id" in done.err
        assert len(done.err.splitlines()) == 1
    assert "has ended already" in place.run("cancel", "T-1").out, "how it ended stands beside what is damaged"
    rows = place.run("status", "--json").json["runs"]
    assert [row["ticket"] for row in rows] == ["T-2", "T-1"]
