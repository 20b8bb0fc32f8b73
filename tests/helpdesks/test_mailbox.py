"""A mailbox as a helpdesk: a thread is a ticket, answered once and in it; machines and strangers start nothing."""

import asyncio
import contextlib
import itertools
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from runtime.intake.connections import load_connections
from runtime.intake.mail.mail_client import Mailbox
from runtime.intake.setup import check_connection
from tests.fakes import ANSWER, ON_A_MAC
from tests.helpdesks.connecting import looked_again, until
from tests.helpdesks.mailbox import (
    ADDRESS,
    PASSWORD,
    Outbox,
    TestMailbox,
    connect_mailbox,
    needs_dovecot,
    start_dovecot,
    start_outbox,
)
from tests.helpdesks.real_helpdesks import find_free_port
from tests.runtime.http.kit import Interface, interface

pytestmark = needs_dovecot
TEXT = "My VPN drops every hour – Größe 漢字."
HOUR = 3600
NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def dovecot() -> Iterator[TestMailbox]:
    with start_dovecot() as started:
        yield started


@pytest.fixture
def mailbox(dovecot: TestMailbox) -> TestMailbox:
    return TestMailbox(dovecot.port, f"user{next(NUMBERS)}")


def write(
    text: str = TEXT, name: str = "1@example.test", author: str = "ann@example.test", **headers: str
) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"], mail["Message-ID"] = author, ADDRESS, "VPN", f"<{name}>"
    for header, value in headers.items():
        mail[header.replace("_", "-")] = value
    mail.set_content(text)
    return mail


@contextlib.asynccontextmanager
async def connected(folder: Path, mailbox: TestMailbox, **more: Any) -> AsyncIterator[tuple[Outbox, Interface]]:
    async with start_outbox() as outbox:
        connect_mailbox(folder, mailbox, outbox, **more)
        async with interface(folder) as web:
            yield outbox, web


async def test_a_mail_is_answered_once_in_its_thread_and_so_is_the_next(mailbox: TestMailbox, tmp_path: Path) -> None:
    mailbox.deliver(write())
    async with connected(tmp_path, mailbox, mode="auto") as (outbox, _):
        await until(lambda: len(mailbox.read("Sent")) == 1)
        ((to, answer),) = outbox.mails
        assert (to, answer["From"]) == ("ann@example.test", ADDRESS)
        assert answer["In-Reply-To"] == answer["References"] == "<1@example.test>"
        assert answer["Auto-Submitted"] == "auto-replied"
        assert answer["Subject"] == "Re: VPN"

        quoted = f"And on a Mac?\n\nOn Monday, Support wrote:\n> {answer.get_content()}"
        mailbox.deliver(write(quoted, "2@example.test", In_Reply_To=str(answer["Message-ID"])))
        await until(lambda: len(mailbox.read("Sent")) == 2)

    async with interface(tmp_path) as web:  # nothing is left to do
        _, listed = await web.ask("GET", "/tickets")
    (ticket,) = listed["tickets"]
    assert len(outbox.mails) == 2
    assert ON_A_MAC in outbox.mails[1][1].get_content()
    assert ANSWER not in outbox.mails[1][1].get_content()
    assert outbox.mails[1][1]["References"].split()[0] == "<1@example.test>"
    assert ticket


async def test_drafts_hold_the_suggestion_and_the_customer_hears_nothing(mailbox: TestMailbox, tmp_path: Path) -> None:
    mailbox.deliver(write())
    async with connected(tmp_path, mailbox) as (outbox, _):
        await until(lambda: len(mailbox.read("Drafts")) == 1)
        (draft,) = mailbox.read("Drafts")
    assert outbox.mails == []
    assert draft["To"] is None
    assert draft["In-Reply-To"] == "<1@example.test>"


async def test_the_team_gets_the_suggestion_and_approves_it_by_a_tag(
    mailbox: TestMailbox, tmp_path: Path, reads: Counter[str]
) -> None:
    mailbox.deliver(write())
    async with connected(tmp_path, mailbox, mode="approve", team="team@lab.test") as (outbox, _):
        await until(lambda: len(mailbox.read("Sent")) == 1)
        assert [to for to, _ in outbox.mails] == ["team@lab.test"]
        await looked_again(reads, "1@example.test")  # else the tag might be older than the note
        mailbox.tag("ai-send")
        await until(lambda: len(mailbox.read("Sent")) == 2)
        await until(lambda: mailbox.flags("ai-send") == 0)
    assert [to for to, _ in outbox.mails] == ["team@lab.test", "ann@example.test"]


