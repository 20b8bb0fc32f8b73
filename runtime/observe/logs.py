"""
Logs: for people on a terminal, as JSON for machines; never on stdout, never a secret, never an order to the terminal.

Import this module before any other that imports structlog: it spares the process 0.1 s (see `_without_rich`).
"""

import contextlib
import datetime
import json
import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import msgspec

from runtime.observe.sinks import LogFile, Sink, without_waiting
from runtime.settings import LogSettings, Settings
from runtime.storage.private import CHOOSE_ANOTHER
from runtime.user_text import escape_json, redact, safe


def _without_rich() -> None:
    """structlog imports rich, where there is one, for tracebacks that we never print; that is 60 % of its start."""
    if "rich" in sys.modules or "structlog" in sys.modules:
        return
    sys.modules["rich"] = None  # type: ignore[assignment]  # makes its import fail for as long as this stands
    try:
        import structlog  # noqa: F401
    finally:
        del sys.modules["rich"]


_without_rich()
import structlog  # noqa: E402
from structlog.dev import ConsoleRenderer, plain_traceback  # noqa: E402
from structlog.typing import EventDict, Processor, WrappedLogger  # noqa: E402

FILE = Path("logs", "terminus.log")
"""Below the storage folder."""
SECRET_KEYS = frozenset({"api_key", "token", "authorization", "password", "secret", "cookie"})
SECRET_SHAPES = re.compile(r"(?i)\b(bearer\s+|sk-|tvly-|terminus_[0-9a-f]{12}_)[\w.~+/=-]{8,}")
SHAPES_BEGIN = ("earer", "EARER", "sk-", "tvly-", "terminus_")
"""Without one of these a line has no such shape; looking for them is fifty times faster."""
LIBRARY = logging.getLogger("terminus")
SHORTEST_SECRET = 6
"""Characters. A shorter one would blank out ordinary words."""
_LEVELS = {
    "debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR,
    "critical": logging.CRITICAL, "exception": logging.ERROR,
}  # fmt: skip
VALUE_CHARACTERS = 4_000
"""A longer value is cut: a log tells what happened, not what was said."""


class LogError(Exception):
    """There is no place for the log. The text is one sentence for the user, with what to do next."""


class Lines:
    """Where finished lines go. A log that cannot be written must not harm the work: such lines are counted."""

    def __init__(self, sink: Sink, secrets: Iterable[str] = ()) -> None:
        self._sink = sink
        self._secrets = sorted({form for secret in secrets for form in _forms(secret)}, key=len, reverse=True)
        self.lost = 0

    def without_secrets(self, line: str) -> str:
        for secret in self._secrets:
            line = line.replace(secret, "[secret]")
        if any(begin in line for begin in SHAPES_BEGIN):
            line = SECRET_SHAPES.sub(r"\1[secret]", line)
        return redact(line)

    def msg(self, line: str) -> None:
        try:
            self._sink.write(self.without_secrets(line) + "\n")
        except (OSError, ValueError):
            self.lost += 1

    debug = info = warning = warn = error = critical = exception = fatal = log = msg


@contextlib.contextmanager
def to_stderr(settings: Settings) -> Iterator[None]:
    """Write the log to stderr, for a daemon."""
    lines = Lines(without_waiting(sys.stderr), secrets(settings))
    with _configure(settings.log, lines, terminal=sys.stderr.isatty()):
        yield


@contextlib.contextmanager
def to_file(settings: Settings) -> Iterator[Path]:
    """Write the log below the storage folder, for a command whose terminal belongs to its user."""
    path = Path(settings.storage.folder) / FILE
    try:
        file = LogFile(path, int(settings.log.file_megabytes * 1_000_000))
    except OSError as error:
        raise LogError(
            f"Nothing can be written below {settings.storage.folder} ({error.strerror}). {CHOOSE_ANOTHER}"
        ) from None
    try:
        with _configure(settings.log, Lines(file, secrets(settings)), terminal=False):
            yield path
    finally:
        file.close()


