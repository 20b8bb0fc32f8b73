"""Tickets of a helpdesk come in and resolutions go back: once, late if need be, and never past a person."""

import asyncio
import contextlib
import datetime
import html
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from actors.drafting.drafts import ReadingRequest
from actors.evidence.passages import NamedDocument, SearchHits
from actors.workflow.outcome import Spent
from runtime.engine.service import TicketService
from runtime.http.endpoints import intake_routes
from runtime.intake import adapter, helpdesk_watcher, inbox, intake, sender
from runtime.intake.events import HelpdeskEvent
from runtime.intake.writes import Decision, WriteBack
from tests.fakes import ANSWER, MAC_PASSAGE, ON_A_MAC, PASSAGE, AsksBack, Knows, Thinks
from tests.patience import HANGS_SECONDS
from tests.runtime.http import kit
from tests.runtime.http.kit import Held, Interface, interface
from tests.runtime.intake.fake_helpdesk import FakeHelpdesk, fake_helpdesk

TEXT = "My VPN drops every hour."
Opened = list[intake.Intake]


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "AGAIN_SECONDS", 0.05)
    monkeypatch.setattr(sender, "WORD_SECONDS", 0.05)
    monkeypatch.setattr(helpdesk_watcher, "PUT_OFF_SECONDS", 0.05)
    monkeypatch.setattr(helpdesk_watcher, "DOWN_SECONDS", 0.05)
    monkeypatch.setattr(helpdesk_watcher, "BACK_OFF_SECONDS", 0.05)
    monkeypatch.setattr(intake, "LOOK_AGAIN_SECONDS", 0.05)
    monkeypatch.setattr(intake, "TICK_SECONDS", 0.02)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model's calls are counted, as those of a real one are."""
    monkeypatch.setattr(kit.OneModel, "for_run", lambda self, *_, **__: (self._model, lambda: Spent(calls=3)))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """The intakes of the interfaces that a test opens, the latest last."""
    found: list[intake.Intake] = []

    @contextlib.asynccontextmanager
    async def open_and_note(service: TicketService) -> AsyncIterator[intake.Intake]:
        async with intake.open_intake(service) as opening:
            found.append(opening)
            yield opening

    monkeypatch.setattr(intake_routes, "open_intake", open_and_note)
    return found


@contextlib.asynccontextmanager
async def connected(
    folder: Path, *, model: Any = None, memory: bool = False, **more: Any
) -> AsyncIterator[tuple[FakeHelpdesk, Interface]]:
    async with fake_helpdesk() as desk:
        desk.connect(folder, **more)
        async with interface(folder, model=model, memory=memory) as web, asyncio.timeout(HANGS_SECONDS):
            while (await web.ask("GET", "/intake"))[1]["helpdesks"][0]["polled"] is None:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            yield desk, web


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(HANGS_SECONDS):
        while not condition():  # noqa: ASYNC110 - it may be true of anything
            await asyncio.sleep(0.01)


async def settle(web: Interface, opened: Opened) -> None:
    """Wait until nothing waits for a look, and nothing is to be written but what waits for a person."""
    async with asyncio.timeout(HANGS_SECONDS):
        while True:
            _, state = await web.ask("GET", "/intake")
            runs = await web.node.journal.list_open()
            left = [
                each for name in ("desk",) for _, each in await opened[-1].inbox.write_backs(name)
                if not each.planned or any(write.state in {"planned", "sending"} for write in each.writes)
            ] or await opened[-1].inbox.decisions()  # fmt: skip
            if not (state["waiting"] or runs or left):
                return
            await asyncio.sleep(0.01)


async def read_page(web: Interface, path: str) -> str:
    async with web.client.get(path, headers={"Accept": "text/html"}) as got:
        return html.unescape(await got.text())


def find_form_key(page: str) -> str:
    return page.partition('name="form_key" value="')[2].partition('"')[0]


async def until_looked(desk: FakeHelpdesk, ticket: str) -> None:
    """The ticket was read, and what followed from that is done: it was read once more."""
    before = desk.reads[ticket]
    await until(lambda: desk.reads[ticket] >= before + 2)


