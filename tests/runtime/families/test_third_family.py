"""A family from outside of the product: one registration, and every part of the program runs it."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from actors.documents.template import Template
from actors.workflow.outcome import EndReason
from runtime import families
from runtime.cli.view.board import board
from runtime.cli.view.board import fold_board as fold
from runtime.documents.template_folder import load_templates
from runtime.engine.node import NoReport
from runtime.families import read_options, writes_report
from runtime.service_error import ServiceError
from runtime.settings import Settings
from runtime.tickets import Ticket
from runtime.tools.shipped import create_document
from tests import ROOT
from tests.runtime.families.letters import LETTERS, LetterCase, LetterOptions, LetterRuns
from tests.runtime.families.test_research_runs import opened
from tests.runtime.http.kit import interface

ASKED = "The door of room 7 sticks."
TICKET = Ticket(id="L-1", text=ASKED, workflow="letters", options=LetterOptions("curt"))


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one more line in `runtime.families` does."""
    monkeypatch.setattr(families, "FAMILIES", (*families.FAMILIES, LETTERS))


async def test_a_node_runs_it_with_its_own_case_agents_options_and_answers(tmp_path: Path) -> None:
    async with opened(tmp_path) as node:
        outcome = await (await node.submit(TICKET)).outcome()

        assert (outcome.workflow, outcome.status, outcome.why) == ("letters", "resolved", EndReason.COMPLETED)
        assert outcome.resolution is not None
        assert outcome.resolution.text == f"{ASKED}\nlaw: 26 characters\nstyle: 26 characters"
        assert [each.target for each in outcome.handoffs][:3] == ["desk", "orchestrator", "writer"]
        assert [(each.run, each.workflow, each.handoff) for each in outcome.children] == [
            (f"{outcome.run}.1", "helpdesk", 1)
        ], "a role that a run of another family plays"
        assert (await node.status("L-1"))[1] == outcome
        with pytest.raises(NoReport, match=r"^L-1 is a letter; "):
            await node.report("L-1")


async def test_without_options_it_is_as_the_family_has_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as node:
        outcome = await (await node.submit(Ticket(text=ASKED, workflow="letters"))).outcome()

    assert outcome.resolution is not None
    assert outcome.resolution.text.startswith("Dear you, The door")


async def test_what_its_runs_need_is_read_once_and_off_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    monkeypatch.setattr(LetterRuns, "prepare", lambda _: threads.append(threading.get_ident()))
    async with opened(tmp_path) as node:
        for id_ in ("L-1", "L-2"):
            await (await node.submit(Ticket(id=id_, text=ASKED, workflow="letters"))).outcome()

    assert len(threads) == 1
    assert threads[0] != threading.get_ident()


async def test_the_templates_of_documents_are_read_off_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def load(settings: Settings) -> dict[str, Template]:
        threads.append(threading.get_ident())
        return load_templates(settings)

    monkeypatch.setattr(create_document, "load_templates", load)
    create_document.list_templates.cache_clear()
    async with opened(tmp_path) as node:
        await (await node.submit(Ticket(text="May my landlord keep the deposit?", workflow="legal"))).outcome()

    assert len(threads) == 1
    assert threads[0] != threading.get_ident()


async def test_after_a_crash_another_process_goes_on_where_it_stood(tmp_path: Path) -> None:
    async with opened(tmp_path) as node:
        handle = await node.submit(TICKET)
        async for event in handle.watch():
            if getattr(event, "source", "") == "writer":
                break
        await node.database.run()
        node.runs.live.abandon()

    async with opened(tmp_path) as again:
        (resumed,) = await again.resume()
        case = (await again.journal.fold(await again.journal.find("L-1"))).case
        assert isinstance(case, LetterCase)
        assert (case.known, case.letter) == ("not_found", ASKED)
        outcome = await resumed.outcome()

    assert (outcome.status, [each.source for each in outcome.handoffs].count("writer")) == ("resolved", 1)


async def test_the_same_ticket_is_one_of_the_same_workflow_text_and_options(tmp_path: Path) -> None:
    async with opened(tmp_path) as node:
        await (await node.submit(TICKET)).outcome()
        stored = await node.journal.find("L-1")

        assert node.is_same(stored, TICKET)
        for other in (
            Ticket(id="L-1", text=ASKED, workflow="letters"),
            Ticket(id="L-1", text=ASKED),
            Ticket(id="L-1", text="Other.", workflow="letters", options=LetterOptions("curt")),
        ):
            assert not node.is_same(stored, other)


