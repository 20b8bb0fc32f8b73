"""
The systems that ship, each against what its documentation says: believed, understood, polled, read and written.

A stand-in answers as documented and refuses what the documentation does not have; the real one may do otherwise.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from runtime.intake import helpdesk_watcher, intake, sender
from runtime.intake.adapter import Recorder
from runtime.intake.connections import read_connection
from runtime.intake.helpdesk_client import HelpdeskError, HelpdeskUnavailable, TicketChanged
from runtime.intake.setup import check_connection
from tests.patience import HANGS_SECONDS
from tests.runtime.http.kit import Interface, interface
from tests.runtime.intake.documented import SYSTEMS
from tests.runtime.intake.documented.base import DocumentedHelpdesk, Refused, Request, Said, listen, sign
from tests.runtime.intake.documented.glpi import Glpi

TELLS_WHO_TAGGED = {"zammad", "zendesk", "jira_sm"}
TEXT = "My VPN drops every hour, <b>Größe</b> & 漢字."


@pytest.fixture(params=SYSTEMS)
async def desk(request: pytest.FixtureRequest) -> AsyncIterator[DocumentedHelpdesk]:
    async with listen(SYSTEMS[request.param]()) as started:
        yield started


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "AGAIN_SECONDS", 0.05)
    monkeypatch.setattr(helpdesk_watcher, "BACK_OFF_SECONDS", 0.05)
    monkeypatch.setattr(intake, "LOOK_AGAIN_SECONDS", 0.05)
    monkeypatch.setattr(intake, "TICK_SECONDS", 0.02)


@contextlib.asynccontextmanager
async def connected(desk: DocumentedHelpdesk, folder: Path, **more: Any) -> AsyncIterator[Interface]:
    """The interface, after its first poll."""
    desk.connect(folder, **more)
    async with interface(folder) as web, asyncio.timeout(HANGS_SECONDS):
        while (await read_state(web))["polled"] is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        yield web


async def read_state(web: Interface) -> Any:
    return (await web.ask("GET", "/intake"))[1]["helpdesks"][0]


async def deliver(web: Interface, desk: DocumentedHelpdesk, said: Said, *, forge: bool = False) -> tuple[int, str]:
    headers, body = desk.deliver(said)
    if forge:
        headers = {
            key: value[:-3] + "AAA" if "ign" in key or "ecret" in key else value for key, value in headers.items()
        }
    headers["Content-Type"] = "application/json"
    async with web.client.post("/intake/desk", data=body, headers=headers) as got:
        return got.status, (await got.json()).get("state", "")


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(HANGS_SECONDS):
        while not condition():  # noqa: ASYNC110 - it may be true of anything
            await asyncio.sleep(0.01)


async def until_judged(web: Interface, reason: str) -> None:
    async with asyncio.timeout(HANGS_SECONDS):
        while reason not in (await read_state(web))["judged"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def until_idle(web: Interface) -> None:
    """Nothing waits for a look, and no run is on."""
    async with asyncio.timeout(HANGS_SECONDS):
        while (await web.ask("GET", "/intake"))[1]["waiting"] or await web.node.journal.list_open():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_question_gets_a_private_note_and_after_approval_one_answer(
    desk: DocumentedHelpdesk, tmp_path: Path
) -> None:
    async with connected(desk, tmp_path, mode="approve", solve=True) as web:
        question = desk.write("customer", TEXT)
        assert (await deliver(web, desk, question, forge=True))[0] == 401
        assert await deliver(web, desk, question) == (202, "taken")
        if desk.has_ids:
            assert await deliver(web, desk, question) == (200, "known")
        await until(lambda: bool(desk.written(public=False)))
        await until_idle(web)
        assert (len(desk.written(public=False)), desk.written(public=True), desk.mails) == (1, [], [])
        _, told = await web.ask("GET", f"/tickets/hd.desk.{desk.ticket}")
        assert TEXT in told["question"] or "Größe" in told["question"]

        async with asyncio.timeout(HANGS_SECONDS):
            while (await web.ask("POST", f"/tickets/hd.desk.{desk.ticket}/approve"))[0] != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await until(lambda: bool(desk.written(public=True)))
        if desk.solved:
            await until(lambda: desk.status == desk.solved)
        await until_idle(web)

        assert (len(desk.written(public=False)), len(desk.written(public=True))) == (1, 1)
        state = await read_state(web)
        assert (state["problem"], state["refused"]) == ("", 1)


async def test_what_we_wrote_ourselves_starts_nothing_and_neither_does_a_note_or_an_agent(
    desk: DocumentedHelpdesk, tmp_path: Path
) -> None:
    async with connected(desk, tmp_path) as web:
        desk.write("customer", TEXT)
        ours = desk.write("bot", "Try this.")
        ignored = [await deliver(web, desk, ours), await deliver(web, desk, desk.write("agent", "psst", public=False))]
        agents = desk.write("agent", "I am on it.")
        taken = await deliver(web, desk, agents)
        await until_idle(web)

        assert (ignored[1], taken[0]) == ((200, "ignored"), 202)
        assert ignored[0] == ((200, "ignored") if desk.has_ids else (202, "taken")), "it does not tell who wrote"
        assert desk.written(public=False) == []
        assert desk.written(public=True) == ["Try this."]
        assert await web.node.journal.list_open() == []
        assert "taken" not in (await read_state(web))["judged"]


async def test_a_closed_ticket_and_one_that_a_person_has_are_left_alone(
    desk: DocumentedHelpdesk, tmp_path: Path
) -> None:
    async with connected(desk, tmp_path) as web:
        question = desk.write("customer", TEXT)
        desk.assignee = desk.agent
        await deliver(web, desk, question)
        await until_judged(web, "assigned")

        desk.assignee = ""
        desk.close()
        await deliver(web, desk, desk.write("customer", "Still there?"))
        await until_judged(web, "closed")
        await until_idle(web)
        assert desk.written(public=False) == []


async def test_the_systems_own_greeting_does_not_look_like_an_answer(desk: DocumentedHelpdesk, tmp_path: Path) -> None:
    if desk.system in {"zendesk", "freshdesk", "jira_sm", "glpi"}:
        pytest.skip("what it sends itself is no message there")
    async with connected(desk, tmp_path) as web:
        question = desk.write("customer", TEXT)
        desk.write("system", "We have your ticket.")
        await deliver(web, desk, question)
        await until(lambda: bool(desk.written(public=False)))


async def test_what_nobody_delivered_is_found_by_polling_and_goes_on(desk: DocumentedHelpdesk, tmp_path: Path) -> None:
    if not desk.is_polled:
        pytest.skip("it sends until it is heard")
    desk.write("customer", TEXT)
    async with connected(desk, tmp_path, poll_seconds=1) as web:
        await until(lambda: len(desk.written(public=False)) == 1)
        desk.write("customer", "It still drops.")
        await until(lambda: len(desk.written(public=False)) == 2)
        await until_idle(web)
        assert (await read_state(web))["problem"] == ""
    assert len(desk.written(public=False)) == 2


async def test_a_failure_is_given_to_whoever_takes_those(desk: DocumentedHelpdesk, tmp_path: Path) -> None:
    if not desk.can_assign:
        pytest.skip("tickets cannot be given to people")
    async with connected(desk, tmp_path, fallback=desk.agent) as web:
        for _ in range(3):
            said = desk.write("customer", "Out of office.")
        await deliver(web, desk, said)
        await until(lambda: desk.assignee == desk.agent)
        assert ["The same words came three times" in each for each in desk.written(public=False)] == [True]


async def test_a_tag_that_approves_is_taken_off_and_whose_it_was_is_known(
    desk: DocumentedHelpdesk, tmp_path: Path
) -> None:
    if not desk.has_tags:
        pytest.skip("it has no tags")
    desk.write("customer", TEXT)
    desk.tag("other")
    desk.tag("other", "ai-send")
    desk.tag("other")
    desk.connect(tmp_path)
    adapter = read_connection(tmp_path / "helpdesks" / "desk.toml").open()
    try:
        assert await adapter.find_tagger(await adapter.fetch(desk.ticket), "missing") == ""
        desk.tag("other", "ai-send")
        ticket = await adapter.fetch(desk.ticket)
        assert ticket.tags == ("other", "ai-send")
        assert await adapter.find_tagger(ticket, "ai-send") == (desk.agent if desk.system in TELLS_WHO_TAGGED else "")
        await adapter.write("untag", ticket, {"tag": "ai-send", "tags": ["other"], "tag_list": "other"})
    finally:
        await adapter.close()
    assert desk.tags == ["other"]


async def test_who_approves_is_the_last_of_many_who_changed_the_tags(desk: DocumentedHelpdesk, tmp_path: Path) -> None:
    if desk.system not in TELLS_WHO_TAGGED:
        pytest.skip("it does not tell who set a tag")
    desk.write("customer", TEXT)
    desk.tag("ai-send", by="19")
    for number in range(150):
        desk.tag(str(number), by="19")
    desk.tag("ai-send")
    desk.connect(tmp_path)
    adapter = read_connection(tmp_path / "helpdesks" / "desk.toml").open()
    try:
        assert await adapter.find_tagger(await adapter.fetch(desk.ticket), "ai-send") == desk.agent
    finally:
        await adapter.close()


async def test_a_ticket_that_was_deleted_holds_up_no_other(desk: DocumentedHelpdesk, tmp_path: Path) -> None:
    async with connected(desk, tmp_path) as web:
        question = desk.write("customer", TEXT)
        desk.is_gone = True
        await deliver(web, desk, question)
        await until_judged(web, "no customer wrote")
        await until_idle(web)
        desk.is_gone = False
        await deliver(web, desk, desk.write("customer", "It still drops."))
        await until(lambda: bool(desk.written(public=False)))
        assert (await read_state(web))["problem"] == ""


async def test_the_check_knows_whose_the_token_is(desk: DocumentedHelpdesk, tmp_path: Path) -> None:
    desk.write("customer", TEXT)
    desk.connect(tmp_path)
    path = tmp_path / "helpdesks" / "desk.toml"
    right = {each.name: each for each in await check_connection(read_connection(path))}
    desk.connect(tmp_path, bot="nobody")
    wrong = {each.name: each for each in await check_connection(read_connection(path))}

    if desk.is_polled:
        assert {each.state for each in right.values()} == {"ok"}, right
        assert right["Ticket"].found.endswith("1 message: 1 of customer")
    assert {each.method for each in desk.requests} <= {"GET"}
    if desk.tells_account:
        assert (wrong["Account"].state, wrong["Account"].remedy) == ("problem", f'Write bot = "{desk.bot}".')


async def test_a_daemon_keeps_what_is_delivered_while_that_is_wanted(tmp_path: Path) -> None:
    async with listen(SYSTEMS["zammad"]()) as desk, connected(desk, tmp_path) as web:
        await deliver(web, desk, desk.write("customer", TEXT))
        await until_idle(web)
        recorder = Recorder(web.node.folder, "desk")
        recorder.start()
        await deliver(web, desk, desk.write("customer", "Forged."), forge=True)
        await deliver(web, desk, desk.write("agent", "I am on it."))
        await until_idle(web)

        kept = [path.read_text() for path in sorted(recorder.folder.glob("*-delivery.json"))]
        assert len(kept) == 1
        assert "I am on it." in kept[0]
        assert "sha1=" not in kept[0]


async def test_glpi_is_answered_when_it_asks_for_the_secret_and_nothing_else_is_signed(tmp_path: Path) -> None:
    async with listen(SYSTEMS["glpi"]()) as desk, connected(desk, tmp_path) as web:
        asks = sign("sha256", b"validate_cra_challenge").hex()
        async with web.client.get(f"/intake/desk?crc_token={asks}") as got:
            assert (got.status, await got.text()) == (200, sign("sha256", asks.encode()).hex())
        for wrong in (asks[:-1] + "x", "", '{"event": "new", "item": {"id": 7}}1795293078', asks.upper()):
            async with web.client.get("/intake/desk", params={"crc_token": wrong}) as got:
                assert got.status == 404


async def test_a_token_is_asked_for_once_and_again_when_it_is_refused(tmp_path: Path) -> None:
    async with listen(SYSTEMS["glpi"]()) as desk:
        assert isinstance(desk, Glpi)
        desk.write("customer", TEXT)
        desk.connect(tmp_path)
        adapter = read_connection(tmp_path / "helpdesks" / "desk.toml").open()
        try:
            await adapter.fetch("7")
            await adapter.fetch("7")
            assert desk.tokens == 1
            desk.tokens += 1  # the one from before is good no more
            with pytest.raises(HelpdeskError):
                await adapter.fetch("7")
            await adapter.fetch("7")
        finally:
            await adapter.close()
        assert desk.tokens == 3


async def test_zammad_mails_an_answer_to_the_customer_and_a_note_to_nobody(tmp_path: Path) -> None:
    async with listen(SYSTEMS["zammad"]()) as desk:
        desk.write("customer", TEXT)
        desk.connect(tmp_path)
        adapter = read_connection(tmp_path / "helpdesks" / "desk.toml").open()
        try:
            ticket = await adapter.fetch("7")
            await adapter.write("note", ticket, {"text": "For you only"})
            assert desk.mails == []
            await adapter.write("reply", ticket, {"text": "Try this"})
        finally:
            await adapter.close()

        assert desk.mails == ["ann@example.test"]
        assert [(each.body["type"], each.body["internal"]) for each in desk.requests if each.method == "POST"] == [
            ("note", True), ("email", False),
        ]  # fmt: skip


async def test_zendesk_takes_no_answer_to_a_ticket_that_has_changed(tmp_path: Path) -> None:
    async with listen(SYSTEMS["zendesk"]()) as desk:
        desk.write("customer", TEXT)
        desk.connect(tmp_path)
        adapter = read_connection(tmp_path / "helpdesks" / "desk.toml").open()
        try:
            ticket = await adapter.fetch("7")
            desk.write("customer", "Only at home, by the way.")
            with pytest.raises(TicketChanged):
                await adapter.write("reply", ticket, {"text": "Try this"})
            await adapter.write("reply", await adapter.fetch("7"), {"text": "Try this"})
        finally:
            await adapter.close()

        assert desk.written(public=True) == ["Try this"]


async def test_what_a_poll_told_before_it_was_refused_is_kept(tmp_path: Path) -> None:
    async with listen(SYSTEMS["zendesk"]()) as desk:
        desk.write("customer", TEXT)
        answer, asked = desk.answer, []

        def tire(request: Request) -> Any:
            asked.append(request.query.get("start_time"))
            if len(asked) > 1:
                raise Refused(429, "too many requests")
            return answer(request) | {"end_of_stream": False}

        desk.answer = tire  # type: ignore[method-assign]
        desk.connect(tmp_path)
        adapter = read_connection(tmp_path / "helpdesks" / "desk.toml").open()
        try:
            found = await adapter.poll("1000")
            with pytest.raises(HelpdeskUnavailable):
                await adapter.poll(found.cursor)
        finally:
            await adapter.close()

    assert ([each.ticket for each in found.events], asked[0]) == (["7"], "1000")
    assert asked[1:] == [found.cursor], "the second page begins where the first one ended; then it is left alone"
