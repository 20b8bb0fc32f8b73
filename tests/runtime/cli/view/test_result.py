"""What came of a run: for people complete and harmless, for programs one object."""

import io
import json

import msgspec
import pytest

from actors.evidence.claims import Citation, Resolution
from actors.evidence.places import name_place
from actors.evidence.shortfalls import Shortfall
from actors.evidence.sources import FailedSource
from actors.reporting.report import Report
from actors.text.catalogue import say
from actors.text.normalize import sanitize_markdown
from actors.workflow.outcome import EndReason, Handoff
from runtime.cli import Exit
from runtime.cli.view.board import PlainView
from runtime.cli.view.printing import LINKING, STYLES, Link, can_link, write
from runtime.cli.view.result import HEADLINES, REPORT_HEADLINES, exit_status, lines, worst
from runtime.user_text import as_json
from tests.runtime.cli.view.runs import HOSTILE, outcome, progress


def text(*, verbose: bool = False, quotes: bool = False, **more: object) -> str:
    stream = io.StringIO()
    write(lines(outcome(**more), verbose=verbose, quotes=quotes), stream)
    return stream.getvalue()


def test_people_get_the_resolution_its_sources_and_why_it_ended_last() -> None:
    shown, verbose = text(), text(verbose=True)

    assert shown.startswith("Resolved\n")
    assert "Handoffs" not in shown
    answer = "\nSet keepalive to 25. [1]"
    assert verbose.endswith(answer + shown.partition(answer)[2]), "what led to the answer stands before it"
    assert "Set keepalive to 25. [1]" in shown
    assert "[1] manual/vpn.md#drops  VPN > Drops" in shown
    assert "“" not in shown, "a quote that was just read is not repeated"
    assert "Handoffs (5)" in verbose
    assert "orchestrator → ticketing     memory checked" in verbose
    assert "Summary\n  VPN drops; keepalive.\n" in verbose
    assert "Closed by ticketing after 1.25 s and 5 handoffs." in shown
    assert "2 model calls, about 1,200 tokens in, 80 out; 1 message refused." in shown


def test_programs_get_the_handoff_sequence_as_an_array() -> None:
    data = json.loads(as_json(outcome()))

    assert [(each["source"], each["target"]) for each in data["handoffs"]][:2] == [
        ("orchestrator", "memory"),
        ("memory", "orchestrator"),
    ]
    assert data["resolution"]["citations"][0]["quote"] == "Set keepalive\n   to 25."
    assert (data["status"], data["why"], data["seconds"]) == ("resolved", "completed", 1.25)


def test_how_an_answer_from_memory_was_found_is_said_where_nobody_summed_up() -> None:
    summed = (*outcome().handoffs, Handoff("summarization", "orchestrator", "SummaryCompleted"))

    assert "Resolved\nVPN drops; keepalive.\n" in text()
    assert "VPN drops; keepalive." not in text(handoffs=summed)


def test_suggested_is_not_green_and_says_that_nobody_confirmed_it() -> None:
    for known, key in ((HEADLINES, "headline_suggested"), (REPORT_HEADLINES, "report_suggested")):
        assert known["suggested"] == "unsure"
        assert "nobody" in say(key, "en")
    assert not STYLES["unsure"].endswith("green")


def test_the_worst_of_several_is_told() -> None:
    assert worst([Exit.DONE, Exit.NOT_FOUND, Exit.DONE]) is Exit.NOT_FOUND
    assert worst([Exit.LIMIT, Exit.FAILED, Exit.NOT_FOUND]) is Exit.FAILED
    assert worst([Exit.FAILED, Exit.CANCELLED]) is Exit.CANCELLED
    assert worst([]) is Exit.DONE
    assert {worst([each]) for each in Exit} == set(Exit)


def test_an_end_that_nobody_closed_is_called_so() -> None:
    shown = text(status="error", why=EndReason.LOOP_DETECTED, by="")

    assert "Cut off, with nobody to close it, after 1.25 s and 5 handoffs: loop detected." in shown


def test_what_was_not_as_planned_is_said() -> None:
    shown = text(degraded="the model server is down", unavailable=("network: no answer in 30 s",), detail="Look again.")

    assert "\nthe model server is down\n" in shown
    assert "Unavailable: network: no answer in 30 s" in shown
    assert "Look again." in shown


