"""Pieces of sentences for users: the nearest known word, a value as it may be shown, the place in a file."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SHOWN_CHARACTERS = 60
VALUE_LINES = 200
"""How many lines one value of a TOML file is followed when its place is looked for."""


def nearest(word: str, known: Iterable[str], *, else_all: bool = True) -> str:
    """`Did you mean 'x'?`, or else what is known, or nothing."""
    import difflib  # costs 5 ms, and only a mistake leads here

    words = sorted(known)
    if near := difflib.get_close_matches(word, words, 1, 0.6):
        return f"Did you mean {near[0]!r}?"
    return f"Known are: {', '.join(words)}." if else_all else ""


def display(value: object) -> str:
    """A value for a sentence: short, on one line, without what a terminal would obey."""
    text = str(value).lower() if isinstance(value, bool) else redact(repr(value))
    if len(text) > SHOWN_CHARACTERS:
        text = text[: SHOWN_CHARACTERS - 3] + "..."
    return text if text.isprintable() else ascii(text)


USERINFO = re.compile(r"""(?<=://)[^/?#\s"'<>]*@""")


def redact(text: str) -> str:
    """A text in which no URL shows its user name and password."""
    return USERINFO.sub("***@", text) if "://" in text else text


NAME = re.compile(r"[A-Z]?[a-z0-9]+(?:_[a-z0-9]+|[A-Z][a-z0-9]+)*")


def spell_out(name: str) -> str:
    """A name of the program's in words, `ResolutionObtained` and `loop_detected` alike; any other text as it is."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", name).lower() if NAME.fullmatch(name) else name


def place(file: Path, text: str, section: str, name: str = "") -> str:
    """`file, line n` where a TOML file sets a key: the shortest beginning of it that is TOML and holds the key."""
    lines, wanted = text.splitlines(keepends=True), name or section
    for first, line in enumerate(lines):
        if wanted not in line:
            continue
        for last in range(first + 1, min(first + VALUE_LINES, len(lines)) + 1):
            try:
                table: Any = tomllib.loads("".join(lines[:last]))
            except tomllib.TOMLDecodeError:
                continue  # the value goes on in the next line
            for part in section.split("."):
                table = table.get(part) if isinstance(table, dict) else None
            if table is not None and (not name or (isinstance(table, dict) and name in table)):
                return f"{file}, line {first + 1}"
            break
    return str(file)


def encodable(text: str) -> bool:
    """False for bytes that are no UTF-8: a name or a variable holds them as lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal obeys, what turns the direction of reading, and what cannot be encoded."""


def safe(text: str, keep: str = "") -> str:
    """Text from outside for a terminal or a log: what would be obeyed is shown as an escape, save what is in `keep`."""
    if text.isprintable():
        return text
    return UNSAFE.sub(lambda found: found[0] if found[0] in keep else _escape(found[0]), text)


def as_json(value: object) -> str:
    """One line of JSON in which no character can harm the terminal that it is printed on."""
    import json  # neither is needed to refuse a command

    import msgspec

    return escape_json(json.dumps(msgspec.to_builtins(value), ensure_ascii=False))


def escape_json(line: str) -> str:
    """The same JSON, in which what a terminal would obey is written as JSON escapes it."""
    return line if line.isprintable() else UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


def pluralize(count: int, thing: str) -> str:
    """`1 message`, `2,000 messages`."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
