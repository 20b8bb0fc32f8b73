"""
What a mail's headers say: whose it is, which thread it belongs to, whether a machine sent it. Pure.

Headers are read as they came, by patterns that are linear: Python's parser of structured ones raises on many that
strangers write, and needs minutes for others.
"""

import contextlib
import email
import re
from collections.abc import Iterable
from email.errors import MessageError
from email.header import decode_header, make_header
from email.headerregistry import BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import SMTP, EmailPolicy, Policy
from typing import TYPE_CHECKING, Any

from runtime.user_text import UNSAFE

MESSAGE_ID = re.compile(r"<([!#-;=?-\[\]-~]{1,190})>")
"""ASCII that may stand in quotes where a mailbox is searched."""
BULK = frozenset({"bulk", "junk", "list", "auto_reply"})
MACHINES = re.compile(r"(?i)^(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply)@")
MACHINE_HEADERS = ("X-Autoreply", "X-Autorespond", "X-Auto-Response-Suppress", "List-Id", "List-Unsubscribe")
OURS = "X-Terminus"
"""Of each mail that we write: `note` or `reply`."""
HEADER_CHARACTERS = 20_000
"""Of a header so much is read; what stands behind is not there."""
STRUCTURED_CHARACTERS = 1_000
"""Of one that Python's parser reads, such as a type with its parameters."""
SUBJECT_CHARACTERS = 250
MOST_PARTS = 500
"""Lines that may begin a part; of a mail with more only the headers are read."""
QUOTED = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z|\\\Z)|\([^()]*+\)', re.DOTALL)
"""What people are called, and comments: neither is an address, whatever it looks like."""
ADDRESS = re.compile(r"[^\s<>()\[\],;:?\"\\@\ufffd]{1,64}@[^\W_](?:\w|[.-]){0,189}")


if TYPE_CHECKING:
    _Policy = EmailPolicy[EmailMessage]
else:
    _Policy = EmailPolicy


class _Lenient(_Policy):
    """A header that cannot be parsed is an empty one, and what is too long is parsed as far as it goes."""

    def header_fetch_parse(self, name: str, value: Any) -> Any:
        try:
            return super().header_fetch_parse(name, value[:STRUCTURED_CHARACTERS])
        except Exception:  # IndexError, ValueError, RecursionError, AttributeError and what else it has in store
            return self.header_factory(name, "")


class _IdsHeader(UnstructuredHeader, BaseHeader):
    """Ids of mails, one a line. Python would encode those that are longer than a line: nobody knew them again."""

    def fold(self, *, policy: "Policy[Any]") -> str:
        return f"{self.name}: " + f"{policy.linesep} ".join(self.split()) + policy.linesep


_registry = HeaderRegistry()
_registry.map_to_type("in-reply-to", _IdsHeader)
_registry.map_to_type("references", _IdsHeader)
SENT_POLICY: "Policy[EmailMessage]" = SMTP.clone(header_factory=_registry)
"""Of mails that we write."""


def parse_mail(raw: bytes) -> EmailMessage:
    """A mail of its bytes, whatever they are; of one that is built to break parsers, the headers."""
    if raw.count(b"\n--") <= MOST_PARTS:
        with contextlib.suppress(RecursionError):  # parts within parts within parts
            return email.message_from_bytes(raw, policy=_Lenient())
    head = re.split(rb"\r?\n\r?\n", raw, maxsplit=1)[0] + b"\n\n"
    return email.message_from_bytes(head, policy=_Lenient())


def _read(mail: EmailMessage, name: str) -> list[str]:
    """What stands in a header, each time that it is there, on one line."""
    wanted = name.casefold()
    values = (str(value)[: HEADER_CHARACTERS + 1] for key, value in mail.raw_items() if key.casefold() == wanted)
    return [" ".join(each.encode("utf-8", "surrogateescape").decode("utf-8", "replace").split()) for each in values]


def _read_first(mail: EmailMessage, name: str) -> str:
    return next(iter(_read(mail, name)), "")


def read_id(mail: EmailMessage) -> str:
    """Its Message-ID without brackets; empty: it has none that can be used."""
    found = MESSAGE_ID.search(_read_first(mail, "Message-ID"))
    return found[1] if found else ""


def read_references(mail: EmailMessage) -> list[str]:
    """The mails that it goes back to, the first of its thread first."""
    named = MESSAGE_ID.findall(_read_first(mail, "References"))
    answered = MESSAGE_ID.findall(_read_first(mail, "In-Reply-To"))[:1]
    return list(dict.fromkeys([*named, *answered]))


def read_subject(mail: EmailMessage) -> str:
    """Its subject on one line, without what would be obeyed or turns the direction of reading."""
    raw = _read_first(mail, "Subject")[: 8 * SUBJECT_CHARACTERS]
    try:
        text = str(make_header(decode_header(raw)))
    except (MessageError, LookupError, ValueError):  # a character set or an encoding that is none
        text = raw
    return " ".join(UNSAFE.sub(" ", text).split())[:SUBJECT_CHARACTERS].rstrip()


def read_addresses(mail: EmailMessage, *names: str) -> list[str]:
    """The addresses in headers, in small letters: such as can be written to, and nothing else."""
    found = []
    for value in (each for name in names for each in _read(mail, name)):
        parts = re.split(r"[,;]", QUOTED.sub(" ", value))
        for part in parts[:-1] if len(value) > HEADER_CHARACTERS else parts:
            given = part.rpartition("<")[2].partition(">")[0] if "<" in part else part.rpartition(":")[2]
            address = given.rpartition(":")[2].strip().casefold()
            if ADDRESS.fullmatch(address) and address.isprintable():
                found.append(address)
    return found


def is_automatic(mail: EmailMessage) -> bool:
    """Whether a machine sent it: an automatic reply, a bounce, a list."""
    if any(each.partition(";")[0].strip().casefold() != "no" for each in _read(mail, "Auto-Submitted")):
        return True
    if any(each.casefold() in BULK for each in _read(mail, "Precedence")):
        return True
    if "<>" in _read(mail, "Return-Path") or mail.get_content_type() == "multipart/report":
        return True
    authors = read_addresses(mail, "From")
    return any(any(_read(mail, name)) for name in MACHINE_HEADERS) or not authors or bool(MACHINES.match(authors[0]))


def make_criteria(pairs: Iterable[tuple[str, str]]) -> str:
    """What IMAP finds mails by of which any header holds its id."""
    terms = [f'HEADER {name} "<{identifier}>"' for name, identifier in pairs]
    return "OR " * (len(terms) - 1) + " ".join(terms)


def make_message_id(key: str, address: str) -> str:
    """The same for the same writing, so that it is found again."""
    local = re.sub(r"[^A-Za-z0-9._-]+", "-", key.strip("<>").partition("@")[0])[:100]
    return f"<{local}@{address.rpartition('@')[2]}>"
