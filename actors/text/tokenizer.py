"""What counts as a word: English stems, bigrams for Chinese, Japanese and Korean, folded accents and widths."""

import functools
import itertools
import re
import unicodedata

import Stemmer

from actors.text.stop_words import EVERYDAY, STOP
from actors.text.unicode_forms import fold_forms

CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7a3"
"""Scripts whose words are not parted by spaces, or carry particles (Korean): indexed as pairs of characters."""

_RUN = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:['’](?:s|t|re|ll|ve|m|d)\b)?")
_COMPOUND = re.compile(r"(?<![\w-])(?:[A-Za-z]{1,3}-[A-Za-z]+|[A-Za-z]+-[A-Za-z]{1,3})(?![\w-])")
_IS_CJK = re.compile(rf"[{CJK}]")


_STEMMER = Stemmer.Stemmer("porter", 0)


LONGEST_FOLDED = 1000
"""A run of more letters is no word, whose accents might be written in several ways."""


def is_cjk(word: str) -> bool:
    return bool(_IS_CJK.match(word))


@functools.lru_cache(100_000)
def stem(word: str) -> str:
    """The stem of a lower-case English word; words under four letters, numbers and other scripts are their own stem."""
    if len(word) < 4 or len(word) > 40 or not (word.isascii() and word.isalpha()):
        return word
    found: str = _STEMMER.stemWord(word)
    return found


def runs(text: str) -> list[str]:
    """The words and unbroken CJK runs of a text, as written (widths folded)."""
    return _RUN.findall(_join_compounds(fold_forms(text)))


def tokens(text: str) -> list[str]:
    """The index terms of a text, in order."""
    if not text.isascii():
        text = fold_forms(text)
    return list(itertools.chain.from_iterable(map(_terms, _RUN.findall(_join_compounds(text.lower())))))


def spellings(text: str) -> list[tuple[str, str]]:
    """(word in lower case, term) of each index term of a text."""
    return [(run, term) for run in map(str.lower, runs(text)) for term in _terms(run)]


def list_own_terms(text: str) -> set[str]:
    """The terms of a text that it does not share with any talk."""
    return {term for word, term in spellings(text) if word not in EVERYDAY}


def _join_compounds(text: str) -> str:
    """With `Wi-Fi` as `WiFi` and `e-mail` as `email mail`: people write short compounds in either way."""
    return _COMPOUND.sub(_join, text) if "-" in text else text


def _join(compound: re.Match[str]) -> str:
    parts = compound.group().split("-")
    return " ".join(["".join(parts), *(part for part in parts if len(part) > 2)])


@functools.lru_cache(100_000)
def _terms(run: str) -> tuple[str, ...]:
    word = run.removesuffix("'s").removesuffix("’s")
    if run in STOP or word in STOP:
        return ()
    if run.isascii():
        return (stem(word),)
    if is_cjk(run):
        return tuple(run[i : i + 2] for i in range(max(1, len(run) - 1)))
    if len(word) > LONGEST_FOLDED:
        return (word,)
    folded = "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
    return () if folded in STOP else (stem(folded.replace("’", "'")),)
