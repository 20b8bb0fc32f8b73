"""What only Request Tracker has: private notes, versions, a scrip that signs, mails that come twice."""

import asyncio
import time
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from runtime.intake.connections import load_connections
from runtime.intake.helpdesk_client import HelpdeskError, TicketChanged
from tests.helpdesks.connecting import connect, count, until
from tests.helpdesks.request_tracker import SECRET, RequestTracker, needs_request_tracker, start_request_tracker
from tests.patience import HANGS_SECONDS
from tests.runtime.http.kit import Held, Interface, interface

pytestmark = needs_request_tracker
TEXT = "My VPN drops every hour – Größe 漢字."
HOUR = 3600


@pytest.fixture(scope="module")
def tracker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RequestTracker]:
    with start_request_tracker(tmp_path_factory.mktemp("tracker")) as started:
        yield started


async def ask(tracker: RequestTracker) -> str:
    return await asyncio.to_thread(tracker.ask, "VPN", TEXT)


async def wait_for_poll(web: Interface) -> dict[str, Any]:
    """What is known of the helpdesk once it has been asked for the first time."""
    async with asyncio.timeout(HANGS_SECONDS):
        while True:
            helpdesk: dict[str, Any] = (await web.ask("GET", "/intake"))[1]["helpdesks"][0]
            if helpdesk["polled"] is not None:
                return helpdesk
            await asyncio.sleep(0.1)


async def test_in_draft_mode_the_suggestion_is_a_note_that_customers_do_not_see(
    tracker: RequestTracker, tmp_path: Path
) -> None:
    ticket = await ask(tracker)
    connect(tmp_path, tracker)

    async with interface(tmp_path) as web:
        await until(lambda: count(tracker, ticket, public=False) == 1)
        _, trace = await web.ask("GET", f"/tickets/hd.desk.{ticket}/trace")

    (first, _), (note, _) = tracker.read(ticket)
    assert TEXT in first
    assert trace["run"] in note
    assert tracker.status(ticket) == "new"


async def test_a_reply_is_not_claimed_when_the_ticket_has_changed(tracker: RequestTracker, tmp_path: Path) -> None:
    ticket = await ask(tracker)
    connect(tmp_path, tracker)
    (connection,) = load_connections(tmp_path / "helpdesks")
    adapter = connection.open()
    try:
        before = await adapter.fetch(ticket)
        await asyncio.to_thread(tracker.reply, ticket, "Only at home, by the way.")
        with pytest.raises(TicketChanged):
            await adapter.write("claim", before, {"run": "a-run"})
        after = await adapter.fetch(ticket)
        await adapter.write("claim", after, {"run": "a-run"})
    finally:
        await adapter.close()
    assert [(each.role, each.public) for each in after.messages] == [("customer", True)] * 2
    assert after.messages[1].message_id


async def test_a_tag_that_a_person_sets_meanwhile_outlives_that_another_is_taken_off(
    tracker: RequestTracker, tmp_path: Path
) -> None:
    ticket = await ask(tracker)
    connect(tmp_path, tracker)
    (connection,) = load_connections(tmp_path / "helpdesks")
    adapter = connection.open()
    try:
        await asyncio.to_thread(tracker.tag, ticket, "ai-send")
        before = await adapter.fetch(ticket)
        await asyncio.to_thread(tracker.tag, ticket, "vip")
        with pytest.raises(TicketChanged):
            await adapter.write("untag", before, {"tag": "ai-send", "tags": []})
        await adapter.write("untag", await adapter.fetch(ticket), {"tag": "ai-send", "tags": ["vip"]})
        assert (await adapter.fetch(ticket)).tags == ("vip",)
    finally:
        await adapter.close()


async def test_a_customer_who_writes_during_the_run_gets_one_answer_to_the_latest_words(
    tracker: RequestTracker, tmp_path: Path
) -> None:
    ticket = await ask(tracker)
    connect(tmp_path, tracker, mode="auto")
    model = Held()

    async with interface(tmp_path, model=model) as web:
        await asyncio.wait_for(model.asked.wait(), HANGS_SECONDS)
        await asyncio.to_thread(tracker.reply, ticket, "Only at home, by the way.")
        model.free.set()
        await until(lambda: count(tracker, ticket, public=True) == 2)
        _, told = await web.ask("GET", f"/tickets/hd.desk.{ticket}")

    assert "Only at home" in told["question"]
    assert tracker.read(ticket)[1][0].strip() == "Only at home, by the way."


async def test_its_scrip_tells_of_new_words_and_only_with_the_secret(tracker: RequestTracker, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET, encoding="utf-8")
    connect(tmp_path, tracker, mode="auto", poll_seconds=HOUR, secret=f"file:{tmp_path / 'secret'}")

    async with interface(tmp_path, port=tracker.hook) as web:
        await wait_for_poll(web)
        ticket = await ask(tracker)
        await until(lambda: count(tracker, ticket, public=True) == 1)
        await asyncio.to_thread(tracker.reply, ticket, "And on a Mac?")
        await until(lambda: count(tracker, ticket, public=True) == 3)
        assert (await web.ask("POST", "/intake/desk", json={"event_id": "txn-1", "ticket": {"id": 1}}))[0] == 401
        helpdesk = await wait_for_poll(web)

    assert helpdesk["refused"] == 1
    assert helpdesk["problem"] == ""


