"""What was learnt: verified statements, none of which says what another one says already. Pure."""

import functools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from actors.evidence.claims import Claim, check, is_verbatim
from actors.evidence.facts import facts
from actors.evidence.grounding import Shown, adds, plainly
from actors.evidence.passages import Passage
from actors.evidence.sources import Statement
from actors.evidence.trace_steps import CheckedClaim, make_claim
from actors.text.keywords import alike, terms
from actors.text.normalize import normalize
from actors.text.quote_matching import find_quote
from actors.text.sentences import split_sentences

LEARNINGS = 20
"""So many are kept (DR-6)."""
CLAIMS = 40
"""So many claims of one answer are looked at, and so many of them kept:"""
STATEMENTS = 24
CLAIM_CHARACTERS = 1000
"""Of what an author writes; a quote may be as long as the place that it is."""
SAME = 0.8
"""Two statements that share more of their terms than this, and all their figures, say the same."""
WHOLE_SENTENCE = 40


class VerifiedClaims(NamedTuple):
    statements: tuple[Statement, ...]
    dropped: int
    """How many claims are not supported."""
    checked: tuple[CheckedClaim, ...] = ()
    """What became of each that was looked at."""


def verify_claims(claims: Sequence[Claim], passages: Sequence[Passage], number: int, *known: str) -> VerifiedClaims:
    """
    The claims that the shown passages support, as statements of a round.

    :param number: of the round.
    :param known: what else the author was shown, such as the question.
    """
    found: list[Statement] = []
    checked: list[CheckedClaim] = []
    dropped = max(0, len(claims) - CLAIMS)
    shown = Shown(passages, *known)
    for claim in claims[:CLAIMS]:
        text = plainly(claim)
        fault = find_fault(claim, passages, shown) if text else "it says nothing"
        checked.append(make_claim(claim, passages, "dropped" if fault else "kept", fault))
        if fault:
            dropped += 1
            continue
        passage = passages[claim.passage - 1]
        found.append(Statement(text, _exact(claim.quote, passage), passage.id, passage.source, number))
    return VerifiedClaims(remove_repeats(found, ())[:STATEMENTS], dropped, tuple(checked))


def find_fault(claim: Claim, passages: Sequence[Passage], shown: Shown) -> str:
    """Why a claim is not shown; empty when its passage supports it and it brings in nothing else."""
    if len(claim.text) > CLAIM_CHARACTERS and not is_verbatim(claim, passages):
        return "it is too long"
    finding = check(claim, passages)
    if finding.verdict != "supported":
        return finding.why or "its passage does not support it"
    return "it brings in what nobody read" if adds(claim, passages, shown) else ""


def same(one: str, other: str) -> bool:
    """Whether two texts say the same; with other figures they do not."""
    folded, another = normalize(one)[0], normalize(other)[0]
    if folded == another:
        return True
    said, heard = _facts(one), _facts(other)
    if said.quantities != heard.quantities or said.dates != heard.dates or said.negated != heard.negated:
        return folded in another or another in folded
    return alike(terms(one), terms(other)) > SAME


def remove_repeats(statements: Iterable[Statement], said: Iterable[Statement]) -> tuple[Statement, ...]:
    """Those that say something that neither another one nor what is known says."""
    known = [each.text for each in said]
    found: list[Statement] = []
    for each in statements:
        if not any(same(each.text, other) or _share_a_sentence(each.text, other) for other in known):
            found.append(each)
            known.append(each.text)
    return tuple(found)


def merge(known: Sequence[Statement], fresh: Sequence[Statement]) -> tuple[Statement, ...]:
    """The learnings of a round: those known stay, each new one is added once, as long as there is room."""
    return (*known, *remove_repeats(fresh, known))[:LEARNINGS]


def holding(passages: Iterable[Passage], statements: Iterable[Statement]) -> tuple[Passage, ...]:
    """The passages that statements rest on."""
    quotes: dict[str, list[str]] = {}
    for each in statements:
        quotes.setdefault(each.passage, []).append(each.quote)
    return tuple(p for p in passages if any(find_quote(quote, p.text) for quote in quotes.get(p.id, ())))


_facts = functools.lru_cache(1024)(facts)


def _share_a_sentence(one: str, other: str) -> bool:
    """Whether a sentence of one is in the other: overlapping quotes of one passage."""
    return any(len(each) >= WHOLE_SENTENCE and each in other for each in split_sentences(one))


def _exact(quote: str, passage: Passage) -> str:
    """The quote as its passage spells it."""
    place = find_quote(quote, passage.text)
    return passage.text[place[0] : place[1]] if place else quote
