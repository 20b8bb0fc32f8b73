"""Lines of a PDF's pages become paragraphs again: running headers go, words that were divided are joined."""

import itertools
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from actors.text.word_patterns import compile_words
from runtime.knowledge.readers.parsed_document import fold, heading

LARGE = 1.15
"""Letters so many times as large as those of most of the text are a heading's."""
GAP = 1.35
"""A gap to the next line so many times as large as usual ends a paragraph."""
LEADING = 1.5
"""Lines of one paragraph are no further apart than so many times the size of its letters."""
SIZES = 0.15
"""Letters larger or smaller by such a share belong to another block."""
RUNNING_PAGES = 3
"""What stands at the same place of so many pages, numbers aside, is a running header or footer."""
EDGE_LINES = 2
"""So many lines at the top and at the bottom of a page may be such."""
TITLE_LINES = 3

_DIGITS = re.compile(r"\d+|\b[ivxlc]{1,6}\b")
_LEADER = compile_words(r"(?<!\.)(?<!\.\s)(?:\.\s?){5,}+\s*[\divxlc]{0,6}\s*$")
_DIVIDED = re.compile(r"(?<!\w)(\w*+(?<=[^\W\d_]))[-\u2010]\n([^\W\d_]\w*)")
_SOFT = re.compile("\u00ad\n?")
_MARK = re.compile(r"(?:[•●▪■‣◦–·∙*\u007f\uf0b7\uf0a7-]|\(?\d{1,3}[.)]|\(?[a-z][.)])(?:\s+|$)")
_BULLET = re.compile(r"[•●▪■‣◦–·∙*\u007f\uf0b7\uf0a7-]\s*")
_WORD = re.compile(r"[^\W\d_](?:[\w-]*\w)?")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "\x7f": "•", "\xa0": " "})
_ENDS = tuple('.!?:;。！？…"”)')


class Line(NamedTuple):
    """A line as it stands on a page."""

    text: str
    size: float
    """Of its letters, in points."""
    mono: bool
    """Its font is one for code."""
    y: float
    """Its height on the page, in points from below."""


class Block(NamedTuple):
    """A paragraph, a heading of some level, or code."""

    text: str
    level: int = 0
    code: bool = False
    item: bool = False


def is_contents(line: Line) -> bool:
    """A line of a table of contents: dots that lead to a number."""
    return _LEADER.search(line.text) is not None


def clean(text: str) -> str:
    """A line's text without ligatures and characters that no encoding carries."""
    return text.translate(_LIGATURES).encode("utf-8", "replace").decode()


def without_running(pages: list[list[Line]]) -> list[list[Line]]:
    """The pages without what stands at the same place above or below the text of many of them, numbers aside."""
    large, least = LARGE * usual_size(pages), min(RUNNING_PAGES, max(2, len(pages)))
    seen = Counter(key for page in pages for key in {_place(line) for line in _edges(page)})
    running = [{line for line in _edges(page) if line.size < large and seen[_place(line)] >= least} for page in pages]
    return [[line for line in page if line not in out] for page, out in zip(pages, running, strict=True)]


def usual_size(pages: list[list[Line]]) -> float:
    """The size of most letters."""
    weights: dict[float, int] = {}
    for line in (line for page in pages for line in page):
        weights[line.size] = weights.get(line.size, 0) + len(line.text)
    return max(weights, key=lambda size: weights[size], default=0.0)


def _edges(page: list[Line]) -> list[Line]:
    """A page's highest and lowest lines."""
    lines = sorted(page, key=lambda line: line.y)
    return [*lines[:EDGE_LINES], *lines[-EDGE_LINES:]] if len(lines) > 2 * EDGE_LINES else []


def _place(line: Line) -> tuple[str, int]:
    return _DIGITS.sub("#", fold(line.text).casefold()), round(line.y)


