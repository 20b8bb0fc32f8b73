"""What was learnt: verified statements, none of which says what another one says already. Pure."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from actors.evidence.claims import Claim, check
from actors.evidence.facts import facts
from actors.evidence.grounding import Shown, adds, plainly
from actors.evidence.heading_types import is_entry
from actors.evidence.passages import Passage, Span
from actors.evidence.sources import Statement
from actors.evidence.trace_steps import CheckedClaim, make_claim
from actors.research.models import Section
from actors.text.keywords import alike, share, terms
from actors.text.normalize import normalize
from actors.text.quote_matching import find_quote
from actors.text.sentences import split_sentences

LEARNINGS = 20
"""So many are kept (DR-6)."""
CLAIMS = 40
"""So many claims of one answer are looked at, and so many of them kept:"""
STATEMENTS = 24
CLAIM_CHARACTERS = 1000
SAME = 0.8
"""Two statements that share more of their terms than this, and all their figures, say the same."""
OVERVIEW, OVERVIEW_CHARACTERS = 3, 900
BEST = 0.5
"""What counts in favour of the statement that its question begins with."""
OPENING_WORDS = 5
"""A sentence speaks of what it begins with."""
SENTENCE_CHARACTERS = 450
"""A longer statement is too much for an overview."""


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
    if len(claim.text) > CLAIM_CHARACTERS:
        return "it is too long"
    finding = check(claim, passages)
    if finding.verdict != "supported":
        return finding.why or "its passage does not support it"
    return "it brings in what nobody read" if adds(claim, passages, shown) else ""


def quote_best(passages: Sequence[Passage]) -> tuple[Claim, ...]:
    """The best slices as claims: what can be said when no model of any kind answers."""
    slices = [(place.score, -number, number, place.of(p)) for number, p in enumerate(passages, 1) for place in p.quotes]
    return tuple(Claim(text, number, text) for _, _, number, text in sorted(slices, reverse=True)[:3])


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


def dealt(lists: Sequence[Sequence[Statement]]) -> list[tuple[Statement, ...]]:
    """What several questions may say, each given to one: in turns every question takes the first that is left."""
    queues, taken = [list(each) for each in lists], list[Statement]()
    chosen: list[list[Statement]] = [[] for _ in lists]
    while any(queues):
        for queue, mine in zip(queues, chosen, strict=True):
            while queue:
                each = queue.pop(0)
                if remove_repeats((each,), taken):
                    taken.append(each)
                    mine.append(each)
                    break
    return [tuple(each) for each in chosen]


def merge(known: Sequence[Statement], fresh: Sequence[Statement]) -> tuple[Statement, ...]:
    """The learnings of a round: those known stay, each new one is added once, as long as there is room."""
    return (*known, *remove_repeats(fresh, known))[:LEARNINGS]


def foremost(sections: Sequence[Section], task: str, headings: Mapping[str, str]) -> tuple[Statement, ...]:
    """
    For a reader in a hurry the best statement of each question, the best ones first; of a single question two.

    :param headings: those above a passage, by its id: what an entry of a reference says is no overview.
    """
    wanted = terms(task)
    asked = [section for section in sections if section.statements and section.round == sections[0].round]
    chosen: list[Statement] = []
    room = OVERVIEW_CHARACTERS
    for section in asked:
        question = terms(section.question)
        weights = {each: _weight(each, wanted, question, headings) for each in section.statements}
        weights[section.statements[0]] += BEST
        ranked = sorted(weights, key=lambda each: -weights[each])
        for each in ranked[: 1 if len(asked) > 1 else 2]:
            fits = len(each.text) < min(room, SENTENCE_CHARACTERS) and "\n\n" not in each.text
            if fits and len(chosen) < OVERVIEW and weights[each] > 0:
                chosen.append(each)
                room -= len(each.text) + 1
    return tuple(chosen)


def _weight(said: Statement, wanted: frozenset[str], asked: frozenset[str], headings: Mapping[str, str]) -> float:
    words = terms(said.text)
    opening = terms(" ".join(said.text.split()[:OPENING_WORDS]))
    entry = is_entry(headings.get(said.passage, ""))
    return share(asked, words) + share(wanted, words) / 2 + share(asked, opening) / 2 - 2 * entry


def holding(passages: Iterable[Passage], statements: Iterable[Statement]) -> tuple[Passage, ...]:
    """The passages that statements rest on, each marked with the words that they quote."""
    places: dict[str, dict[tuple[int, int], Span]] = {}
    known = {each.id: each for each in passages}
    for each in statements:
        passage = known.get(each.passage)
        place = find_quote(each.quote, passage.text) if passage else None
        if place:
            places.setdefault(each.passage, {})[place] = Span(*place, 1.0)
    return tuple(
        msgspec.structs.replace(passage, quotes=tuple(places[key].values()))
        for key, passage in known.items()
        if key in places
    )


_facts = functools.lru_cache(1024)(facts)


def _share_a_sentence(one: str, other: str) -> bool:
    """Whether a sentence of one is in the other: overlapping quotes of one passage."""
    return any(len(each) >= WHOLE_SENTENCE and each in other for each in split_sentences(one))


def _exact(quote: str, passage: Passage) -> str:
    """The quote as its passage spells it."""
    place = find_quote(quote, passage.text)
    return passage.text[place[0] : place[1]] if place else quote
