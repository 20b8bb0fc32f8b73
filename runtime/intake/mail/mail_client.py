"""
Carries out the calls of the adapter file `mail`: a mailbox is asked as any helpdesk is.

IMAP blocks, so it runs in threads, each time with a login of its own: it lists new mails, reads
threads, lays copies.
"""

import asyncio
import contextlib
import email.policy
import imaplib
import re
import ssl
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

import structlog

from runtime.intake.adapter_file import Call, fill
from runtime.intake.helpdesk_client import SECONDS, Answer, HelpdeskError, HelpdeskUnavailable
from runtime.intake.mail.mail_text import (
    OURS,
    SENT_POLICY,
    is_automatic,
    make_criteria,
    make_message_id,
    parse_mail,
    read_addresses,
    read_attachments,
    read_id,
    read_mail_text,
    read_references,
    read_subject,
)

if TYPE_CHECKING:
    import aiosmtplib
    from imap_tools import BaseMailBox


IMAP_SECONDS = 30.0
LISTEN_SECONDS = 1.0
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
MOST_NEW = 500
"""Mails of one poll; the next one goes on behind them."""
FIRST_DAYS = 1
"""So far back the first look at a mailbox goes, in whole days."""
MOST_MAILS = 100
"""Of a thread."""
MAIL_BYTES = 10_000_000
"""Of larger mails only the headers are read."""
ROUNDS = 3
"""So often mails are looked for that answer those found, where clients leave out references."""
AT_ONCE = 20
"""Ids that one search asks for."""

_UID, _SIZE = re.compile(rb"\bUID (\d{1,10})"), re.compile(rb"\bRFC822\.SIZE (\d{1,10})")


class StoredMail(NamedTuple):
    """A mail as it lies in a folder."""

    mail: EmailMessage
    id: str
    """Of the mail; one that has none is called by its place."""
    folder: str
    flags: tuple[str, ...]
    at: float
    """When it came into the folder, Unix seconds."""


