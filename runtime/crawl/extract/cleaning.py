"""Takes scripts, styles, navigation and advertisements out of extracted text (RE-3), whoever extracted it."""

import re
import unicodedata
from collections.abc import Sequence

import msgspec

from actors.text.markdown_blocks import Segment, prose, segments
from actors.text.normalize import normalize
from runtime.crawl.extract.patterns import CALLS, NOISE_LINES, TAILS, TEASERS, any_of

_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufffe\uffff\U000e0000-\U000e007f]"
)
_TAG = re.compile(
    r"</?(?:u|s|b|i|em|strong|sup|sub|del|ins|br|hr|small|mark|span|font|center|img)(?:\s[^<>]{0,2000})?/?>"
    r"|<!--[^<>]{0,2000}-->",
    re.IGNORECASE,
)
_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,500})\]"
    r"\((?:[^()\s]{0,2000}|[^()\s]{0,500}\([^()\s]{0,300}\)[^()\s]{0,500})(?:\s\"[^\"\n]{0,200}\")?\)"
)
_SPAN = re.compile(r"(?<![`\\])(`{1,2})(?!`)[^`\n]{1,500}\1(?!`)")
_PUT_ASIDE = re.compile("\0(\\d+)\0")
_PROGRAM = re.compile(r"(?<![`\\])<(script|style|noscript|iframe|svg)\b[^<>]{0,2000}(?<!/)>", re.IGNORECASE)
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
_RESIDUE_CHARACTERS = 60
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
    parts = list(segments(text, len(text) + 1))
    blocks = [each if each.code else msgspec.structs.replace(each, text=_bare(each.text)) for each in parts]
    kept = [each for number, each in enumerate(blocks) if not _noise(each, number, len(blocks), title)]
    return "\n\n".join(each.text for each in kept[: _end(kept)])


def without_programs(text: str) -> str:
    """Markdown without the scripts and styles that its maker left in it; those that it shows as code stay."""
    shown = [(each.start, each.end) for each in segments(text, len(text) + 1) if each.code]
    parts: list[str] = []
    at = 0
    while (found := _PROGRAM.search(text, at)) is not None:
        name = found.group(1).lower()
        end = re.compile(rf"</{name}\b[^<>]{{0,100}}>", re.IGNORECASE).search(text, found.end())
        inside = next((stop for start, stop in shown if start <= found.start() < stop), 0)
        stop = inside or (end.end() if end else len(text))
        parts.append(text[at : stop if inside else found.start()])
        at = stop
    return "".join([*parts, text[at:]])


def _bare(text: str) -> str:
    """The words themselves: quotes are found in them whatever was bold. Code keeps its signs."""
    spans: list[str] = []

    def put_aside(found: re.Match[str]) -> str:
        spans.append(found.group())
        return f"\0{len(spans) - 1}\0"

    text = _LINK.sub(r"\1", _TAG.sub("", _SPAN.sub(put_aside, text)))
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    text = _PUT_ASIDE.sub(lambda found: spans[int(found.group(1))], _ESCAPE.sub(r"\1", text))
    return "\n".join(line.rstrip() for line in text.split("\n") if line.strip())


def _residue(block: str) -> bool:
    """Whether a block is program or style that was taken for text; what a page shows as code has lines or marks."""
    if "\n" in block or "`" in block or len(block) < _RESIDUE_CHARACTERS or not _CODE.search(block):
        return False
    return sum(block.count(sign) for sign in "{}()[];=\"'") > _SIGNS_SHARE * len(block)


def _noise(block: Segment, number: int, count: int, title: str) -> bool:
    text = block.text
    if block.code or text.startswith("|"):
        return not text.strip()
    said = prose(text.lstrip("# "))
    if block.heading:
        return not said or (number < _OPENING and _same(said, title))
    lines = [prose(line) for line in text.split("\n")]
    if not said or _residue(text) or all(_NOISE_LINE.fullmatch(line.strip(" .:|•·")) for line in lines):
        return True
    if len(said) <= _TEASER_CHARACTERS and len(lines) == 1 and _TEASER.match(said):
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
    return bool(other) and normalize(one)[0] == normalize(other)[0]
