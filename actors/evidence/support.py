"""Whether a quote bears a claim out, as far as rules can tell: facts, denials, contraries, words. Pure."""

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from actors.evidence.facts import Facts, Quantity, facts, supplies
from actors.evidence.negation import adds_denial, denies_throughout, drops_denial, hinders
from actors.evidence.opposites import (
    find_opposite,
    find_other_superlative,
    find_turned,
    find_unread_act,
    is_denied_contrary,
)
from actors.evidence.passages import Passage
from actors.evidence.wording import are_comparable, clauses, common_terms, nearest, terms
from actors.text.normalize import casefold, normalize
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
CONTRARY, DENIAL, UNSAID = "lost_contrary", "lost_denial", "lost_unsaid"


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
    return next((each for each in _objections(text, quote, passage, known) if each.why), SUPPORTED)


def _objections(text: str, quote: str, passage: Passage, known: str) -> Iterator[Finding]:
    """What can be said against a claim, what is certain first."""
    said, quoted = facts(text), facts(quote)
    elsewhere = _Elsewhere(passage, known)
    yield _compare_quantities(said, quoted, elsewhere, _count_items(quote))
    if not said.dates <= quoted.dates and not said.dates <= elsewhere.dates:
        yield Finding(
            "contradicted" if quoted.dates else "unverified", "a date of it does not stand in its passage", DATE
        )
    for each in sorted(said.identifiers):
        if not _has(each, passage, known):
            yield Finding("unverified", f"“{each}” does not stand in its passage", NAME)
    alike = are_comparable(text, quote)
    if alike:
        yield _compare_words(text, quote)
        yield from _compare_denials(text, quote, passage)
        yield _compare_counts(text, quote)
    else:
        yield _compare_polarity(text, quote)
    yield Finding("contradicted", find_opposite(text, quote) or find_turned(text, quote), CONTRARY, open=True)
    yield Finding("contradicted", find_other_superlative(text, quote), CONTRARY, open=True)
    yield Finding("unverified", find_unread_act(text, quote, f"{passage.title}\n{passage.heading}"), UNSAID, open=True)


def _compare_quantities(said: Facts, quoted: Facts, elsewhere: "_Elsewhere", items: int) -> Finding:
    for each in said.quantities:
        if supplies(quoted.quantities, each):
            continue
        rivals = {other for other in quoted.quantities if other.family == each.family}
        if rivals and not any(supplies(said.quantities, other) for other in rivals):
            return Finding("contradicted", "it gives another number than its quote", NUMBER)
        counted = not each.family and 1 < each.value <= items
        if not (counted or supplies(elsewhere.quantities, each)):
            return Finding("unverified", "a number of it does not stand in its passage", NUMBER)
    return SUPPORTED


def _count_items(quote: str) -> int:
    """How many things a quote lists at most: whoever counts them invents nothing."""
    return max(len(_ITEM.split(each)) for each in split_sentences(quote) or [quote])


def _compare_counts(text: str, quote: str) -> Finding:
    """A number that its quote has, but not of that: "four may be requested, three are implemented"."""
    parts = clauses(quote)
    for clause in clauses(text) if len(parts) > 1 else ():
        about = nearest(clause, parts)
        if len(about) == len(parts):
            continue
        near: frozenset[Quantity] = frozenset().union(*(facts(each).quantities for each in about))
        for each in facts(clause).quantities:
            rivals = any(other.family == each.family for other in near)
            if rivals and not supplies(near, each):
                return Finding("contradicted", "its quote gives that number for something else", NUMBER, open=True)
    return SUPPORTED


def _compare_words(text: str, quote: str) -> Finding:
    said, quoted = terms(text), terms(quote)
    figures = facts(text).quantities & facts(quote).quantities
    if said and quoted and not common_terms(said, quoted) and not figures:
        return Finding("unverified", "it shares no word that counts with its quote", UNSAID, open=True)
    if not said and not facts(text).quantities:
        return Finding("unverified", "it says nothing", EMPTY, open=True)
    return SUPPORTED


def _compare_denials(text: str, quote: str, passage: Passage) -> Iterator[Finding]:
    added = adds_denial(text, quote, passage.text)
    yield Finding("contradicted", "" if added and is_denied_contrary(text, quote) else added, DENIAL, open=True)
    yield Finding("contradicted", drops_denial(text, quote), DENIAL, open=True)


def _compare_polarity(text: str, quote: str) -> Finding:
    """In two languages: a quote that denies in all it says is not affirmed, and one that denies nothing not denied."""
    said, quoted = facts(text).negated, facts(quote).negated
    if said and not quoted and not hinders(casefold(quote)):
        return Finding("contradicted", "it denies something that its quote does not deny", DENIAL, open=True)
    if quoted and not said and denies_throughout(quote) and not hinders(casefold(text)):
        return Finding("contradicted", "its quote denies what it affirms", DENIAL, open=True)
    return SUPPORTED


def _length(quote: str) -> int:
    """Characters that count: one of Chinese, Japanese or Korean says as much as two."""
    said = " ".join(quote.split())
    return len(said) + sum(map(is_cjk, said))


def _has(identifier: str, passage: Passage, known: str) -> bool:
    texts = [normalize(part)[0] for part in (passage.text, passage.heading, passage.title, known)]
    return any(identifier in each for each in texts) or (
        identifier.isalnum() and any(identifier in re.sub(r"[\s-]", "", each) for each in texts)
    )
