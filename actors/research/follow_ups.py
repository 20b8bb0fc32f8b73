"""What stays open and is worth another round: parts of the subject that the passages name and nobody explored. Pure."""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from actors.evidence.heading_types import LONGEST, generic, is_entry, leaf
from actors.evidence.passages import Passage
from actors.evidence.sources import Statement
from actors.extractive.decompose import deduplicate
from actors.text.keywords import share, terms

DIRECTIONS = 8
CHARACTERS = 120
NEAR = 0.35
"""Passages of pages with less than this share of the best one's score lead nowhere."""
TIED = 0.6
"""So much of the task's terms are in the text of a direction, or under its headings."""
CLOSE = 0.34
"""So much of the task's terms are in its own heading, or it leads away."""
LEAST_CHARACTERS = 250
"""With less text under it a heading is no direction."""
LONGEST_PATH = 90

_TYPE = re.compile(r"\s*(?:\([^()]{0,40}\)|\[[^\[\]]*\].*|,\s.*)$")
_NUMBERED = re.compile(r"^(?:[A-Z]\.)?\d+(?:\.\d+)*\.?\s+")
_COMMAND = re.compile(r"\b[A-Z]{3,} or [A-Z]{3,}\b|[\[\]{}<>|=;]|^--?\w|\(\)|->")


def found_in(
    passages: Sequence[Passage],
    task: str,
    explored: Iterable[str],
    *,
    quoted: AbstractSet[str] = frozenset(),
    pages: AbstractSet[str] = frozenset(),
) -> tuple[str, ...]:
    """
    The headings near the subject whose text was not quoted, the closest first.

    A heading that says nothing of the subject takes the one above it that does; one without any is left out, and so is
    the entry of a reference.

    :param quoted: headings whose text was quoted.
    :param pages: the sources that were quoted: what another one is about leads away.
    """
    about, done = terms(task), [terms(each) for each in explored]
    near = NEAR * max((each.score for each in passages), default=0.0)
    ranked: dict[str, float] = {}
    for passage in passages:
        text = phrase(passage.heading, about)
        if passage.score < near or passage.heading in quoted or not text:
            continue
        if passage.source not in pages or len(passage.text) < LEAST_CHARACTERS or is_entry(passage.heading):
            continue
        said = terms(text)
        tied = share(about, terms(f"{passage.title} {passage.heading} {passage.text}")) >= TIED
        close = share(about, terms(leaf(passage.heading))) >= CLOSE
        if not tied or not close or not said - about or any(said <= other for other in done):
            continue
        score = share(about, said) + share(about, terms(passage.text)) + passage.score / (near or 1.0) * NEAR
        ranked[text] = max(ranked.get(text, 0.0), score)
    order = sorted(ranked, key=lambda each: -ranked[each])
    return deduplicate(order)[:DIRECTIONS]


def phrase(heading: str, about: frozenset[str]) -> str:
    """A heading as something to look for, in the words of the subject; empty when it leads nowhere."""
    path = [_NUMBERED.sub("", each[:LONGEST]).strip() for each in heading.split(" > ")]
    last = _TYPE.sub("", path[-1]).strip()
    if generic(path[-1]) or generic(last) or _COMMAND.search(path[-1]) or not terms(last) or len(last) > CHARACTERS:
        return ""
    if terms(last) & about:
        return last
    for above in reversed(path[:-1]):
        if terms(above) & about and not _COMMAND.search(above):
            text = f"{_TYPE.sub('', above)}: {last}"
            return text if len(text) <= LONGEST_PATH else ""
    return ""


def limit(found: Iterable[str], explored: Iterable[str], statements: Iterable[Statement]) -> tuple[str, ...]:
    """Directions within their bounds, whoever named them: short, none explored before, no statement among them."""
    done = {terms(each) for each in explored}
    known = {" ".join(each.text.casefold().split()) for each in statements}
    lines = (" ".join(each.split())[:CHARACTERS].strip(" -*#") for each in found)
    kept = [
        line
        for line in lines
        if not any(terms(line) <= each for each in done) and not generic(leaf(line)) and line.casefold() not in known
    ]
    return deduplicate([each for each in kept if terms(each)])[:DIRECTIONS]