def test_nothing_found_by_a_search_that_was_not_complete_is_not_called_not_found() -> None:
    lacks = (Shortfall("no_meaning"), Shortfall("source_failed", "network"))
    shown = text(status="not_found", incomplete=lacks, unavailable=("network",), detail="", resolution=None)

    assert "Nothing found, but the search was not complete\n" in shown
    assert "Not found in the sources" not in shown
    assert "The search was not complete: the sentence model did not answer" in shown
    assert shown.count("network") == 1, "what did not answer is named once"


def test_a_written_answer_shows_the_words_it_rests_on() -> None:
    known = outcome().resolution
    assert known is not None

    assert "“Set keepalive to 25.”" in text(resolution=Resolution("Raise the keepalive. [1]", known.citations))


def test_each_statement_can_show_its_whole_quote() -> None:
    known = outcome().resolution
    assert known is not None
    long = msgspec.structs.replace(known.citations[0], quote="Set keepalive to 25. " * 40)

    assert "“Set keepalive to 25.”" in text(quotes=True), "also one that was just read"
    shown = " ".join(text(quotes=True, resolution=Resolution(known.text, (long,))).split())
    assert shown.count("Set keepalive to 25.") > 40


PLACE = Citation(1, "kb/a b.md", "Breaks", "Breaks > To Insert One", "Choose Insert.", 0, 14, "ins")
WEB = Citation(2, "https://example.org/x", "Styles", "", "Pick it.", 0, 8)
PLACES = Resolution(
    f"These come closest:\n\n{name_place(PLACE)}\nChoose Insert.\n\n{name_place(WEB)}\nPick it.", (PLACE, WEB)
)


def test_a_place_leads_to_the_file_or_page_where_it_stands() -> None:
    shown = list(lines(outcome(resolution=PLACES), files={PLACE.source: "/docs/a b.md"}))

    assert [(each.text, each.link) for each in shown if each.link] == [
        ("[1] Breaks › To Insert One", Link("file:///docs/a%20b.md#ins", "/docs/a b.md#ins")),
        ("[2] Styles", Link("https://example.org/x", "https://example.org/x")),
    ]
    assert "Sources" not in {each.text for each in shown}, "each place was named where it was quoted"


def test_a_file_that_is_not_here_is_named_and_leads_nowhere() -> None:
    place = next(each for each in lines(outcome(resolution=PLACES)) if each.link)

    assert place.link == Link("", "kb/a b.md#ins")


def test_where_nothing_can_be_clicked_the_address_stands_below_the_place() -> None:
    shown = text(resolution=PLACES).splitlines()

    at = shown.index("[1] Breaks › To Insert One")
    assert shown[at + 1 : at + 3] == ["    kb/a b.md#ins", "Choose Insert."]


KEYS = "press <Ctrl> + <P>"
ESCAPED = Citation(1, "kb/a.md", "<Keys>", "<Keys> > <P> and more", KEYS, 0, 20, "keys")


def test_people_see_the_characters_of_a_document_and_programs_its_markdown() -> None:
    resolution = Resolution(f"{name_place(ESCAPED)}\n{sanitize_markdown(KEYS)}\n\\# \x1b[2J", (ESCAPED,))

    shown = text(resolution=resolution, detail="What comes closest: &lt;Keys>.").splitlines()

    assert "What comes closest: <Keys>." in shown
    at = shown.index("[1] <Keys> › <P> and more")
    assert shown[at + 1 : at + 4] == ["    kb/a.md#keys", KEYS, "# \\x1b[2J"]
    assert "Sources" not in shown
    assert "&lt;Ctrl>" in as_json(outcome(resolution=resolution))


def test_what_a_person_answered_is_shown_letter_by_letter() -> None:
    assert "Write &lt;b> and \\#" in text(resolution=Resolution("Write &lt;b> and \\#", grade="resolved"))