async def test_a_ticket_gets_a_private_note_with_the_suggestion_and_where_it_stands(
    opened: Opened, tmp_path: Path
) -> None:
    async with connected(tmp_path) as (desk, web):
        status, told = await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        assert (status, told) == (202, {"state": "taken"})
        await until(lambda: bool(desk.said("7", public=False)))
        await settle(web, opened)

        (note,) = desk.said("7", public=False)
        assert desk.said("7", public=True) == []
        _, trace = await web.ask("GET", "/tickets/hd.desk.7/trace")
        assert trace["run"] in note
        assert "[1]" in note
        assert trace["actions"][0]["by"] == "helpdesk:desk"


async def test_a_delivery_counts_once_and_only_when_it_is_signed(opened: Opened, tmp_path: Path) -> None:
    async with connected(tmp_path) as (desk, web):
        event = desk.write("7", "ann", TEXT)

        assert (await desk.deliver(web.client, event, "another secret"))[0] == 401
        assert (await desk.deliver(web.client, event))[1] == {"state": "taken"}
        assert await desk.deliver(web.client, event) == (200, {"state": "known"})
        assert await desk.deliver(web.client, event | {"actor": "bot", "id": "x"}) == (200, {"state": "ignored"})
        assert (await desk.deliver(web.client, {"id": "1"}))[0] == 400
        await until(lambda: bool(desk.said("7", public=False)))
        await settle(web, opened)
        _, state = await web.ask("GET", "/intake")

        assert len(desk.said("7", public=False)) == 1
        assert state["helpdesks"][0]["refused"] == 1


async def test_what_came_while_nobody_listened_is_found_by_polling_and_once(opened: Opened, tmp_path: Path) -> None:
    async with fake_helpdesk() as desk:
        desk.connect(tmp_path)
        events = [desk.write(str(number), "ann", f"{TEXT} {number}") for number in range(5)]
        for _ in range(2):
            async with interface(tmp_path) as web:
                await until(lambda: all(desk.said(str(number), public=False) for number in range(5)))
                for event in events:
                    assert (await desk.deliver(web.client, event))[1] == {"state": "known"}
                await settle(web, opened)

        assert [len(desk.said(str(number), public=False)) for number in range(5)] == [1] * 5


@pytest.mark.usefixtures("judged")
async def test_a_judged_answer_goes_to_the_customer_once_though_the_helpdesk_lies_about_it(
    opened: Opened, tmp_path: Path
) -> None:
    async with connected(tmp_path, mode="auto", solve=True) as (desk, web):
        desk.loses = 1
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await until(lambda: desk.tickets["7"]["status"] == "solved")
        await settle(web, opened)

        assert len(desk.said("7", public=True)) == 1
        assert desk.said("7", public=False) == []


@pytest.mark.usefixtures("judged")
async def test_a_helpdesk_that_is_down_gets_its_answer_when_it_is_back(opened: Opened, tmp_path: Path) -> None:
    model = Held()
    async with connected(tmp_path, mode="auto", model=model) as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await asyncio.wait_for(model.asked.wait(), HANGS_SECONDS)
        desk.down = True
        model.free.set()
        await until(lambda: web.node.live == 0)
        await until(lambda: bool(opened[-1].watchers["desk"].health.problem))
        assert desk.said("7", public=True) == []

        desk.down = False
        await until(lambda: bool(desk.said("7", public=True)))
        await settle(web, opened)
        assert len(desk.said("7", public=True)) == 1


@pytest.mark.usefixtures("judged")
async def test_a_customer_who_writes_meanwhile_gets_one_answer_to_the_latest_words(
    opened: Opened, tmp_path: Path
) -> None:
    model = Held()
    async with connected(tmp_path, mode="auto", model=model) as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await asyncio.wait_for(model.asked.wait(), HANGS_SECONDS)
        await desk.deliver(web.client, desk.write("7", "ann", "Only at home, by the way."))
        model.free.set()
        await until(lambda: bool(desk.said("7", public=True)))
        await settle(web, opened)

        _, told = await web.ask("GET", "/tickets/hd.desk.7")
        assert len(desk.said("7", public=True)) == 1
        assert "Only at home" in told["question"]


