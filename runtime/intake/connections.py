"""Connected helpdesks: a TOML file each in `[helpdesks] folder`, by whose name it is called."""

import importlib.util
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from runtime.intake.adapter import Adapter, Recorder
from runtime.intake.adapter_file import AdapterError, AdapterFile, load_tables, read_adapter
from runtime.intake.helpdesk_client import HelpdeskClient
from runtime.intake.helpdesk_settings import HelpdeskSettings

if TYPE_CHECKING:
    from runtime.intake.mail.mail_client import MailClient

MAIL_SCHEMES = frozenset({"imap", "imaps"})
NAME = re.compile(r"[a-z][a-z0-9_]{0,29}")
FILE_BYTES = 64_000
KINDS = ("token", "client_secret", "secret")
"""Secrets of a connection."""


class Connection(msgspec.Struct, frozen=True):
    """A helpdesk that can be spoken to."""

    name: str
    settings: HelpdeskSettings
    file: AdapterFile
    values: dict[str, str]
    secret: str

    def open(self, storage: str | Path = "") -> Adapter:
        """:param storage: the folder below which is kept what the helpdesk says, where somebody wants that."""
        client = self._open_mailbox() if self.is_mail else HelpdeskClient(self.file, self.settings.url, self.values)
        adapter = Adapter(self.name, self.file, client, secret=self.secret, bot=self.settings.bot)
        if storage:
            secrets = (self.secret, self.values["token"], self.values["client_secret"])
            adapter.recorder = Recorder(storage, self.name, secrets)
        return adapter

    @property
    def is_mail(self) -> bool:
        """Whether it is a mailbox."""
        return urlsplit(self.settings.url).scheme in MAIL_SCHEMES

    def _open_mailbox(self) -> "MailClient":
        from runtime.intake.mail.mail_client import Mailbox, MailClient

        known = self.settings
        mailbox = Mailbox(known.url, known.user, self.values["token"], sent=known.sent, drafts=known.drafts)
        return MailClient(mailbox, known.bot, known.smtp, self.values, known.team)


def load_connections(folder: Path, environ: Mapping[str, str] = os.environ) -> tuple[Connection, ...]:
    """
    Read all files of a folder; an absent one has none.

    :raises AdapterError: one of them cannot be used; the sentence names it and the place.
    """
    files = sorted(folder.glob("*.toml")) if folder.is_dir() else []
    return tuple(read_connection(each, environ) for each in files)


def read_connection(path: Path, environ: Mapping[str, str] = os.environ) -> Connection:
    """
    Read one file.

    :raises AdapterError: it cannot be used.
    """
    if not NAME.fullmatch(path.stem):
        raise AdapterError(f"{path}: a helpdesk's name is 1 to 30 small letters, digits and underscores.")
    try:
        text = path.read_bytes()[:FILE_BYTES]
        settings = msgspec.convert(tomllib.loads(text.decode()), HelpdeskSettings)
    except (OSError, ValueError, msgspec.ValidationError) as error:
        raise AdapterError(f"{path}: {str(error).rstrip('.')}.") from None
    address = urlsplit(settings.url)
    if address.scheme not in {"http", "https", *MAIL_SCHEMES} or not address.hostname:
        raise AdapterError(f"{path}: url must be an address such as https://rt.example.org.")
    _check_mail(path, settings, is_mail=address.scheme in MAIL_SCHEMES)
    tables = _merge(load_tables(settings.system, path.parent), settings.adapter)
    file = read_adapter(tables, f"{path} with {settings.system}")
    secrets = {name: _read_secret(getattr(settings, name), f"{path}: {name}", environ) for name in KINDS}
    values = {
        "token": secrets["token"], "user": settings.user, "bot": settings.bot, "client": settings.client,
        "client_secret": secrets["client_secret"],
        "origin": f"{address.scheme}://{address.netloc}",
    }  # fmt: skip
    return Connection(path.stem, settings, file, values, secrets["secret"])


def _check_mail(path: Path, settings: HelpdeskSettings, *, is_mail: bool) -> None:
    """:raises AdapterError: a mailbox lacks what it needs, or something else is called one."""
    if is_mail != (settings.system == "mail"):
        raise AdapterError(
            f"{path}: the url of a mailbox, and of nothing else, is such as imaps://mail.example.org/INBOX."
        )
    if not is_mail:
        return
    smtp = urlsplit(settings.smtp)
    if smtp.scheme not in {"smtp", "smtps"} or not smtp.hostname:
        raise AdapterError(f"{path}: smtp must be an address such as smtps://mail.example.org.")
    if not settings.bot.partition("@")[2] or settings.bot.casefold() in {"", settings.team.casefold()}:
        raise AdapterError(f"{path}: bot must be the address of the mailbox, and team another one.")
    if missing := [name for name in ("imap_tools", "aiosmtplib") if importlib.util.find_spec(name) is None]:
        raise AdapterError(f"{path}: {missing[0]} is not installed: pip install 'terminus[mail]'.")


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Tables within tables, those above over those below."""
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        merged[key] = _merge(under, value) if isinstance(under, Mapping) and isinstance(value, Mapping) else value
    return merged


def _read_secret(given: str, place: str, environ: Mapping[str, str]) -> str:
    if not given:
        return ""
    kind, _, where = given.partition(":")
    if kind == "env" and where:
        if not (value := environ.get(where, "")):
            raise AdapterError(f"{place}: the environment variable {where} is not set.")
        return value
    if kind == "file" and where:
        try:
            return Path(where).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise AdapterError(f"{place}: the file {where} cannot be read.") from None
    raise AdapterError(f"{place}: a secret does not stand in the file itself: write env:NAME or file:PATH.")
