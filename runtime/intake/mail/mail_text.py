"""What somebody wrote in a mail: its own words without what they quote, and what is attached to it."""

import itertools
import re
from collections.abc import Sequence
from email.message import EmailMessage, MIMEPart
from typing import NamedTuple

from runtime.intake.html_text import read_text
from runtime.knowledge.readers.parsed_document import Unreadable
from runtime.knowledge.readers.reader import decode

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
