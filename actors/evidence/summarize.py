"""What is essential of much: results, long texts and an analysis, cut down to whole sentences and paragraphs. Pure."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from actors.evidence.sources import PAGE_CHARACTERS
from actors.text.markdown_blocks import Segment, prose, segments, sentences, words
from actors.text.normalize import casefold

SUMMARY_CHARACTERS = 199
KEY_POINTS = 4
POINT_CHARACTERS = 300

_POINTS_FROM = 2_000
"""Sentences of a text that are weighed for its key points."""
_LEAD = 0.3
_WORD = re.compile(r"[a-z0-9\u00c0-\u024f\u0370-\u052f]{2,}")
_CJK = re.compile(r"(?=([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{2}))")
_STEM = 6
_LIGHT = words(
    """
    about after also and any are because been before but can could did does for from had has have how into its may
    more most not only other our over should some such than that the their them then there these they this those
    through under use used uses using was were what when where which while who why will with would you your
    """
)


def essential(text: str, question: str, limit: int = PAGE_CHARACTERS) -> str:
    """
    The paragraphs that bear most on a question, with the headings above them, each verbatim and in their order.

    :param limit: characters at most.
    """
    if len(text) <= limit:
        return text
    parts = list(segments(text))
    ranks = _ranks(parts, question)
    kept: set[int] = set()
    left = limit
    for number in sorted(ranks, key=lambda n: (-ranks[n], n)):
        wanted = [n for n in (*parts[number].above, number) if n not in kept]
        size = sum(parts[n].end - parts[n].start + 2 for n in wanted)
        if size <= left:
            kept.update(wanted)
            left -= size
    return "\n\n".join(parts[n].of(text) for n in sorted(kept)) or cut_at_paragraph(text, limit)


def cut_at_paragraph(text: str, limit: int = PAGE_CHARACTERS) -> str:
    """The beginning of a text, up to the last whole paragraph, else sentence, else character that fits."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    for mark, keep in (("\n\n", 0), ("\n", 0), (". ", 1), ("。", 1)):
        at = head.rfind(mark)
        if at > limit // 2:
            return head[: at + keep].rstrip()
    return head.rstrip()


def summary(text: str, question: str = "") -> str:
    """What a text says first, or first on the question: less than 200 characters of plain text."""
    for said in key_points(text, question, 1) if question else ():
        return cut(said, SUMMARY_CHARACTERS)
    first = next(_said(text), "")
    return cut(first, SUMMARY_CHARACTERS)


def key_points(text: str, question: str = "", most: int = KEY_POINTS) -> tuple[str, ...]:
    """The sentences that bear most on a question, or on what the whole text is about: verbatim, in their order."""
    found = list(dict.fromkeys(_said(text)))
    bags = [frozenset(_terms(each)) for each in found]
    spread = Counter(term for bag in bags for term in bag)
    asked = frozenset(_terms(question)) & spread.keys()

    def weight(number: int) -> float:
        bag = bags[number]
        said = sum(_rarity(len(bags), spread[term]) for term in bag & asked)
        about = sum(math.log(spread[term]) for term in bag) / (3 + len(bag))
        return said + about + _LEAD / (1 + number)

    best: list[int] = []
    for number in sorted(range(len(found)), key=lambda n: (-weight(n), n)):
        if len(best) == most:
            break
        if all(2 * len(bags[number] & bags[other]) < len(bags[number] | bags[other]) for other in best):
            best.append(number)
    return tuple(found[number] for number in sorted(best))


def cut(text: str, most: int) -> str:
    """A text on one line, not longer than this, cut between two words."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    head = line[: most - 1]
    at = head.rfind(" ")
    return (head[:at] if at > most // 2 else head).rstrip(" ,;:") + "…"


def _ranks(parts: Sequence[Segment], question: str) -> dict[int, float]:
    """How much each paragraph bears on the question; headings are no paragraphs, but speak for those below them."""
    bags = [Counter(_terms(part.text)) for part in parts]
    spread = Counter(term for bag in bags for term in bag)
    asked = {term: _rarity(len(bags), spread[term]) for term in set(_terms(question)) if term in spread}
    ranks: dict[int, float] = {}
    for number, part in enumerate(parts):
        if part.heading:
            continue
        above = set().union(*(bags[n] for n in part.above)) if part.above else set()
        bag = bags[number]
        said = sum(weight * bag[term] / (1 + bag[term]) for term, weight in asked.items())
        headed = sum(weight for term, weight in asked.items() if term in above)
        ranks[number] = said + 0.5 * headed + _LEAD / (1 + number / 4)
    return ranks


def _rarity(count: int, having: int) -> float:
    return math.log(1 + count / having)


def _said(text: str) -> Iterator[str]:
    """The whole sentences of a text's prose, without marks."""
    count = 0
    for part in segments(text):
        if part.heading or part.code:
            continue
        for said in sentences(prose(part.text)):
            count += 1
            if count > _POINTS_FROM:
                return
            if 30 <= len(said) <= POINT_CHARACTERS:
                yield said


def _terms(text: str) -> Iterator[str]:
    folded = casefold(text)
    for word in _WORD.findall(folded):
        if word not in _LIGHT:
            yield word[:_STEM]
    yield from _CJK.findall(folded)
