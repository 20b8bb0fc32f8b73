"""What a mail's headers say: whose it is, which thread it belongs to, whether a machine sent it. Pure."""

import re
from collections.abc import Iterable
from email.message import EmailMessage
from email.utils import getaddresses

MESSAGE_ID = re.compile(r'<([^<>\s"\\]{1,190})>')
BULK = frozenset({"bulk", "junk", "list", "auto_reply"})
MACHINES = re.compile(r"(?i)^(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply)@")
MACHINE_HEADERS = ("X-Autoreply", "X-Autorespond", "X-Auto-Response-Suppress", "List-Id", "List-Unsubscribe")
OURS = "X-Terminus"
"""Of each mail that we write: `note` or `reply`."""


def read_id(mail: EmailMessage) -> str:
    """Its Message-ID without brackets; empty: it has none that can be used."""
    found = MESSAGE_ID.search(str(mail.get("Message-ID", "")))
    return found[1] if found else ""


def read_references(mail: EmailMessage) -> list[str]:
    """The mails that it goes back to, the first of its thread first."""
    named = MESSAGE_ID.findall(str(mail.get("References", "")))
    answered = MESSAGE_ID.findall(str(mail.get("In-Reply-To", "")))[:1]
    return list(dict.fromkeys([*named, *answered]))


def read_addresses(mail: EmailMessage, *names: str) -> list[str]:
    """The addresses in headers, in small letters."""
    values = [str(value) for name in names for value in mail.get_all(name, ())]
    return [address.casefold() for _, address in getaddresses(values) if "@" in address]


def is_automatic(mail: EmailMessage) -> bool:
    """Whether a machine sent it: an automatic reply, a bounce, a list."""
    if str(mail.get("Auto-Submitted", "no")).partition(";")[0].strip().casefold() != "no":
        return True
    if str(mail.get("Precedence", "")).strip().casefold() in BULK:
        return True
    if str(mail.get("Return-Path", "x")).strip() == "<>" or mail.get_content_type() == "multipart/report":
        return True
    authors = read_addresses(mail, "From")
    return any(mail.get(name) for name in MACHINE_HEADERS) or not authors or bool(MACHINES.match(authors[0]))


def make_criteria(pairs: Iterable[tuple[str, str]]) -> str:
    """What IMAP finds mails by of which any header holds its id."""
    terms = [f'HEADER {name} "<{identifier}>"' for name, identifier in pairs]
    return "OR " * (len(terms) - 1) + " ".join(terms)


def make_message_id(key: str, address: str) -> str:
    """The same for the same writing, so that it is found again."""
    local = re.sub(r"[^A-Za-z0-9._-]+", "-", key.strip("<>").partition("@")[0])[:100]
    return f"<{local}@{address.rpartition('@')[2]}>"
