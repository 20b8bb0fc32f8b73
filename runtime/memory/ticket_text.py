"""How memory reads a ticket: when two texts are the same, their writing, what they are compared by. Pure."""

import hashlib
import re
from typing import NewType

from actors.text.unicode_forms import fold_forms

Digest = NewType("Digest", bytes)
"""Of a folded text: the same for texts that differ only in Unicode form, case and white space."""

READ_CHARACTERS = 4_000
"""The similarity of longer tickets is judged by their beginning."""
READ_WORDS = 400
FORMS_CHARACTERS = 20_000
"""Unicode forms are folded in so much of a text: it takes 0.3 ms of the loop for a thousand characters that expand."""

_RUN = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
_HALVES = re.compile("[\ud800-\udfff]")
_APOSTROPHES = str.maketrans("", "", "'’ʼ`´")

_BLOCKS = (
    (0x3040, 0x30FF, "kana"),
    (0x3400, 0x9FFF, "han"),
    (0xF900, 0xFAFF, "han"),
    (0x1100, 0x11FF, "hangul"),
    (0xAC00, 0xD7AF, "hangul"),
    (0x0370, 0x03FF, "greek"),
    (0x0400, 0x052F, "cyrillic"),
    (0x0530, 0x058F, "armenian"),
    (0x0590, 0x05FF, "hebrew"),
    (0x0600, 0x077F, "arabic"),
    (0x0900, 0x0DFF, "indic"),
    (0x0E00, 0x0E7F, "thai"),
    (0x10A0, 0x10FF, "georgian"),
)


def fold(text: str) -> str:
    """The text without differences of case, white space and, at its beginning, Unicode form (NFKC)."""
    text = text.strip()
    beginning = fold_forms(fold_forms(text[:FORMS_CHARACTERS]).casefold())
    return " ".join((beginning + text[FORMS_CHARACTERS:].casefold()).split())


def whole(text: str) -> str:
    """The text with U+FFFD for every half of a character, which nothing can store or send."""
    return _HALVES.sub("\ufffd", text)


def digest(text: str) -> Digest:
    """Equal for texts that are the same when folded."""
    return Digest(hashlib.blake2b(fold(whole(text)).encode(), digest_size=16).digest())


def script(text: str) -> str:
    """The writing of a text: the commonest but Latin if it holds a fifth of the letters."""
    counts: dict[str, int] = {}
    for character in text[:READ_CHARACTERS]:
        if character.isalpha():
            name = _script(ord(character))
            counts[name] = counts.get(name, 0) + 1
    total = sum(counts.values())
    # A Chinese ticket full of product names is Chinese: Latin only counts where nothing else does.
    others = sorted((-n, name) for name, n in counts.items() if name != "latin" and n * 5 >= total)
    if "kana" in counts and any(name == "han" for _, name in others):
        return "kana"
    return others[0][1] if others else "latin"


def words(text: str) -> list[str]:
    """Folded words; runs of Chinese and Japanese, which have no spaces, as overlapping pairs."""
    found: list[str] = []
    for run in _RUN.findall(fold(text[:READ_CHARACTERS]).translate(_APOSTROPHES)):
        if _script(ord(run[0])) in {"han", "kana"} and len(run) > 2:
            found += [run[i : i + 2] for i in range(len(run) - 1)]
        else:
            found.append(run)
    return found[:READ_WORDS]


def terms(text: str) -> list[str]:
    """What texts are compared by, each once: their words, and their words in twos with a mark for start and end."""
    spoken = words(text)
    twos = (f"{a} {b}" for a, b in zip(["^", *spoken], [*spoken, "$"], strict=True)) if spoken else ()
    return list(dict.fromkeys([*spoken, *twos]))


def _script(point: int) -> str:
    if point < 0x0370:
        return "latin"
    return next(
        (name for first, last, name in _BLOCKS if first <= point <= last), "latin" if point < 0x2000 else "other"
    )
