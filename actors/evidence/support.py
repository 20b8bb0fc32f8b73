"""
Whether a quote bears a claim out, as far as rules can tell: numbers, dates, identifiers, denials, words. Pure.

Each helps on claims that it was not made on, or costs nothing there (`python -m bench.ablation`). What else a claim may
get wrong, a second reader says.
"""

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

import msgspec

from actors.evidence.facts import Facts, facts, has_negation, supplies
from actors.evidence.passages import Passage
from actors.text.keywords import terms
from actors.text.languages import guess_language
from actors.text.normalize import casefold, normalize
from actors.text.tokenizer import is_cjk

Verdict = Literal["supported", "contradicted", "unverified"]

QUOTE_CHARACTERS = 8
"""A shorter quote proves nothing, unless it is the claim itself."""
SUBSTANCE = 4
"""A claim has at least so many letters; one of Chinese, Japanese or Korean says as much as two."""
PARTS = 100
"""So many parts of a text are told apart; what stands behind them is one more."""
_PART = re.compile(
    r"[,;:!?()\n—–。，；：、！？]|\.\s|\b(?:but|because|unless|while|although|aber|sondern|weil|mais|pero)\b"
)


class Finding(msgspec.Struct, frozen=True, gc=False):
    """What rules say of a claim."""

    verdict: Verdict
    why: str = ""
    """What is wrong with it, as its author may be told; empty when it is supported."""
    kind: str = ""
    """The same for a person who does not see the claim, as the catalogue names it: of it nothing is repeated."""
    open: bool = False
    """Rules are not sure of it: whoever reads both may say otherwise."""


SUPPORTED = Finding("supported")
UNSAID = "lost_unsaid"


class Given(NamedTuple):
    """A claim and what it rests on."""

    text: str
    quote: str
    passage: Passage
    known: str
    """The ticket: its numbers and names may be spoken of."""

    @property
    def said(self) -> Facts:
        return facts(self.text)

    @property
    def quoted(self) -> Facts:
        return facts(self.quote)

    def read_on(self) -> tuple[Facts, Facts]:
        """Those of the passage and of the ticket, for when a claim goes beyond its quote: a passage is long."""
        read = self.passage
        return facts(f"{read.title}\n{read.heading}\n{read.text}"), facts(self.known)


def compare(text: str, quote: str, passage: Passage, known: str = "") -> Finding:
    """
    Whether a quote of a passage bears out what a claim says in other words.

    :param known: the ticket: its numbers and names may be spoken of.
    """
    if _length(quote) < QUOTE_CHARACTERS:
        return Finding("unverified", "its quote is too short to bear anything out", "lost_short")
    if _length("".join(filter(str.isalnum, text))) < SUBSTANCE:
        return Finding("unverified", "it says nothing", "lost_empty")
    given = Given(text, quote, passage, known)
    return next((found for compare_one in OBJECTIONS.values() if (found := compare_one(given)).why), SUPPORTED)


def _compare_quantities(given: Given) -> Finding:
    said, quoted = given.said.quantities, given.quoted.quantities
    for each in said:
        if supplies(quoted, each):
            continue
        rivals = {other for other in quoted if other.family == each.family}
        if rivals and not any(supplies(said, other) for other in rivals):
            return Finding("contradicted", "it gives another number than its quote", "lost_number")
        if not any(supplies(read.quantities, each) for read in given.read_on()):
            return Finding("unverified", "a number of it does not stand in its passage", "lost_number")
    return SUPPORTED


def _compare_dates(given: Given) -> Finding:
    said, quoted = given.said.dates, given.quoted.dates
    if said <= quoted or all(any(each in read.dates for read in given.read_on()) for each in said):
        return SUPPORTED
    verdict: Verdict = "contradicted" if quoted else "unverified"
    return Finding(verdict, "a date of it does not stand in its passage", "lost_date")


def _compare_identifiers(given: Given) -> Finding:
    """An address that stands nowhere is invented; so is another name where the quote has one that is left out."""
    said = given.said.identifiers
    for each in sorted(said if given.quoted.identifiers - said else given.said.addresses):
        if not _has(each, given.passage, given.known):
            return Finding("unverified", f"“{each}” does not stand in its passage", "lost_name")
    return SUPPORTED


def _compare_words(given: Given) -> Finding:
    said, quoted = terms(given.text), terms(given.quote)
    if said and quoted and not said & quoted and are_comparable(given.text, given.quote):
        return Finding("unverified", "it shares no word that counts with its quote", UNSAID, open=True)
    return SUPPORTED


def _compare_denials(given: Given) -> Finding:
    if part := find_contrary(given.text, given.quote):
        why = f"it denies what its quote affirms, or the other way round (“{part}”)"
        return Finding("contradicted", why, "lost_denial", open=True)
    return SUPPORTED


def find_contrary(text: str, quote: str) -> str:
    """
    What part of a text has no words but those of a part of a quote, and denies it, or affirms what that denies.

    Parts that say the same in other words are left to whoever reads them.
    """
    if not are_comparable(text, quote):
        return ""
    quoted = [(terms(part), has_negation(part)) for part in _PART.split(casefold(quote), PARTS)]
    for part in _PART.split(casefold(text), PARTS):
        said = terms(part)
        same = [denies for words, denies in quoted if said and said <= words and 2 * len(said) >= len(words)]
        if same and has_negation(part) not in same:
            return " ".join(part.split())[:80]
    return ""


OBJECTIONS: dict[str, Callable[[Given], Finding]] = {
    "numbers": _compare_quantities,
    "dates": _compare_dates,
    "identifiers": _compare_identifiers,
    "words": _compare_words,
    "denials": _compare_denials,
}
"""What can be said against a claim, what is certain first. `bench.ablation` takes each of them out."""


def are_comparable(one: str, other: str) -> bool:
    """Whether two texts may be compared word by word: not where they are in different languages."""
    first, second = guess_language(one), guess_language(other)
    return first == second or not (first and second)


def _length(quote: str) -> int:
    """Characters that count: one of Chinese, Japanese or Korean says as much as two."""
    said = " ".join(quote.split())
    return len(said) + sum(map(is_cjk, said))


def _has(identifier: str, passage: Passage, known: str) -> bool:
    texts = [normalize(part)[0] for part in (passage.text, passage.heading, passage.title, known)]
    return any(identifier in each for each in texts) or (
        identifier.isalnum() and any(identifier in re.sub(r"[\s-]", "", each) for each in texts)
    )
