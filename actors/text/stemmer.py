"""English word stems (Porter's algorithm), so that `vacuumed` finds `vacuum`. Other scripts pass through unchanged."""

import functools
import re

_VOWEL = re.compile("[aeiouy]")
_SYLLABLES = re.compile("[aeiouy]+[^aeiouy]")
_CONSONANT_Y = re.compile("(?<=[aeiou])y|^y")
_SHORT_END = re.compile("[^aeiou][aeiouy][^aeiouwxy]$")

_DOUBLE_SUFFIXES = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_SUFFIXES = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_TABLES = tuple((table, tuple(table)) for table in (_DOUBLE_SUFFIXES, _SUFFIXES))
_ENDINGS = ("ement", "ment", "ance", "ence", "able", "ible", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
            "al", "er", "ic", "ou")  # fmt: skip


@functools.lru_cache(100_000)
def stem(word: str) -> str:
    """The stem of a lower-case word; words under four letters, numbers and other scripts are their own stem."""
    if len(word) < 4 or not (word.isascii() and word.isalpha()) or len(word) > 40:
        return word
    word = _past(_plural(word))
    if word.endswith("y") and _VOWEL.search(word[:-1]):
        word = word[:-1] + "i"
    for table, suffixes in _TABLES:
        if word.endswith(suffixes):
            word = _replaced(word, table)
    return _final(_ending(word))


def _measure(word: str) -> int:
    return len(_SYLLABLES.findall(_CONSONANT_Y.sub("Y", word)))


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        base = word.removesuffix(suffix)
        if base != word and _VOWEL.search(base):
            if base.endswith(("at", "bl", "iz")):
                return base + "e"
            if len(base) > 1 and base[-1] == base[-2] and base[-1] not in "lszaeiou":
                return base[:-1]
            return base + "e" if _measure(base) == 1 and _SHORT_END.search(base) else base
    return word


def _replaced(word: str, table: dict[str, str]) -> str:
    for suffix, replacement in table.items():
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + replacement if _measure(base) else word
    return word


def _ending(word: str) -> str:
    for suffix in _ENDINGS if word.endswith(_ENDINGS) else ():
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base if _measure(base) > 1 else word
    return word[:-3] if word.endswith(("sion", "tion")) and _measure(word[:-3]) > 1 else word


def _final(word: str) -> str:
    if word.endswith("e"):
        base = word[:-1]
        size = _measure(base)
        if size > 1 or (size == 1 and not _SHORT_END.search(base)):
            word = base
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
