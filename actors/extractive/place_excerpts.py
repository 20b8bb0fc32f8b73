"""What is shown of a place: a short passage whole, else the paragraphs around what bears on the question. Pure."""

import re

from actors.evidence.passages import Passage, SearchHits, Span

WHOLE = 1200
"""
A passage of so many characters is shown whole: what a cut leaves out may be the answer.

Of 32 right pages for mails in everyday words (`bench.manual`, graded by reading) two more answer than where 700 are
shown, and no right place is cut; an answer is 17 % longer.
"""
PART, STEPS = 700, 1100
"""So much of a longer one is shown, and so much of a list of steps, with what introduces it."""
STEP = 140
"""Paragraphs that are on average no longer than this are steps, or rows."""

_GAP = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


def take_excerpt(number: int, found: SearchHits) -> Span:
    """
    The part of a passage that is shown: whole paragraphs.

    :param number: of the passage among those found, from 1 on.
    """
    passage = found.passages[number - 1]
    paragraphs = _paragraphs(passage.text)
    if not paragraphs:
        return Span(0, 0)
    lengths = [end - start for start, end in paragraphs]
    if paragraphs[-1][1] - paragraphs[0][0] <= WHOLE:
        return Span(paragraphs[0][0], paragraphs[-1][1])
    most = STEPS if len(lengths) > 2 and sum(lengths) <= STEP * len(lengths) else PART
    return _around(passage.text, paragraphs, _bearing(number, passage, found), most)


def _paragraphs(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    start = 0
    for gap in [*_GAP.finditer(text), None]:
        end = gap.start() if gap else len(text)
        if text[start:end].strip():
            found.append((start, end))
        start = gap.end() if gap else end
    return found


def _bearing(number: int, passage: Passage, found: SearchHits) -> Span:
    """What bears most on the question: by meaning where that is known, else by words, else how the passage begins."""
    by_meaning = (each.place for each in (found.meaning.sentences if found.meaning else ()) if each.passage == number)
    return next(by_meaning, None) or next(iter(passage.quotes), Span(0, 0))


def _around(text: str, paragraphs: list[tuple[int, int]], place: Span, most: int) -> Span:
    """The paragraph of a place and what introduces it; as there is room, those behind it, then those before it."""
    first = next((n for n, (_, end) in enumerate(paragraphs) if end > place.start), 0)
    last = next((n for n, (_, end) in enumerate(paragraphs) if end >= place.end), first)
    last = max(first, last)
    if paragraphs[last][1] - paragraphs[0][0] <= most:
        first = 0
    elif first and text[: paragraphs[first - 1][1]].rstrip().endswith((":", "：")):
        first -= 1
    while last + 1 < len(paragraphs) and paragraphs[last + 1][1] - paragraphs[first][0] <= most:
        last += 1
    while first and paragraphs[last][1] - paragraphs[first - 1][0] <= most:
        first -= 1
    return Span(paragraphs[first][0], paragraphs[last][1])
