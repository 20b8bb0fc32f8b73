"""Which words of a passage can stand alone in a report: whole sentences that say of what they speak."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from actors.evidence.passages import Passage, Span
from actors.text.sentences import sentences
from actors.text.tokenizer import CJK

LONGEST = 560
"""Characters of one quote."""
SENTENCES = 4
CODE_LINES = 8
"""Of the code at most, that the last sentence may introduce."""
BACK = 3
"""So many sentences before a quote are looked at for what its "this" means."""
ASIDE = 90
"""A last sentence that is longer and says nothing of the question is left out."""
LETTERS = 0.7
WORDS, CHARACTERS = 5, 12
"""A sentence has so many words, or so many characters of a script without spaces."""

_BLANK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+", re.MULTILINE)
_NO_PROSE = re.compile(r"^[ \t]*(?:[#|>=]|---|\*\*\*|!\[)|\S \| \S")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
_ENDS = re.compile(r"[.!?。！？…][\"')\]”’」』）*_]*$")
_OPENS = re.compile(rf"[A-Z0-9\"'“‘`*{CJK}]|\w+[_.]\w|[a-z]+[A-Z]")
_REFERS = re.compile(
    r"(?!It is (?:possible|recommended|necessary|important|useful|often|best|wise|advisable|common|worth)\b)"
    r"(?:This|These|That|Those|It|Its|They|Their|He|She|Such|However|Therefore|Thus|Hence|Consequently|Also|But|And|Or|"
    r"So|Then|Additionally|Moreover|Furthermore|Instead|Likewise|Otherwise|Similarly|Nevertheless|Nonetheless|Still|Yet|"
    r"Conversely|Alternatively|Finally|Next|Here|There(?= is also| are also)|Both|Neither|"
    r"Either|Another|Others?|Again|Besides|Afterwards|Meanwhile|Accordingly|Of course|Specifically|In other words|"
    r"In particular|(?:The )?(?:latter|former|same|following|above|reason|result)\b|"
    r"The (?:first|second|third|fourth|other|others|resulting|remaining|previous|new) |"
    r"(?:For|As an?) (?:example|instance|alternative|consequence|result|this|that|these|those)|"
    r"(?:In|At|On|By|With|From|To|Under|After|Before|Because of|Due to|If|When|Even if|Even when|Note that) "
    r"(?:this|that|these|those|addition(?! to)|contrast|turn|so|such|the former|the latter|"
    r"the (?:above|previous|last|first|second|other|same)|it|they|both)\b|"
    r"On the other hand|If so|If not|As (?:you|we)\b|"
    r"As (?:mentioned|noted|described|explained|shown|above|with|before|such)|"
    r"Since (?:this|that|it|they)|While (?:this|that|it|they)|Like (?:this|that)|"
    r"One (?:such|limitation|exception|reason|solution|problem|drawback|of (?:these|those|them))|"
    r"(?:Two|Three|Most|Many|Some|All|None|Each|Any|Several|Few) of (?:these|those|them|which)|All (?:these|those))\b|"
    r"(?:First|Second|Third)(?:ly)?,|\(|(?:这|那|它|其|此|但|因此|所以|然而|另外|例如|이것|그것|그러나|따라서|또한|예를)"
)
_POINTER = re.compile(
    r"^(?:To learn more|(?:More|Further) (?:details|information)|As previously|Please (?:see|refer|note that this))\b|"
    r"\b(?:details|information)\b.{0,60}\b(?:can be|are|is) found in\b|\bsee \\?\[|"
    r"^(?:\(?(?:See|Refer to|Consult|Read|Click|Table|Figure|Example|Listing|Section|Chapter|Appendix|Prev|Next|Up|"
    r"Home|Note:?$|Tip:?$|For (?:more|further|details|additional|a (?:full|complete|detailed|list)))\b)|"
    r"\b(?:see|refer to) (?:below|above|also|the (?:next|previous|following)|"
    r"(?:Section|Chapter|Table|Figure|Appendix) [\w.]+)\.?\)?\.?$|"
    r"\b(?:as|is|are) (?:shown|listed|summarized|described|given|explained|discussed|defined|covered|documented) "
    r"(?:in|below|above|later|next|here|earlier)\b|"
    r"\b(?:shown|listed|described|discussed|given|mentioned) (?:below|above|here)\b|"
    r"\b(?:below|above)\b(?! (?:\d|zero\b|(?:this|that|the|a) ))|\bthe (?:above|below)\b|"
    r"\b(?:preceding|previous|next|following) (?:examples?|sections?|tables?|chapters?|figures?|listings?)\b|"
    r"\bas illustrated\b|\bthe following\b[^:]{0,300}\.$|\bas indicated\b|"
    r"\bTable \d|\bFigure \d|\bas follows\.$|"
    r"\b(?:suppose|imagine|assume we|let's say|let us|consider (?:the|a|an) (?:following|case|example|situation))\b|"
    r"(?:见|参见|参阅|如下|上述|下[表图文]|아래|위의|참조)"
    r"|^(?:This|The (?:following|next)) (?:section|chapter|table|example|list|page|appendix)s? ",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"(?<=\S) \([^()]{0,200}\)")


class Part(NamedTuple):
    start: int
    end: int
    kind: str
    """prose, item (of a list), code, or other: headings and tables."""
    block: int
    """Parts of one block follow each other within a paragraph or list."""


def standalone_parts(passage: Passage, place: Span, bears: Callable[[str], bool]) -> Span | None:
    """
    The sentences at a place that can stand alone, with the one before them where they point back; None when none can.

    :param bears: whether a sentence says something of what is asked.
    """
    text = passage.text
    every = parts(text)
    core = [i for i, part in enumerate(every) if part.start < place.end and part.end > place.start]
    while core:
        first = _opening(text, every, core[0])
        if first is not None:
            break
        core = core[1:]
    else:
        return None
    last = _closing(text, every, first, core[-1], bears)
    if last is None:
        return None
    start = every[first].start
    if every[first].kind == "item" and _ITEM.search(text, start, every[last].end):
        start = text.rfind("\n", 0, start) + 1  # the first of several items keeps its mark as the others do
    return Span(start, every[last].end, place.score)


def parts(text: str) -> list[Part]:
    """A passage's sentences, list items and pieces of code, in order."""
    found: list[Part] = []
    start = 0
    for block, gap in enumerate([*_BLANK.finditer(text), None]):
        end = gap.start() if gap else len(text)
        if text[start:end].strip():
            found += _block(text, start, end, block)
        start = gap.end() - (len(gap.group()) - len(gap.group().rstrip(" \t"))) if gap else end
    return found