async def test_what_it_does_not_know_is_refused_in_one_sentence(tmp_path: Path) -> None:
    async with opened(tmp_path) as node:
        with pytest.raises(ServiceError, match=r"^There is no workflow 'leters'. Did you mean 'letters'\?$"):
            await node.submit(Ticket(text=ASKED, workflow="leters"))
        with pytest.raises(ServiceError, match=r"^A ticket of the helpdesk takes no options, not LetterOptions\.$"):
            await node.submit(Ticket(text=ASKED, options=LetterOptions()))
        assert await node.journal.latest(1) == []


def test_options_are_read_by_name_and_checked() -> None:
    assert read_options("letters", {"tone": "curt"}, Settings()) == LetterOptions("curt")
    assert read_options("letters", {}, Settings()) == LetterOptions()
    assert read_options("helpdesk", {}, Settings()) is None
    with pytest.raises(ServiceError, match=r"^The options of a letter are tone: .*unknown field"):
        read_options("letters", {"tune": "curt"}, Settings())
    with pytest.raises(ServiceError, match=r"^A ticket of the helpdesk takes no options: leave --tone away\.$"):
        read_options("helpdesk", {"tone": "curt"}, Settings())


def test_every_family_says_how_it_is_shown_and_loads_what_it_needs() -> None:
    shown = {name: writes_report(name) for name in ("helpdesk", "research", "letters")}
    assert shown == {"helpdesk": False, "research": True, "letters": False}
    for family in families.FAMILIES:
        assert callable(family.load())


async def test_http_takes_its_tickets_and_compares_workflow_and_options_of_the_same_id(tmp_path: Path) -> None:
    given: dict[str, Any] = {"id": "L-1", "workflow": "letters", "options": {"tone": "curt"}}
    async with interface(tmp_path, model=families.extractive()) as web:
        first, again = [await web.submit(ASKED, wait=60, **given) for _ in range(2)]
        assert (first["workflow"], first["status"], first["run"]) == ("letters", "resolved", again["run"])
        assert first["resolution"]["text"].startswith(ASKED)
        _, stands = await web.ask("GET", "/tickets/L-1")
        assert stands["links"]["report"] == ""

        other = await web.submit(ASKED, wait=60, **{**given, "options": {"tone": "kind"}})
        assert other["run"] != first["run"]
        assert other["resolution"]["text"].startswith("Dear you")
        for wrong, sentence in (
            ({"workflow": "leters"}, "There is no workflow 'leters'. Did you mean 'letters'?"),
            ({"workflow": "letters", "options": {"tune": "kind"}}, "The options of a letter are tone: "),
        ):
            status, said = await web.refusal("POST", "/tickets", json={"text": ASKED, **wrong})
            assert (status, said.startswith(sentence)) == (400, True), said


PROGRAM = """
import sys
from runtime import families
from tests import ROOT
from tests.runtime.families.letters import LETTERS
families.FAMILIES += (LETTERS,)
from runtime.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
"""The command line with one more line in `runtime.families`."""


def terminus(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environ = {**os.environ, "TERMINUS_STORAGE_FOLDER": str(folder / "data"), "PYTHONPATH": str(ROOT)}
    return subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", PROGRAM, *words],
        cwd=folder, env=environ, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_the_command_line_runs_lists_and_shows_it(tmp_path: Path) -> None:
    done = terminus(tmp_path, "submit", "--workflow", "letters", "--id", "L-1", ASKED)

    assert (done.returncode, done.stderr.count("reviewed")) == (0, 2), done.stderr
    assert "Dear you, The door of room 7 sticks." in done.stdout
    assert terminus(tmp_path, "status", "--workflow", "letters", "--json").stdout.count('"workflow": "letters"') == 1
    assert "L-1 is a letter" in terminus(tmp_path, "report", "L-1").stderr
    refused = terminus(tmp_path, "submit", "--workflow", "leters", ASKED)
    assert (refused.returncode, refused.stderr) == (2, "There is no workflow 'leters'. Did you mean 'letters'?\n")


async def test_the_board_shows_its_stages_with_those_who_are_asked_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as node:
        handle = await node.submit(TICKET)
        shown = board(LETTERS.flow)
        boards = [shown := fold(shown, event) async for event in handle.watch()]

    assert [(each.label, each.agent) for each in shown.stages] == [
        ("Ask desk", "desk"), ("Write letter", "writer"), ("Review letter", "law, style"), ("Close letter", "clerk"),
    ]  # fmt: skip
    assert {each.mark for each in shown.stages} == {"completed"}
    assert (0, 2) in {each.stages[2].count for each in boards}
    assert shown.stages[2].count == (2, 2)