async def test_one_approval_sends_one_answer_whatever_follows_and_no_tag_is_left_to_do_more(
    mailbox: TestMailbox, tmp_path: Path, reads: Counter[str]
) -> None:
    mailbox.deliver(write())
    cannot_untag: dict[str, Any] = {"adapter": {"write": {"untag": []}}}
    async with connected(tmp_path, mailbox, mode="approve", team="team@lab.test", **cannot_untag) as (outbox, _):
        await until(lambda: len(outbox.mails) == 1)
        await looked_again(reads, "1@example.test")
        await asyncio.to_thread(mailbox.tag, "ai-send")
        await until(lambda: len(outbox.mails) == 2)
        known = f"<1@example.test> {outbox.mails[1][1]['Message-ID']}"
        for words in ("And on a Mac?", "And on a Mac in the office?"):
            sent = len(outbox.mails)
            follow_up = write(words, f"{sent}.follows@example.test", References=known)
            known += f" {follow_up['Message-ID']}"
            await asyncio.to_thread(mailbox.deliver, follow_up)
            await until(partial(outbox.has_more, sent))
            await looked_again(reads, "1@example.test")
        assert mailbox.flags("ai-send") == 1, "it is a leftover"
    assert [to for to, _ in outbox.mails] == ["team@lab.test", "ann@example.test", "team@lab.test", "team@lab.test"]


async def test_the_check_tries_the_server_that_sends_and_sends_nothing(mailbox: TestMailbox, tmp_path: Path) -> None:
    async with start_outbox() as outbox:
        connect_mailbox(tmp_path, mailbox, outbox)
        (connection,) = load_connections(tmp_path / "helpdesks")
        found = {each.name: each for each in await check_connection(connection)}
        assert found["Sending"].state == "ok"
        assert [each[:4].upper() for each in outbox.commands] == ["EHLO", "NOOP", "RSET", "QUIT"]
        outbox.port = find_free_port()
        connect_mailbox(tmp_path, mailbox, outbox)
        (connection,) = load_connections(tmp_path / "helpdesks")
        found = {each.name: each for each in await check_connection(connection)}
    assert found["Sending"].state == "problem"
    assert "smtp" in found["Sending"].remedy
    assert outbox.mails == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Auto_Submitted": "auto-replied"}, {"Precedence": "bulk"}, {"X_Auto_Response_Suppress": "All"},
        {"Return_Path": "<>"}, {"List_Id": "<news.example.test>"}, {"author": ADDRESS},
    ],
    ids=lambda headers: next(iter(headers)),
)  # fmt: skip
async def test_what_a_machine_sends_starts_nothing(
    mailbox: TestMailbox, tmp_path: Path, headers: dict[str, str]
) -> None:
    mailbox.deliver(write(name="machine@example.test", **headers))
    mailbox.deliver(write(name="person@example.test"))
    async with connected(tmp_path, mailbox, mode="auto") as (outbox, web):
        await until(lambda: len(mailbox.read("Sent")) == 1)
        _, listed = await web.ask("GET", "/tickets")
    assert [answer["In-Reply-To"] for _, answer in outbox.mails] == ["<person@example.test>"]
    assert len(listed["tickets"]) == 1


async def test_a_stranger_who_names_a_thread_does_not_get_into_it(mailbox: TestMailbox, tmp_path: Path) -> None:
    mailbox.deliver(write("My number is 12345."))
    mailbox.deliver(write("And what is it?", "2@evil.test", "eve@evil.test", References="<1@example.test>"))
    async with connected(tmp_path, mailbox, mode="auto") as (outbox, web):
        await until(lambda: len(mailbox.read("Sent")) == 2)
        _, listed = await web.ask("GET", "/tickets")
        questions = [(await web.ask("GET", f"/tickets/{each['ticket']}"))[1]["question"] for each in listed["tickets"]]
    assert {to: answer["In-Reply-To"] for to, answer in outbox.mails} == {
        "ann@example.test": "<1@example.test>", "eve@evil.test": "<2@evil.test>",
    }  # fmt: skip
    assert [("12345" in each, "what is it" in each) for each in sorted(questions)].count((True, True)) == 0


async def test_mails_that_break_parsers_and_searches_hold_up_no_other(mailbox: TestMailbox, tmp_path: Path) -> None:
    hostile = (
        b"From: <", b"Message-ID: <", b"From: " + b"," * 20_000, b"Message-ID: <\xc3\xa9@x>",
        b"References: <\x01\xff@x>",
        b'References: <a"\\@x> <' + b"a" * 180 + b"@x>", b"Content-Type: text/plain; " + b'a="b";' * 3_000,
        b"From: =?utf-8?Q?Eve=0D=0ABcc:_eve@evil.test?= <eve@evil.test>",
    )  # fmt: skip
    for number, header in enumerate(hostile):
        own = header if header.startswith(b"From") else b"From: eve@evil.test\r\n" + header
        mailbox.deliver(own + b"\r\nSubject: %d\r\n\r\nMy VPN drops.\r\n" % number)
    mailbox.deliver(write())
    async with connected(tmp_path, mailbox, mode="auto") as (outbox, web):
        await until(lambda: "ann@example.test" in {to for to, _ in outbox.mails})
        assert (await web.ask("GET", "/intake"))[1]["helpdesks"][0]["problem"] == ""
    assert {to for to, _ in outbox.mails} <= {"ann@example.test", "eve@evil.test"}