@pytest.mark.usefixtures("judged")
@pytest.mark.parametrize("did", ["answered", "took it", "closed it", "switched it off"])
async def test_a_person_who_does_anything_meanwhile_is_not_talked_over(
    opened: Opened, tmp_path: Path, did: str
) -> None:
    model = Held()
    async with connected(tmp_path, mode="auto", model=model) as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await asyncio.wait_for(model.asked.wait(), HANGS_SECONDS)
        match did:
            case "answered":
                desk.write("7", "helen", "I am on it.")
            case "took it":
                desk.tickets["7"]["assignee"] = "helen"
            case "closed it":
                desk.tickets["7"]["status"] = "solved"
            case _:
                desk.tickets["7"]["tags"] = ["ai-off"]
        model.free.set()
        await until(lambda: web.node.live == 0)
        await settle(web, opened)

        assert desk.said("7", public=True) == []


@pytest.mark.parametrize("way", ["approve", "refuse", "tag"])
async def test_a_suggestion_waits_for_a_persons_word(opened: Opened, tmp_path: Path, way: str) -> None:
    async with connected(tmp_path, mode="approve") as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await until(lambda: bool(desk.said("7", public=False)))
        await settle(web, opened)
        assert desk.said("7", public=True) == []

        if way == "tag":
            desk.tickets["7"]["tags"] = ["ai-send"]
        else:
            assert (await web.ask("POST", f"/tickets/hd.desk.7/{way}"))[0] == 200
        if way == "refuse":
            assert (await web.ask("POST", "/tickets/hd.desk.7/approve"))[0] == 409
            await settle(web, opened)
        else:
            await until(lambda: bool(desk.said("7", public=True)))
        assert len(desk.said("7", public=True)) == (way != "refuse")


@pytest.mark.parametrize("approves", [True, False])
async def test_a_word_that_comes_as_another_is_carried_out_is_kept_nowhere(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, approves: bool
) -> None:
    async with connected(tmp_path, mode="approve") as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await until(lambda: bool(desk.said("7", public=False)))
        await settle(web, opened)
        kept, run = opened[-1].inbox, (await web.ask("GET", "/tickets/hd.desk.7"))[1]["run"]
        find = kept.find_write_back
        seen = [await find(run)]
        assert (await web.ask("POST", "/tickets/hd.desk.7/approve"))[0] == 200
        await until(lambda: bool(desk.said("7", public=True)))
        await settle(web, opened)

        async def find_late(run: str) -> WriteBack | None:
            return seen.pop() if seen else await find(run)

        monkeypatch.setattr(kept, "find_write_back", find_late)
        assert await kept.decide(run, Decision(approves, "token:bob")) is approves
        assert await kept.decisions() == {}


async def test_a_word_that_is_given_while_the_note_is_being_written_is_not_lost(opened: Opened, tmp_path: Path) -> None:
    async with connected(tmp_path, mode="approve") as (desk, web):
        desk.answers.clear()
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await until(lambda: bool(desk.said("7", public=False)))
        assert (await web.ask("POST", "/tickets/hd.desk.7/approve"))[0] == 200
        assert (await web.ask("POST", "/tickets/hd.desk.7/refuse"))[0] == 409
        desk.answers.set()

        await until(lambda: bool(desk.said("7", public=True)))
        await settle(web, opened)
        assert len(desk.said("7", public=True)) == 1


async def test_a_tag_approves_one_suggestion_and_is_taken_off(opened: Opened, tmp_path: Path) -> None:
    async with connected(tmp_path, mode="approve", memory=True) as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await until(lambda: bool(desk.said("7", public=False)))
        await settle(web, opened)
        desk.tag("7", "ai-send", "helen")
        await until(lambda: desk.tickets["7"]["tags"] == [])
        assert len(desk.said("7", public=True)) == 1
        page = await read_page(web, "/ui/tickets/hd.desk.7")
        assert "approved by the tag ai-send, set by helen" in page
        _, report = await web.ask("GET", "/reports/helpdesks")
        assert (report["approved"], report["answered"]) == (1, 0)


@pytest.mark.parametrize("can_untag", [True, False])
async def test_a_tag_that_was_there_before_approves_nothing(opened: Opened, tmp_path: Path, can_untag: bool) -> None:
    more: dict[str, Any] = {} if can_untag else {"adapter.write.untag": []}
    async with connected(tmp_path, mode="approve", memory=True, **more) as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        desk.tickets["7"]["tags"] = ["ai-send"]
        await until(lambda: bool(desk.said("7", public=False)))
        await until_looked(desk, "7")
        await settle(web, opened)
        assert desk.said("7", public=True) == []
        assert desk.tickets["7"]["tags"] == ([] if can_untag else ["ai-send"])

        desk.tickets["7"]["tags"] = []
        await until_looked(desk, "7")
        desk.tickets["7"]["tags"] = ["ai-send"]
        await until(lambda: bool(desk.said("7", public=True)))
        page = await read_page(web, "/ui/tickets/hd.desk.7")
        assert "the helpdesk does not tell who set it" in page


