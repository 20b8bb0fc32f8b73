"""A ticket's language is stored with its end: whoever looks later reads the same sentences."""

import pytest

from tests.runtime.cli.commands.program import Place

ARTICLE = (
    "# Drucker\n\n## Papierstau\n\nBei Papierstau öffnen Sie die hintere Klappe und ziehen Sie das Blatt heraus.\n"
)
ASKED = "Bei Papierstau die hintere Klappe öffnen?"


def test_an_answer_and_its_later_look_are_in_the_tickets_language(fresh_place: Place) -> None:
    manual = fresh_place.folder / "handbuch"
    manual.mkdir()
    (manual / "drucker.md").write_text(ARTICLE, encoding="utf-8")
    assert fresh_place.run("index", "handbuch").status == 0

    told = fresh_place.run("submit", "--id", "HD-1", ASKED)
    later = fresh_place.run("status", "HD-1")

    assert told.status == 0
    assert "Übergaben." in told.out
    assert told.out.splitlines()[-1].startswith("Hat das geholfen? ")
    assert "[1] Drucker › Papierstau" in told.out
    answer = told.out.partition("\n\n")[2].partition("\n\nAbgeschlossen")[0]
    assert answer.partition("\n")[0] == "Diese Stellen kommen der Frage am nächsten:"
    assert answer in later.out
    assert fresh_place.run("status", "HD-1", "--json").json["outcome"]["language"] == "de"

    assert "\nNotiz: " in later.out
    verbose = fresh_place.run("status", "HD-1", "--verbose").out
    assert "→ orchestrator   Lösung gefunden\n" in verbose
    assert "memory check" not in verbose

    again = fresh_place.run("submit", "--id", "HD-2", ASKED)
    assert again.out.splitlines()[1].startswith("Beantwortet wie ein früheres Ticket. Ticket HD-1 hat denselben Text;")


@pytest.mark.parametrize(
    ("asked", "head"),
    [("网球场在哪里预订？", "在来源中没有找到"), ("테니스장은 어디에서 예약합니까?", "출처에서 찾지 못했습니다")],
)
def test_that_nothing_was_found_is_told_in_the_tickets_language(place: Place, asked: str, head: str) -> None:
    done = place.run("submit", "-q", asked)

    assert done.status == 3
    assert done.out.splitlines()[0] == head
