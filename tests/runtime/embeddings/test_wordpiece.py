"""Texts are taken apart as the model learnt them: the numbers were worked out by hand from a small vocabulary."""

import pytest

from runtime.embeddings.sentence_model import WordPiece
from tests.runtime.embeddings.kit import VOCABULARY

PIECES = WordPiece(VOCABULARY)
UNKNOWN, BEGIN, END = 1, 2, 3


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", []),
        ("print", [4]),
        ("printers", [4, 5, 6]),
        ("Printing THE", [4, 7, 8]),
        ("env", [18, 19, 20]),
        ("enx", [UNKNOWN]),
        ("jammed.", [10, 11, 13]),
        ("print-jam", [4, 14, 10]),
        ("$print$", [15, 4, 15]),
        ("Café cafe\u0301", [12, 12]),
        ("打印the", [16, 17, 8]),
        ("the\u00a0is\tjam\r\nprint\u3000a", [8, 9, 10, 4, 23]),
        ("pr\u00adint j\u200bam the\x00 i\x07s", [4, 10, 8, 9]),
        ("a" * 101, [UNKNOWN]),
        ("the [SEP] is", [8, UNKNOWN, UNKNOWN, UNKNOWN, 9]),
        ("İs", [9]),
    ],
    ids=ascii,
)
def test_the_longest_pieces_from_the_left(text: str, numbers: list[int]) -> None:
    assert PIECES.encode(text, 128) == [BEGIN, *numbers, END]


def test_only_the_beginning_is_kept_and_it_still_ends_with_the_end() -> None:
    assert PIECES.encode("the is " * 100, 6) == [BEGIN, 8, 9, 8, 9, END]


def test_a_long_text_of_many_different_characters_is_taken_apart() -> None:
    text = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x3000 + 0x10000)]))

    assert len(PIECES.encode(text, 128)) == 128
