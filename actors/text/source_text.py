"""
Text of a source taken apart for showing: prose, list items and code, without anything that a viewer would obey. Pure.

Each output format escapes what it gets; this makes sure that nothing is left that only looks like structure.
"""

import re
from typing import Literal, NamedTuple

from actors.text.normalize import remove_controls, remove_links

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]{0,200}$")
_HEADING = re.compile(r"#{1,6}\s+(?=\S)")
_QUOTED = re.compile(r"(?:>\s?)+")
_ITEM = re.compile(r"(?:[-*+•]|(?P<number>\d{1,3}[.)]))\s+(?=\S)")
_RULE = re.compile(r"(?:[-*_=]\s?){3,}$|\|?\s*:?-{2,}:?\s*(?:\|\s*:?-+:?\s*)+\|?$")
_CODE = re.compile(r"(?<!`)(`{1,5})(?!`)([^\n]{1,400}?)(?<!`)\1(?!`)")
# Round words only: in `*.*.bak` and `home/*/.cache/*` the signs are what is meant.
_STRONG = re.compile(r"(?<![*/.])\*\*(?=[\w(\"'“])([^*\n]{1,400})(?<=[\w.,:;!?)\"'”])\*\*(?![*/])")
_EMPHASIS = re.compile(r"(?<![\w*/.\\])\*(?=[\w(\"'“])([^*\n]{1,400})(?<=[\w.,:;!?)\"'”])\*(?![\w*/])")


class Span(NamedTuple):
    """A run of one line of text."""

    text: str
    code: bool = False


class Piece(NamedTuple):
    """A paragraph, a list item, or a block of code, which alone has several lines."""

    kind: Literal["prose", "item", "code"]
    spans: tuple[Span, ...]
    mark: str = ""
    """The number of an item, such as "2."; empty when its list has none."""

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


def pieces(text: str) -> tuple[Piece, ...]:
    """What a text of a source consists of, in order."""
    reader = _Reader()
    for line in remove_controls(text).split("\n"):
        reader.add(line)
    reader.end()
    found = [piece for piece in reader.found if piece.text.strip()]
    if len(found) == 1 and found[0].kind == "item":  # one item by itself is no list
        number = (Span(f"{found[0].mark} "),) if found[0].mark else ()
        return (Piece("prose", (*number, *found[0].spans)),)
    return tuple(found)


def flat(text: str) -> str:
    """The words of a text on one line."""
    return " ".join(" ".join(f"{piece.mark} {piece.text}".split()) for piece in pieces(text))


def spans(line: str) -> tuple[Span, ...]:
    """Prose with its code marked, without links and emphasis."""
    found: list[Span] = []
    end = 0
    for code in _CODE.finditer(line):
        found += [Span(_words(line[end : code.start()])), Span(code[2].strip() or code[2], code=True)]
        end = code.end()
    found.append(Span(_words(line[end:])))
    return tuple(span for span in found if span.text)


def _words(text: str) -> str:
    return remove_links(_EMPHASIS.sub(r"\1", _STRONG.sub(r"\1", text)))


class _Reader:
    """Takes lines in and gives pieces out."""

    def __init__(self) -> None:
        self.found: list[Piece] = []
        self._prose: list[str] = []
        self._code: list[str] = []
        self._item = False
        self._mark = ""
        self._fence = ""
        """The mark that opened a block of code; a block that is only indented has none."""
        self._blank = True

    def add(self, raw: str) -> None:
        line = raw.strip()
        if self._fence:
            if set(line) == {self._fence[0]} and len(line) >= len(self._fence):
                self.end()
            else:
                self._code.append(raw.rstrip())
            return
        if fence := _FENCE.match(raw):
            self.end()
            self._fence = fence[1]
        elif raw.startswith("    ") and line and (self._code or (self._blank and not self._prose)):
            self._code.append(raw.rstrip())
        elif self._code and not line:
            self._code.append("")
        else:
            self._text(line)
        self._blank = not line

    def end(self) -> None:
        """What is open is a piece now."""
        if self._prose:
            self.found.append(Piece("item" if self._item else "prose", spans(" ".join(self._prose)), self._mark))
        if self._code:
            self.found.append(_block(self._code, indented=not self._fence))
        self._prose, self._code, self._fence, self._item, self._mark = [], [], "", False, ""

    def _text(self, line: str) -> None:
        line = _QUOTED.sub("", line, count=1) if line.startswith(">") else line
        heading, item = _HEADING.match(line), _ITEM.match(line)
        row = line.startswith("|")
        if self._code or heading or item or row or not line or _RULE.match(line):
            self.end()
        if not line or _RULE.match(line):
            return
        if item:
            self._mark, line = item["number"] or "", line[item.end() :]
        self._item = self._item or bool(item) or row
        self._prose.append(line[heading.end() :] if heading else line.strip("| ") if row else line)
        if heading:
            self.end()


def _block(lines: list[str], *, indented: bool) -> Piece:
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    margin = min((len(line) - len(line.lstrip()) for line in lines if line), default=0) if indented else 0
    return Piece("code", (Span("\n".join(line[margin:] for line in lines), code=True),))
