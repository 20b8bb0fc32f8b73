"""
A ticket that asks several things, taken apart: each part with the story that belongs to it. Pure.

A new part begins where the words say so ("Second", "another thing", an item of a list), and where a question stands
by itself beside an earlier one. What leans on what was said before it stays with that.
"""

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from actors.evidence.passages import PartHits, Passage, SearchHits, Span
from actors.evidence.shortfalls import merge_shortfalls
from actors.helpdesk.question_forms import ALSO, ANNOUNCES, ASKS, FURTHER, GOES_ON, JOINED, LEANS, TALK, WISHES
from actors.helpdesk.triage import question as find_question
from actors.text.sentences import split_requests
from actors.text.stop_words import EVERYDAY
from actors.text.tokenizer import is_cjk, spellings
from actors.text.truncate import shorten
from actors.workflow.earlier_messages import EarlierMessage

CHARACTERS = 20_000
"""So much of a ticket is looked at."""
SENTENCES = 200
"""So many of its sentences are told apart; those behind them stay with the last."""
PARTS = 3
"""So many are searched for one by one; what is asked beyond them stays with the last one."""
PASSAGES = 12
"""So many passages are kept of all of them."""
HEADLINE_CHARACTERS = 120
OWN_WORDS = 2
"""So many words that are not of everyday talk make a part; less is no question of its own."""
LONG = 9
"""Letters of a stem that says as much as two words: `farbdrucker`, `kindergeldantrag`."""


class Part(NamedTuple):
    """One thing that a ticket asks."""

    headline: str
    """The sentence that asks it, shortened."""
    text: str
    """All that was written on it."""


_MARK = re.compile(r"^\s*(?:\(?(?:\d{1,2}|[a-h])[.)、](?!\d)|[-*•](?=\s))\s*", re.IGNORECASE)


def take_apart(text: str) -> tuple[Part, ...]:
    """The parts of a text that asks several things, in its order; none where it asks one."""
    sentences = [piece for each in split_requests(text[:CHARACTERS]) for piece in _split_joined(each)]
    if len(sentences) > SENTENCES:
        sentences[SENTENCES - 1 :] = ["\n".join(sentences[SENTENCES - 1 :])]
    listed = sum(_is_item(each) for each in sentences) > 1
    groups: list[list[str]] = [[]]
    for sentence in sentences:
        if _turns(sentence, groups, listed=listed):
            groups.append([])
        groups[-1].append(sentence)
    groups = _join_what_asks_nothing(groups)
    if len(groups) < 2:
        return ()
    if len(groups) > PARTS:
        groups = [*groups[: PARTS - 1], list(itertools.chain(*groups[PARTS - 1 :]))]
    return tuple(Part(_find_headline(group), "\n".join(group)) for group in groups)


def add_context(question: str, said_before: Sequence[EarlierMessage]) -> str:
    """
    A follow-up as it is looked for: below the subject of the first question where it does not say enough by itself.

    That subject is its first line: the ticket's own, where it has one. Nothing else is taken from before, or the first
    answer would be found again.
    """
    stands_alone = _weigh(_own_words(question)) >= OWN_WORDS and not LEANS.search(question)
    if stands_alone or not said_before:
        return question
    first = next((each for each in said_before if each.role == "customer"), said_before[0])
    subject = find_question(first.text).partition("\n")[0]
    return f"{shorten(subject, HEADLINE_CHARACTERS)}\n\n{question}"


def _turns(sentence: str, groups: list[list[str]], *, listed: bool) -> bool:
    """Whether a sentence begins a further part."""
    if not any(groups):
        return False
    if listed and _is_item(sentence):
        return True
    said = _MARK.sub("", sentence, count=1)
    if FURTHER.match(said) or (ALSO.match(said) and WISHES.search(said)):
        return True
    before = groups[-1]
    if not _is_question(said) or GOES_ON.match(said) or LEANS.search(said) or not any(map(_is_question, before)):
        return False
    known = _own_words("\n".join(before))
    return _weigh(_own_words(sentence) - known) >= OWN_WORDS


