"""What a text asks, without what it only tells: an unknown word of a story says nothing about the question in it."""

import re
from collections.abc import Callable

from actors.text.tokenizer import EVERYDAY, is_cjk, runs, spellings, word_set

FOCUS_WORDS = 3
FOCUS_CHARACTERS = 250
"""From here on a text is a story with a question in it."""
CORE_WORDS, EVERYDAY_WORD = 1.5, 0.5
"""A clause with so many words that the documents know may stand for the whole text; an everyday word is half a one."""

_SENTENCE = re.compile(r"(?<=[.?!;])\s+|(?<=[。！？])|\n+")
_CLAUSE = re.compile(
    r"[,;:]\s+|\s[-–—]+\s|[，；]|"
    r"\s+(?:and|but|so|because|since|after|before|while|when|although)\s+"
    r"(?=(?:[Ii]|my|our|we|he|she|it|they|the|his|her|their|who|you|this|yesterday|last)\b)"
)
_ASKS = re.compile(
    r"\s*(?:(?:and|but|so|please|pls)\s+)?(?:how|what|where|when|which|who|whom|why|whose|can|could|may|must|should|"
    r"do|does|did|is|are|will|would)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(
    r"\b(?:mr|mrs|ms|miss|dr|prof|colleagues?|boss|manager|intern|trainee|assistant|friend|wife|husband|customer|"
    r"visitor|guest|supplier|room|building|project)\.?\s+((?-i:[A-Z])[\w'’-]+(?:\s+(?-i:[A-Z])[\w'’-]+)?)|"
    r"(?<=trip|tour|stay) (?:to|in|at) ((?-i:[A-Z])[\w'’-]+)|"
    r"(?<=visit|hotel|plane|train) (?:to|in|at) ((?-i:[A-Z])[\w'’-]+)|"
    r"(?<=flight|office|branch) (?:to|in|at) ((?-i:[A-Z])[\w'’-]+)|"
    r"(?<=\S )\([^()\n]{1,80}\)",
    re.IGNORECASE,
)
"""Who and where, by the word before the name, and what stands in brackets."""
_PLACE = word_set("in at from near to during around towards within since until")
_ARTICLES = word_set("a an the my our your his her their this that these those")

Known = Callable[[str], bool]


def sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE.split(text) if part.strip()]


def focus(text: str) -> str:
    """The sentences that ask, with one before them when they say little; the first ones of a text that asks nothing."""
    if sum(2 if is_cjk(c) else 1 for c in text) <= FOCUS_CHARACTERS:
        return text
    parts = sentences(text)
    asks = [i for i, part in enumerate(parts) if part.rstrip().endswith(("?", "？"))]
    if not asks:
        return " ".join(parts[:2])
    first = asks[0]
    if first and sum(word not in EVERYDAY for part in asks for word, _ in spellings(parts[part])) < FOCUS_WORDS:
        asks.insert(0, first - 1)
    return " ".join(parts[i] for i in asks)


def core(text: str, known: Known) -> str:
    """
    The clauses of a focus that say what is asked, without persons and without places that are only told.

    The clauses that ask, if the documents know two of their words; else the one of which they know most, or all.
    """
    parts = sentences(text)
    asks = [part for part in parts if part.rstrip().endswith(("?", "？"))]
    if asks and len(asks) < len(parts) and sum(_known(part, known) for part in asks) >= CORE_WORDS:
        parts = asks
    clauses = [clause for part in parts for clause in _CLAUSE.split(part) if clause.strip()]
    asking = [clause for clause in clauses if _ASKS.match(clause)]
    if sum(_known(clause, known) for clause in asking) >= CORE_WORDS:
        return "\n".join(_PERSON.sub(" ", clause) for clause in asking)
    best = max((each for each in clauses if each not in asking), key=lambda each: _known(each, known), default="")
    if _known(best, known) >= CORE_WORDS:
        clauses = [best, *asking]
    return "\n".join(_told(_PERSON.sub(" ", clause), known) for clause in clauses)


def _known(clause: str, known: Known) -> float:
    terms = {term: EVERYDAY_WORD if word in EVERYDAY else 1.0 for word, term in spellings(clause)}
    return sum(share for term, share in terms.items() if not term.isdigit() and known(term))


def _told(clause: str, known: Known) -> str:
    """A statement without the unknown places and times behind its prepositions; a question keeps them."""
    if _ASKS.match(clause) or "?" in clause:
        return clause
    words = clause.split()
    left: list[str] = []
    for i, word in enumerate(words):
        before = [w.lower().strip("'\"*") for w in words[max(0, i - 2) : i]]
        behind = before[-1:] if before[-1:] and before[-1] not in _ARTICLES else before[:1]
        unknown = any(not known(term) for run in runs(word) if not is_cjk(run) for _, term in spellings(run))
        if not (unknown and behind and behind[0] in _PLACE and _known(" ".join(words[: i - 1]), known)):
            left.append(word)
    return " ".join(left)


__all__ = ["core", "focus", "sentences"]