class Mailbox:
    """A mailbox that can be logged into."""

    def __init__(self, url: str, user: str, password: str, *, sent: str, drafts: str) -> None:
        """
        :param url: `imaps://HOST[:PORT][/FOLDER]`; with `imap` TLS is begun behind the greeting, but on loopback.
        """
        address = urlsplit(url)
        self._scheme, self._host, self._port = address.scheme, address.hostname or "", address.port
        self.folder = unquote(address.path.strip("/")) or "INBOX"
        self.sent, self.drafts = sent, drafts
        self._user, self._password = user, password
        self._next = 0
        """The number of the next mail, as far as was told; 0: nobody looked."""

    @contextlib.contextmanager
    def open(self) -> Iterator["BaseMailBox"]:
        """
        Be logged in.

        :raises HelpdeskError: the password is not taken, or something is refused.
        :raises HelpdeskUnavailable: the server cannot be reached, or the connection broke.
        """
        from imap_tools import ImapToolsError, MailboxLoginError

        try:
            box = self._connect()
            try:
                with box.login(self._user, self._password, initial_folder=None) as opened:
                    yield opened
            finally:  # where the line broke, there is no logout, which would close it
                with contextlib.suppress(OSError):
                    box.client.shutdown()
        except MailboxLoginError:
            refused = HelpdeskError(f"{self._host} does not take the user or the password.")
            refused.status = 401
            raise refused from None
        except (OSError, imaplib.IMAP4.abort) as error:
            raise HelpdeskUnavailable(f"{self._host} does not answer: {type(error).__name__}.") from error
        except (ImapToolsError, imaplib.IMAP4.error) as error:
            raise HelpdeskError(f"{self._host} refused: {' '.join(str(error).split())[:200]}") from error

    def _connect(self) -> "BaseMailBox":
        from imap_tools import MailBox, MailBoxStartTls, MailBoxUnencrypted

        context = ssl.create_default_context()
        if self._scheme == "imaps":
            return MailBox(self._host, self._port or 993, timeout=IMAP_SECONDS, ssl_context=context)
        if self._host in LOOPBACK:
            return MailBoxUnencrypted(self._host, self._port or 143, timeout=IMAP_SECONDS)
        return MailBoxStartTls(self._host, self._port or 143, timeout=IMAP_SECONDS, ssl_context=context)

    def list_new(self, cursor: str) -> tuple[list[StoredMail], str]:
        """
        The headers of mails that came since a cursor, and the cursor behind them.

        :param cursor: `UIDVALIDITY:UID`; another validity, or none: since yesterday.
        """
        with self.open() as box:
            status = box.folder.status(self.folder, ("UIDVALIDITY", "UIDNEXT"))
            validity, last = str(status["UIDVALIDITY"]), 0
            self._next = status["UIDNEXT"]
            criteria = f"SINCE {_format_day(datetime.now(UTC).date() - timedelta(days=FIRST_DAYS))}"
            if cursor.partition(":")[0] == validity:
                last = int(cursor.partition(":")[2])
                criteria = f"UID {last + 1}:*"
            box.folder.set(self.folder, readonly=True)
            uids = sorted(each for each in map(int, box.uids(criteria)) if each > last)
            wanted = uids[:MOST_NEW]
            found = list(self._fetch(box, self.folder, wanted, headers=True))
        behind = wanted[-1] if len(uids) > len(wanted) else max(status["UIDNEXT"] - 1, last, *uids[-1:])
        return found, f"{validity}:{behind}"

    def find_root(self, mail: EmailMessage, name: str) -> str:
        """The first mail of a thread, as far as mails name it: a client may only name the one that it answers."""
        references = read_references(mail)
        if len(references) != 1:
            return references[0] if references else name
        with self.open() as box:
            for folder in self._existing(box, self.folder, self.sent):
                for found in self._search(box, folder, [("Message-ID", references[0])]):
                    return (read_references(found.mail) or [references[0]])[0]
        return references[0]

    def read_thread(self, root: str) -> list[StoredMail]:
        """All mails of a thread, the oldest first; each once, wherever its copies lie."""
        found: dict[str, StoredMail] = {}
        with self.open() as box:
            folders = self._existing(box, self.folder, self.sent, self.drafts)
            pairs = [(name, root) for name in ("Message-ID", "References", "In-Reply-To")]
            if root.startswith("uid."):
                found |= {
                    each.id: each
                    for each in self._fetch(box, self.folder, [int(root.rpartition(".")[2])])
                    if each.id == root
                }
            for _ in range(ROUNDS):
                new = [each for folder in folders for each in self._search(box, folder, pairs) if each.id not in found]
                found |= {each.id: each for each in reversed(new)}
                pairs = [("In-Reply-To", each.id) for each in new if len(read_references(each.mail)) < 2][:AT_ONCE]
                if not pairs or len(found) >= MOST_MAILS:
                    break
        return sorted(found.values(), key=lambda each: (each.at, len(read_references(each.mail))))

    def has(self, folder: str, name: str) -> bool:
        """Whether a folder, which is made where it is missing, holds a mail of an id."""
        with self.open() as box:
            if not box.folder.exists(folder):
                box.folder.create(folder)
            box.folder.set(folder, readonly=True)
            return bool(box.uids(make_criteria([("Message-ID", name)])))

    def append(self, folder: str, mail: EmailMessage) -> None:
        """Lay a mail into a folder, unless it is there."""
        if self.has(folder, read_id(mail)):
            return
        with self.open() as box:
            flags = "\\Draft" if folder == self.drafts else "\\Seen"
            box.append(mail.as_bytes(policy=email.policy.SMTP), folder, dt=datetime.now(UTC), flag_set=[flags])

    def untag(self, thread: Iterable[StoredMail], keyword: str) -> None:
        """Take a keyword off the mails of a thread."""
        with self.open() as box:
            for each in thread:
                if keyword in each.flags:
                    box.folder.set(each.folder)
                    uids = box.uids(make_criteria([("Message-ID", each.id)]))
                    box.flag(uids or each.id.rpartition(".")[2], [keyword], False)

    def wait(self, seconds: float, closed: threading.Event) -> bool | None:
        """Wait until something comes, or until nobody waits any more: whether it did; None: the server cannot tell."""
        with self.open() as box:
            if "IDLE" not in box.client.capabilities:
                return None
            box.folder.set(self.folder, readonly=True)
            if self._came_before(box):
                return True
            box.idle.start()  # type: ignore[no-untyped-call] # it has no types
            until, came = time.monotonic() + seconds, False
            while not came and not closed.is_set() and time.monotonic() < until:
                came = bool(box.idle.poll(timeout=LISTEN_SECONDS))
            box.idle.stop()  # type: ignore[no-untyped-call]
            return came

    def _came_before(self, box: "BaseMailBox") -> bool:
        """Whether a mail came between the last look and the folder's opening: of that the server says nothing more."""
        (value,) = box.client.response("UIDNEXT")[1] or [None]
        known, self._next = self._next, int(value) if isinstance(value, bytes) and value.isdigit() else 0
        return 0 < known < self._next

    def _existing(self, box: "BaseMailBox", *folders: str) -> list[str]:
        return [each for each in dict.fromkeys(folders) if each and box.folder.exists(each)]

    def _search(self, box: "BaseMailBox", folder: str, pairs: Iterable[tuple[str, str]]) -> Iterator[StoredMail]:
        box.folder.set(folder, readonly=True)
        yield from self._fetch(box, folder, sorted(map(int, box.uids(make_criteria(pairs))))[-MOST_MAILS:])

    def _fetch(
        self, box: "BaseMailBox", folder: str, uids: list[int], *, headers: bool = False
    ) -> Iterator[StoredMail]:
        if not uids:
            return
        box.folder.set(folder, readonly=True)
        validity = box.folder.status(folder, ("UIDVALIDITY",))["UIDVALIDITY"]
        for begin in range(0, len(uids), AT_ONCE):
            for about, head in _ask(box, uids[begin : begin + AT_ONCE], "BODY.PEEK[HEADER]"):
                uid, size, raw = _read_number(_UID, about), _read_number(_SIZE, about), head
                if not headers and size <= MAIL_BYTES:
                    raw = next((whole for _, whole in _ask(box, [uid], "BODY.PEEK[]")), head)
                mail, moment = parse_mail(raw), imaplib.Internaldate2tuple(about)
                flags = tuple(each.decode("ascii", "replace") for each in imaplib.ParseFlags(about))
                name = read_id(mail) or f"uid.{validity}.{uid}"
                yield StoredMail(mail, name, folder, flags, time.mktime(moment) if moment else 0.0)