@pytest.mark.parametrize(
    ("known", "links"),
    [
        ({}, False),
        ({"TERM_PROGRAM": "WezTerm"}, True),
        ({"TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"VTE_VERSION": "6003"}, True),
        ({"VTE_VERSION": "4200"}, False),
        ({"KITTY_WINDOW_ID": "1"}, True),
        ({"KITTY_WINDOW_ID": "1", "TMUX": "1"}, False),
    ],
)
def test_only_terminals_that_are_known_to_make_links_get_them(
    known: dict[str, str], links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*LINKING, "TERM_PROGRAM", "VTE_VERSION", "TMUX", "STY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in known.items():
        monkeypatch.setenv(name, value)

    assert can_link() is links


def test_what_was_found_before_a_limit_is_not_called_an_answer() -> None:
    shown = text(status="error", why=EndReason.MAX_HANDOFFS_EXCEEDED)

    assert shown.startswith("Stopped before it was finished\n")
    assert "What was found so far\nSet keepalive to 25. [1]\n" in shown
    assert "What was found so far" not in text()


def test_a_cancellation_is_said_once() -> None:
    shown = text(status="cancelled", why=EndReason.CANCELLED, detail="It was cancelled.", resolution=None)

    assert shown.lower().count("cancelled") == 2, "in the headline, and where it says who closed it"


def test_text_from_outside_cannot_command_a_terminal_nor_break_the_json() -> None:
    citation = Citation(1, HOSTILE, HOSTILE, HOSTILE, HOSTILE, 0, 1, HOSTILE)
    hostile = outcome(
        ticket=HOSTILE, run=HOSTILE, by=HOSTILE, summary=HOSTILE, detail=HOSTILE, degraded=HOSTILE,
        unavailable=(HOSTILE,), resolution=Resolution(HOSTILE, (citation,)), loop=((HOSTILE, HOSTILE),),
        handoffs=(Handoff(HOSTILE, HOSTILE, HOSTILE),),
    )  # fmt: skip
    stream = io.StringIO()
    write(lines(hostile), stream)
    write(lines(hostile, verbose=True), stream)
    view = PlainView(stream)
    for event in progress(hostile):
        view.show(event)
    encoded = as_json(hostile)

    assert [line for line in stream.getvalue().split("\n") if not line.isprintable()] == []
    assert "red \\x1b[31m" in stream.getvalue()
    assert encoded.isprintable()
    assert json.loads(encoded)["detail"] == HOSTILE


def test_a_lone_surrogate_breaks_neither() -> None:
    assert "\\udc80" in text(detail="\udc80")
    assert json.loads(as_json(outcome(detail="\udc80")))["detail"] == "\udc80"


@pytest.mark.parametrize(
    ("status", "why", "expected"),
    [
        ("resolved", EndReason.COMPLETED, Exit.DONE),
        ("suggested", EndReason.COMPLETED, Exit.DONE),
        ("not_found", EndReason.COMPLETED, Exit.NOT_FOUND),
        ("error", EndReason.LOOP_DETECTED, Exit.LIMIT),
        ("error", EndReason.MAX_HANDOFFS_EXCEEDED, Exit.LIMIT),
        ("error", EndReason.TIMED_OUT, Exit.LIMIT),
        ("error", EndReason.STEP_TIMED_OUT, Exit.LIMIT),
        ("error", EndReason.ANSWERS_REFUSED, Exit.LIMIT),
        ("error", EndReason.STEP_FAILED, Exit.FAILED),
        ("error", EndReason.STORAGE_FAILED, Exit.FAILED),
        ("error", EndReason.ORCHESTRATOR_FAILED, Exit.FAILED),
        ("error", EndReason.CANCEL_FORCED, Exit.CANCELLED),
        ("cancelled", EndReason.CANCELLED, Exit.CANCELLED),
    ],
)
def test_the_exit_status_tells_how_it_ended(status: str, why: EndReason, expected: Exit) -> None:
    assert exit_status(outcome(status=status, why=why)) is expected


def test_every_status_has_a_headline() -> None:
    for status in ("resolved", "suggested", "not_found", "error", "cancelled"):
        assert text(status=status, resolution=None).startswith(say(f"headline_{status}", "en"))


def test_a_research_tells_what_is_missing_without_how_it_is_mended_and_where_its_report_is() -> None:
    missed = (
        FailedSource("web", "source_failed", "Mend the key."),
        FailedSource("https://a.example/", "dead", "Not there."),
    )
    ended = outcome(workflow="research", status="suggested", unavailable=("web", "rss"))

    said = [line.text for line in lines(ended, Report(title="Q", question="Q", missed=missed))]

    assert said[1:3] == ["Unavailable: web", "Unavailable: rss"]
    assert said[-1].startswith("As a page: `python -m runtime report T-1 --out report.html`")
    nothing = outcome(workflow="research", status="not_found", resolution=None)
    assert [line.text for line in lines(nothing)][-1].startswith("`python -m runtime doctor` shows")
