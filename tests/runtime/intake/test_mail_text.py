"""What a mail says: its own words in any client's quoting and character set, and whether a machine sent it."""

import email
import email.policy
import time
from email.message import EmailMessage

import pytest

from runtime.intake.mail.mail_text import (
    MOST_CHARACTERS,
    is_automatic,
    make_message_id,
    read_attachments,
    read_mail_text,
    read_references,
    strip_quotes,
)


def parse(raw: bytes) -> EmailMessage:
    return email.message_from_bytes(raw, policy=email.policy.default)


@pytest.mark.parametrize(
    "mail",
    [
        "It drops.\n\nOn Monday, Support wrote:\n> Restart it.\n",
        "It drops.\n\nAm 3. Mai 2026 um 10:00 schrieb Support\n<support@example.org>:\n\n> Neu starten.\n",
        "It drops.\nOn Monday, Support <\nsupport@example.org> wrote:\n> Restart it.\n",
        "It drops.\n-- \nAnn\nExample Ltd\n",
        "It drops.\n\n-----Original Message-----\nFrom: Support\nRestart it.\n",
        "It drops.\n\nVon: Support\nGesendet: Montag\nNeu starten.\n",
        "It drops.\n\n发件人: 支持\n发送时间: 周一\n请重启。\n",
        "> Restart it.\nIt drops.\n",
    ],
)
def test_only_own_words_stay(mail: str) -> None:
    assert strip_quotes(mail) == "It drops."
    assert strip_quotes(mail.replace("\n", "\r\n")) == "It drops."


@pytest.mark.parametrize("mail", ["From: the printer\nI get an error.", "Steps:\n1. open\n2. save", "> all of it"])
def test_words_that_only_look_like_quotes_stay(mail: str) -> None:
    assert strip_quotes(mail) == mail


@pytest.mark.parametrize(
    ("charset", "text"),
    [("utf-8", "Größe"), ("iso-8859-1", "Größe"), ("gb18030", "我的网络断了"), ("euc-kr", "연결이 끊어집니다")],
)
def test_character_sets_are_read_as_declared_and_guessed_where_they_lie(charset: str, text: str) -> None:
    for declared in (charset, "x-unknown") if charset != "iso-8859-1" else (charset,):
        head = f"Content-Type: text/plain; charset={declared}\nContent-Transfer-Encoding: 8bit\n\n".encode()
        assert read_mail_text(parse(head + text.encode(charset))) == text


def test_attachments_are_named_and_texts_are_read_within_bounds() -> None:
    mail = EmailMessage()
    mail.set_content("See there.")
    mail.add_attachment("x" * 50_000, filename="big.log")
    mail.add_attachment(b"\0\1", maintype="application", subtype="zip", filename="all.zip")
    first, second = read_attachments(mail)
    assert (first.name, len(first.text)) == ("big.log", 10_000)
    assert (second.name, second.text) == ("all.zip", "")
    assert read_mail_text(mail) == "See there."


@pytest.mark.parametrize(
    ("headers", "automatic"),
    [
        ("From: a@b.c", False), ("From: a@b.c\nAuto-Submitted: no", False), ("From: a@b.c\nPrecedence: normal", False),
        ("From: a@b.c\nAuto-Submitted: auto-replied; x=1", True), ("From: a@b.c\nPrecedence: LIST", True),
        ("From: MAILER-DAEMON@b.c", True), ("From: a@b.c\nReturn-Path: <>", True), ("Subject: none", True),
        ("From: a@b.c\nContent-Type: multipart/report; boundary=x", True), ("From: a@b.c\nX-Autoreply: yes", True),
    ],
)  # fmt: skip
def test_machines_are_known_by_headers(headers: str, automatic: bool) -> None:
    assert is_automatic(parse(f"{headers}\n\ntext".encode())) is automatic


def test_ids_are_taken_whole_and_made_the_same_again() -> None:
    mail = parse(b"References: <a@x>\n <b@x> not-one\nIn-Reply-To: <b@x>\n\n")
    assert read_references(mail) == ["a@x", "b@x"]
    assert make_message_id("<R-1.2@terminus>", "s@lab.test") == "<R-1.2@lab.test>"
    assert make_message_id('<R 1"\r\nBcc: x.2@terminus>', "s@lab.test").isprintable()


@pytest.mark.parametrize("line", ["-" * 100_000 + "x", "_" * 100_000 + "x", "--" + "a-" * 50_000, "From:" * 20_000])
def test_a_long_line_of_a_mail_takes_no_time(line: str) -> None:
    start = time.thread_time()

    strip_quotes(f"My printer is broken.\n{line}\nPlease help.")

    assert time.thread_time() - start < 1.0


def test_of_a_mail_of_megabytes_the_beginning_is_read() -> None:
    mail = parse(b"Content-Type: text/plain\n\n" + b"It drops.\n" * 1_000_000)

    assert read_mail_text(mail) == ("It drops.\n" * 100_000)[:MOST_CHARACTERS].strip()
