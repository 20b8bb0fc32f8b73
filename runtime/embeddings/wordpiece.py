"""BERT's uncased WordPiece: a text as the numbers of its pieces in the model's vocabulary."""

import functools
import itertools
import unicodedata
from collections.abc import Iterator, Sequence

UNKNOWN, BEGIN, END = "[UNK]", "[CLS]", "[SEP]"
CONTINUED = "##"
"""Before a piece that does not begin its word."""
WORD_CHARACTERS = 100
"""A longer word is unknown, as it was when the model was trained."""
KEPT_WORDS = 50_000
IDEOGRAPHS = (
    range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xF900, 0xFB00), range(0x20000, 0x2A6E0),
    range(0x2A700, 0x2CEB0), range(0x2F800, 0x2FA20),
)  # fmt: skip


class _Characters(dict[int, str]):
    """What becomes of each character, for `str.translate`; found when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold(chr(code))
        return folded


def _fold(character: str) -> str:
    """Lower case, or nothing for accents and control characters; what is a word by itself gets spaces around it."""
    kind = unicodedata.category(character)
    if (character.isspace() and kind != "Cc") or character in "\t\n\r":
        return " "
    if kind == "Mn" or kind[0] == "C" or character == "\ufffd":
        return ""
    code = ord(character)
    symbol = kind[0] == "S" and code < 128  # ASCII's symbols count as punctuation
    if kind[0] == "P" or symbol or any(code in block for block in IDEOGRAPHS):
        return f" {character} "
    return character.lower()


class WordPiece:
    """A vocabulary, and how texts are taken apart by it."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """:param vocabulary: the pieces in the order of their numbers."""
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._longest = max(map(len, vocabulary))
        self._characters = _Characters()
        self._begin, self._end, self._unknown = (self._numbers[each] for each in (BEGIN, END, UNKNOWN))
        self._pieces = functools.lru_cache(KEPT_WORDS)(self._split)

    def encode(self, text: str, most: int) -> list[int]:
        """The numbers of a text's first pieces between those of begin and end, at most `most` in all."""
        words = unicodedata.normalize("NFD", text).translate(self._characters).split()
        pieces = itertools.chain.from_iterable(map(self._pieces, words))
        return [self._begin, *itertools.islice(pieces, most - 2), self._end]

    def _split(self, word: str) -> tuple[int, ...]:
        """The longest pieces that there are, from the left; a word with a part that is none is unknown as a whole."""
        numbers = tuple(self._take(word)) if len(word) <= WORD_CHARACTERS else (self._unknown,)
        return (self._unknown,) if self._unknown in numbers else numbers

    def _take(self, word: str) -> Iterator[int]:
        start = 0
        while start < len(word):
            before = CONTINUED if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                if (number := self._numbers.get(before + word[start:end])) is not None:
                    yield number
                    start = end
                    break
            else:
                yield self._unknown
                return
