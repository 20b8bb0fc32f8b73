"""Text from outside: folded so that it can be compared, cleaned so that it can be shown. Pure."""

import functools
import re
import unicodedata

from actors.text.unicode_forms import fold_forms
from actors.text.word_patterns import compile_words

_INVISIBLE = frozenset("\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")
_SIGNS = str.maketrans(
    dict.fromkeys("‘’‚‛`´′＇", "'") | dict.fromkeys("“”„‟«»″＂", '"') | dict.fromkeys("‐‑‒–—―−﹣－", "-")
)
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
_TARGET = r"\((?:[^()\s]|\([^()\s]{0,200}\)){0,2000}(?:\s[^()\n]{0,300})?\)"
_IMAGE = re.compile(rf"!\[([^\[\]\n]{{0,300}})\]{_TARGET}")
_LINK = re.compile(rf"\[([^\[\]\n]{{0,300}})\](?:{_TARGET}|\[[^\[\]\n]{{0,200}}\])")
_NUMBER_IN_BRACKETS = re.compile(r"\[(\s*\d[\d\s,;–-]*)\]")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_ESCAPED_TAG = re.compile(r"&lt;(?=[A-Za-z/!?])")
_PAGE_MARKS = re.compile(
    r"</?(?:br|center|div|em|font|img|small|span|strong|sub|sup)(?:\s[^<>]{0,500})?/?>|<(?:a|i|p|u)\s[^<>]{0,500}>|</a>|"
    r"\{[.#:][^{}\n]{0,200}\}",
    re.IGNORECASE,
)
"""Tags that dress a page up, and the attributes that some Markdown takes behind a link or a heading."""
_CALLOUT = re.compile(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_BLOCK_START = re.compile(r"(?=[#>|=]|```|~~~|[-+*_]{3}|[-+*]$|:::)")
_OPEN = r"(?:\](?=[(\[])|\[(?=\^|[^\[\]\n]{1,300}\]:)|\{(?=[^}\n]{0,200}=)|(?:(?<=!)|(?<=!\\))\[)"
_LIVE = re.compile(rf"(?<!\\)(?:\\\\)*{_OPEN}")
"""What is left of links, notes, and attributes that some viewers take from braces, where nothing escapes it yet."""
_ESCAPED = re.compile(rf"\\(?={_OPEN})")
_ESCAPED_START = re.compile(rf"\\{_BLOCK_START.pattern}")
_ITEM = re.compile(r"\s*(?:[-*+:]|!!!|\?\?\?\+?|\d{1,9}[.)])\s+\S")
"""Of a list, a definition or a box: what is indented below it belongs to it."""
_TABLE_RULE = compile_words(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*$")
_QUOTED = re.compile(r"^\s*>\s?")


def casefold(text: str) -> str:
    """Compatibility forms, case and invisible characters folded, in composed characters: for finding words."""
    return "".join(c for c in fold_forms(text) if c not in _INVISIBLE).casefold()


def remove_controls(text: str) -> str:
    """A text without control characters, marks that turn its direction, and what cannot be encoded."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").expandtabs(4))


MOST_TRIED = 300
"""Places at which a quote's letters stand, if they are only a part of a ligature there."""
MOST_LETTERS = 6
"""Of one character; U+FDFA would be 18."""


@functools.lru_cache(4096)
def _fold(character: str) -> str:
    folded = unicodedata.normalize("NFKD", character.translate(_SIGNS)).casefold()
    return folded if len(folded) <= MOST_LETTERS else character


@functools.lru_cache(64)
def normalize(text: str) -> tuple[str, tuple[int, ...]]:
    """
    A text without the differences that do not matter, and where each of its characters stood.

    Compatibility forms, case, kinds of quotes and dashes, invisible characters and the kind of white space.
    """
    folded: list[str] = []
    places: list[int] = []
    space = True
    for i, character in enumerate(text):
        if character in _INVISIBLE:
            continue
        for c in _fold(character):
            if c.isspace():
                if space:
                    continue
                c = " "
            space = c == " "
            folded.append(c)
            places.append(i)
    if folded and folded[-1] == " ":
        folded.pop()
        places.pop()
    return "".join(folded), tuple(places)


def find_span(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quote stands in a text, after folding: `text[start:end]`; None when it does not."""
    if not quote.strip():
        return None
    exact = text.find(quote)
    if exact >= 0:
        return exact, exact + len(quote)
    wanted = normalize(quote)[0]
    have, places = normalize(text)
    at = have.find(wanted) if wanted else -1
    for _ in range(MOST_TRIED):
        if at < 0:
            break
        end = at + len(wanted)
        whole = (at == 0 or places[at - 1] != places[at]) and (end == len(places) or places[end] != places[end - 1])
        if whole:  # half of a syllable or ligature is no match
            return places[at], places[end - 1] + 1
        at = have.find(wanted, at + 1)
    return None


def sanitize_markdown(text: str) -> str:
    """
    A text so that it can neither command a terminal nor break the Markdown around it.

    Links and images become their words, a bracketed number cannot pass for a citation, code keeps its lines. Where
    several such texts stand one below the other, `settle_code` keeps code apart from what stands above it.
    """
    return _sanitize(text, keeps_code=True)


def sanitize_line(text: str) -> str:
    """The same on one line of its own, where code is words as all else."""
    return " ".join(_sanitize(text, keeps_code=False).split())


def sanitize_phrase(text: str) -> str:
    """The same of a text that stands within a line of ours: on one line, and nothing in it begins a block there."""
    line = sanitize_line(text)
    return line[1:] if _ESCAPED_START.match(line) else line


def disarm(text: str) -> str:
    """Words on one line, sanitized or not, in which nothing is live; what was escaped before is not escaped again."""
    return _dead(" ".join(remove_controls(text).split()))


def settle_code(text: str) -> str:
    """
    Sanitized texts, one below the other, so that nothing that one of them has as code is live below another.

    Behind a line of prose indented code goes on with that line, and below a list it belongs to its last item.
    """
    lines: list[str] = []
    listed = False
    for line in text.split("\n"):
        if not line.startswith("    ") or not line.strip():
            listed = listed or _ITEM.match(line) is not None
        else:
            if lines and lines[-1].strip() and not lines[-1].startswith("    "):
                lines.append("")
            line = _dead(_undead(line)) if listed else line
        lines.append(line)
    return "\n".join(lines)


def _sanitize(text: str, *, keeps_code: bool) -> str:
    blocks: list[str] = []
    prose: list[str] = []
    fenced = code = False
    blank, listed = True, False
    for raw in remove_controls(text).split("\n"):
        line = raw.rstrip()
        if _FENCE.match(line):
            fenced, blank = not fenced, True
            continue
        code = keeps_code and (fenced or (line.startswith("    ") and (blank or code)))
        if code and line.strip():
            _end(prose, blocks)
            line = _dead(line) if listed else line  # below a list it may be taken for prose
            blocks.append(line if line.startswith("    ") else f"    {line}")
        elif line.strip():
            item = _ITEM.match(line) is not None
            listed = listed or item
            if item or line.lstrip().startswith("|"):
                _end(prose, blocks)
            if not _TABLE_RULE.match(line):
                prose.append(line.strip().strip("|"))
        else:
            _end(prose, blocks)
        blank = not line.strip()
    _end(prose, blocks)
    return _join_blocks(blocks)


def unescape_markdown(text: str) -> str:
    """
    The characters that a reader of sanitized Markdown sees, for where nothing renders it, such as a terminal.

    It brings back no control character, for `sanitize_markdown` removes these and never writes them as entities.
    """
    lines: list[str] = []
    listed = False
    for line in text.split("\n"):
        code = line.startswith("    ") and not listed
        listed = listed or (not code and _ITEM.match(line) is not None)
        lines.append(line if code else _undead(line))
    return "\n".join(lines)


def remove_links(line: str) -> str:
    """Links, images and tags of pages are their words, and a number in brackets passes for no citation."""
    spans = line.split("`")  # within code they are what is spoken of
    line = "`".join(each if n % 2 else _PAGE_MARKS.sub("", each) for n, each in enumerate(spans))
    line = _CALLOUT.sub(lambda found: f"{found.group(1).capitalize()}:", line)
    line = _LINK.sub(r"\1", _IMAGE.sub(r"\1", line))
    return _NUMBER_IN_BRACKETS.sub(lambda found: f"[ {found.group(1).strip()} ]", line)


def _dead(line: str) -> str:
    """A line in which no viewer of Markdown finds a tag, a link or an attribute."""
    return _LIVE.sub(r"\\\g<0>", _TAG.sub("&lt;", line))


def _undead(line: str) -> str:
    line = line[1:] if _ESCAPED_START.match(line) else line
    return _ESCAPED.sub("", _ESCAPED_TAG.sub("<", line))


def _end(prose: list[str], blocks: list[str]) -> None:
    """Make one line of the open paragraph."""
    if prose:
        blocks.append(_inert(" ".join(_QUOTED.sub("", line).strip() for line in prose)))
        prose.clear()


def _join_blocks(blocks: list[str]) -> str:
    """Code stands apart from prose by an empty line, or Markdown would take it for prose."""
    parts: list[str] = []
    for i, block in enumerate(blocks):
        apart = i and block.startswith("    ") != blocks[i - 1].startswith("    ")
        parts.append(("\n\n" if apart else "\n" if i else "") + block)
    return "".join(parts)


def _inert(line: str) -> str:
    line = _dead(" ".join(remove_links(line).split()))
    if line.count("`") % 2:
        line = line.replace("`", "'")
    return f"\\{line}" if _BLOCK_START.match(line) else line
