"""Unicode's compatibility forms as plain letters: in linear time, and for texts that do not grow by it."""

import re
import unicodedata

PIECE = 256
"""So many characters in a row without any of ASCII are normalised at once: no script has words as long, and the
standard library sorts a run of combining marks by insertion."""
MOST_GROWTH, ALWAYS = 2, 200
"""A text may become so many times as long, and so many characters longer. U+FDFA alone stands for 18 letters."""

_LONG = re.compile(rf"(?<![^\x00-\x7f])[^\x00-\x7f]{{{PIECE + 1}}}")
_PIECES = re.compile(rf"[\x00-\x7f]*[^\x00-\x7f]{{1,{PIECE}}}|[\x00-\x7f]+")
"""With the letter that marks at their beginning belong to."""
_PARTS = re.compile(rf"(?s).{{1,{16 * PIECE}}}[^\x00-\x7f]{{0,{PIECE}}}")
"""Of a text without long runs: each ends where its marks do."""


def fold_forms(text: str) -> str:
    """The text in NFKC; as it is where it would grow beyond what any writing does, found before it has grown."""
    if text.isascii():
        return text
    folded, room = list[str](), MOST_GROWTH * len(text) + ALWAYS
    for part in (_PIECES if _LONG.search(text) else _PARTS).findall(text):
        folded.append(unicodedata.normalize("NFKC", part))
        room -= len(folded[-1])
        if room < 0:
            return text
    return "".join(folded)