def key_of(text: str) -> str:
    """A heading's letters and digits, which an outline and its page have alike."""
    return "".join(c for c in heading(text).casefold() if c.isalnum())


def blocks(lines: Sequence[Line], heads: dict[str, tuple[int, str]]) -> Iterator[Block]:
    """
    The blocks of a page in order.

    :param heads: the headings that stand on it, by their keys; what was found is taken out.
    """
    gap, at = _usual_gap(lines), 0
    group: list[Line] = []
    while at < len(lines):
        line = lines[at]
        if (found := _head(lines, at, heads)) is not None:
            yield from _block(group)
            key, size = found
            level, text = heads.pop(key)
            yield Block(text, level)
            group, at = [], at + size
            continue
        if group and _parts(group, line, gap):
            yield from _block(group)
            group = []
        group.append(line)
        at += 1
    yield from _block(group)


def _head(lines: Sequence[Line], at: int, heads: dict[str, tuple[int, str]]) -> tuple[str, int] | None:
    """The key of the heading that begins at a line, and how many lines it takes."""
    key = ""
    for size in range(1, TITLE_LINES + 1) if heads else ():
        key = key_of(" ".join(each.text for each in lines[at : at + size]))
        if key in heads:
            return key, size
        if not any(each.startswith(key) for each in heads):
            return None
    return None


def _parts(group: list[Line], line: Line, gap: float) -> bool:
    """Whether a line begins a block of its own."""
    last = group[-1]
    if line.mono != last.mono:
        return True
    if line.mono:
        return False
    if _MARK.match(line.text) and not (len(group) == 1 and not line.text.strip()):
        return True
    if _MARK.fullmatch(last.text.strip()):  # a mark that stands in a line of its own
        return False
    if abs(line.size - last.size) > SIZES * last.size:
        return True
    step = last.y - line.y
    return step > GAP * gap if step > 0 else last.text.rstrip().endswith(_ENDS)


def _usual_gap(lines: Sequence[Line]) -> float:
    steps = [a.y - b.y for a, b in itertools.pairwise(lines) if 0 < a.y - b.y < 60]
    size = statistics.median_low([line.size for line in lines] or [0.0]) or 10.0
    return min(statistics.median_low(steps), LEADING * size) if steps else LEADING * size


def _block(group: list[Line]) -> Iterator[Block]:
    text = "\n".join(line.text for line in group)
    if not text.strip():
        return
    if group[0].mono:
        yield Block(text, code=True)
    elif bullet := _BULLET.match(text):
        yield Block(text[bullet.end() :], item=True)
    else:
        yield Block(text)


def join_pages(pages: list[list[Block]]) -> None:
    """Paragraphs that go on at the top of the next page are put together on the page where they begin."""
    for here, after in itertools.pairwise(pages):
        if not here or not after:
            continue
        last, first = here[-1], after[0]
        words = not (last.level or last.code or first.level or first.code or first.item)
        if words and not last.text.rstrip().endswith(_ENDS) and first.text.lstrip()[:1].islower():
            here[-1] = last._replace(text=f"{last.text.rstrip()}\n{first.text.lstrip()}")
            del after[0]


def vocabulary(pages: list[list[Line]]) -> frozenset[str]:
    """The words that stand whole in some line."""
    return frozenset(
        word.casefold() for page in pages for line in page for word in _WORD.findall(line.text.rstrip("-\u2010\u00ad"))
    )


def join_words(text: str, known: frozenset[str]) -> str:
    """A paragraph whose words are whole: a hyphen at a line's end stays where the document writes it elsewhere, too."""

    def join(match: re.Match[str]) -> str:
        first, second = match.group(1), match.group(2)
        whole, hyphened = f"{first}{second}".casefold(), f"{first}-{second}".casefold()
        divided = whole in known or (hyphened not in known and second[0].islower())
        return f"{first}{second}" if divided else f"{first}-{second}"

    return _DIVIDED.sub(join, _SOFT.sub("", text))