async def test_what_is_html_only_or_attached_is_read(mailbox: TestMailbox, tmp_path: Path) -> None:
    mail = write()
    mail.clear_content()
    mail.set_content(
        "<html><style>p{}</style><p>My <b>VPN</b> drops.</p><blockquote>old words</blockquote></html>",
        subtype="html", charset="iso-8859-1",
    )  # fmt: skip
    mail.add_attachment("vpn.log: tunnel down", filename="vpn.log")
    mail.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="screen.png")
    mailbox.deliver(mail)
    async with connected(tmp_path, mailbox, mode="dry_run") as (_, web):
        await until_listed(web, 1)
        _, listed = await web.ask("GET", "/tickets")
        _, told = await web.ask("GET", f"/tickets/{listed['tickets'][0]['ticket']}")
    assert "My VPN drops." in told["question"]
    assert "old words" not in told["question"]
    assert "vpn.log: tunnel down" in told["question"]
    assert "[screen.png]" in told["question"]


async def until_listed(web: Interface, number: int) -> None:
    async with asyncio.timeout(60):
        while len((await web.ask("GET", "/tickets"))[1]["tickets"]) < number:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("fault", ["refuses", "breaks"])
async def test_a_server_that_fails_gets_the_same_mail_again(mailbox: TestMailbox, tmp_path: Path, fault: str) -> None:
    mailbox.deliver(write())
    async with start_outbox() as outbox:
        setattr(outbox, fault, 1)
        connect_mailbox(tmp_path, mailbox, outbox, mode="auto")
        async with interface(tmp_path):
            await until(lambda: len(mailbox.read("Sent")) == 1)
    assert len({answer["Message-ID"] for _, answer in outbox.mails}) == 1
    assert len(outbox.mails) == (2 if fault == "breaks" else 1)


async def test_what_lies_in_the_sent_folder_is_not_sent_again(mailbox: TestMailbox, tmp_path: Path) -> None:
    mailbox.deliver(write())
    async with start_outbox() as outbox:
        connect_mailbox(tmp_path, mailbox, outbox)
        (connection,) = load_connections(tmp_path / "helpdesks")
        for _ in range(2):
            adapter = connection.open()
            ticket = await adapter.fetch("1@example.test")
            await adapter.write("reply", ticket, {"text": "So.", "key": "<run.1@terminus>"})
            await adapter.close()
    assert len(outbox.mails) == 1
    assert [each.role for each in (await adapter.fetch("1@example.test")).messages] == ["customer", "bot"]


async def test_a_server_that_tells_is_not_polled(mailbox: TestMailbox, tmp_path: Path) -> None:
    async with connected(tmp_path, mailbox, mode="auto", poll_seconds=HOUR) as (outbox, _):
        mailbox.deliver(write(name="first@example.test"))
        await until(lambda: len(outbox.mails) >= 1)
        mailbox.deliver(write(name="second@example.test"))
        await until(lambda: len(outbox.mails) >= 2)


async def test_a_mail_that_comes_between_a_look_and_the_listening_is_told(mailbox: TestMailbox) -> None:
    box = Mailbox(f"imap://127.0.0.1:{mailbox.port}", mailbox.user, PASSWORD, sent="Sent", drafts="Drafts")
    gone = threading.Event()
    gone.set()
    box.list_new("")
    assert box.wait(HOUR, gone) is False
    mailbox.deliver(write())
    assert box.wait(HOUR, gone) is True
    assert box.wait(HOUR, gone) is False, "once"
    box.list_new("")
    assert box.wait(HOUR, gone) is False


@pytest.mark.parametrize(("says", "answered"), [("number {n} came", 4), ("your mail came", 2)])
async def test_an_auto_replier_that_opens_a_new_thread_each_time_is_left_to_people_after_its_budget(
    mailbox: TestMailbox, tmp_path: Path, says: str, answered: int
) -> None:
    robot, written = "robot@example.test", 0

    def answer() -> None:
        """Its mails have no headers of a machine, and name none of ours."""
        nonlocal written
        written += 1
        name = f"{written}@robot.test"
        mailbox.deliver(write(f"My VPN drops. Thank you, {says.format(n=written)}.", name, robot))

    async def answer_all(outbox: Outbox) -> None:
        while True:
            if written <= sum(to == robot for to, _ in outbox.mails):
                await asyncio.to_thread(answer)
            await asyncio.sleep(0.05)

    async with connected(tmp_path, mailbox, mode="auto", sender_tickets_per_hour=4) as (outbox, web):
        robots = asyncio.create_task(answer_all(outbox))
        try:
            await until(lambda: len(mailbox.read("Drafts")) == 1)
            mailbox.deliver(write(name="person@example.test"))
            await until(lambda: any(to == "ann@example.test" for to, _ in outbox.mails))
            _, state = await web.ask("GET", "/intake")
        finally:
            robots.cancel()
    assert [to for to, _ in outbox.mails].count(robot) == answered
    assert written == answered + 1, "nothing is said to it any more, so it is silent"
    assert len(mailbox.read("Drafts")) == 1
    assert sum(count for why, count in state["helpdesks"][0]["judged"].items() if why.startswith("sender")) == 1
