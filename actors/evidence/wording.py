"""What a sentence is made of where it is compared with another: clauses, words that count. Pure."""

import functools
import re
from collections.abc import Sequence

from actors.text.languages import guess_language
from actors.text.normalize import casefold
from actors.text.stop_words import LIGHT, word_set
from actors.text.tokenizer import CJK, spellings

_BREAK = re.compile(
    r"[;!?()\[\]\n—–]+|:\s|,\s|\.(?=\s|$)|\s-\s|[。，；：、！？（）]|(?<=면)\s|"
    r"(?=\b(?:but|because|unless|while|whereas|although|though|otherwise|so|since|rather than|instead of|"
    r"aber|sondern|weil|damit|sonst|mais|pero|sino|porque|parce)\b)",
    re.IGNORECASE,
)
NUMBER_WORDS = word_set(
    "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred twice"
)
_IS_CJK = re.compile(f"[{CJK}]")
CLAUSE_WORDS = 3
CLAUSES = 100
"""So many parts of a text are told apart; what stands behind them is one more."""
ALIKE = 0.65
"""Of the longer of two stems: what they must begin alike with to be one word's."""
SHORTEST = 5


def are_comparable(one: str, other: str) -> bool:
    """Whether two texts may be compared word by word: not where they are in different languages."""
    first, second = guess_language(one), guess_language(other)
    return first == second or not (first and second)


@functools.lru_cache(1024)
def clauses(text: str) -> tuple[str, ...]:
    """The parts of a text that say one thing each; what has too few words for that, as "By default", opens the next."""
    found: list[str] = []
    opening = ""
    for part in filter(None, (each.strip() for each in _BREAK.split(text, CLAUSES))):
        part = f"{opening} {part}".strip()
        opening = part if len(part.split()) < CLAUSE_WORDS and part.isascii() else ""
        if not opening:
            found.append(part)
    return (*found, opening) if opening else tuple(found) or (text,)


@functools.lru_cache(2048)
def terms(text: str) -> frozenset[str]:
    """Stems of the words that count, and pairs of characters of Chinese, Japanese and Korean."""
    return frozenset(
        term
        for word, term in spellings(casefold(text))
        if not (word in LIGHT or word in NUMBER_WORDS or term.isdigit())
    )


def has_term(term: str, others: frozenset[str]) -> bool:
    """Whether one of these is a form of the same word."""
    return term in others or (
        len(term) >= SHORTEST and not _IS_CJK.match(term) and any(_is_form(term, each) for each in others)
    )


def _is_form(one: str, other: str) -> bool:
    if len(other) < SHORTEST or one[:SHORTEST] != other[:SHORTEST]:
        return False
    alike = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return alike >= ALIKE * max(len(one), len(other))


def common_terms(one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
    """Those of the first that have a form among the second."""
    return frozenset(each for each in one if has_term(each, other))


def nearest(clause: str, others: Sequence[str]) -> list[str]:
    """The clauses that share most words with one; all of them where none shares any."""
    own = terms(clause)
    shared = [len(common_terms(own, terms(each))) for each in others]
    return [each for each, count in zip(others, shared, strict=True) if count == max(shared)]
