"""What stays open and is worth another round, within bounds, whoever named it. Pure."""

from collections.abc import Iterable

from actors.evidence.heading_types import generic, leaf
from actors.evidence.sources import Statement
from actors.extractive.decompose import deduplicate
from actors.text.keywords import terms

DIRECTIONS = 8
CHARACTERS = 120


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
