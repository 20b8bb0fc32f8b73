"""Extracted text is held to be free of scripts, styles, navigation and advertisements (RE-3), whoever extracted it."""

import re
import unicodedata
from collections.abc import Sequence

import msgspec

from actors.folding import fold
from actors.research.segments import Segment, prose, segments
from runtime.extract.guard import without_raw
from runtime.extract.phrases import CALLS, NOISE_LINES, TAILS, TEASERS, any_of

_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufffe\uffff\U000e0000-\U000e007f]"
)
_TAG = re.compile(r"</?(?:[a-z][a-z0-9-]{0,20})(?:\s[^<>]{0,2000})?/?>|<!--[^<>]{0,2000}-->", re.IGNORECASE)
_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,500})\]"
    r"\((?:[^()\s]{0,2000}|[^()\s]{0,500}\([^()\s]{0,300}\)[^()\s]{0,500})(?:\s\"[^\"\n]{0,200}\")?\)"
)
_EMPHASIS = re.compile(r"(?<![\w*\\])(\*{1,3})(?=[^\s*])([^*\n]{1,600}?)(?<=[^\s*\\])\1(?![\w*])")
_ESCAPE = re.compile(r"\\([\\`*_\[\](){}<>~|!])")
_CODE = any_of(
    (
        r"\b(?:window|document|googletag|dataLayer|_gaq|jQuery|fbq|gtag)\s?(?:\.\w+|\[|\()",
        r"\bfunction\s?\w*\([^)]{0,100}\)\s?\{",
        r"\bvar \w+\s?=",
        r"=>\s?\{",
        r"@media\b[^{]{0,80}\{",
        r"[\w-]\s?\{\s?[\w-]{2,30}\s?:[^}]{1,300}\}",
        r"\}\)\(\)",
        r"<!\[CDATA\[",
    )
)
_CRUMBS = re.compile(r"[^.!?\n»›>|/]{1,40}(?:\s*[»›>|]\s*[^.!?\n»›>|/]{1,60}){2,12}")
_NOISE_LINE = any_of(NOISE_LINES)
_CALL = any_of(CALLS, r"(?:👉|➡|→|>>|▶)?\s{0,3}")
_CALL_CHARACTERS = 400
_TEASER = any_of(TEASERS, after=r"(?: articles?| stor(?:y|ies)| posts?| news| topics?| content)?\s{0,3}[:：]\s{0,3}\S")
_TEASER_CHARACTERS = 200
_TAIL = any_of(TAILS, after=r"\s{0,3}[:：]?")
_TAIL_FROM = 0.5
_LABEL_CHARACTERS = 60
_PROSE_CHARACTERS = 300
_OPENING = 4
_SIGNS_SHARE = 0.1


def clean(text: str, title: str = "", *, marked_up: bool = True) -> str:
    """
    A text without what is none: leftovers of scripts and styles, marks of emphasis, navigation, advertisements.

    :param title: of the page, which need not be said again.
    :param marked_up: it is Markdown; else a plain text, of which every sign stands for itself.
    """
    text = _CONTROL.sub("", unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")))
    if not marked_up:
        return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text)).strip()
    parts = list(segments(without_raw(text), len(text) + 1))
    blocks = [each if each.code else msgspec.structs.replace(each, text=_bare(each.text)) for each in parts]
    kept = [each for number, each in enumerate(blocks) if not _noise(each, number, len(blocks), title)]
    return "\n\n".join(each.text for each in kept[: _end(kept)])


def _bare(text: str) -> str:
    """The words themselves: quotes are found in them whatever was bold."""
    text = _LINK.sub(r"\1", _TAG.sub("", text))
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    text = _ESCAPE.sub(r"\1", text)
    return "\n".join(line for raw in text.split("\n") if (line := raw.rstrip()) and not _residue(line))


def _residue(line: str) -> bool:
    """Whether a line is program or style that was taken for text; code that a page shows stands in fences."""
    if "`" in line or not _CODE.search(line):
        return False
    return sum(line.count(sign) for sign in "{}()[];=\"'") > _SIGNS_SHARE * len(line)


def _noise(block: Segment, number: int, count: int, title: str) -> bool:
    text = block.text
    if block.code or text.startswith("|"):
        return not text.strip()
    said = prose(text.lstrip("# "))
    if block.heading:
        return not said or (number < _OPENING and _same(said, title))
    lines = [prose(line) for line in text.split("\n")]
    if not said or all(_NOISE_LINE.fullmatch(line.strip(" .:|•·")) for line in lines):
        return True
    if len(said) <= _TEASER_CHARACTERS and len(lines) == 1 and _TEASER.match(said):
        return True
    if number < _OPENING and len(lines) == 1 and len(said) < _TEASER_CHARACTERS and _CRUMBS.fullmatch(said):
        return True
    return len(said) <= _CALL_CHARACTERS and number > count // 3 and bool(_CALL.match(said))


def _end(blocks: Sequence[Segment]) -> int:
    """Where a page's own text ends and lists of other pages begin."""
    total = sum(len(each.text) for each in blocks) or 1
    before = 0
    for number, each in enumerate(blocks):
        opens = each.heading or (len(each.text) < _LABEL_CHARACTERS and "\n" not in each.text)
        if opens and not each.code and before > _TAIL_FROM * total and _TAIL.fullmatch(prose(each.text.lstrip("# "))):
            rest = blocks[number + 1 :]
            if not any(_is_prose(other) for other in rest):
                return number
        before += len(each.text)
    return len(blocks)


def _is_prose(block: Segment) -> bool:
    text = block.text
    return (
        block.code
        or text.startswith("|")
        or (len(text) > _PROSE_CHARACTERS and max(map(len, text.split("\n"))) > _LABEL_CHARACTERS)
    )


def _same(one: str, other: str) -> bool:
    return bool(other) and fold(one)[0] == fold(other)[0]
