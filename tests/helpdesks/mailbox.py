"""A mailbox for tests: Debian's dovecot on loopback, and a server that takes mails and keeps them."""

import asyncio
import contextlib
import email
import email.policy
import imaplib
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any, cast

import pytest

from tests.helpdesks.real_helpdesks import find_free_port, serve_port

DOVECOT = Path("/usr/sbin/dovecot")
needs_dovecot = pytest.mark.skipif(
    not DOVECOT.exists() or os.geteuid() != 0, reason="Debian's dovecot-imapd is not installed, or not startable"
)
ADDRESS, PASSWORD = "support@lab.test", "secret"
CONFIG = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
protocols = imap
ssl = no
disable_plaintext_auth = no
mail_location = maildir:{folder}/mail/%u
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid=nobody gid=nogroup home={folder}/home
}}
service imap-login {{
  inet_listener imap {{
    address = 127.0.0.1
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
"""


class TestMailbox:
    """What a test has in its hands."""

    __test__ = False

    def __init__(self, port: int, user: str = "") -> None:
        self.port, self.user = port, user

    @contextlib.contextmanager
    def _open(self) -> Iterator[imaplib.IMAP4]:
        with imaplib.IMAP4("127.0.0.1", self.port) as box:
            box.login(self.user, PASSWORD)
            yield box

    def deliver(self, mail: EmailMessage | bytes, folder: str = "INBOX") -> None:
        """A mail comes."""
        raw = mail if isinstance(mail, bytes) else mail.as_bytes()
        with self._open() as box:
            box.create(folder)
            told, said = box.append(folder, "", imaplib.Time2Internaldate(time.time()), raw)
            assert told == "OK", said

    def read(self, folder: str) -> list[EmailMessage]:
        """The mails of a folder, the oldest first; none where there is no such folder."""
        with self._open() as box:
            if box.select(folder, readonly=True)[0] != "OK":
                return []
            numbers = box.search(None, "ALL")[1][0].split()
            raw = [cast("tuple[bytes, bytes]", box.fetch(number, "(BODY.PEEK[])")[1][0])[1] for number in numbers]
        return [email.message_from_bytes(each, policy=email.policy.default) for each in raw]

    def flags(self, keyword: str) -> int:
        """How many mails have been marked so."""
        with self._open() as box:
            box.select("INBOX", readonly=True)
            return len(box.search(None, "KEYWORD", keyword)[1][0].split())

    def tag(self, keyword: str) -> None:
        """A person marks all mails."""
        with self._open() as box:
            box.select("INBOX")
            box.store("1:*", "+FLAGS", keyword)


@contextlib.contextmanager
def start_dovecot() -> Iterator[TestMailbox]:
    """A server with a mailbox for whoever logs in."""
    with tempfile.TemporaryDirectory() as name:  # pytest's folders are closed to the user that mailboxes belong to
        folder, port = Path(name), find_free_port()
        folder.chmod(0o755)
        for each in (folder / "mail", folder / "home"):
            each.mkdir()
            shutil.chown(each, "nobody", "nogroup")
        config = folder / "dovecot.conf"
        config.write_text(CONFIG.format(folder=folder, port=port, password=PASSWORD), encoding="utf-8")
        with serve_port([str(DOVECOT), "-F", "-c", str(config)], port):
            yield TestMailbox(port)


class Outbox:
    """Takes mails by SMTP, and keeps them."""

    def __init__(self) -> None:
        self.port = 0
        self.mails: list[tuple[str, EmailMessage]] = []
        """To whom, and what."""
        self.wire: list[bytes] = []
        """The same mails as they came."""
        self.commands: list[str] = []
        """What it was asked to do."""
        self.refuses = 0
        """So many mails are answered with 451."""
        self.breaks = 0
        """So many mails are taken, and the line breaks before that is said."""

    def has_more(self, mails: int) -> bool:
        """Whether it has taken more than so many."""
        return len(self.mails) > mails

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to = ""
        writer.write(b"220 lab ready\r\n")
        while line := (await reader.readline()).decode().strip():
            verb = line[:4].upper()
            self.commands.append(line)
            if verb == "RCPT":
                to = line.partition("<")[2].partition(">")[0]
            if verb != "DATA":
                writer.write(b"221 bye\r\n" if verb == "QUIT" else b"250 lab\r\n")
                continue
            writer.write(b"354 go on\r\n")
            raw = await reader.readuntil(b"\r\n.\r\n")
            if self.refuses:
                self.refuses -= 1
                writer.write(b"451 later\r\n")
                continue
            mail = email.message_from_bytes(raw[:-5].replace(b"\r\n..", b"\r\n."), policy=email.policy.default)
            self.mails.append((to, mail))
            self.wire.append(raw)
            if self.breaks:
                self.breaks -= 1
                break
            writer.write(b"250 taken\r\n")
        writer.close()


@contextlib.asynccontextmanager
async def start_outbox() -> AsyncIterator[Outbox]:
    """One that listens."""
    outbox = Outbox()
    server = await asyncio.start_server(outbox.handle, "127.0.0.1", 0)
    outbox.port = server.sockets[0].getsockname()[1]
    async with server:
        yield outbox


def connect_mailbox(folder: Path, mailbox: TestMailbox, outbox: Outbox, *, name: str = "desk", **more: Any) -> None:
    """Write the files that connect it."""
    (folder / "helpdesks").mkdir(exist_ok=True)
    (folder / "token").write_text(PASSWORD, encoding="utf-8")
    known: dict[str, Any] = {
        "system": "mail", "url": f"imap://127.0.0.1:{mailbox.port}/INBOX", "smtp": f"smtp://127.0.0.1:{outbox.port}",
        "user": mailbox.user, "bot": ADDRESS,
        "token": f"file:{folder / 'token'}", "poll_seconds": 1, "spacing_seconds": 0,
    } | more  # fmt: skip
    adapter: dict[str, Any] = known.pop("adapter", {})
    lines = [f"{name} = {str(value) if isinstance(value, int) else repr(value)}" for name, value in known.items()]
    lines += [f"adapter.{room}.{name} = {value}" for room, its in adapter.items() for name, value in its.items()]
    (folder / "helpdesks" / f"{name}.toml").write_text("\n".join(lines), encoding="utf-8")
