"""The model computes what the architecture says, whatever else is worked on with a text."""

from pathlib import Path

import numpy as np
import pytest

from runtime.embeddings import weights
from runtime.embeddings.sentence_model import MOST_TOKENS, WordPiece
from runtime.processes.array_file import Damaged
from tests.runtime.embeddings.kit import VOCABULARY, cosine, expect, make_weights, write_published

TEXTS = ["the printer is jammed.", "print", "", "打印 the cafe", "the printers is jam - the $ is printing. " * 30]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    weights.convert(*write_published(folder), folder / "tiny.int8")
    return folder / "tiny.int8"


def test_a_vector_is_what_the_architecture_says(model_file: Path) -> None:
    pieces, arrays = WordPiece(VOCABULARY), make_weights()
    found = weights.read(model_file).encode(TEXTS)

    for text, vector in zip(TEXTS, found, strict=True):
        cosine = float(vector @ expect(arrays, pieces.encode(text, MOST_TOKENS)))
        assert cosine > 0.999, text
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_what_else_is_worked_on_changes_no_vector(model_file: Path) -> None:
    model = weights.read(model_file)
    many = [*TEXTS, *(f"the {word} is" for word in VOCABULARY)] * 3  # more than one group

    together = model.encode(many)

    for n, text in enumerate(many):
        np.testing.assert_allclose(together[n], model.encode([text])[0], atol=1e-5)


def test_a_text_is_read_up_to_the_first_128_tokens(model_file: Path) -> None:
    model, long = weights.read(model_file), "the is " * 63

    np.testing.assert_array_equal(model.encode([long]), model.encode([long + "jam printer cafe"]))
    assert float(model.encode([long])[0] @ model.encode(["jam printer"])[0]) < 0.999


def test_vectors_leave_the_process_as_bytes_of_a_unit_vector(model_file: Path) -> None:
    vectors = weights.embed(str(model_file), "query", TEXTS[:2])

    assert [len(vector) for vector in vectors] == [64, 64]
    assert np.linalg.norm(np.frombuffer(vectors[0], np.int8).astype(float)) == pytest.approx(127, abs=2)
    assert cosine(*vectors) == pytest.approx(
        float(np.prod(weights.read(model_file).encode(TEXTS[:2]), 0).sum()), abs=0.02
    )


def test_a_file_that_was_cut_off_or_changed_is_refused(model_file: Path, tmp_path: Path) -> None:
    whole, broken = model_file.read_bytes(), tmp_path / "broken.int8"
    changed = bytearray(whole)
    changed[len(whole) // 2] ^= 1
    for content in (whole[:-100], bytes(changed), b""):
        broken.write_bytes(content)
        with pytest.raises(Damaged):
            weights.read(broken)


def test_a_file_of_another_model_is_refused(tmp_path: Path) -> None:
    arrays = make_weights()
    del arrays["encoder.layer.1.output.dense.weight"]
    weights.convert(*write_published(tmp_path, arrays), tmp_path / "lacking.int8")

    with pytest.raises(Damaged, match=r"encoder\.layer\.1\.output\.dense\.weight"):
        weights.read(tmp_path / "lacking.int8")
