"""Reads the texts of an answer that people will see out of its JSON while a model is still writing it. Pure."""

import re
from typing import Literal

Path = tuple[str | None, ...]
"""Where a text stands in an answer: a key, or None for any item of a list."""

SEPARATOR = "\n"
"""Between one text and the next."""
DRAFT_CHARACTERS = 20_000
"""So much of an answer is read."""
DEPTH = 32
KEY_CHARACTERS = 100
_PLAIN = re.compile(r'[^"\\]*')
_LITERAL = re.compile(r"[-+.\w]")
_SPACE = frozenset(" \t\r\n")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
UNICODE_ESCAPE = 6
"""Characters of one, its backslash included."""


class TextReader:
    """
    Fed with pieces of an answer, cut anywhere. What is no JSON, such as a thought before it, is passed over.

    Where a second object has such texts, it is the answer, and what was read of the first is dropped.
    """

    __slots__ = (
        "_escape", "_expects", "_high", "_key", "_new_object", "_new_text", "_parts", "_room", "_shown", "_stack",
        "_string", "drafts",
    )  # fmt: skip

    def __init__(self, shown: frozenset[Path]) -> None:
        """:param shown: where the texts stand."""
        self._shown = shown
        self._stack: list[str | None] = []
        """Of each object that is open its key, of each list None."""
        self._expects: Literal["key", "colon", "value", "more"] = "value"
        self._string: Literal["", "key", "shown", "hidden"] = ""
        """What string is being read."""
        self._escape = ""
        """An escape sequence that has begun."""
        self._high = 0
        """The first half of a surrogate pair."""
        self._key = ""
        self._new_object = self._new_text = True
        """Nothing was read of it as yet."""
        self._parts: list[str] = []
        self._room = DRAFT_CHARACTERS
        self.drafts = 0
        """How often an object with such texts was begun."""

    @property
    def text(self) -> str:
        """What was read of the latest."""
        text = "".join(self._parts)
        self._parts = [text]
        return text

    def feed(self, piece: str) -> None:
        """Read on."""
        at = 0
        while at < len(piece):
            at = self._read_string(piece, at) if self._string else self._read_structure(piece, at)

    def _read_structure(self, piece: str, at: int) -> int:
        """:returns: where to read on."""
        if not self._stack:
            start = piece.find("{", at)
            if start < 0:
                return len(piece)
            self._new_object = True
            self._open("")
            return start + 1
        char = piece[at]
        if char not in _SPACE:
            self._take(char)
        return at + 1

    def _take(self, char: str) -> None:
        inside = self._stack[-1] is not None
        match self._expects, char:
            case "key", '"':
                self._string, self._key = "key", ""
            case "colon", ":":
                self._expects = "value"
            case "value", '"':
                self._string = "shown" if self._is_shown() else "hidden"
                self._new_text = True
            case "value", "{" | "[" if len(self._stack) < DEPTH:
                self._open("" if char == "{" else None)
            case "more", ",":
                self._expects = "key" if inside else "value"
            case (("key" | "more"), "}") if inside:
                self._close()
            case (("value" | "more"), "]") if not inside:
                self._close()
            case (("value" | "more"), _) if _LITERAL.match(char):
                self._expects = "more"
            case _:
                self._stack.clear()  # that was no JSON

    def _open(self, key: str | None) -> None:
        self._stack.append(key)
        self._expects = "value" if key is None else "key"

    def _close(self) -> None:
        self._stack.pop()
        self._expects = "more"

    def _is_shown(self) -> bool:
        """Also of an answer that stands under some name in another object."""
        path = tuple(self._stack)
        return path in self._shown or path[1:] in self._shown

    def _read_string(self, piece: str, at: int) -> int:
        if self._escape:
            return self._read_escape(piece, at)
        end = at + len(_PLAIN.match(piece, at)[0])  # type: ignore[index] # it matches nothing, too
        self._put(piece[at:end])
        if end < len(piece):
            if piece[end] == "\\":
                self._escape = "\\"
            else:
                self._end_string()
        return end + 1

    def _end_string(self) -> None:
        self._put_half()
        if self._string == "key":
            self._stack[-1], self._expects = self._key, "colon"
        else:
            self._expects = "more"
        self._string = ""

    def _read_escape(self, piece: str, at: int) -> int:
        escape = self._escape = self._escape + piece[at]
        if escape[1] != "u":
            self._put(_ESCAPED.get(escape[1], escape[1]))
        elif len(escape) < UNICODE_ESCAPE:
            return at + 1
        else:
            self._put_code(escape[2:])
        self._escape = ""
        return at + 1

    def _put_code(self, digits: str) -> None:
        try:
            code = int(digits, 16)
        except ValueError:
            return
        if 0xDC00 <= code < 0xE000 and self._high:
            code, self._high = 0x10000 + ((self._high - 0xD800) << 10) + code - 0xDC00, 0
        if 0xD800 <= code < 0xDC00:
            self._put_half()
            self._high = code
        else:
            self._put("?" if 0xDC00 <= code < 0xE000 else chr(code))

    def _put_half(self) -> None:
        """Half a pair can be shown by nobody."""
        if self._high:
            self._high = 0
            self._put("?")

    def _put(self, text: str) -> None:
        if not text or self._string == "hidden":
            return
        self._put_half()
        if self._string == "key":
            self._key = (self._key + text)[:KEY_CHARACTERS]
            return
        separator = ""
        if self._new_object:
            self._parts, self._room, self._new_object = [], DRAFT_CHARACTERS, False
            self.drafts += 1
        elif self._new_text:
            separator = SEPARATOR
        self._new_text = False
        self._parts.append((separator + text)[: self._room])
        self._room -= len(self._parts[-1])
