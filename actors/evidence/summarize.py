"""What is essential of much: results, long texts and an analysis, cut down to whole sentences and paragraphs. Pure."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from actors.evidence.sources import PAGE_CHARACTERS
from actors.text.markdown_blocks import Segment, prose, segments, whole_sentences
from actors.text.tokenizer import tokens
from actors.text.truncate import cut_at_paragraph, shorten

SUMMARY_CHARACTERS = 199
KEY_POINTS = 4
POINT_CHARACTERS = 300

_POINTS_FROM = 2_000
"""Sentences of a text that are weighed for its key points."""
_PARAGRAPHS = 2_000
"""They come from the first so many paragraphs; a text of more, without sentences, is no text."""
_LEAD = 0.3


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


def summary(text: str) -> str:
    """What a text says first: less than 200 characters of plain text."""
    return shorten(next(_prose_sentences(text), ""), SUMMARY_CHARACTERS)


def key_points(text: str, question: str = "", most: int = KEY_POINTS) -> tuple[str, ...]:
    """The sentences that bear most on a question, or on what the whole text is about: verbatim, in their order."""
    found = list(dict.fromkeys(_prose_sentences(text)))
    bags = [frozenset(tokens(each)) for each in found]
    spread = Counter(term for bag in bags for term in bag)
    asked = frozenset(tokens(question)) & spread.keys()

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


def _ranks(parts: Sequence[Segment], question: str) -> dict[int, float]:
    """How much each paragraph bears on the question; headings are no paragraphs, but speak for those below them."""
    bags = [Counter(tokens(part.text)) for part in parts]
    spread = Counter(term for bag in bags for term in bag)
    asked = {term: _rarity(len(bags), spread[term]) for term in set(tokens(question)) if term in spread}
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


def _prose_sentences(text: str) -> Iterator[str]:
    """The whole sentences of a text's prose, without marks."""
    paragraphs = (part for part in segments(text) if not part.heading and not part.code)
    said = (sentence for part in islice(paragraphs, _PARAGRAPHS) for sentence in whole_sentences(prose(part.text)))
    return (sentence for sentence in islice(said, _POINTS_FROM) if 30 <= len(sentence) <= POINT_CHARACTERS)
