"""
Text of a source taken apart for showing: prose, list items and code, without anything that a viewer would obey. Pure.

Each output format escapes what it gets; this makes sure that nothing is left that only looks like structure.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

_DROPPED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,})[^`]{0,200}$")
_HEADING = re.compile(r"#{1,6}\s+(?=\S)")
_QUOTED = re.compile(r"(?:>\s?)+")
_ITEM = re.compile(r"(?:[-*+•]|(?P<number>\d{1,3}[.)]))\s+(?=\S)")
_RULE = re.compile(r"(?:[-*_=]\s?){3,}$|\|?\s*:?-{2,}:?\s*(?:\|\s*:?-+:?\s*)+\|?$")
_CODE = re.compile(r"(?<!`)(`{1,5})(?!`)([^\n]{1,400}?)(?<!`)\1(?!`)")
_IMAGE = re.compile(r"!\[([^\[\]\n]{0,300})\]\([^()\s]{0,2000}[^()\n]{0,300}\)")
_LINK = re.compile(r"\[([^\[\]\n]{0,300})\](?:\([^()\s]{0,2000}[^()\n]{0,300}\)|\[[^\[\]\n]{0,200}\])")
_STRONG = re.compile(r"\*\*(?=[^\s*])([^*\n]{1,400})(?<=[^\s*])\*\*")
_EMPHASIS = re.compile(r"(?<![\w*\\])\*(?=[^\s*])([^*\n]{1,400})(?<=[^\s*])\*(?![\w*])")
_NUMBER = re.compile(r"\[(\s*\d[\d\s,;–-]{0,40})\]")


class Span(NamedTuple):
    """A run of one line of text."""

    text: str
    code: bool = False


class Piece(NamedTuple):
    """A paragraph, a list item, or a block of code, which alone has several lines."""

    kind: Literal["prose", "item", "code"]
    spans: tuple[Span, ...]

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


def clean(text: str) -> str:
    """A text without control characters, marks that turn its direction, and what cannot be encoded."""
    return _DROPPED.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").expandtabs(4))


def neat(text: str, characters: int) -> str:
    """A text on one line, cut between words when it is longer."""
    line = " ".join(clean(text).split())
    if len(line) <= characters:
        return line
    cut = line[: characters - 1]
    head, _, tail = cut.rpartition(" ")
    return (head if head and len(tail) < characters // 3 else cut).rstrip(" ,;:.-–—") + "…"


def pieces(text: str) -> tuple[Piece, ...]:
    """What a text of a source consists of, in order."""
    found = [piece for piece in _pieces(clean(text)) if piece.text.strip()]
    if len(found) == 1 and found[0].kind == "item":
        return (Piece("prose", found[0].spans),)  # one item by itself is no list
    return tuple(found)


def flat(text: str) -> str:
    """The words of a text on one line."""
    return " ".join(" ".join(piece.text.split()) for piece in pieces(text))


def spans(line: str) -> tuple[Span, ...]:
    """Prose with its code marked; links and images are their words, and a number in brackets passes for no citation."""
    found: list[Span] = []
    end = 0
    for code in _CODE.finditer(line):
        found += [Span(_words(line[end : code.start()])), Span(code[2].strip() or code[2], code=True)]
        end = code.end()
    found.append(Span(_words(line[end:])))
    return tuple(span for span in found if span.text)


def _words(text: str) -> str:
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))
    text = _EMPHASIS.sub(r"\1", _STRONG.sub(r"\1", text))
    return _NUMBER.sub(lambda found: f"[ {found[1].strip()} ]", text)


def _pieces(text: str) -> Iterator[Piece]:
    prose: list[str] = []
    code: list[str] = []
    kind: Literal["prose", "item"] = "prose"
    fenced = indented = False
    blank = True

    def ended() -> Iterator[Piece]:
        if prose:
            yield Piece(kind, spans(" ".join(prose)))
        if code:
            yield _block(code, indented=indented)
        prose.clear()
        code.clear()

    for raw in text.split("\n"):
        line = raw.strip()
        if _FENCE.match(raw):
            yield from ended()
            fenced, indented, blank = not fenced, False, True
            continue
        if fenced or (raw.startswith("    ") and line and (indented or (blank and not prose))):
            if prose:
                yield from ended()
            indented = not fenced
            code.append(raw.rstrip())
        elif indented and not line:
            code.append("")
        else:
            starts, line, of = _line(line)
            if starts or not line or indented:
                yield from ended()
                indented = False
            if line:
                kind = of if starts else kind if prose else "prose"
                prose.append(line)
        blank = not line
    yield from ended()


def _line(line: str) -> tuple[bool, str, Literal["prose", "item"]]:
    """Whether a line begins a piece of its own, its words, and of what kind that piece is."""
    line = _QUOTED.sub("", line, count=1) if line.startswith(">") else line
    if _RULE.match(line):
        return True, "", "prose"
    if heading := _HEADING.match(line):
        return True, line[heading.end() :], "prose"
    if line.startswith("|"):
        return True, line.strip("| "), "item"
    if item := _ITEM.match(line):
        return True, f"{item['number']} {line[item.end() :]}" if item["number"] else line[item.end() :], "item"
    return False, line, "prose"


def _block(lines: list[str], *, indented: bool) -> Piece:
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    margin = min((len(line) - len(line.lstrip()) for line in lines if line), default=0) if indented else 0
    return Piece("code", (Span("\n".join(line[margin:] for line in lines), code=True),))
