"""What stays open and is worth another round, within bounds, whoever named it. Pure."""

from collections.abc import Iterable

from actors.evidence.sources import Statement
from actors.text.keywords import terms

DIRECTIONS = 8
CHARACTERS = 120


def limit(found: Iterable[str], explored: Iterable[str], statements: Iterable[Statement]) -> tuple[str, ...]:
    """Directions within their bounds, whoever named them: short, none explored before, no statement among them."""
    done = [terms(each) for each in explored]
    known = {" ".join(each.text.casefold().split()) for each in statements}
    kept: list[str] = []
    for each in found:
        line = " ".join(each.split())[:CHARACTERS].strip(" -*#")
        about = terms(line)
        if about and line.casefold() not in known and not any(about <= each for each in done):
            kept.append(line)
            done.append(about)
    return tuple(kept[:DIRECTIONS])
