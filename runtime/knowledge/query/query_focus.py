"""What a text asks, without what it only tells: an unknown word of a story says nothing about the question in it."""

import re
from collections.abc import Callable

from actors.text.sentences import split_sentences
from actors.text.stop_words import EVERYDAY
from actors.text.tokenizer import spellings
from actors.text.word_patterns import compile_words

EVERYDAY_WORD = 0.5
"""Of a word of any talk; a clause with one whole word that the documents know may stand for the whole text."""

_CLAUSE = compile_words(
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

Known = Callable[[str], bool]


def core(text: str, known: Known) -> str:
    """
    The clauses of a text that say what is asked, without persons.

    The clauses that ask, if the documents know a word of theirs; else the one of which they know most, or all.
    """
    parts = split_sentences(text, lines=True)
    asks = [part for part in parts if part.rstrip().endswith(("?", "？"))]
    if sum(_known_words(part, known) for part in asks) >= 1:
        parts = asks
    clauses = [clause for part in parts for clause in _CLAUSE.split(part) if clause.strip()]
    asking = [clause for clause in clauses if _ASKS.match(clause)]
    if sum(_known_words(clause, known) for clause in asking) >= 1:
        return "\n".join(_PERSON.sub(" ", clause) for clause in asking)
    best = max((each for each in clauses if each not in asking), key=lambda each: _known_words(each, known), default="")
    if _known_words(best, known) >= 1:
        clauses = [best, *asking]
    return "\n".join(_PERSON.sub(" ", clause) for clause in clauses)


def _known_words(clause: str, known: Known) -> float:
    terms = {term: EVERYDAY_WORD if word in EVERYDAY else 1.0 for word, term in spellings(clause)}
    return sum(share for term, share in terms.items() if not term.isdigit() and known(term))
