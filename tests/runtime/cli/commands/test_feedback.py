"""A person teaches: by a text, a file or stdin, after having seen what it is about; and documents that change."""

import pytest

from tests.runtime.cli.commands.program import ARTICLE, QUESTION, Place
from tests.runtime.cli.view.terminal import Terminal, plain

UNKNOWN = "Where do I get a parking permit?"
TAUGHT = "Ask at the gate, 8 to 16.\n\n- bring your badge"


@pytest.fixture
def unanswered(place: Place) -> Place:
    """A place where HD-1 ended without an answer."""
    assert place.run("submit", "--quiet", "--id", "HD-1", UNKNOWN).status == 3
    return place


def answer(place: Place, question: str = UNKNOWN) -> tuple[str, str]:
    """How a ticket that asks this ends, and what it is told."""
    outcome = place.run("submit", "--json", "--quiet", question).json
    return outcome["status"], outcome["resolution"]["text"] if outcome["resolution"] else ""


@pytest.mark.parametrize("way", ["text", "file", "stdin"])
def test_a_persons_answer_is_given_word_for_word_after_a_ticket_without_one(unanswered: Place, way: str) -> None:
    (unanswered.folder / "permit.txt").write_text(f"{TAUGHT}\n")
    given = {"text": TAUGHT, "file": "permit.txt", "stdin": "-"}[way]

    done = unanswered.run("feedback", "HD-1", "--answer", given, stdin=f"{TAUGHT}\n")

    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"Noted as the answer to HD-1.\n  “{UNKNOWN}”\n  Answer: “Ask at the gate, 8 to 16.")
    assert "feedback HD-1 --wrong` takes it back" in done.out
    assert answer(unanswered) == ("resolved", TAUGHT)
    assert "but a person has given another answer since" in unanswered.run("status", "HD-1").out


def test_an_answer_can_be_taken_back_by_the_ticket_that_it_was_given_to(place: Place) -> None:
    place.article()
    for ticket in ("HD-1", "HD-2"):  # the second one is answered by the first one's answer
        place.run("submit", "--quiet", "--id", ticket, QUESTION)
    assert place.run("feedback", "HD-2", "--answer", TAUGHT, "--by", "Ann").status == 0
    assert answer(place, QUESTION) == ("resolved", TAUGHT)
    assert "Ann answered it on 20" in place.run("status", place.run("status", "--json").json["runs"][0]["run"]).out

    noted = place.run("feedback", "HD-2", "--wrong")

    assert noted.out.startswith("Noted as wrong: 1 remembered answer of HD-2.")
    assert "rear cover" in answer(place, QUESTION)[1]


def test_json_says_what_was_given(unanswered: Place) -> None:
    said = unanswered.run("feedback", "HD-1", "--answer", TAUGHT, "--json").json
    assert (said["ticket"], said["right"], said["answers"], said["answer"]) == ("HD-1", True, 1, TAUGHT)


@pytest.mark.parametrize(("said", "kept"), [(b"y\n", True), (b"\n", False)], ids=["yes", "nothing"])
def test_a_terminal_shows_question_and_answer_and_asks_first(unanswered: Place, said: bytes, kept: bool) -> None:
    words = ["-m", "runtime", "feedback", "HD-1", "--answer", TAUGHT]
    with Terminal(words, {**unanswered.environ, "TERM": "dumb"}) as terminal:
        asked = plain(terminal.until(lambda seen: "[y/N]" in seen))
        terminal.press(said)
        status = terminal.end()

    assert UNKNOWN in asked
    assert "Ask at the gate" in asked
    assert status == (0 if kept else 130)
    assert (answer(unanswered)[0] == "resolved") is kept


def test_yes_on_a_terminal_asks_nothing(unanswered: Place) -> None:
    with Terminal(["-m", "runtime", "feedback", "HD-1", "--answer", TAUGHT, "--yes"], unanswered.environ) as terminal:
        assert terminal.end() == 0
    assert "[y/N]" not in terminal.drawn


@pytest.mark.parametrize(
    ("given", "said"),
    [(" ", "The answer is empty. Write what"), ("gone.txt", "There is no file gone.txt. Check the name, or put the"),
     ("-", "stdin is empty. Write what"), ("x" * 70_000, "The answer is over 64 KB. Shorten it")],
    ids=["nothing", "no file", "empty stdin", "too much"],
)  # fmt: skip
def test_what_is_no_answer_is_refused_in_one_sentence(unanswered: Place, given: str, said: str) -> None:
    done = unanswered.run("feedback", "HD-1", "--answer", given, TERMINUS_RUN_TICKET_KILOBYTES="64")

    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(said)


def test_a_hostile_answer_commands_no_terminal(unanswered: Place) -> None:
    done = unanswered.run("feedback", "HD-1", "--answer", "Press \x1b[2J twice")
    assert done.status == 0
    shown = unanswered.run("submit", UNKNOWN)
    assert "\x1b" not in done.out + shown.out
    assert "twice" in shown.out


def test_of_a_research_nothing_is_remembered(place: Place) -> None:
    place.article()
    place.run("submit", "--research", "--id", "R-7", "--quiet", "How is a paper jam of the printer cleared?")
    for said in (("--answer", TAUGHT), ("--right",), ("--wrong",)):
        done = place.run("feedback", "R-7", *said)
        assert done.status == 2
        assert done.err == "R-7 is a research: only answers to helpdesk tickets are remembered.\n"


CHANGES = {
    "changed": ARTICLE.replace("open the rear cover", "lift the front lid"),
    "removed": "",
}


