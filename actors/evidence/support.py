"""
Whether a quote bears a claim out, as far as rules can tell: numbers, dates, identifiers, denials, words. Pure.

Contraries, superlatives and acts were compared by rules of language once; on claims that those were not made on they
helped no more than chance (`python -m bench.ablation`). What else a claim may get wrong, a second reader says.
"""

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

import msgspec

from actors.evidence.facts import Facts, Quantity, facts, supplies
from actors.evidence.negation import adds_denial, drops_denial
from actors.evidence.passages import Passage
from actors.evidence.wording import are_comparable, common_terms, terms
from actors.text.normalize import normalize
from actors.text.sentences import split_sentences
from actors.text.tokenizer import is_cjk

Verdict = Literal["supported", "contradicted", "unverified"]

QUOTE_CHARACTERS = 8
"""A shorter quote proves nothing, unless it is the claim itself."""
SUBSTANCE = 4
"""A claim has at least so many letters; one of Chinese, Japanese or Korean says as much as two."""


class Finding(msgspec.Struct, frozen=True, gc=False):
    """What rules say of a claim."""

    verdict: Verdict
    why: str = ""
    """What is wrong with it, as its author may be told; empty when it is supported."""
    kind: str = ""
    """The same for a person who does not see the claim, as the catalogue names it: of it nothing is repeated."""
    open: bool = False
    """Rules are not sure of it: whoever reads both may say otherwise."""


_ITEM = re.compile(r",\s*(?:and|or|und|oder|et|ou|y|o)?\s|\s(?:and|or|und|oder|et|ou|y|o)\s|、|，|和|与|\n")

SUPPORTED = Finding("supported")
DATE, NAME, NUMBER, SHORT, EMPTY = "lost_date", "lost_name", "lost_number", "lost_short", "lost_empty"
DENIAL, UNSAID = "lost_denial", "lost_unsaid"


class _Elsewhere:
    """The facts of a passage and of the ticket, found only when a claim goes beyond its quote: a passage is long."""

    def __init__(self, passage: Passage, known: str) -> None:
        self._texts = (f"{passage.title}\n{passage.heading}\n{passage.text}", known)

    @property
    def quantities(self) -> frozenset[Quantity]:
        read, asked = map(facts, self._texts)
        return read.quantities | asked.quantities

    @property
    def dates(self) -> frozenset[tuple[int, int, int]]:
        read, asked = map(facts, self._texts)
        return read.dates | asked.dates


def compare(text: str, quote: str, passage: Passage, known: str = "") -> Finding:
    """
    Whether a quote of a passage bears out what a claim says in other words.

    :param known: the ticket: its numbers and names may be spoken of.
    """
    if _length(quote) < QUOTE_CHARACTERS:
        return Finding("unverified", "its quote is too short to bear anything out", SHORT)
    if _length("".join(filter(str.isalnum, text))) < SUBSTANCE:
        return Finding("unverified", "it says nothing", EMPTY)
    given = Given(text, quote, passage, known, facts(text), facts(quote))
    return next((found for compare_one in OBJECTIONS.values() if (found := compare_one(given)).why), SUPPORTED)


class Given(NamedTuple):
    """A claim and what it rests on."""

    text: str
    quote: str
    passage: Passage
    known: str
    said: Facts
    quoted: Facts

    @property
    def elsewhere(self) -> _Elsewhere:
        return _Elsewhere(self.passage, self.known)


def _compare_dates(given: Given) -> Finding:
    if given.said.dates <= given.quoted.dates or given.said.dates <= given.elsewhere.dates:
        return SUPPORTED
    verdict: Verdict = "contradicted" if given.quoted.dates else "unverified"
    return Finding(verdict, "a date of it does not stand in its passage", DATE)


def _compare_identifiers(given: Given) -> Finding:
    for each in sorted(given.said.identifiers):
        if not _has(each, given.passage, given.known):
            return Finding("unverified", f"“{each}” does not stand in its passage", NAME)
    return SUPPORTED


def _compare_denials(given: Given) -> Finding:
    if not are_comparable(given.text, given.quote):
        return SUPPORTED
    why = adds_denial(given.text, given.quote, given.passage.text) or drops_denial(given.text, given.quote)
    return Finding("contradicted", why, DENIAL, open=True)


def _compare_quantities(given: Given) -> Finding:
    said, quoted = given.said, given.quoted
    for each in said.quantities:
        if supplies(quoted.quantities, each):
            continue
        rivals = {other for other in quoted.quantities if other.family == each.family}
        if rivals and not any(supplies(said.quantities, other) for other in rivals):
            return Finding("contradicted", "it gives another number than its quote", NUMBER)
        counted = not each.family and 1 < each.value <= _count_items(given.quote)
        if not (counted or supplies(given.elsewhere.quantities, each)):
            return Finding("unverified", "a number of it does not stand in its passage", NUMBER)
    return SUPPORTED


def _count_items(quote: str) -> int:
    """How many things a quote lists at most: whoever counts them invents nothing."""
    return max(len(_ITEM.split(each)) for each in split_sentences(quote) or [quote])


def _compare_words(given: Given) -> Finding:
    if not are_comparable(given.text, given.quote):
        return SUPPORTED
    said, quoted = terms(given.text), terms(given.quote)
    figures = given.said.quantities & given.quoted.quantities
    if said and quoted and not common_terms(said, quoted) and not figures:
        return Finding("unverified", "it shares no word that counts with its quote", UNSAID, open=True)
    if not said and not given.said.quantities:
        return Finding("unverified", "it says nothing", EMPTY, open=True)
    return SUPPORTED


OBJECTIONS: dict[str, Callable[[Given], Finding]] = {
    "numbers": _compare_quantities,
    "dates": _compare_dates,
    "identifiers": _compare_identifiers,
    "words": _compare_words,
    "denials": _compare_denials,
}
"""What can be said against a claim, what is certain first. `bench.ablation` takes each of them out."""


def _length(quote: str) -> int:
    """Characters that count: one of Chinese, Japanese or Korean says as much as two."""
    said = " ".join(quote.split())
    return len(said) + sum(map(is_cjk, said))


def _has(identifier: str, passage: Passage, known: str) -> bool:
    texts = [normalize(part)[0] for part in (passage.text, passage.heading, passage.title, known)]
    return any(identifier in each for each in texts) or (
        identifier.isalnum() and any(identifier in re.sub(r"[\s-]", "", each) for each in texts)
    )
