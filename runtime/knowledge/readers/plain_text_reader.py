"""Plain text and reStructuredText: paragraphs, underlined, numbered and capitalised headings, lists, code."""

import re

from runtime.knowledge.readers.parsed_document import Document, Outline, heading

_LINE = re.compile(r"[^\n]*\n?")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+_])\1{2,}$")
_NUMBERED = re.compile(
    r"(\d{1,3}(?:\.\d{1,3})*)\.?[ \t]+\S|(?:Chapter|CHAPTER|Section|SECTION|Appendix|APPENDIX)\s+\w+"
)
_CJK_NUMBERED = re.compile(r"第[一二三四五六七八九十百千零〇\d]+[编章节篇部]|제\s*\d+\s*[편장절관]")
_ITEM = re.compile(r"[ \t]*(?:[-*+•·●]|\(?\d{1,3}[.)]|\(?[a-z]\)|[①-⑳])[ \t]+")
_DIRECTIVE = re.compile(r"[ \t]*(?:\.\. |:[\w-]+:)")
HEADING_CHARACTERS = 100


def read_plain(text: str) -> Document:
    """Read a text file by its layout. Offsets are those of the file."""
    outline, ranks = Outline(), dict[str, int]()
    base = _base_indent(text)
    for block in _blocks(text):
        rest = _heading(text, block, outline, ranks)
        if rest:
            _body(text, rest, outline, base)
    return Document(outline.title, text, outline.sections)


Lines = list[tuple[int, int]]


def _blocks(text: str) -> list[Lines]:
    """Runs of lines without an empty one between them, each line as offsets without its end."""
    found: list[Lines] = [[]]
    for match in _LINE.finditer(text):
        size = len(match.group().rstrip())
        if size:
            found[-1].append((match.start(), match.start() + size))
        elif found[-1]:
            found.append([])
    return [block for block in found if block]


def _base_indent(text: str) -> int:
    """The indentation of most lines: what is four deeper is code."""
    counts: dict[int, int] = {}
    for match in re.finditer(r"^[ \t]*(?=\S)", text[:200_000], re.MULTILINE):
        counts[len(match.group())] = counts.get(len(match.group()), 0) + 1
    return max(counts, key=lambda indent: (counts[indent], -indent), default=0)


def _heading(text: str, block: Lines, outline: Outline, ranks: dict[str, int]) -> Lines:
    """Take a heading off the front of a block; what is left of the block."""
    lines = [text[a:b].strip() for a, b in block[:3]]
    if len(lines) == 3 and _UNDERLINE.fullmatch(lines[0]) and _UNDERLINE.fullmatch(lines[2]):
        outline.head(_rank(ranks, "over" + lines[2][0]), heading(lines[1]))
        return block[3:]
    if len(lines) > 1 and _UNDERLINE.fullmatch(lines[1]) and len(lines[0]) <= HEADING_CHARACTERS:
        outline.head(_rank(ranks, lines[1][0]), heading(lines[0]))
        return block[2:]
    if _UNDERLINE.fullmatch(lines[0]):
        return block[1:]
    first = lines[0]
    if len(first) > HEADING_CHARACTERS or first[-1] in ".,;:。，；：":
        return block
    if len(block) == 1 and (numbered := _NUMBERED.match(first)) and text[block[0][0]] not in " \t":
        outline.head(10 + (numbered.group(1) or "").count("."), heading(first))
        return []
    if _CJK_NUMBERED.match(first) and len(first) < 40:
        outline.head(10 + ("节" in first or "절" in first), first)
        return block[1:]
    if (
        len(block) == 1
        and first.isupper()
        and any(c.isalpha() for c in first)
        and len(first.split()) < 10
        and first.isascii()
    ):
        outline.head(9, first)
        return []
    return block


def _rank(ranks: dict[str, int], sign: str) -> int:
    """Underlines rank in the order in which they first appear."""
    return ranks.setdefault(sign, len(ranks) + 1)


def _body(text: str, block: Lines, outline: Outline, base: int) -> None:
    block = [(a, b) for a, b in block if not _DIRECTIVE.match(text, a, b)]
    if not block:
        return
    if all(
        len(text[a:b]) - len(text[a:b].lstrip()) >= base + 4 or text[a] == "\t" for a, b in block
    ) and not _ITEM.match(text, block[0][0], block[0][1]):
        outline.code(text, block[0][0], block[-1][1])
        return
    start = -1
    end = start
    for a, b in block:
        item = _ITEM.match(text, a, b)
        if item and item.end() < b and start >= 0:
            outline.prose(text, start, end)
            start = -1
        if start < 0:
            start = item.end() if item and item.end() < b else a
        end = b
    outline.prose(text, start, end)