async def test_a_mail_that_is_delivered_twice_is_answered_once(tracker: RequestTracker, tmp_path: Path) -> None:
    ticket = await ask(tracker)
    connect(tmp_path, tracker, mode="auto")

    async with interface(tmp_path):
        await until(lambda: count(tracker, ticket, public=True) == 1)
        for _ in range(2):
            await asyncio.to_thread(tracker.reply, ticket, "And on a Mac?", message_id="<twice@example.test>")
            await until(lambda: count(tracker, ticket, public=True) >= 3)
        later = await ask(tracker)  # behind both of them
        await until(lambda: count(tracker, later, public=True) == 1)

    assert count(tracker, ticket, public=True) == 4  # the mail twice, and two answers


async def test_what_a_person_writes_takes_the_ticket(tracker: RequestTracker, tmp_path: Path) -> None:
    ticket = await ask(tracker)
    connect(tmp_path, tracker, mode="auto")
    model = Held()

    async with interface(tmp_path, model=model) as web:
        await asyncio.wait_for(model.asked.wait(), HANGS_SECONDS)
        said = {"Content": "I am on it.", "ContentType": "text/plain"}
        await asyncio.to_thread(tracker.call, "POST", f"/ticket/{ticket}/correspond", said, "helen")
        model.free.set()
        await web.end(f"hd.desk.{ticket}")
        model.free.set()
        later = await ask(tracker)
        await until(lambda: count(tracker, later, public=True) == 1)

    assert [text for text, _ in tracker.read(ticket)][1:] == ["I am on it."]


async def test_what_is_html_only_or_attached_is_read(tracker: RequestTracker, tmp_path: Path) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "ann@example.test", "support@lab.test", "VPN"
    mail["Message-ID"] = "<html-only@example.test>"
    mail.set_content("<p>My <b>VPN</b> drops: Größe.</p>", subtype="html", charset="iso-8859-1")
    mail.add_attachment("tunnel down", filename="vpn.log")
    mail.add_attachment(b"\x89PNG" * 1000, maintype="image", subtype="png", filename="screen.png")
    await asyncio.to_thread(tracker.send, mail)
    ticket = await asyncio.to_thread(tracker.latest)
    await asyncio.to_thread(tracker.reply, ticket, TEXT)
    connect(tmp_path, tracker)
    (connection,) = load_connections(tmp_path / "helpdesks")
    adapter = connection.open()
    try:
        first, second = (await adapter.fetch(ticket)).messages
    finally:
        await adapter.close()

    assert (first.text.strip(), first.message_id) == ("My VPN drops: Größe.", "html-only@example.test")
    assert [(each.name, each.text.strip()) for each in first.attachments] == [
        ("vpn.log", "tunnel down"),
        ("screen.png", ""),
    ]
    assert (second.text.strip(), second.attachments) == (TEXT, ())


async def test_of_a_long_ticket_the_latest_is_known(tracker: RequestTracker, tmp_path: Path) -> None:
    ticket = await ask(tracker)
    await asyncio.to_thread(tracker.reply, ticket, "It still drops.")
    for priority in range(110):
        await asyncio.to_thread(tracker.call, "PUT", f"/ticket/{ticket}", {"Priority": priority + 1})
    connect(tmp_path, tracker)
    (connection,) = load_connections(tmp_path / "helpdesks")
    adapter = connection.open()
    try:
        latest = (await adapter.fetch(ticket)).latest_of_customer()
    finally:
        await adapter.close()

    assert latest is not None
    assert latest.text.strip() == "It still drops."


async def test_the_first_poll_finds_what_has_just_come_wherever_its_server_stands(
    tracker: RequestTracker, tmp_path: Path
) -> None:
    ticket = await ask(tracker)
    tracker.connection.pop("adapter.poll.start")
    connect(tmp_path, tracker)
    (connection,) = load_connections(tmp_path / "helpdesks")
    adapter = connection.open()
    try:
        found = [await adapter.poll(adapter.make_cursor(time.time() + hours * 3600)) for hours in (-1, 14)]
    finally:
        await adapter.close()

    assert all(ticket in {each.ticket for each in told.events} for told in found)


async def test_what_it_refuses_with_a_200_counts_as_refused(tracker: RequestTracker, tmp_path: Path) -> None:
    ticket = await ask(tracker)
    connect(tmp_path, tracker)
    (connection,) = load_connections(tmp_path / "helpdesks")
    adapter = connection.open()
    try:
        stands = await adapter.fetch(ticket)
        with pytest.raises(HelpdeskError):
            await adapter.write("status", stands, {"status": "nonsense"})
        with pytest.raises(HelpdeskError):
            await adapter.write("assign", stands, {"person": "nobody-of-this-name"})
        assert (await adapter.fetch(ticket)).status == stands.status
        await adapter.write("assign", stands, {"person": "helen"})
        await adapter.write("status", stands, {"status": "resolved"})
        after = await adapter.fetch(ticket)
    finally:
        await adapter.close()
    assert (after.status, after.assignee) == ("resolved", "helen")
