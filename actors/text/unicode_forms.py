"""Unicode's compatibility forms as plain letters: in linear time, and for texts that do not grow by it."""

import re
import unicodedata

PIECE = 256
"""So many characters in a row without any of ASCII are normalised at once: no script has words as long, and the
standard library sorts a run of combining marks by insertion."""
MOST_GROWTH, ALWAYS = 2, 200
"""A text may become so many times as long, and so many characters longer. U+FDFA alone stands for 18 letters."""

_RUNS = re.compile(r"[^\x00-\x7f]+")
_PIECES = re.compile(rf"[\x00-\x7f]?[^\x00-\x7f]{{1,{PIECE}}}")
"""With the letter that marks at their beginning belong to."""


def fold_forms(text: str) -> str:
    """The text in NFKC; as it is where it would grow beyond what any writing does."""
    if text.isascii():
        return text
    folded = _normalize(text)
    return folded if len(folded) <= MOST_GROWTH * len(text) + ALWAYS else text


def _normalize(text: str) -> str:
    """As the standard library, but for runs that nobody writes: those are normalised piece by piece."""
    if max(map(len, _RUNS.findall(text))) <= PIECE:
        return unicodedata.normalize("NFKC", text)
    return _PIECES.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
