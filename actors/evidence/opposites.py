"""Where a claim says the contrary of its quote, or advises what its quote does not speak of. Pure."""

import functools
import re
from collections.abc import Sequence
from typing import NamedTuple

from actors.evidence.negation import has_negation, is_word_denied
from actors.evidence.opposite_words import ACT_WORDS, OPPOSITE_WORDS
from actors.evidence.wording import clauses, common_terms, nearest
from actors.text.normalize import casefold
from actors.text.tokenizer import spellings
from actors.text.word_patterns import compile_words


class Opposites(NamedTuple):
    one: re.Pattern[str]
    other: re.Pattern[str]


def _pattern(words: str) -> re.Pattern[str]:
    """Words and beginnings (`fast*`), parted by semicolons; of Chinese, Japanese and Korean wherever they stand."""
    parts, parted = list[str](), list[str]()
    for word in filter(None, (" ".join(each.split()) for each in words.split(";"))):
        form = (
            re.escape(word).replace(r"\*", r"\w*").replace(r"\ \.\.\.\ ", r"\s(?:\S+\s){0,4}?").replace(r"\ ", r"\s+")
        )
        (parts if ord(word[0]) >= 0x3000 else parted).append(form)
    if parted:  # once around all: at each character of a text it is looked for once, and not for each word
        parts.append(rf"(?<![\w-])(?:{'|'.join(parted)})(?![\w-])")
    return compile_words("|".join(parts), re.IGNORECASE)


def _pairs(table: str) -> tuple[Opposites, ...]:
    sides = (block.split("\n    / ") for block in casefold(table).strip().split("\n\n"))
    return tuple(Opposites(_pattern(one), _pattern(other)) for one, other in sides)


OPPOSITES = _pairs(OPPOSITE_WORDS)
ACTS = _pairs(ACT_WORDS)


@functools.lru_cache(4096)
def _find_sides(folded: str) -> frozenset[tuple[int, int]]:
    """Which sides of which opposites a text has: claims and quotes are compared again and again."""
    return frozenset(
        (n, side) for n, pair in enumerate(OPPOSITES) for side, words in enumerate(pair) if words.search(folded)
    )


def find_opposite(text: str, quote: str) -> str:
    """A word of a claim whose contrary its quote says, in a few words for its author; empty when there is none."""
    folded, source = casefold(text), casefold(quote)
    here, there = _find_sides(folded), _find_sides(source)
    for n, pair in enumerate(OPPOSITES):
        for side, (mine, contrary) in enumerate((pair, (pair.other, pair.one))):
            if not ((n, side) in here and (n, 1 - side) in there):
                continue
            for clause in clauses(folded):
                said = mine.search(clause)
                if said is None or contrary.search(clause):
                    continue
                about = clauses(source) if not mine.search(source) else _closest(clause, said.group(), source)
                if any(mine.search(each) for each in about):
                    continue
                denied = is_word_denied(clause, *said.span())
                for each in about:
                    found = contrary.search(each)
                    if found and denied == is_word_denied(each, *found.span()) and not is_turned(clause, each):
                        return f"it says “{said.group()}” where its quote says “{found.group()}”"
    return ""


_AND = re.compile(r"\s(?:and|und|et|y)\s(?!.{0,300}\b(?:it|them|then|es|sie)\b)|和|而")
"""Where what follows does not lean on what stands before it."""
_RELATION = re.compile(r"\b(?:than|before|after|als|bevor|nachdem|que|avant|après|antes|después)\b|比|보다|之前|之后")


def find_turned(text: str, quote: str) -> str:
    """Two things that a claim sets in the contrary order of its quote: "A before B", "A faster than B"."""
    for clause in clauses(casefold(text)):
        for each in clauses(casefold(quote)):
            one, other = _RELATION.search(clause), _RELATION.search(each)
            if (
                one
                and other
                and one.group() == other.group()
                and is_turned(clause, each)
                and not _has_contrary(clause, each)
            ):
                return f"it turns round what stands on both sides of “{one.group()}” in its quote"
    return ""


