"""
What a mail says: whose it is, its thread, whether a machine sent it, its own words without what
they quote, what is attached.

Headers are read as they came, by patterns that are linear: Python's parser of structured ones
raises on many that strange programs write. Pure.
"""

import contextlib
import email
import itertools
import re
from collections.abc import Iterable, Sequence
from email.errors import MessageError
from email.header import decode_header, make_header
from email.headerregistry import BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage, MIMEPart
from email.policy import SMTP, EmailPolicy, Policy
from typing import TYPE_CHECKING, Any, NamedTuple

from runtime.intake.html_text import read_text
from runtime.knowledge.readers.parsed_document import Unreadable
from runtime.knowledge.readers.reader import decode
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


MOST_ATTACHMENTS = 20
ATTACHED_BYTES = 200_000
ATTACHED_CHARACTERS = 10_000
"""Of one attachment that is text."""
MOST_CHARACTERS = 300_000
"""Of a mail's own text: it may have 10 MB, and a search through all of them would hold up whatever else runs."""
NO_CHARSETS = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"})
"""Codecs of Python that no mail is written in; some need an hour for one."""
TEXTS = frozenset({"text/plain", "text/csv", "text/x-log", "application/json", "application/xml", "text/xml"})
QUOTE = re.compile(r"\n(?:(?!>)[^\n]{1,300}(?:\n(?=<)|(?<=<)\n))?(?!>)[^\n]{0,300}:[ \t]*\n+(?=>)")
"""`On Monday Ann <a@b.c> wrote:`, in any language, maybe broken at the address, with quoted lines below."""
HEADER = re.compile(r"(?:From|Von|De|Da|发件人|보낸 ?사람)\s?[:：].", re.IGNORECASE)
NEXT_HEADER = re.compile(r"[^:：]{0,30}[:：]")
UNDER_A_LINE = re.compile(r"\S[^:]{0,40}:")
MOST_BETWEEN = 60
"""Characters between the dashes of `-----Original Message-----`."""


class Attached(NamedTuple):
    """A file that came with a mail."""

    name: str
    text: str
    """Its beginning, where it is text."""


def read_mail_text(mail: EmailMessage) -> str:
    """A mail's own words; of one in HTML only, what a reader sees."""
    body = mail.get_body(("plain",))
    text = _decode(body)[:MOST_CHARACTERS] if body is not None else ""
    if not text.strip() and (body := mail.get_body(("html",))) is not None:
        text = read_text(_decode(body, html=True))
    return strip_quotes(text)


def strip_quotes(text: str) -> str:
    """Words without quoted lines, quoted mails and signature; all of them where nothing else would be left."""
    text = "\n" + text.replace("\r\n", "\n").replace("\r", "\n")
    own = QUOTE.sub("\n", text)
    lines = own.split("\n")
    own = "\n".join(lines[: find_behind(lines)])
    own = re.sub(r"(?m)^>.*\n?", "", own).strip()
    return own or text.strip()


def find_behind(lines: Sequence[str]) -> int:
    """The line at which a signature begins, or a mail that is quoted below a line or its headers; else the end."""
    pairs = enumerate(itertools.pairwise(lines))
    return next((at for at, (line, after) in pairs if _begins_behind(lines, at, line, after)), len(lines))


def _begins_behind(lines: Sequence[str], at: int, line: str, after: str) -> bool:
    bare = line.rstrip()
    if line in {"--", "-- "}:
        return True
    if bare.startswith("--"):
        return bare.endswith("--") and len(bare) >= len("--xxx--") and len(bare.strip("-")) <= MOST_BETWEEN
    if len(bare) >= len("__________") and not bare.strip("_"):
        below = next((each for each in itertools.islice(lines, at + 1, None) if each.strip()), "")
        return UNDER_A_LINE.match(below) is not None
    return HEADER.match(line) is not None and NEXT_HEADER.match(after) is not None


def read_attachments(mail: EmailMessage) -> list[Attached]:
    """What is attached: each by its name, those that are text with their beginning."""
    found: list[Attached] = []
    for part in mail.iter_attachments():
        if len(found) < MOST_ATTACHMENTS and (name := part.get_filename()):
            text = _decode(part)[:ATTACHED_CHARACTERS] if part.get_content_type() in TEXTS else ""
            found.append(Attached(" ".join(name.split())[:200], text))
    return found


def _decode(part: MIMEPart, *, html: bool = False) -> str:
    """Its text by the character set that it declares, else by what its bytes look like."""
    raw = part.get_payload(decode=True)
    if not isinstance(raw, bytes):
        return ""
    raw = raw[:ATTACHED_BYTES] if part.is_attachment() else raw
    charset = part.get_content_charset("") or "utf-8"
    try:
        return raw.decode("utf-8" if charset.replace("-", "_") in NO_CHARSETS else charset)
    except (LookupError, ValueError):
        try:
            return decode(raw, html=html)
        except Unreadable:
            return ""
