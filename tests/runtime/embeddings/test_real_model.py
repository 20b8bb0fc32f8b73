"""The published model, as it is installed: what means the same is near."""

from pathlib import Path

import pytest

from runtime.embeddings import builtin
from tests.runtime.embeddings.kit import cosine

NEAR_AND_FAR = [
    ("My laptop does not start any more.", "The computer will not boot.", "The invoice is due in March."),
    ("How do I make the letters bigger?", "Increase the font size.", "Delete a row of the table."),
    ("undo the last commit", "git reset moves HEAD back", "print an envelope"),
    ("The page is printed sideways.", "Set the orientation to landscape.", "Set a password for the document."),
]


@pytest.mark.parametrize(("text", "near", "far"), NEAR_AND_FAR)
def test_what_means_the_same_is_nearer_than_what_does_not(sentence_model: Path, text: str, near: str, far: str) -> None:
    asked, right, wrong = builtin.embed(str(sentence_model), [text, near, far])

    assert len(asked) == 384
    assert cosine(asked, right) > cosine(asked, wrong) + 0.1