def is_turned(clause: str, other: str) -> bool:
    """Whether what stands before a relation in one clause stands behind it in the other, and the other way round."""
    here, there = _RELATION.split(clause, maxsplit=1), _RELATION.split(other, maxsplit=1)
    if len(here) < 2 or len(there) < 2:
        return False
    (a, b), (c, d) = (map(_words, here)), (map(_words, there))
    return bool(common_terms(a - b, d - c) and common_terms(b - a, c - d)) and not common_terms(b - a, d - c)


def _has_contrary(clause: str, other: str) -> bool:
    """Whether two clauses say contraries, which is right where their sides are turned."""
    return any(
        (said := mine.search(clause)) and contrary.search(other) and not _RELATION.fullmatch(said.group())
        for pair in OPPOSITES
        for mine, contrary in (pair, (pair.other, pair.one))
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(term for _, term in spellings(text))


_SUPERLATIVE = re.compile(
    r"\b(?:(?P<way>most|least)\s+(?P<how>\w{4,})|(?P<one>\w{2,}est))\b(?P<behind>(?:\s+[\w-]+){1,3})"
)
_KINDS = (
    re.compile(r"(?:largest|biggest|greatest|highest|longest)$"),
    re.compile(r"(?:smallest|lowest|shortest|fewest)$"),
    re.compile(r"(?:oldest|earliest|least recent(?:ly)?)$"),
    re.compile(r"(?:newest|latest|youngest|most recent(?:ly)?)$"),
)
_NO_SUPERLATIVE = re.compile(
    r"(?:re|con|in)?quest|(?:sub|back|py|con|pro|at)?test|(?:ar|fo|inte|un)?rest|(?:digest|manifest|harvest|honest|modest)|"
    r"(?:suggest|ingest|invest|chest|guest|quest|nest|west|vest|pest|crest|best)"
)


def find_other_superlative(text: str, quote: str) -> str:
    """
    The superlative of a claim where its quote has another one of the same thing: "largest entry" of "oldest entry".

    English only; empty when there is none. What a claim calls so stands right behind the word: it rather misses one.
    """
    held = _superlatives(casefold(quote))
    said_in_quote = {kind for kind, _, _ in held}
    for kind, words, behind in _superlatives(casefold(text)):
        if kind not in said_in_quote:
            thing = next(filter(None, map(_words, behind.split())), frozenset[str]())
            for _, other, things in held:
                if common_terms(thing, _words(things)):
                    return f"it says “{words}” where its quote says “{other}”"
    return ""


def _superlatives(text: str) -> list[tuple[str, str, str]]:
    """Each with what kind it is of, as it stands there, and the words behind it."""
    found = []
    for each in _SUPERLATIVE.finditer(text):
        words = each["one"] or f"{each['way']} {each['how']}"
        if _NO_SUPERLATIVE.fullmatch(words):
            continue
        kind = next((str(n) for n, pattern in enumerate(_KINDS) if pattern.match(words)), words)
        found.append((kind, words, each["behind"]))
    return found


def is_denied_contrary(text: str, quote: str) -> bool:
    """Whether what a claim denies is the contrary of what its quote says: "not enabled" of "disabled"."""
    parts = clauses(casefold(quote))
    for clause in clauses(casefold(text)):
        here = _find_sides(clause)
        for n, pair in enumerate(OPPOSITES):
            for side, (mine, contrary) in enumerate((pair, (pair.other, pair.one))):
                said = mine.search(clause) if (n, side) in here else None
                if said is None or not is_word_denied(clause, *said.span()):
                    continue
                found = ((each, contrary.search(each)) for each in parts if not mine.search(each))
                if any(word and not is_word_denied(each, *word.span()) for each, word in found):
                    return True
    return False


def find_unread_act(text: str, quote: str, under: str) -> str:
    """
    An act that a claim advises and neither its quote nor the heading above it speaks of; empty when there is none.

    :param under: title and headings of the passage.
    """
    read = f"{casefold(quote)}\n{casefold(under)}"
    for clause in clauses(casefold(text)):
        for act, evidence in ACTS:
            said = act.search(clause)
            if said is not None and not has_negation(clause) and not evidence.search(read):
                return f"its quote says nothing of “{said.group()}”"
    return ""


def _closest(clause: str, word: str, source: str) -> Sequence[str]:
    """The parts of a quote that one of a claim is about, the word that is looked at left aside."""
    parts = [part for each in clauses(source) for part in _AND.split(each) if part.strip()]
    return nearest(clause.replace(word, " "), parts)