def _ask(box: "BaseMailBox", uids: list[int], part: str) -> list[tuple[bytes, bytes]]:
    """Of each mail what is told about it, and the bytes of a part, as they are."""
    what = f"(UID FLAGS INTERNALDATE RFC822.SIZE {part})"
    told, answered = box.client.uid("FETCH", ",".join(map(str, uids)), what)
    if told != "OK":
        raise imaplib.IMAP4.error(f"the mails could not be fetched: {told}")
    found = []
    for each, behind in zip(answered, [*answered[1:], b""], strict=True):
        if isinstance(each, tuple):
            found.append((each[0] + (behind if isinstance(behind, bytes) else b""), each[1]))
    return found


def _read_number(number: re.Pattern[bytes], about: bytes) -> int:
    found = number.search(about)
    return int(found[1]) if found else 0


def _format_day(day: date) -> str:
    """As IMAP writes it, whatever the locale."""
    months = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    return f"{day.day}-{months[day.month - 1]}-{day.year}"


MOST_REFERENCES = 20
UNSENDABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
"""What no server of mails has to take: a quote of a document may hold it."""

log = structlog.get_logger()


class MailClient:
    """What speaks with one mailbox, in the place of a HelpdeskClient."""

    def __init__(self, mailbox: Mailbox, address: str, smtp: str, values: Mapping[str, str], team: str = "") -> None:
        """
        :param address: ours, that customers write to.
        :param smtp: `smtps://HOST[:PORT]`, or `smtp://HOST[:PORT]` where TLS is begun behind the greeting.
        :param values: `user` and `token`, with which mails are sent.
        :param team: who gets notes; empty: they are laid into the folder of drafts.
        """
        self._mailbox, self._address, self._team = mailbox, address.casefold(), team.casefold()
        self._smtp, self._values = urlsplit(smtp), dict(values)
        self._closed = threading.Event()
        self._sent: set[str] = set()
        """Mails that went out in this process, also if their copy could not be laid into the folder."""

    async def close(self) -> None:
        self._closed.set()

    async def wait(self, seconds: float) -> bool | None:
        """Wait until a mail comes: whether one did; None: the server cannot tell."""
        return await asyncio.to_thread(self._mailbox.wait, seconds, self._closed)

    async def run(self, calls: Mapping[str, Call], values: Mapping[str, Any]) -> dict[str, Answer]:
        """
        Make calls one behind the other; each answer by the name of its call.

        :raises HelpdeskError: one of them failed; those behind it were not made.
        """
        answers: dict[str, Answer] = {}
        for name, call in calls.items():
            given = {
                **fill(call.query, {**self._values, **values}),
                **fill(call.json or {}, {**self._values, **values}),
            }
            answers[name] = {"status": 200, "headers": {}, "body": await self._carry_out(call.path, given)}
        return answers

    async def _carry_out(self, path: str, given: Mapping[str, str]) -> Any:
        match path:
            case "/account":
                await asyncio.to_thread(self._mailbox.list_new, "")
                return {"address": self._address}
            case "/new":
                return await asyncio.to_thread(self._list_new, given["cursor"])
            case "/thread":
                return await asyncio.to_thread(self._read_thread, given["ticket"])
            case "/probe":
                return await self._probe()
            case "/untag":
                stored = await asyncio.to_thread(self._list_thread, given["ticket"])
                return await asyncio.to_thread(self._mailbox.untag, stored, given["tag"])
            case "/reply" | "/note":
                return await self._write(path[1:], given)
        raise HelpdeskError(f"A mailbox has no {path}.")

    def _list_new(self, cursor: str) -> dict[str, Any]:
        stored, behind = self._mailbox.list_new(cursor)
        mails = []
        for each in stored:
            try:
                mails.append({**self._describe_new(each), "cursor": behind})
            except HelpdeskError:
                raise
            except Exception:  # one that nobody can read is to hold up no other
                log.exception("mail.unreadable", folder=each.folder, id=each.id)
        return {"mails": mails}

    def _describe_new(self, stored: StoredMail) -> dict[str, Any]:
        automatic = is_automatic(stored.mail)
        references = [] if automatic else read_references(stored.mail)
        root = self._mailbox.find_root(stored.mail, stored.id) if references else stored.id
        if references and stored.id not in {each.id for each in self._list_thread(root)}:
            root = stored.id  # a stranger's, who only names a mail of ours
        return {
            "id": stored.id, "ticket": root, "kind": "replied" if references else "created", "automatic": automatic,
            "actor": next(iter(read_addresses(stored.mail, "From")), ""), "message_id": stored.id,
            "at": datetime.fromtimestamp(stored.at, UTC).isoformat() if stored.at else "",
        }  # fmt: skip

    def _list_thread(self, root: str) -> list[StoredMail]:
        """The mails that belong to a ticket: none of machines, none of people whom nobody in the thread wrote to."""
        known: set[str] = set()
        kept = []
        for each in self._mailbox.read_thread(root):
            ours, authors = self._is_ours(each), read_addresses(each.mail, "From")
            if not ours and (is_automatic(each.mail) or authors[0] == self._address):
                continue
            if each.folder == self._mailbox.drafts and OURS not in each.mail:
                continue
            if not ours and known and authors[0] not in known:
                continue
            known |= {*read_addresses(each.mail, "From", "To", "Cc", "Reply-To"), self._team}
            kept.append(each)
        return kept

    def _is_ours(self, stored: StoredMail) -> bool:
        """Whether it went out from here, by us or by a person."""
        return stored.folder != self._mailbox.folder

    def _read_thread(self, root: str) -> dict[str, Any]:
        thread = self._list_thread(root)
        if not thread:
            gone = HelpdeskError("The mails of the thread are gone.")
            gone.status = 404
            raise gone
        asked = [each for each in thread if self._role(each) == "customer"] or thread
        return {
            "subject": read_subject(asked[0].mail), "folder": self._mailbox.folder,
            "requester": read_addresses(asked[0].mail, "From")[0], "version": thread[-1].id,
            "tags": [flag for each in thread for flag in each.flags if not flag.startswith("\\")],
            "messages": [self._describe(each) for each in thread],
        }  # fmt: skip

    def _role(self, stored: StoredMail) -> str:
        if self._is_ours(stored):
            return "bot" if OURS in stored.mail else "agent"
        return "agent" if read_addresses(stored.mail, "From")[0] == self._team else "customer"

    def _describe(self, stored: StoredMail) -> dict[str, Any]:
        role, mail = self._role(stored), stored.mail
        author = {"bot": self._address, "agent": "a person"}.get(role, read_addresses(mail, "From")[0])
        text = mail.get_body(("plain",)).get_content() if role == "bot" else read_mail_text(mail)  # type: ignore[union-attr]
        return {
            "id": stored.id, "message_id": stored.id, "author": author, "role": role, "text": text,
            "public": mail.get(OURS) != "note", "at": datetime.fromtimestamp(stored.at, UTC).isoformat(),
            "attachments": [each._asdict() for each in read_attachments(mail)] if role == "customer" else [],
        }  # fmt: skip

    async def _write(self, what: str, given: Mapping[str, str]) -> None:
        thread = await asyncio.to_thread(self._list_thread, given["ticket"])
        answered = next((each for each in reversed(thread) if self._role(each) == "customer"), None)
        if answered is None:
            raise HelpdeskError("Nobody in the thread can be answered.")
        mail = self._compose(what, answered, given)
        if what == "note" and not self._team:
            await asyncio.to_thread(self._mailbox.append, self._mailbox.drafts, mail)
            return
        name = read_id(mail)
        if name not in self._sent and not await asyncio.to_thread(self._mailbox.has, self._mailbox.sent, name):
            await self._send(mail)
            self._sent.add(name)
        await asyncio.to_thread(self._mailbox.append, self._mailbox.sent, mail)

    def _compose(self, what: str, answered: StoredMail, given: Mapping[str, str]) -> EmailMessage:
        mail, asked = EmailMessage(policy=SENT_POLICY), answered.mail
        subject = read_subject(asked)
        mail["From"], mail["Date"] = self._address, format_datetime(datetime.now(UTC))
        to = self._team if what == "note" else self._find_recipient(asked)
        if to:
            mail["To"] = to
        mail["Subject"] = subject if subject[:3].casefold() == "re:" else f"Re: {subject}"
        mail["Message-ID"] = make_message_id(given["key"], self._address)
        references = list(dict.fromkeys([given["ticket"], *read_references(asked), answered.id]))
        mail["In-Reply-To"] = f"<{answered.id}>"
        mail["References"] = " ".join(f"<{each}>" for each in [references[0], *references[1:][-MOST_REFERENCES:]])
        mail["Auto-Submitted"] = "auto-replied" if what == "reply" else "auto-generated"
        mail["X-Auto-Response-Suppress"] = "All"
        mail[OURS] = what
        mail.set_content(UNSENDABLE.sub("", given["text"]))
        return mail

    def _find_recipient(self, asked: EmailMessage) -> str:
        named = read_addresses(asked, "Reply-To")[:1]
        return (named if named and named[0] != self._address else read_addresses(asked, "From"))[0]

    async def _send(self, mail: EmailMessage) -> None:
        """
        Hand a mail to the server that sends it.

        :raises HelpdeskError: it is refused.
        :raises HelpdeskUnavailable: the server cannot be reached, or wants to be asked again later.
        """
        async with self._connect() as server:
            await server.send_message(mail, sender=self._address)

    async def _probe(self) -> None:
        """
        Log in to the server that sends mails, as for a mail, and begin none.

        :raises HelpdeskError: it does not take the login.
        :raises HelpdeskUnavailable: it cannot be reached, or wants to be asked again later.
        """
        async with self._connect() as server:
            await server.noop()
            await server.rset()

    @contextlib.asynccontextmanager
    async def _connect(self) -> AsyncIterator["aiosmtplib.SMTP"]:
        """
        Be logged in to the server that sends mails.

        :raises HelpdeskError: what is done there is refused.
        :raises HelpdeskUnavailable: it cannot be reached, or wants to be asked again later.
        """
        import aiosmtplib

        host, secure = self._smtp.hostname or "", self._smtp.scheme == "smtps"
        user, password = ("", "") if host in LOOPBACK else (self._values["user"], self._values["token"])
        server = aiosmtplib.SMTP(
            hostname=host, port=self._smtp.port, timeout=SECONDS, use_tls=secure,
            start_tls=None if secure or host in LOOPBACK else True, username=user or None, password=password or None,
        )  # fmt: skip
        try:
            async with server:
                yield server
        except aiosmtplib.SMTPAuthenticationError as error:
            refused = HelpdeskError(f"{host} does not take the user or the password ({error.code}).")
            refused.status = 401
            raise refused from error
        except (
            aiosmtplib.SMTPRecipientsRefused, aiosmtplib.SMTPResponseException, aiosmtplib.SMTPNotSupported,
        ) as error:  # fmt: skip
            code = getattr(error, "code", 550)
            if 400 <= code < 500:
                raise HelpdeskUnavailable(f"{host} takes no mail now ({code}).") from error
            raise HelpdeskError(f"{host} refused it ({code}).") from error
        except (aiosmtplib.SMTPException, OSError) as error:
            raise HelpdeskUnavailable(f"{host} does not take mails: {type(error).__name__}.") from error