def _block(text: str, start: int, end: int, block: int) -> list[Part]:
    lines = text[start:end].split("\n")
    if all(line.startswith(("    ", "\t")) for line in lines if line.strip()) or _FENCE.match(lines[0]):
        return [Part(start, end, "code", block)]
    if _NO_PROSE.search(lines[0]):
        return [Part(start, end, "other", block)]
    marks = [start + mark.start() for mark in _ITEM.finditer(text[start:end])]
    bounds = sorted({start, *marks, end})
    found: list[Part] = []
    for one, other in pairwise(bounds):
        mark = _ITEM.match(text, one) if one in marks else None
        kind = "item" if mark else "prose"
        found += [Part(a, b, kind, block) for a, b in sentences(text, mark.end() if mark else one, other)]
    return found


def _opening(text: str, every: list[Part], at: int) -> int | None:
    """Where a quote of this sentence begins; None when it cannot be understood without what is not quoted."""
    for first in range(at, max(-1, at - 1 - BACK), -1):
        part = every[first]
        said = text[part.start : part.end]
        if part.kind in ("code", "other") or part.block != every[at].block or not fit(said):
            return None
        if every[at].end - part.start > LONGEST:
            return None
        if not refers(said):
            return first if not text[: part.start].rstrip().endswith("..") else None
    return None


def _closing(text: str, every: list[Part], first: int, last: int, bears: Callable[[str], bool]) -> int | None:
    """The last part of a quote that begins here; None when nothing of it would bear on what is asked."""
    best: int | None = None
    for count, i in enumerate(range(first, last + 1)):
        part = every[i]
        said = text[part.start : part.end]
        if part.kind == "code" and i > first:
            introduced = text[: part.start].rstrip().endswith((":", "："))
            end = _code_end(every, i)
            short = text[part.start : every[end].end].count("\n") < CODE_LINES
            return end if introduced and short else best
        alien = part.block != every[first].block or part.kind == "other"
        if alien or count == SENTENCES or (count and part.end - every[first].start > LONGEST) or not fit(said):
            break
        introduces = said.rstrip().endswith((":", "："))
        if not introduces and (bears(said) or (best is not None and len(said) <= ASIDE)):
            best = i
    return best


def _code_end(every: list[Part], at: int) -> int:
    """The last part of a piece of code with empty lines in it."""
    while at + 1 < len(every) and every[at + 1].kind == "code":
        at += 1
    return at


def fit(said: str) -> bool:
    """Whether it is a whole sentence that does not send the reader elsewhere."""
    if not _OPENS.match(said) or not (_ENDS.search(said) or said.rstrip().endswith((":", "："))):
        return False
    letters = sum(c.isalpha() or c.isspace() for c in said)
    if letters < LETTERS * len(said) or _POINTER.search(_ASIDE.sub("", said)):
        return False
    if said.endswith("..") or said.count("(") != said.count(")") or said.count("“") != said.count("”"):
        return False
    return len(said.split()) >= WORDS or len(re.findall(f"[{CJK}]", said)) >= CHARACTERS


def refers(said: str) -> bool:
    """Whether a sentence leans on the one before it."""
    return bool(_REFERS.match(said))
