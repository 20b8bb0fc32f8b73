"""`replay` as its user runs it."""

from tests.runtime.cli.commands.program import ARTICLE, QUESTION, Place
from tests.runtime.test_agent_files import PRINTING, write


def test_a_ticket_is_replayed_in_another_process_and_is_the_same(place: Place) -> None:
    place.article()
    place.run("submit", "--quiet", "--id", "HD-1", QUESTION)
    (place.folder / "manual" / "printer.md").write_text(ARTICLE.replace("green", "red"), encoding="utf-8")
    place.run("index", "manual")

    shown, data = place.run("replay", "HD-1"), place.run("replay", "HD-1", "--json").json

    assert shown.status == 0, shown.err
    assert "the same, 6 events and the outcome, byte for byte." in shown.out
    assert (data["same"], data["differences"]) == (True, [])


def test_where_it_differs_is_shown_and_the_status_says_so(place: Place) -> None:
    place.article()
    place.run("submit", "--quiet", "--id", "HD-1", QUESTION)
    (place.folder / "agents").mkdir()
    write(place.folder / "agents", PRINTING)

    shown = place.run("replay", "HD-1", TERMINUS_AGENTS_FOLDER="agents")

    assert shown.status == 6, shown.err
    assert "it differs.\nThen: suggested. Now: suggested." in shown.out
    assert "event 2, ticketing: ticket analyzed\n" in shown.out
    assert "    assigned: then nothing\n              now printing\n" in shown.out
    assert "then worker: ResolutionObtained\n    now printing: ResolutionObtained\n" in shown.out
    assert "asks something else" not in shown.out, "the specialist asks what the worker asked, and gets the same"


def test_an_unknown_ticket_and_one_without_a_recording_are_told(place: Place) -> None:
    place.article()
    place.run("submit", "--quiet", "--id", "HD-1", QUESTION, TERMINUS_TRACE_REPLAY="false")

    unknown, without = place.run("replay", "HD-9"), place.run("replay", "HD-1")

    assert (unknown.status, without.status) == (3, 3)
    assert "Nothing is recorded of what HD-1 got from outside" in without.err
