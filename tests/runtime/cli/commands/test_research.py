"""A research from the command line, in its own processes: its rounds, its report, its files, and how it is stopped."""

import asyncio
import json
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from actors.ports import Entry
from actors.research import messages as m
from actors.research.models import Analysis, Plan, ResearchOptions
from actors.research.workflow import ResearchCase
from bus import Event
from runtime.engine.node import Node
from runtime.settings import Settings, StorageSettings
from runtime.tickets import Ticket
from tests.patience import HANGS_SECONDS, promised
from tests.runtime.cli.commands.program import Place, read_until, silent_server
from tests.runtime.cli.view.terminal import Terminal, plain

TASK = "How is a paper jam of the printer cleared?"
CANCEL_SECONDS = 2.0


@pytest.fixture
def research(place: Place) -> Place:
    place.article()
    return place


@contextmanager
def silent_page() -> Iterator[tuple[list[str], socket.socket]]:
    """A web server that takes connections and never answers; the words that order its page, and its socket."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        yield ["--url", f"http://127.0.0.1:{listening.getsockname()[1]}/never"], listening


ALLOWED = {"TERMINUS_FETCH_ALLOW": "127.0.0.0/8", "TERMINUS_FETCH_ROBOTS": "false"}


@pytest.mark.req("DR-9", "DR-11", "PR-29", "SY-5")
def test_the_report_is_on_stdout_and_the_rounds_and_stages_are_on_stderr(research: Place) -> None:
    done = research.run("submit", "--research", TASK)

    assert done.status == 0
    assert done.out.startswith("# ")
    assert "open the rear cover" in done.out
    assert "printer.md" in done.out
    assert f"[Depth 1/2] Exploring: {TASK}\n  0 learnings so far\n" in done.err
    for stage in ("planning", "searching", "extracting", "analyzing", "reporting"):
        assert f" %  {stage}\n" in done.err
    assert "Closed by reporter after" in done.err
    assert "→" not in done.err, "a research is told by its stages, not by its handoffs"


@pytest.mark.req("DR-8")
def test_a_depth_alone_is_one_round(research: Place) -> None:
    done = research.run("submit", "--research", TASK, "--depth", "10")

    assert done.status == 0
    assert "[Depth 1/1] Exploring:" in done.err
    assert done.err.count("Exploring:") == 1


def test_json_is_the_outcome_and_quiet_shows_no_progress(research: Place) -> None:
    done = research.run("submit", "--research", "--json", "--quiet", TASK)

    assert (done.json["workflow"], done.json["by"], done.err) == ("research", "reporter", "")
    assert done.json["resolution"]["text"].startswith("# ")


def test_what_the_sources_do_not_answer_is_three(research: Place) -> None:
    assert research.run("submit", "--research", "Where is the tennis court?", "--depth", "1").status == 3


@pytest.mark.req("PR-7")
def test_the_report_is_written_and_can_be_had_again(research: Place) -> None:
    done = research.run("submit", "--research", "--id", "RS-1", TASK, "--out", "report.md")
    again = research.run("report", "RS-1")
    as_html = research.run("report", "RS-1", "--out", "report.html")
    data = research.run("report", "RS-1", "--json").json

    assert "Written to report.md." in done.err
    assert (research.folder / "report.md").read_text(encoding="utf-8") == done.out
    assert (again.out, again.status) == (done.out, 0)
    assert (as_html.out, as_html.err) == ("", "Written to report.html.\n")
    assert "open the rear cover" in (research.folder / "report.html").read_text(encoding="utf-8")
    assert data["sources"][0]["number"] == 1


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--research", "--out", "gone/report.md"], "There is no folder gone"),
        (["--research", "--breadth", "99"], "from 1 to 20, not 99"),
        (["--research", "--breadth", "many"], "invalid int value: 'many'"),
        (["--research", "--sources", "wbe"], "Did you mean 'web'?"),
        (["--research", "--sources", ","], "--sources names none"),
        (["--depth", "2"], "--depth is for a research: add --research"),
        (["--out", "report.md"], "--out is for a research: add --research"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_option_is_two_and_one_sentence_before_anything_is_begun(
    place: Place, words: list[str], part: str
) -> None:
    done = place.run("submit", TASK, *words)

    assert (done.status, done.out) == (2, "")
    assert part in done.err
    assert done.err.count("\n") == 1
    assert place.run("status", "--json").json == {"runs": []}


def test_the_report_of_a_ticket_of_the_helpdesk_or_of_none_is_three(research: Place) -> None:
    research.run("submit", "--quiet", "--id", "HD-1", TASK)

    ticket, none = research.run("report", "HD-1"), research.run("report", "HD-2")

    assert (ticket.status, none.status) == (3, 3)
    assert ticket.err == "HD-1 is a ticket of the helpdesk; `python -m runtime status HD-1` shows it.\n"
    assert none.err.startswith("There is no ticket or run 'HD-2'")


@pytest.mark.req("PR-27", "PR-28", "DR-11")
def test_a_terminal_shows_rounds_stages_and_the_rendered_report(research: Place) -> None:
    with Terminal(["-m", "runtime", "submit", "--research", TASK], research.environ) as terminal:
        assert terminal.end() == 0

    shown = plain(terminal.drawn)
    assert shown.count("[Depth 1/2] Exploring:") == 1
    assert "  0 learnings so far" in shown
    assert "Planning" in shown
    assert "open the rear cover" in shown
    assert "# How" not in shown, "Markdown is rendered"


@pytest.mark.req("PR-30", "PR-31")
def test_the_first_ctrl_c_prints_a_partial_report_at_once_and_starts_nothing_new(research: Place) -> None:
    with silent_page() as (page, server), research.running("submit", "--research", TASK, *page, **ALLOWED) as popen:
        server.settimeout(HANGS_SECONDS)
        asked, _ = server.accept()
        read_until(popen, " extracting")
        pressed = time.monotonic()
        popen.send_signal(signal.SIGINT)
        err = read_until(popen, "Cancelled: the report holds what was found so far")
        took = time.monotonic() - pressed
        out, more = popen.communicate(timeout=HANGS_SECONDS)
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            server.accept()
        asked.close()

    assert popen.returncode == 130
    assert took < promised(CANCEL_SECONDS)
    assert out.startswith("# ")
    assert "Cancelling" in err
    assert "Traceback" not in err + more
    assert research.run("status", "--json").json["runs"][0]["status"] == "cancelled"


@pytest.mark.req("PR-30", "PR-31")
def test_a_research_whose_model_is_silent_is_cancelled_at_once(research: Place) -> None:
    with silent_server() as model, research.running("submit", "--research", "--json", TASK, **model) as popen:
        read_until(popen, "Exploring:")
        pressed = time.monotonic()
        popen.send_signal(signal.SIGINT)
        assert popen.stdout is not None
        outcome = json.loads(popen.stdout.readline())
        took = time.monotonic() - pressed
        popen.communicate(timeout=HANGS_SECONDS)

    assert popen.returncode == 130
    assert took < promised(CANCEL_SECONDS)
    assert (outcome["status"], outcome["by"]) == ("cancelled", "reporter")


def test_out_is_written_with_what_was_found_before_it_was_cancelled(research: Place) -> None:
    with silent_page() as (page, server):
        words = ["submit", "--research", "--out", "report.html", TASK, *page]
        with research.running(*words, **ALLOWED) as popen:
            server.settimeout(HANGS_SECONDS)
            asked, _ = server.accept()
            popen.send_signal(signal.SIGINT)
            _, err = popen.communicate(timeout=HANGS_SECONDS)
        asked.close()

    assert popen.returncode == 130
    assert "Written to report.html." in err
    assert (research.folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.req("PR-30")
def test_the_second_ctrl_c_stops_at_once_and_says_how_to_go_on(research: Place) -> None:
    deaf: dict[str, Any] = {**ALLOWED, "TERMINUS_RUN_CANCEL_SECONDS": "30"}
    with silent_page() as (page, server), research.running("submit", "--research", TASK, *page, **deaf) as popen:
        server.settimeout(HANGS_SECONDS)
        asked, _ = server.accept()
        popen.send_signal(signal.SIGSTOP)  # both signals wait until it goes on
        popen.send_signal(signal.SIGINT)
        popen.send_signal(signal.SIGTERM)
        popen.send_signal(signal.SIGCONT)
        _, err = popen.communicate(timeout=HANGS_SECONDS)
        asked.close()

    assert popen.returncode == 130
    assert "Stopped at once. What had not ended goes on with `python -m runtime resume`." in err


@pytest.mark.req("PR-27")
def test_status_shows_at_which_stage_a_research_is(research: Place) -> None:
    with silent_page() as (page, server):
        words = ["submit", "--research", "--id", "RS-1", TASK, *page]
        with research.running(*words, **ALLOWED) as popen:
            server.settimeout(HANGS_SECONDS)
            asked, _ = server.accept()
            (row,) = research.run("status", "--json").json["runs"]
            listed, one = research.run("status").out, research.run("status", "RS-1").out
            popen.send_signal(signal.SIGINT)
            popen.communicate(timeout=HANGS_SECONDS)
        asked.close()

    assert (row["workflow"], row["status"], row["stage"], row["round"], row["rounds"]) == (
        "research", "running", "extracting", 1, 2,
    )  # fmt: skip
    assert "extracting, round 1 of 2" in listed
    assert "extracting, round 1 of 2" in one


def test_trace_and_status_know_the_rounds_below(research: Place) -> None:
    asyncio.run(dug(research.folder / "task-data"))

    shown, data = research.run("trace", "RS-1").out, research.run("trace", "RS-1", "--json").json

    assert [(each["run"], each["round"], each["direction"]) for each in data["rounds"]] == [
        ("R-1.9", 2, "the cover"),
        ("R-1.9.9", 3, "the button"),
    ]
    assert "\n    Round 2, run R-1.9: running\n    It explores: the cover\n" in shown
    assert "\n        Round 3, run R-1.9.9: running\n        It explores: the button\n" in shown
    assert "planning, round 3 of 3" in research.run("status").out
    assert "planning, round 3 of 3" in research.run("status", "RS-1").out


async def dug(storage: Path) -> None:
    """What the journal holds of a process that died in the third round of a research."""
    async with Node.open(Settings(storage=StorageSettings(folder=str(storage)))) as node:
        journal, flow, ticket = node.journal, node.flows["research"], Ticket(id="RS-1", text=TASK)
        await journal.accept(ticket, "R-1", flow, a_round(1, "", "RS-1"), "nobody")
        await journal.accept_child("R-1.9", flow, a_round(2, "the cover", "R-1.9"), "nobody")
        await journal.accept_child("R-1.9.9", flow, a_round(3, "the button", "R-1.9.9"), "nobody")
        for run in ("R-1", "R-1.9"):
            for n, (sender, event) in enumerate(UP_TO_DEEPENING):
                journal.record(Entry(run, n + 1, float(n), sender, 2 * n + 1, event), lambda _: None)


def a_round(number: int, direction: str, ticket: str) -> ResearchCase:
    return ResearchCase(ticket_id=ticket, text=TASK, brief=ResearchOptions(depth=3, round=number, direction=direction))


UP_TO_DEEPENING: tuple[tuple[str, Event], ...] = (
    ("planner", m.PlanMade(Plan((TASK,), (TASK,), ("knowledge",)), "")),
    ("searcher", m.SearchCompleted((), (), ())),
    ("extractor", m.ExtractionCompleted((), (), "")),
    ("analyzer", m.DirectionsFound((), (), (), ("the cover",), Analysis(), False, "", "")),
)
