"""Mails built to break parsers, or to put headers into our answers: tried through a real SMTP connection."""

import re
import time
from email.message import EmailMessage
from pathlib import Path

import pytest

from runtime.intake.adapter import Adapter
from runtime.intake.adapter_file import load_tables, read_adapter
from runtime.intake.mail.mail_client import MailClient, StoredMail
from runtime.intake.mail.mail_text import (
    is_automatic,
    parse_mail,
    read_addresses,
    read_attachments,
    read_id,
    read_mail_text,
    read_references,
    read_subject,
)
from tests.helpdesks.mailbox import ADDRESS, Outbox, start_outbox

TEXT = "My VPN drops."
LONG = 20_000
USUAL = {
    b"from": b"From: Ann <ann@example.test>", b"to": b"To: support@lab.test", b"subject": b"Subject: VPN",
    b"message-id": b"Message-ID: <1@example.test>",
}  # fmt: skip
INJECTED = b"=0D=0ABcc:_eve@evil.test=0D=0A=0D=0AHello"
HOSTILE: dict[str, bytes] = {
    "a name with lines": b"From: =?utf-8?Q?Ann" + INJECTED + b"?= <ann@example.test>",
    "a name with another address": b'From: "eve@evil.test>, <eve@evil.test" <ann@example.test>',
    "a comment with another address": b"From: (<eve@evil.test>) ann@example.test (x@y, z)",
    "a reply to lines": b"Reply-To: =?utf-8?Q?eve=40evil.test" + INJECTED + b"?=",
    "a reply to two": b"Reply-To: ann@example.test, eve@evil.test",
    "a carriage return": b"Subject: a\rBcc: eve@evil.test",
    "words with lines": b"Subject: =?utf-8?Q?a" + INJECTED + b"?=",
    "words in Base64 with lines": b"Subject: =?utf-8?B?YQ0KQmNjOiBldmVAZXZpbC50ZXN0?=",
    "words in UTF-7": b"Subject: =?utf-7?Q?+AA0ACg-Bcc:_eve@evil.test?=",
    "a zero": b"Subject: a\x00b\x01\x1b[2J\x7f",
    "words with a zero": b"Subject: =?utf-8?Q?a=00b=1B[2J?=",
    "the other direction": "Subject: \u202egpj.exe\u2066\u2028Bcc: eve@evil.test\x85z".encode(),
    "no character set": b"Subject: =?x-none?Q?a?= =?utf-8?B?=?= \xff\xfe",
    "a long subject": b"Subject: " + b"a" * LONG,
    "many words": b"Subject: " + b"a " * LONG,
    "many encoded words": b"Subject: " + b"=?utf-8?Q?=C3=A9?= " * (LONG // 10),
    "unfinished words": b"Subject: " + b"=?utf-8?Q?" * (LONG // 10),
    "an id with a zero": b"Message-ID: <a\x00b@x>",
    "an id of words": b"Message-ID: =?utf-8?Q?=3Ca" + INJECTED + b"=3E?=",
    "an id that is not ASCII": "Message-ID: <é\u202e@x>".encode(),
    "an id that ends searches": b'Message-ID: <a"\\ OR ALL@x>',
    "an unfinished id": b"Message-ID: <",
    "a long id": b"Message-ID: <" + b"a" * 180 + b"@x>",
    "an endless id": b"Message-ID: <" + b"a" * LONG + b"@x>",
    "references with lines": b"References: <a@x>\r\n\t<b@x>\r\n =?utf-8?Q?" + INJECTED + b"?=",
    "many references": b"References: " + b" ".join(b"<%d@x>" % number for number in range(3_000)),
    "unfinished references": b"References: " + b"<a" * LONG,
    "references with a zero": b"References: <a\x00@x> <b\x1b@x>",
    "an answer to lines": b"In-Reply-To: =?utf-8?Q?<a" + INJECTED + b"@x>?=",
    "a type of many parts": b"Content-Type: text/plain; " + b'a="b";' * 3_000,
    "a character set with a zero": b'Content-Type: text/plain; charset="a\x00b"',
    "a character set that is none": b"Content-Type: text/plain; charset=undefined",
    "a slow character set": b"Content-Type: text/plain; charset=punycode",
    "a part without parts": b'Content-Type: multipart/mixed; boundary=""',
}
NOBODY: dict[str, bytes] = {
    "an unfinished address": b"From: <",
    "an address of words": b"From: =?utf-8?Q?ann=40example.test" + INJECTED + b"?=",
    "an address with a zero": b"From: ann\x00@example.test",
    "an address the other way": "From: ann@\u202etset.elpmaxe".encode(),
    "an address of bytes": b"From: \xff\xfe@example.test",
    "a quoted address": b'From: "eve@evil.test, ann"@example.test',
    "commas": b"From: " + b"," * LONG,
    "brackets": b"From: " + b"<" * LONG,
    "comments": b"From: " + b"(" * LONG,
    "quotes": b'From: "' + b'\\"' * LONG,
    "many quotes": b"From: " + b'"' * LONG,
}
"""Nobody can be answered who writes so."""


def write(header: bytes, body: bytes = TEXT.encode()) -> bytes:
    lines = {**USUAL, header.partition(b":")[0].lower(): header}
    return b"\r\n".join(lines.values()) + b"\r\n\r\n" + body + b"\r\n"


class StandIn:
    """A mailbox with one mail."""

    folder, sent, drafts = "INBOX", "Sent", "Drafts"

    def __init__(self, raw: bytes) -> None:
        mail = parse_mail(raw)
        self.mail = StoredMail(mail, read_id(mail) or "uid.1.1", self.folder, (), 0.0)
        self.appended: list[bytes] = []

    def read_thread(self, root: str) -> list[StoredMail]:
        return [self.mail]

    def list_new(self, cursor: str) -> tuple[list[StoredMail], str]:
        return [self.mail], "1:1"

    def find_root(self, mail: EmailMessage, name: str) -> str:
        return (read_references(mail) or [name])[0]

    def has(self, folder: str, name: str) -> bool:
        return False

    def append(self, folder: str, mail: EmailMessage) -> None:
        self.appended.append(mail.as_bytes())


def open_adapter(mailbox: StandIn, outbox: Outbox) -> Adapter:
    client = MailClient(mailbox, ADDRESS, f"smtp://127.0.0.1:{outbox.port}", {"user": "", "token": ""})  # type: ignore[arg-type]
    return Adapter("desk", read_adapter(load_tables("mail", Path()), "mail"), client, secret="", bot=ADDRESS)


async def answer(raw: bytes) -> tuple[Outbox, StandIn]:
    """What goes out when a mail is listed, read and answered as the product does."""
    async with start_outbox() as outbox:
        mailbox = StandIn(raw)
        adapter = open_adapter(mailbox, outbox)
        (event,) = (await adapter.poll("")).events
        ticket = await adapter.fetch(event.ticket)
        assert [each.role for each in ticket.messages] == ["customer"]
        await adapter.write("reply", ticket, {"text": f"So.\r\n.\r\n{ticket.subject}", "key": "<R-1.1@terminus>"})
        await adapter.close()
    return outbox, mailbox


@pytest.mark.parametrize("what", HOSTILE)
async def test_no_header_of_a_mail_puts_another_one_or_anybody_into_its_answer(what: str) -> None:
    began = time.process_time()
    outbox, mailbox = await answer(write(HOSTILE[what]))

    (raw,), ((to, mail),) = outbox.wire, outbox.mails
    assert to == "ann@example.test"
    assert [each for each in outbox.commands if each.startswith("RCPT")] == ["RCPT TO:<ann@example.test>"]
    head, _, body = raw.partition(b"\r\n\r\n")
    names = [line.partition(b":")[0].decode() for line in re.split(rb"\r\n(?![ \t])", head)]
    assert sorted(names) == sorted([
        "From", "Date", "To", "Subject", "Message-ID", "In-Reply-To", "References", "Auto-Submitted",
        "X-Auto-Response-Suppress", "X-Terminus", "Content-Type", "Content-Transfer-Encoding", "MIME-Version",
    ])  # fmt: skip
    assert max(map(len, head.split(b"\r\n"))) <= 998
    assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\xff]|\r(?!\n)|(?<!\r)\n", head)
    assert b"\x00" not in body
    assert str(mail["Subject"]).isprintable()
    assert len(str(mail["Subject"])) <= 260
    for name in ("In-Reply-To", "References"):
        assert re.fullmatch(r"<[!-~]{1,190}>(?:\s+<[!-~]{1,190}>){0,21}", str(mail[name])), mail[name]
    assert (mail["From"], mail["Bcc"], mail.get_content().splitlines()[1]) == (ADDRESS, None, ".")
    assert mailbox.appended, "its copy is laid down"
    assert time.process_time() - began < 2.0, "it took as long as its sender wanted"


async def test_no_words_of_an_answer_are_commands_or_break_lines() -> None:
    text = "a\x00b\x1b\ud800c\r\n.\r\nRCPT TO:<eve@evil.test>\n.\n\u2028" + "x" * 5_000
    async with start_outbox() as outbox:
        adapter = open_adapter(StandIn(write(USUAL[b"subject"])), outbox)
        ticket = await adapter.fetch("1@example.test")
        await adapter.write("reply", ticket, {"text": text, "key": "<R-1.1@terminus>"})
        await adapter.close()

    assert [each for each in outbox.commands if each.startswith("RCPT")] == ["RCPT TO:<ann@example.test>"]
    assert max(map(len, outbox.wire[0].split(b"\r\n"))) <= 998
    assert b"\x00" not in outbox.wire[0]
    words = " ".join(outbox.mails[0][1].get_content().split())
    assert words == "abc . RCPT TO:<eve@evil.test> . " + "x" * 5_000


@pytest.mark.parametrize("what", NOBODY)
async def test_who_cannot_be_answered_is_a_machine_and_holds_up_nothing(what: str) -> None:
    mail, began = parse_mail(write(NOBODY[what])), time.process_time()

    assert read_addresses(mail, "From", "To") == ["support@lab.test"]
    assert is_automatic(mail)
    assert time.process_time() - began < 1.0


def test_addresses_are_found_as_people_and_programs_write_them() -> None:
    mail = parse_mail(
        "From: Ann Lee (IT) <Ann@Example.test>\r\nTo: team: a@b.c, \"Lee, Bo\" <bo@b.c>;, d+e@f.g\r\n"
        "Cc: =?utf-8?Q?J=C3=BCrgen?= <j@k.l>,\r\n\tänn@exämple.test\r\n\r\n".encode()
    )  # fmt: skip
    assert read_addresses(mail, "From", "To", "Cc") == [
        "ann@example.test", "a@b.c", "bo@b.c", "d+e@f.g", "j@k.l", "änn@exämple.test",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (b"=?utf-8?B?R3LDtg==?= =?utf-8?B?w59l?= VPN", "Größe VPN"),
        (b"=?gb18030?B?ztK1xM34wufPwg==?=", "我的网络下"),
        ("Größe".encode(), "Größe"),
        (b"Re: a\r\n\tb", "Re: a b"),
    ],
)
def test_subjects_are_read_as_they_were_meant(given: bytes, read: str) -> None:
    assert read_subject(parse_mail(b"Subject: " + given + b"\r\n\r\n")) == read


def test_parts_without_number_or_end_are_not_taken_apart() -> None:
    many = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\nx\r\n" * 50_000
    deep = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(490))
    for raw in (many, deep):
        began = time.process_time()
        mail = parse_mail(raw)
        assert (read_mail_text(mail), read_attachments(mail)) == ("", [])
        assert time.process_time() - began < 2.0


async def test_a_mail_that_cannot_be_read_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: StandIn, mail: EmailMessage, name: str) -> str:
        raise IndexError("something in a library")

    async with start_outbox() as outbox:
        good, bad = StandIn(write(USUAL[b"subject"])), StandIn(write(b"References: <a@x>"))
        monkeypatch.setattr(StandIn, "find_root", fail)
        good.list_new = lambda _: ([bad.mail, good.mail], "1:2")  # type: ignore[method-assign,assignment]
        found = await open_adapter(good, outbox).poll("")

    assert [each.id for each in found.events] == ["1@example.test"]
    assert found.cursor == "1:2"
