"""What IMAP does for us, each time with a login of its own: lists new mails, reads threads, lays copies. It blocks."""

import contextlib
import email.policy
import imaplib
import re
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from email.message import EmailMessage
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from runtime.intake.helpdesk_client import HelpdeskError, HelpdeskUnavailable
from runtime.intake.mail.mail_headers import make_criteria, parse_mail, read_id, read_references

if TYPE_CHECKING:
    from imap_tools import BaseMailBox

SECONDS = 30.0
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
            return MailBox(self._host, self._port or 993, timeout=SECONDS, ssl_context=context)
        if self._host in LOOPBACK:
            return MailBoxUnencrypted(self._host, self._port or 143, timeout=SECONDS)
        return MailBoxStartTls(self._host, self._port or 143, timeout=SECONDS, ssl_context=context)

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
