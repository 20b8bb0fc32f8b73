"""A ticket that asks several things, taken apart for the search and put together again. Pure."""

import itertools
import re
from collections.abc import Sequence

import msgspec

from actors.evidence.passages import Passage, SearchHits, Span
from actors.text.sentences import split_requests

CHARACTERS = 20_000
"""So much of a ticket is looked at."""
QUESTIONS = 3
"""So many are searched for one by one; an answer quotes no more than three pages."""
PASSAGES = 12
"""So many passages are kept of all of them."""

_NUMBER = re.compile(r"^\s*(?:\(?\d{1,2}[.)、](?!\d)|[-*•](?=\s))\s*")
_SAYS = re.compile(r"(?:\w+\W+){2}\w|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{4}")
"""Three words, or four characters of a script without many spaces: less is no question of its own."""


def questions(text: str) -> tuple[str, ...]:
    """The questions of a text that has more than one; else none."""
    sentences = (_NUMBER.sub("", part, count=1).strip() for part in split_requests(text[:CHARACTERS]))
    asked = tuple(dict.fromkeys(each for each in sentences if each.endswith(("?", "？")) and _SAYS.search(each)))
    return asked[:QUESTIONS] if len(asked) > 1 else ()


def merge_hits(found: Sequence[tuple[str, SearchHits]]) -> tuple[SearchHits, tuple[str, ...]]:
    """What was found for each question as one, the best of each first; and the questions that nothing was found for."""
    answered = [_scale(each.passages) for _, each in found if not each.abstain]
    unanswered = tuple(question for question, each in found if each.abstain)
    rounds = itertools.chain.from_iterable(itertools.zip_longest(*answered))
    passages: dict[str, Passage] = {}
    for each in rounds:
        if each is not None:
            known = passages.get(each.id)
            passages[each.id] = msgspec.structs.replace(each, quotes=known.quotes + each.quotes) if known else each
    confidence = 0.0 if unanswered else min((each.confidence for _, each in found), default=0.0)
    return SearchHits(tuple(passages.values())[:PASSAGES], "", confidence), unanswered


def _scale(passages: tuple[Passage, ...]) -> list[Passage]:
    """Scores of two searches cannot be compared: the best page and the best quote of each count 1."""
    best = max((quote.score for each in passages for quote in each.quotes), default=0.0) or 1.0
    top = max((each.score for each in passages), default=0.0) or 1.0
    return [
        msgspec.structs.replace(
            each,
            score=each.score / top,
            quotes=tuple(Span(quote.start, quote.end, quote.score / best) for quote in each.quotes),
        )
        for each in passages
    ]
