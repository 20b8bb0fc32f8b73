"""How any text stands in Markdown: escaped so that every viewer shows it and no reader of ours takes it for markup."""

import re
from collections.abc import Iterator

EMPTY = "*empty*"
"""Where nothing would stand. Unescaped asterisks are ours alone: in a text they are escaped."""
NOTHING = "*none*"

_MARKUP = re.compile(r"[\\`*_\[\]<|#&$~{]")
_UNSEEN = re.compile("[\x01-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_FIRST = re.compile(r"^(?=[-+=>])|^(\d+)(?=[.)](?: |$))")
"""What would begin a list or underline a heading."""
_OUTER_SPACE = re.compile(r"^ | $")
_SURROGATES = re.compile("[\ud800-\udfff]")
_WRITTEN = re.compile(r"\\([!-/:-@\[-`{-~])|&#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}));|&lt;")
_ENTITIES = {"&": "&amp;", "<": "&lt;", "]": "&#93;", "{": "&#123;"}
LIVE = re.compile(
    r"&(?=(?:amp|lt|#93|#123);)|<(?=[A-Za-z/!?])|\](?=[(\[]|:\s{0,9}(?!https?://|[#/\s]))|\{(?=[^}\n]{0,200}=)"
)
"""What a viewer that knows no fences takes for a tag, a link or an attribute, and what stands for it in a block."""
_ENTITY = re.compile("|".join(_ENTITIES.values()))
_MEANT = {entity: character for character, entity in _ENTITIES.items()}
_LINK = re.compile(r"https?://[!-;=?-Z^_a-{}~]+")
"""Characters of which none ends `<...>` or a cell of a table, or makes a link within it."""
_CELL = re.compile(r"((?:\\.|[^|\\])*+)(\||\\?\Z)", re.DOTALL)
_TICKS = re.compile(r"`+")


def clean(text: str) -> str:
    """The text without what no file of text may hold: U+0000 goes, half a surrogate pair becomes U+FFFD."""
    return _SURROGATES.sub("\ufffd", text.replace("\0", ""))


def inline(text: str) -> str:
    """A text on one line of Markdown, in a list item, a heading or a cell."""
    text = clean(text)
    if _LINK.fullmatch(text):
        return f"<{text}>"
    text = _MARKUP.sub(lambda found: "&lt;" if found[0] == "<" else f"\\{found[0]}", text)
    text = _FIRST.sub(r"\1\\", text)
    text = _UNSEEN.sub(lambda found: f"&#x{ord(found[0]):X};", text)
    return _OUTER_SPACE.sub("&#32;", text)


def outline(markdown: str) -> str:
    """The text behind one line of Markdown: the reverse of `inline`."""
    if markdown in {EMPTY, NOTHING}:
        return ""
    if markdown.startswith("<") and markdown.endswith(">"):
        return markdown[1:-1]
    return _WRITTEN.sub(_character, markdown)


def _character(found: re.Match[str]) -> str:
    if found[1]:
        return found[1]
    if found[0] == "&lt;":
        return "<"
    code = int(found[2], 16) if found[2] else int(found[3])
    return clean(chr(code)) if code <= 0x10FFFF else "\ufffd"


def fence(text: str, indent: str = "") -> Iterator[str]:
    """The lines of a block that shows a text as it is. Its fence is longer than any in the text."""
    text = LIVE.sub(lambda found: _ENTITIES[found[0]], clean(text))
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    yield f"{indent}{fence}text"
    yield from (f"{indent}{line}" if line else "" for line in text.split("\n"))
    yield f"{indent}{fence}"


def unfence(text: str) -> str:
    """What stood in a block: the reverse of `fence`."""
    return _ENTITY.sub(lambda found: _MEANT[found[0]], text)


def row(cells: list[str]) -> str:
    """A row of a table, of cells that are Markdown already."""
    return "| " + " | ".join(cells) + " |"


def cells(line: str) -> list[str]:
    """The cells of a row, still Markdown; each ends with a bar that is not escaped."""
    return [cell.strip(" ") for cell, bar in _CELL.findall(line.strip().removeprefix("|")) if bar == "|"]
