"""The published model, as it is installed: what means the same is near."""

import time
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


def test_a_passage_costs_a_bounded_share_of_a_processor(sentence_model: Path) -> None:
    passages = [f"{n}. {'The printer is jammed and the page is blank. ' * 20}" for n in range(8)]
    builtin.embed(str(sentence_model), passages[:1])  # loaded
    before = time.process_time()

    builtin.embed(str(sentence_model), passages)

    assert (time.process_time() - before) / len(passages) < 0.5  # 0.02 to 0.06 s, by how busy the machine is