def to_logging(settings: Settings) -> None:
    """
    Hand the log to the standard library's logger `terminus`, for a program that uses this as a library.

    That program says what becomes of it. Where structlog is configured, by a command or by that program, it stays so.
    """
    if structlog.is_configured():
        return
    lines = Lines(sys.stderr, secrets(settings))

    def drop_quiet(_: WrappedLogger, level: str, event: EventDict) -> EventDict:
        if not LIBRARY.isEnabledFor(_LEVELS[level]):
            raise structlog.DropEvent
        return event

    render = structlog.processors.KeyValueRenderer(key_order=["event"])

    def hand_over(logger: WrappedLogger, level: str, event: EventDict) -> NoReturn:
        LIBRARY.log(_LEVELS[level], "%s", lines.without_secrets(render(logger, level, event)))
        raise structlog.DropEvent

    structlog.configure(processors=[drop_quiet, structlog.contextvars.merge_contextvars, _traceback, _clean, hand_over])


def secrets(settings: Settings) -> list[str]:
    """What must never be shown."""
    urls = (settings.model.base_url, settings.tavily.base_url, settings.trace.otlp, *settings.feeds.urls)
    keys = (
        settings.model.api_key,
        settings.tavily.api_key,
        settings.server.token,
        os.environ.get("TAVILY_API_KEY", ""),
    )
    return [*keys, *map(_password, urls)]


def _password(url: str) -> str:
    """The password that stands in a URL, or nothing."""
    try:
        return urlsplit(url).password or ""
    except ValueError:
        return ""


@contextlib.contextmanager
def _configure(log: LogSettings, lines: Lines, *, terminal: bool) -> Iterator[None]:
    before = structlog.get_config() if structlog.is_configured() else None
    people = log.format == "console" or (log.format == "auto" and terminal)
    level = getattr(logging, log.level.upper())
    structlog.configure(
        processors=processors(people=people, colours=terminal and not os.environ.get("NO_COLOR")),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: lines,
        cache_logger_on_first_use=False,  # a cached logger would outlive this block
    )
    handler = _FromLibraries(level=max(level, logging.WARNING))
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        structlog.reset_defaults()
        if before is not None:
            structlog.configure(**before)


def set_level(name: str) -> None:
    """Log from another level up, from now on."""
    level = getattr(logging, name.upper())
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(level))
    for each in logging.getLogger().handlers:
        if isinstance(each, _FromLibraries):
            each.setLevel(max(level, logging.WARNING))


def processors(*, people: bool, colours: bool = False) -> list[Processor]:
    """What an event passes through on its way to a line."""
    render = ConsoleRenderer(colors=colours, exception_formatter=plain_traceback, pad_event_to=24)
    return [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        _stamp,
        _traceback,
        _clean,
        render if people else _as_json,
    ]


def _stamp(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    event["timestamp"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return event


def _traceback(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    return structlog.processors.format_exc_info(logger, name, event) if "exc_info" in event else event


def _clean(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    for key, value in event.items():
        if key in SECRET_KEYS:
            event[key] = "[secret]" if value else value
        elif isinstance(value, str) and not (len(value) <= VALUE_CHARACTERS and value.isprintable()):
            cut = (
                value if len(value) <= VALUE_CHARACTERS else f"{value[:VALUE_CHARACTERS]} ... ({len(value)} characters)"
            )
            event[key] = safe(cut, "\n" if key == "exception" else "")
    return event


_ENCODE = msgspec.json.Encoder(enc_hook=repr).encode


def _as_json(_: WrappedLogger, __: str, event: EventDict) -> str:
    try:
        line = _ENCODE(event).decode()
    except (TypeError, ValueError, RecursionError):  # a key that is no text, a lone surrogate deep inside, a circle
        line = json.dumps({str(key): repr(value) for key, value in event.items()})
    return escape_json(line)


class _FromLibraries(logging.Handler):
    """What libraries log by the standard library goes the same way; without this it would go to the terminal raw."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = record.getMessage()
        except (TypeError, ValueError):
            text = str(record.msg)
        level = "error" if record.levelno >= logging.ERROR else "warning"
        more: dict[str, Any] = {"exc_info": record.exc_info} if record.exc_info else {}
        getattr(structlog.get_logger(), level)("library.logged", library=record.name, text=text, **more)


def _forms(secret: str) -> Iterator[str]:
    """A secret as itself and as it looks inside quotes."""
    if len(secret) >= SHORTEST_SECRET:
        yield from (secret, repr(secret)[1:-1], json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