def _join_what_asks_nothing(groups: list[list[str]]) -> list[list[str]]:
    """A preamble goes with the part behind it, and what has nothing of its own with the part before it."""
    kept: list[list[str]] = []
    preamble: list[str] = []
    for group in groups:
        text = "\n".join(group)
        if not kept and (ANNOUNCES.search(text) or _weigh(_own_words(text)) < OWN_WORDS) and not _asks(group):
            preamble += group
        elif kept and (_weigh(_own_words(text)) < OWN_WORDS or not _asks(group)):
            kept[-1] += group
        else:
            kept.append([*preamble, *group])
            preamble = []
    return kept


def _asks(group: list[str]) -> bool:
    return any(WISHES.search(each) and not ANNOUNCES.search(each) for each in group)


def _find_headline(group: list[str]) -> str:
    """The sentence that asks, if it can be understood by itself; else the one that says most."""
    asking = [each for each in group if WISHES.search(each) and not LEANS.search(each)]
    best = max(asking or group, key=lambda each: len(_own_words(each)))
    return shorten(_MARK.sub("", best, count=1), HEADLINE_CHARACTERS)


def _split_joined(sentence: str) -> list[str]:
    """Two questions that "and" joins, where each can be understood by itself."""
    if not _is_question(sentence):
        return [sentence]
    pieces = [sentence]
    for place in JOINED.finditer(sentence):
        before, rest = pieces[-1][: place.start() - len(sentence)], sentence[place.end() :]
        if before and _stands_alone(before) and _stands_alone(rest) and _brings_more(rest, before):
            pieces[-1:] = [before, rest]
    mark = sentence.rstrip()[-1]
    return [each if _is_question(each) else f"{each.rstrip(' ,，、')}{mark}" for each in pieces]


def _stands_alone(clause: str) -> bool:
    """Whether a clause asks something that can be understood by itself."""
    return bool(ASKS.search(clause)) and not LEANS.search(clause) and bool(_own_words(clause))


def _brings_more(clause: str, before: str) -> bool:
    return _weigh(_own_words(clause) - _own_words(before)) >= OWN_WORDS


def _is_item(sentence: str) -> bool:
    return bool(_MARK.match(sentence)) and bool(_own_words(sentence))


def _is_question(sentence: str) -> bool:
    return sentence.rstrip().endswith(("?", "？"))


def _own_words(text: str) -> frozenset[str]:
    """The terms of a text that are not of everyday talk."""
    return frozenset(
        term
        for word, term in spellings(TALK.sub(" ", text))
        if (len(term) > 1 if is_cjk(term) else word not in EVERYDAY)
    )


def _weigh(terms: frozenset[str]) -> int:
    """How much terms say: a long word, as German puts them together, is two."""
    return sum(2 if len(each) >= LONG else 1 for each in terms)


def merge_hits(parts: Sequence[PartHits]) -> SearchHits:
    """What was found for each part as one, the best of each first; what was found for none is no answer."""
    answered = [_scale(each.hits.passages) for each in parts if not each.hits.abstain]
    if not answered:
        answered = [_scale(each.hits.passages) for each in parts]
    passages: dict[str, Passage] = {}
    for each in filter(None, itertools.chain.from_iterable(itertools.zip_longest(*answered))):
        known = passages.get(each.id)
        passages[each.id] = msgspec.structs.replace(each, quotes=known.quotes + each.quotes) if known else each
    refused = [each.hits for each in parts if each.hits.abstain]
    why = refused[0] if refused and len(refused) == len(parts) else SearchHits()
    confidence = min((each.hits.confidence for each in parts), default=0.0)
    kept = tuple(passages.values())[:PASSAGES]
    incomplete = merge_shortfalls(*(each.hits.incomplete for each in parts))
    return SearchHits(kept, why.abstain, confidence, incomplete=incomplete, parts=tuple(parts), reason=why.reason)


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
