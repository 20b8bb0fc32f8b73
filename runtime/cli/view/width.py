"""How many columns of a terminal a text takes, and as much of it as has room. Pure."""

import unicodedata

from runtime.user_text import safe

WIDE = frozenset("WF")
NO_COLUMN = frozenset({"Mn", "Me", "Cf"})
"""Categories of characters that are drawn over the one before, or not at all."""
EMOJI_FORM = "\ufe0f"
"""Makes the character before it a picture, which is wide."""


def columns(text: str) -> int:
    """Columns that a printable text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def fit(text: str, most: int) -> str:
    """A text from outside on one line of at most so many columns, harmless, with … where it was cut."""
    line = safe(" ".join(text[: 8 * most].split()))  # white space apart, a text of 8 characters a column fills any line
    if columns(line) <= most and len(text) <= 8 * most:
        return line
    taken, kept = 1, 0
    for kept, character in enumerate(line):  # noqa: B007 - how far it came is what is wanted
        taken += _columns(character)
        if taken > most:
            break
    else:
        kept = len(line)
    return f"{line[:kept].rstrip()}…"


def pad(text: str, width: int) -> str:
    """A printable text with spaces up to so many columns."""
    return text + " " * max(0, width - columns(text))


def _columns(character: str) -> int:
    if character == EMOJI_FORM:
        return 1
    if unicodedata.category(character) in NO_COLUMN:
        return 0
    return 2 if unicodedata.east_asian_width(character) in WIDE else 1
