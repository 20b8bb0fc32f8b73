"""The wheel, installed where nothing of a checkout is: it is complete, and its commands run in any folder."""

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests import ROOT
from tests.patience import HANGS_SECONDS
from tests.runtime.cli.commands.program import ARTICLE, QUESTION
from tests.test_imports import LAYERS


class Installed:
    """A wheel in a folder of its own, whose commands run in others."""

    def __init__(self, folder: Path) -> None:
        self.site = folder / "site"

    def run(self, here: Path, *words: str, program: str = "") -> str:
        """What a command of the installed package, or a program, prints."""
        started = ["-c", program] if program else [str(self.site / "bin" / "terminus")]
        done = subprocess.run(  # noqa: S603 - what was just built
            [sys.executable, *started, *words], cwd=here, capture_output=True, timeout=2 * HANGS_SECONDS, check=False,
            env={"PATH": os.environ["PATH"], "HOME": str(here), "PYTHONPATH": str(self.site),
                 "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def files(self) -> set[Path]:
        return set(self.site.rglob("*"))


def quietly(*words: str) -> None:
    """A program of Python's, without the network and without what this machine sets up for pip."""
    done = subprocess.run(  # noqa: S603 - the tools that the lock file pins
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, check=False,
        timeout=2 * HANGS_SECONDS, env={**os.environ, "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("built")
    quietly("hatchling", "build", "-d", str(folder))
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    place = Installed(tmp_path_factory.mktemp("installed"))
    wheel = next(built.glob("*.whl"))
    quietly("pip", "install", "--quiet", "--no-deps", "--target", str(place.site), str(wheel))
    return place


def test_the_wheel_holds_the_packages_their_types_and_what_they_read(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        held = set(wheel.namelist())

    ours = {
        file.relative_to(ROOT).as_posix()
        for layer in LAYERS
        for file in (ROOT / layer).rglob("*")
        if file.suffix in {".py", ".md", ".toml", ".html", ".css", ".js"} or file.name == "py.typed"
    }
    assert {f"{layer}/py.typed" for layer in LAYERS} | {"actors/prompts/worker.md"} <= ours
    assert ours <= held
    documents = (ROOT / "examples" / "knowledge").iterdir()
    assert {f"runtime/shipped/{each.relative_to(ROOT)}" for each in documents} <= held
    assert "runtime/shipped/config.toml" in held
    assert "runtime/embeddings/model.lock" in held
    top = {name.partition("/")[0] for name in held}
    assert {name for name in top if not name.endswith(".dist-info")} == set(LAYERS)


def test_the_source_distribution_can_be_tested_and_built(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as source:
        held = {name.partition("/")[2] for name in source.getnames()}

    wanted = {"README.md", "Makefile", "config.toml", "requirements-dev.lock", "docs/python.md", "tests/conftest.py",
              "bench/all.py", "examples/README.md", "task-data/README.md"}  # fmt: skip
    assert wanted <= held
    assert not any(name.startswith((".venv", "dist/", "task-data/terminus")) for name in held)


def test_it_says_its_version_and_names_itself(installed: Installed, tmp_path: Path) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

    assert installed.run(tmp_path, "--version") == f"Terminus {version}\n"
    assert installed.run(tmp_path, "submit", "--help").startswith("usage: terminus submit ")
    assert installed.run(tmp_path, "status") == "No tickets yet: `terminus submit TEXT` runs one.\n"


def test_the_demo_runs_in_an_empty_folder_and_leaves_nothing_anywhere(installed: Installed, tmp_path: Path) -> None:
    before = installed.files()

    told = installed.run(tmp_path, "demo")

    assert told.startswith("Read 12 documents of ")
    assert "Answered as an earlier ticket was." in told
    assert "# What are the limits of the VPN" in told
    assert "Now with your own documents: `terminus index FOLDER`" in told.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []
    assert installed.files() == before


def test_a_ticket_is_answered_and_kept_below_the_folder_it_was_asked_in(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "manual").mkdir()
    (tmp_path / "manual" / "printer.md").write_text(ARTICLE, encoding="utf-8")

    installed.run(tmp_path, "index", "manual")
    told = installed.run(tmp_path, "submit", "--quiet", QUESTION)

    assert "open the rear cover" in told
    assert "Did it help? `terminus feedback " in told
    assert (tmp_path / "task-data" / "terminus.db").is_file()


def test_another_program_imports_it_without_a_checkout(installed: Installed, tmp_path: Path) -> None:
    program = "import runtime; from runtime import Node; print(runtime.__file__, Node.__name__)"

    assert installed.run(tmp_path, program=program) == f"{installed.site}/runtime/__init__.py Node\n"
