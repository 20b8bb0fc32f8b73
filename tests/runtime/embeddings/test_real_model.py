"""The published model, as it is installed: what means the same is near."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.embeddings import weights
from tests.runtime.embeddings.kit import cosine

NEAR_AND_FAR = [
    ("My laptop does not start any more.", "The computer will not boot.", "The invoice is due in March."),
    ("How do I make the letters bigger?", "Increase the font size.", "Delete a row of the table."),
    ("undo the last commit", "git reset moves HEAD back", "print an envelope"),
    ("The page is printed sideways.", "Set the orientation to landscape.", "Set a password for the document."),
]


@pytest.mark.parametrize(("text", "near", "far"), NEAR_AND_FAR)
def test_what_means_the_same_is_nearer_than_what_does_not(sentence_model: Path, text: str, near: str, far: str) -> None:
    asked, right, wrong = weights.embed(str(sentence_model), "passage", [text, near, far])

    assert len(asked) == 384
    assert cosine(asked, right) > cosine(asked, wrong) + 0.1


def test_a_passage_costs_little_more_than_its_multiplications(sentence_model: Path) -> None:
    import numpy as np  # whose threads runtime.embeddings has set by now

    passages = [f"{n}. {'The printer is jammed and the page is blank. ' * 20}" for n in range(8)]
    weights.embed(str(sentence_model), "passage", passages[:1])  # loaded
    tokens, matrix = np.ones((128, 384), np.float32), np.ones((384, 1536), np.float32)

    def multiply() -> None:
        for _ in range(18 * len(passages)):  # six layers of 3 such products' worth
            tokens @ matrix

    whole, bare = (
        _measure(work) for work in (lambda: weights.embed(str(sentence_model), "passage", passages), multiply)
    )

    assert whole < 6 * bare  # 1.1 to 2


def _measure(work: Callable[[], object]) -> float:
    """The least of three times, in seconds of a processor: others are at work on it, too."""
    times = []
    for _ in range(3):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)
