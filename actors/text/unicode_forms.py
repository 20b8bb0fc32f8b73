"""Unicode's normal forms in linear time: the standard library sorts a run of combining marks by insertion."""

import re
import unicodedata
from typing import Literal

PIECE = 256
"""So many characters in a row without any of ASCII are normalised at once: no script has words as long."""
_RUNS = re.compile(r"[^\x00-\x7f]+")
_PIECES = re.compile(rf"[\x00-\x7f]?[^\x00-\x7f]{{1,{PIECE}}}")
"""With the letter that marks at their beginning belong to."""


def normalize_form(form: Literal["NFC", "NFKC"], text: str) -> str:
    """As `unicodedata.normalize`, but for runs that nobody writes: those are normalised piece by piece."""
    if text.isascii():
        return text
    if max(map(len, _RUNS.findall(text))) <= PIECE:
        return unicodedata.normalize(form, text)
    return _PIECES.sub(lambda found: unicodedata.normalize(form, found[0]), text)