@pytest.mark.parametrize("change", CHANGES)
def test_no_stale_answer_comes_when_a_document_was_changed_or_removed(place: Place, change: str) -> None:
    place.article()
    assert "rear cover" in answer(place, QUESTION)[1]
    article = place.folder / "manual" / "printer.md"
    if CHANGES[change]:
        article.write_text(CHANGES[change], encoding="utf-8")
    else:
        article.rename(place.folder / "manual" / "printer.bak")
        (place.folder / "manual" / "scanner.md").write_text("# Scanner\n\nThe scanner takes A4 sheets.\n")
    assert place.run("index", "manual").status == 0

    again = place.run("submit", "--json", "--quiet", QUESTION).json

    assert "worker" in {each["target"] for each in again["handoffs"]}
    text = again["resolution"]["text"]
    if change == "changed":
        assert "front lid" in text
        assert "rear cover" not in text
    else:
        assert again["status"] == "suggested"
        assert text.startswith("These places come closest:")
        assert "\n\nThis was the answer to an earlier ticket. “" in text
        assert "does not stand in manual/printer.md any more. The answer was given on 20" in text
        assert [each["source"][:7] for each in again["resolution"]["citations"]][-1] == "ticket "


def test_no_answer_comes_from_memory_when_the_index_is_gone(place: Place) -> None:
    place.article()
    place.run("submit", "--quiet", QUESTION)
    (place.folder / "task-data" / "knowledge.db").unlink()

    again = place.run("submit", "--json", "--quiet", QUESTION).json

    assert again["status"] == "suggested"
    assert (
        "Its quotes could not be looked up in the documents: No documents are indexed yet."
        in (again["resolution"]["text"])
    )


PERMIT = "When does the parking garage close? Who gives a parking permit to visitors?"
VISITORS = "Visitors get a parking permit from reception."
GARAGE = "The parking garage closes at ten; the permit opens the barrier."


@pytest.fixture
def two_places(place: Place) -> Place:
    """A place where HD-1 was answered by two places of the documents, and the second one is that of visitors."""
    (place.folder / "manual").mkdir()
    (place.folder / "manual" / "visitors.md").write_text(f"# Visitors\n\n{VISITORS}\n", encoding="utf-8")
    (place.folder / "manual" / "garage.md").write_text(f"# Parking garage\n\n{GARAGE}\n", encoding="utf-8")
    assert place.run("index", "manual").status == 0
    shown = place.run("submit", "--id", "HD-1", PERMIT)
    assert "[1] Parking garage\n" in shown.out
    assert "[2] Visitors\n" in shown.out
    assert "feedback HD-1 --right --place N|--wrong`" in shown.out
    return place


def test_of_several_places_only_the_one_that_was_right_is_remembered(two_places: Place) -> None:
    noted = two_places.run("feedback", "HD-1", "--right", "--place", "2")

    assert (noted.status, noted.err) == (0, "")
    assert "Of its places only this is remembered: [2].\n" in noted.out
    assert "Suggested, and a person confirmed that one of its places helped\n" in two_places.run("status", "HD-1").out
    status, text = answer(two_places, PERMIT)
    assert (status, text) == (
        "resolved", f"A person confirmed that the answer stands here:\n\n[1] Visitors\n{VISITORS}",
    )  # fmt: skip
    repeated = two_places.run("status", "--json").json["runs"][0]["run"]
    assert "Resolved, and a person confirmed that it helped\n" in two_places.run("status", repeated).out
    assert two_places.run("feedback", repeated, "--right").status == 0, "there is nothing left to choose"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--right",), "The answer to HD-1 shows 2 places: say which of them was right, with --place N"),
        (("--right", "--yes"), "The answer to HD-1 shows 2 places: say which"),
        (("--right", "--place", "3"), "The answer to HD-1 shows no place 3: it shows 1, 2."),
        (("--right", "--place", "two"), "Argument --place: 'two' is no number of a place; give one such as 2"),
        (("--wrong", "--place", "1"), "--place goes with --right only."),
    ],
    ids=["none", "yes", "not shown", "no number", "wrong"],
)
def test_a_choice_that_is_not_made_is_asked_for_in_one_sentence(
    two_places: Place, words: tuple[str, ...], said: str
) -> None:
    done = two_places.run("feedback", "HD-1", *words)

    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(said)
    assert answer(two_places, PERMIT)[0] == "suggested"


@pytest.mark.parametrize(
    ("pressed", "status", "kept"), [(b"2\n", 0, VISITORS), (b"\n", 130, ""), (b"first\n", 2, "")],
    ids=["second", "nothing", "no number"],
)  # fmt: skip
def test_a_terminal_asks_which_place_was_right(two_places: Place, pressed: bytes, status: int, kept: str) -> None:
    with Terminal(["-m", "runtime", "feedback", "HD-1", "--right"], two_places.environ) as terminal:
        asked = plain(terminal.until(lambda seen: "or nothing]" in seen))
        terminal.press(pressed)
        assert terminal.end() == status

    lines = [line.rstrip() for line in asked.splitlines()]
    assert lines[-3:-1] == ["  [1] Parking garage", "  [2] Visitors"]
    assert lines[-1].startswith("Which place was right? [")
    resolved, text = answer(two_places, PERMIT)
    assert (resolved == "resolved") is bool(kept)
    assert kept in text


def test_an_answer_with_one_place_is_confirmed_as_it_is(place: Place) -> None:
    place.article()
    before = answer(place, QUESTION)[1]
    ticket = place.run("status", "--json").json["runs"][0]["ticket"]
    assert place.run("feedback", ticket, "--right").status == 0
    assert answer(place, QUESTION) == ("resolved", before)