async def test_a_tag_that_our_own_account_set_approves_nothing_until_a_person_sets_it(
    opened: Opened, tmp_path: Path
) -> None:
    async with connected(tmp_path, mode="approve", memory=True) as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await until(lambda: bool(desk.said("7", public=False)))
        await settle(web, opened)
        desk.tag("7", "ai-send", "bot")
        await until(lambda: desk.tickets["7"]["tags"] == [])
        await settle(web, opened)
        assert desk.said("7", public=True) == []

        desk.tag("7", "ai-send", "helen")
        await until(lambda: bool(desk.said("7", public=True)))
        assert "set by helen" in await read_page(web, "/ui/tickets/hd.desk.7")


async def test_a_leftover_tag_is_known_as_one_by_the_next_process(opened: Opened, tmp_path: Path) -> None:
    async with fake_helpdesk() as desk:
        desk.connect(tmp_path, mode="approve", **{"adapter.write.untag": []})
        async with interface(tmp_path) as web:
            event = desk.write("7", "ann", TEXT)
            desk.tickets["7"]["tags"] = ["ai-send"]
            await desk.deliver(web.client, event)
            await until(lambda: bool(desk.said("7", public=False)))
            await settle(web, opened)
        async with interface(tmp_path) as web:
            await until_looked(desk, "7")
            await settle(web, opened)
            assert desk.said("7", public=True) == []


class Emptied:
    """Documents that were there, and are not any more."""

    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        return SearchHits(())

    async def find_named(self, text: str, *, within: float) -> NamedDocument | None:
        return None

    async def digest_sections(self, quotes: Sequence[tuple[str, str]], *, within: float) -> list[str]:
        return [""] * len(quotes)


OTHER_WORDS = "Ask for the new cable. #12 has it."


@pytest.mark.parametrize("way", ["interface", "page"])
async def test_who_approves_may_write_other_words_and_they_are_remembered(
    opened: Opened, tmp_path: Path, way: str
) -> None:
    async with connected(tmp_path, mode="approve", memory=True) as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await until(lambda: bool(desk.said("7", public=False)))
        await settle(web, opened)
        page = await read_page(web, "/ui/tickets/hd.desk.7")
        if way == "page":
            form = {"text": f" {OTHER_WORDS}\r\n", "form_key": find_form_key(page)}
            async with web.client.post("/ui/tickets/hd.desk.7/approve", data=form) as got:
                assert got.status == 200
        else:
            long = {"text": "x" * 30_001}
            assert (await web.ask("POST", "/tickets/hd.desk.7/approve", json=long))[0] == 400
            assert (await web.ask("POST", "/tickets/hd.desk.7/approve", json={"text": " \x07\n"}))[0] == 400
            assert (await web.ask("POST", "/tickets/hd.desk.7/approve", json={"run": "R-1234"}))[0] == 409
            assert (await web.ask("POST", "/tickets/hd.desk.7/approve", json={"words": "x"}))[0] == 400
            told = {"text": f"{OTHER_WORDS}\x1b\x00"}
            assert (await web.ask("POST", "/tickets/hd.desk.7/approve", json=told))[0] == 200
        await until(lambda: bool(desk.said("7", public=True)))
        await settle(web, opened)
        assert desk.said("7", public=True) == [OTHER_WORDS]
        page = await read_page(web, "/ui/tickets/hd.desk.7")
        assert "sent instead of the suggestion" in page
        assert OTHER_WORDS in page
        recalled = await web.node.memory.recall(f"{TEXT[:20]}\n\n{TEXT}", within=5)
        assert recalled.resolution is not None
        assert (recalled.verdict, recalled.resolution.text, recalled.vouched) == ("hit", OTHER_WORDS, True)
        web.node.memory.documents = Emptied()
        assert "does not stand in" in (await web.node.memory.recall(f"{TEXT[:20]}\n\n{TEXT}", within=5)).stale


