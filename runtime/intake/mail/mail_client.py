"""Carries out the calls of the adapter file `mail`: a mailbox is asked as any helpdesk is."""

import asyncio
import contextlib
import re
import threading
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import structlog

from runtime.intake.adapter_file import Call
from runtime.intake.helpdesk_client import SECONDS, Answer, HelpdeskError, HelpdeskUnavailable
from runtime.intake.mail.imap_folders import LOOPBACK, Mailbox, StoredMail
from runtime.intake.mail.mail_headers import (
    OURS,
    SENT_POLICY,
    is_automatic,
    make_message_id,
    read_addresses,
    read_id,
    read_references,
    read_subject,
)
from runtime.intake.mail.mail_text import read_attachments, read_mail_text
from runtime.intake.templates import fill

if TYPE_CHECKING:
    import aiosmtplib

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