async def test_words_that_were_not_changed_are_the_suggestion(opened: Opened, tmp_path: Path) -> None:
    async with connected(tmp_path, mode="approve", memory=True) as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await until(lambda: bool(desk.said("7", public=False)))
        await settle(web, opened)
        page = await read_page(web, "/ui/tickets/hd.desk.7")
        suggested = html.unescape(page.partition("<textarea")[2].partition(">\n")[2].partition("</textarea>")[0])
        form = {"text": suggested.replace("\n", "\r\n"), "form_key": find_form_key(page)}
        async with web.client.post("/ui/tickets/hd.desk.7/approve", data=form) as got:
            assert got.status == 200
        await until(lambda: bool(desk.said("7", public=True)))
        await settle(web, opened)
        assert desk.said("7", public=True) == [suggested]
        assert "sent instead" not in await read_page(web, "/ui/tickets/hd.desk.7")


async def test_the_second_customer_with_a_question_is_answered_by_what_a_model_judged(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connected(tmp_path, mode="auto", memory=True) as (desk, web):
        with monkeypatch.context() as patch:
            patch.setattr(kit.OneModel, "for_run", lambda self, *_, **__: (self._model, lambda: Spent(calls=3)))
            patch.setattr(web.node.memory, "_has_model", True)
            await desk.deliver(web.client, desk.write("7", "ann", TEXT))
            await until(lambda: bool(desk.said("7", public=True)))
            await settle(web, opened)
        await desk.deliver(web.client, desk.write("8", "bob", TEXT))
        await until(lambda: bool(desk.said("8", public=True)))
        await settle(web, opened)

        assert desk.said("8", public=True) == desk.said("7", public=True)
        assert desk.said("8", public=False) == []


@pytest.mark.parametrize("approves", [True, False])
async def test_the_second_customer_is_answered_by_what_a_person_approved_and_by_nothing_less(
    opened: Opened, tmp_path: Path, approves: bool
) -> None:
    modes = {"mode": "auto", "review": ["First"]}
    async with connected(tmp_path, memory=True, **modes) as (desk, web):
        first = desk.write("7", "ann", TEXT)
        desk.tickets["7"]["queue"] = "First"
        await desk.deliver(web.client, first)
        await until(lambda: bool(desk.said("7", public=False)))
        await settle(web, opened)
        if approves:
            assert (await web.ask("POST", "/tickets/hd.desk.7/approve"))[0] == 200
            await until(lambda: bool(desk.said("7", public=True)))
            await settle(web, opened)
        await desk.deliver(web.client, desk.write("8", "bob", TEXT))
        await until(lambda: bool(desk.said("8", public=approves)))
        await settle(web, opened)

        assert len(desk.said("8", public=True)) == approves


@pytest.mark.parametrize("status", [422, 500])
@pytest.mark.parametrize("when", ["before its run", "after it"])
async def test_a_ticket_that_cannot_be_read_holds_up_no_other(
    opened: Opened, tmp_path: Path, status: int, when: str
) -> None:
    model = Held()
    async with connected(tmp_path, model=model) as (desk, web):
        tickets = [str(number) for number in range(6)]
        if when == "before its run":
            desk.broken = {"0": status}
        for ticket in tickets:
            await desk.deliver(web.client, desk.write(ticket, "ann", f"{TEXT} {ticket}"))
        await until(lambda: web.node.live == len(tickets) - len(desk.broken))
        desk.broken = {"0": status}
        model.free.set()
        await until(lambda: all(desk.said(each, public=False) for each in tickets[1:]))
        assert desk.said("0", public=False) == []

        desk.broken = {}
        await settle(web, opened)
        assert [len(desk.said(each, public=False)) for each in tickets] == [1] * 6


async def test_a_bell_that_rings_while_its_ticket_is_looked_at_is_heard(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        box = inbox.Inbox(web.node.journal.store)
        first, second = (
            HelpdeskEvent(source="desk", id=number, kind="replied", ticket="7", actor="ann") for number in "12"
        )
        assert await box.take(first, 1.0)
        (seen,) = await box.bells("desk", 2.0)
        assert await box.take(second, 2.0)
        assert not await box.take(second, 2.0)
        await box.settle(seen)
        (later,) = await box.bells("desk", 3.0)
        assert box.count_waiting == 1

        await box.settle(later, again=9.0)
        assert await box.bells("desk", 8.0) == []
        (again,) = await box.bells("desk", 9.0)
        await box.settle(again)
        assert (await box.bells("desk", 10.0), box.count_waiting) == ([], 0)


@pytest.mark.usefixtures("judged")
async def test_two_machines_that_answer_each_other_stop(opened: Opened, tmp_path: Path) -> None:
    async with connected(tmp_path, mode="auto", fallback="helen") as (desk, web):
        await desk.deliver(web.client, desk.write("7", "robot", TEXT))
        await until(lambda: len(desk.said("7", public=True)) == 1)
        await desk.deliver(web.client, desk.write("7", "robot", f"{TEXT} Ticket 1."))
        await until(lambda: desk.tickets["7"]["assignee"] == "helen")  # the documents say nothing more
        await desk.deliver(web.client, desk.write("7", "robot", f"{TEXT} Ticket 2."))
        await settle(web, opened)

        assert len(desk.said("7", public=True)) == 1


@pytest.mark.usefixtures("judged")
async def test_a_follow_up_is_the_question_and_what_was_said_before_its_context(opened: Opened, tmp_path: Path) -> None:
    model = Thinks()
    async with connected(tmp_path, mode="auto", model=model, memory=True) as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await until(lambda: len(desk.said("7", public=True)) == 1)
        await settle(web, opened)
        desk.write("7", "helen", "psst: she is a VIP", public=False)
        model.tasks.clear()
        await desk.deliver(web.client, desk.write("7", "ann", "And on a Mac?"))
        await until(lambda: len(desk.said("7", public=True)) == 2)
        await settle(web, opened)

        first, second = desk.said("7", public=True)
        assert ANSWER in first
        assert ON_A_MAC in second
        assert ANSWER not in second
        _, told = await web.ask("GET", "/tickets/hd.desk.7")
        assert told["question"] == "And on a Mac?"
        for task in model.tasks:
            if isinstance(task.material, ReadingRequest):
                continue  # who reads an answer a second time sees all that was asked
            assert task.material.ticket == "And on a Mac?"
            said = [(each.role, each.text) for each in task.material.said_before]
            assert said == [("customer", f"{TEXT[:20]}\n\n{TEXT}"), ("terminus", first)]
        again = await web.node.memory.recall("And on a Mac?", within=5)
        known = await web.node.memory.recall(f"{TEXT[:20]}\n\n{TEXT}", within=5)
        assert (again.verdict, known.ticket_id) == ("miss", "hd.desk.7")
        _, receipt = await web.ask("POST", "/tickets/hd.desk.7/feedback", json={"right": False})
        assert receipt["answers"] == 0, "that of the first question is not judged by it"


@pytest.fixture
def ambiguous(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found answers two cases."""

    async def search(self: Knows, question: str, **_: object) -> SearchHits:
        await asyncio.sleep(0)
        return SearchHits((PASSAGE, MAC_PASSAGE))

    monkeypatch.setattr(Knows, "search", search)


@pytest.mark.usefixtures("judged", "ambiguous")
@pytest.mark.parametrize("edited", ["", "Is it a Mac that you use?"])
async def test_what_a_model_would_ask_goes_to_the_customer_once_a_person_lets_it(
    opened: Opened, tmp_path: Path, edited: str
) -> None:
    async with connected(tmp_path, mode="approve", model=AsksBack(), memory=True) as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await until(lambda: bool(desk.said("7", public=False)))
        await settle(web, opened)
        (note,) = desk.said("7", public=False)
        assert "a question to them" in note
        assert "Do you use a Mac?" in note
        assert ANSWER in note
        assert ON_A_MAC in note
        assert desk.said("7", public=True) == []

        body = {"json": {"text": edited}} if edited else {}
        assert (await web.ask("POST", "/tickets/hd.desk.7/approve", **body))[0] == 200
        await until(lambda: bool(desk.said("7", public=True)))
        await settle(web, opened)
        assert desk.said("7", public=True) == [edited or "Do you use a Mac?"]
        known = await web.node.memory.recall(f"{TEXT[:20]}\n\n{TEXT}", within=5)
        assert known.verdict == "miss", "a question is no answer"

        await desk.deliver(web.client, desk.write("7", "ann", "Yes, a Mac."))
        await until(lambda: len(desk.said("7", public=False)) == 2)
        await settle(web, opened)
        _, told = await web.ask("GET", "/tickets/hd.desk.7")
        assert (told["status"], told["question"]) == ("resolved", "Yes, a Mac.")
        assert ON_A_MAC in desk.said("7", public=False)[1]


@pytest.mark.usefixtures("judged", "ambiguous")
async def test_nobody_is_asked_without_a_persons_word(opened: Opened, tmp_path: Path) -> None:
    async with connected(tmp_path, mode="auto", model=AsksBack()) as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await until(lambda: bool(desk.said("7", public=False)))
        await settle(web, opened)
        assert desk.said("7", public=True) == []


async def test_a_first_question_that_looks_like_an_old_one_is_answered_by_memory_and_a_follow_up_is_not(
    opened: Opened, tmp_path: Path
) -> None:
    async with connected(tmp_path, memory=True) as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await until(lambda: len(desk.said("7", public=False)) == 1)
        await settle(web, opened)
        await web.node.teach("hd.desk.7", "Call the VPN desk.")
        await desk.deliver(web.client, desk.write("8", "bob", TEXT))
        await until(lambda: len(desk.said("8", public=False)) == 1)
        assert "Call the VPN desk." in desk.said("8", public=False)[0]
        desk.write("8", "helen", "Does it drop?")
        await desk.deliver(web.client, desk.write("8", "bob", f"{TEXT[:20]}\n\n{TEXT}"))
        await until(lambda: len(desk.said("8", public=False)) == 2)
        await settle(web, opened)

        assert "Call the VPN desk." not in desk.said("8", public=False)[1]
        assert (await web.ask("POST", "/tickets/hd.desk.8/feedback", json={"answer": "So."}))[0] == 400


@pytest.mark.usefixtures("judged")
async def test_two_machines_that_answer_each_other_in_new_tickets_stop(opened: Opened, tmp_path: Path) -> None:
    async with connected(tmp_path, mode="auto", sender_tickets_per_hour=4, fallback="helen") as (desk, web):
        for number in range(8):
            await desk.deliver(web.client, desk.write(str(number), "robot", f"{TEXT} Ticket {number}."))
            await settle(web, opened)
        await desk.deliver(web.client, desk.write("ann", "ann", TEXT))
        await until(lambda: bool(desk.said("ann", public=True)))
        _, state = await web.ask("GET", "/intake")

        assert [bool(desk.said(str(number), public=True)) for number in range(8)] == [True] * 4 + [False] * 4
        assert [len(desk.said(str(number), public=False)) for number in range(8)] == [0, 0, 0, 0, 1, 0, 0, 0]
        assert "has written more in the last hour" in desk.said("4", public=False)[0]
        assert [desk.tickets[str(number)]["assignee"] for number in range(8)] == [""] * 4 + ["helen"] * 4
        desk.tickets["5"]["assignee"] = ""
        await desk.deliver(web.client, desk.write("5", "robot", "And again."))
        await settle(web, opened)
        assert desk.tickets["5"]["assignee"] == "", "it was given to people today"
        assert state["helpdesks"][0]["judged"]["sender too often"] == 4


@pytest.mark.usefixtures("judged")
async def test_what_a_sender_wrote_is_known_after_a_restart_and_forgotten_after_a_day(
    opened: Opened, tmp_path: Path
) -> None:
    async with fake_helpdesk() as desk:
        desk.connect(tmp_path, mode="auto", poll_seconds=1, sender_tickets_per_hour=1)
        for number in range(2):
            async with interface(tmp_path) as web:
                desk.write(str(number), "robot", f"{TEXT} Ticket {number}.")
                await until(lambda: bool(desk.said(str(number), public=number == 0)))  # noqa: B023
                await settle(web, opened)
                assert await opened[-1].inbox.forget_senders(time.time() - 60) == 0
                if number:
                    assert await opened[-1].inbox.forget_senders(time.time() + 60) == 1

        assert [len(desk.said(each, public=True)) for each in "01"] == [1, 0]


class Killed(BaseException):
    """The process dies here."""


@pytest.mark.usefixtures("judged")
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(1, 6))
async def test_a_process_that_dies_between_two_steps_of_a_writing_answers_once(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int, after: bool
) -> None:
    keep, write, count = inbox.Inbox.keep, adapter.Adapter.write, 0

    def dying(wrapped: Any) -> Any:
        async def call(*given: Any) -> None:
            nonlocal count
            count += 1
            if count == step and not after:
                raise Killed
            await wrapped(*given)
            if count == step and after:
                raise Killed

        return call

    async with fake_helpdesk() as desk:
        desk.connect(tmp_path, mode="auto", solve=True)
        event = desk.write("7", "ann", TEXT)
        with monkeypatch.context() as patch:
            patch.setattr(inbox.Inbox, "keep", dying(keep))
            patch.setattr(adapter.Adapter, "write", dying(write))
            async with interface(tmp_path) as web:
                await desk.deliver(web.client, event)
                await until(lambda: count >= step)
        async with interface(tmp_path) as web:
            await until(lambda: desk.tickets["7"]["status"] == "solved")
            await settle(web, opened)

        assert len(desk.said("7", public=True)) == 1


async def test_a_daemon_ends_whose_library_loses_a_cancel(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = asyncio.Event()

    async def poll_and_lose(cursor: str) -> Any:
        asked.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(HANGS_SECONDS)
        return adapter.Polled((), cursor)

    async with asyncio.timeout(HANGS_SECONDS):
        async with connected(tmp_path, poll_seconds=1):
            monkeypatch.setattr(opened[-1].watchers["desk"].adapter, "poll", poll_and_lose)
            await asked.wait()


async def test_deliveries_are_known_without_names_and_forgotten_after_a_while(opened: Opened, tmp_path: Path) -> None:
    async with connected(tmp_path, mode="off") as (desk, web):
        written = desk.write("7", "ann@example.test", TEXT)
        assert (await desk.deliver(web.client, written))[1]["state"] == "taken"
        assert (await desk.deliver(web.client, written))[1]["state"] == "known"
        (kept,) = await web.node.journal.store.records("delivery")
        assert b"ann" not in kept.body
        assert await opened[-1].inbox.forget_deliveries(time.time() - 60) == 0

        assert await opened[-1].inbox.forget_deliveries(time.time() + 60) == 1
        assert (await desk.deliver(web.client, written))[1]["state"] == "taken"


async def test_what_was_written_before_the_helpdesk_was_connected_is_left_alone(tmp_path: Path) -> None:
    async with connected(tmp_path) as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT, at="2026-01-01T12:00:00Z"))
        while "before connecting" not in (await web.ask("GET", "/intake"))[1]["helpdesks"][0]["judged"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert (await web.ask("GET", "/tickets"))[1]["tickets"] == []

        now = datetime.datetime.now(datetime.UTC).isoformat()
        await desk.deliver(web.client, desk.write("7", "ann", "It still drops.", at=now))
        await until(lambda: len(desk.said("7", public=False)) == 1)


async def test_a_daemon_that_was_down_for_a_day_works_on_what_was_written_meanwhile(tmp_path: Path) -> None:
    async with connected(tmp_path):
        pass
    _connect_earlier(tmp_path, 86_400)
    async with connected(tmp_path) as (desk, web):
        at = (datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=20)).isoformat()
        await desk.deliver(web.client, desk.write("7", "ann", TEXT, at=at))
        await until(lambda: len(desk.said("7", public=False)) == 1)


async def test_a_helpdesk_of_an_earlier_version_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    async with connected(tmp_path):
        await until(lambda: _change(tmp_path, "UPDATE record SET body = body WHERE kind = 'cursor'") == 1)
    assert _change(tmp_path, "DELETE FROM record WHERE kind = 'connected'") == 1
    async with connected(tmp_path) as (desk, web):
        at = (datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=20)).isoformat()
        await desk.deliver(web.client, desk.write("7", "ann", TEXT, at=at))
        await until(lambda: len(desk.said("7", public=False)) == 1)


def _connect_earlier(folder: Path, seconds: float) -> None:
    earlier = str(time.time() - seconds).encode()
    assert _change(folder, "UPDATE record SET body = ? WHERE kind = 'connected'", earlier) == 1


def _change(folder: Path, statement: str, *values: bytes) -> int:
    """How many rows a statement touches."""
    store = sqlite3.connect(next(folder.rglob("terminus.db")))
    with contextlib.closing(store), store:
        return store.execute(statement, values).rowcount
