"""Finding a command, its settings, and turning whatever goes wrong into one sentence."""

import argparse
import importlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from runtime.__main__ import main
from runtime.cli import commands
from runtime.cli.parsers import command_names
from runtime.service_error import ServiceError
from runtime.settings import Settings
from tests import ROOT
from tests.runtime.cli.commands.program import Place


def test_alone_it_prints_a_short_help(fresh_place: Place) -> None:
    done = fresh_place.run()

    assert (done.status, done.err) == (0, "")
    assert len(done.out.splitlines()) <= 12 + len(command_names()), "a line for each command, and little besides"
    for name in command_names():
        assert f"  {name} " in done.out


@pytest.mark.parametrize("name", command_names())
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"])

    assert caught.value.code == 0
    assert f"usage: python -m runtime {name}" in capsys.readouterr().out


def test_the_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert main(["--version"]) == 0

    assert capsys.readouterr() == (f"Terminus {project['version']}\n", "")


def test_an_unknown_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sumbit", "x"]) == 2

    assert capsys.readouterr() == ("", "There is no command 'sumbit'. Did you mean 'submit'?\n")


def test_an_unknown_option_is_one_harmless_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["status", "--\x1b[2J"])

    assert caught.value.code == 2
    assert capsys.readouterr().err == (
        "Unrecognized arguments: --\\x1b[2J. `python -m runtime status --help` shows what is possible.\n"
    )


@pytest.mark.req("SY-7")
def test_a_wrong_setting_is_one_sentence_with_its_place(fresh_place: Place) -> None:
    (fresh_place.folder / "config.toml").write_text("[run]\nmax_handofs = 3\n", encoding="utf-8")

    done = fresh_place.run("status")

    assert (done.status, done.out) == (2, "")
    assert done.err == "config.toml, line 2: [run] has no key 'max_handofs'. Did you mean 'max_handoffs'?\n"


@pytest.mark.parametrize(
    "words",
    [["--config", "gone.toml", "status"], ["--config=gone.toml", "status"], ["status", "--config", "gone.toml"]],
)
def test_the_file_of_settings_may_be_named_before_or_after_the_command(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert "There is no configuration file gone.toml." in capsys.readouterr().err


def test_what_nobody_expected_is_one_sentence_and_the_details_are_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def explode(arguments: argparse.Namespace, settings: Settings) -> int:
        raise ZeroDivisionError("by \x1b[2J nought")

    _command(monkeypatch, tmp_path, explode)

    assert main(["explode"]) == 1
    log = tmp_path / "task-data" / "logs" / "terminus.log"
    assert capsys.readouterr() == (
        "",
        f"explode failed unexpectedly (ZeroDivisionError); the details are in {log}.\n",
    )
    assert "Traceback (most recent call last)" in log.read_text(encoding="utf-8")
    assert "nought" in log.read_text(encoding="utf-8")


def test_a_text_that_looks_like_an_option_can_be_given(place: Place) -> None:
    assert place.run("submit", "--quiet", "--", "--my printer is on fire").status == 3


def test_a_users_error_is_its_sentence_and_its_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(arguments: argparse.Namespace, settings: Settings) -> int:
        raise ServiceError("No such \x1b[2J thing.")

    _command(monkeypatch, tmp_path, refuse)

    assert main(["explode"]) == 2
    assert capsys.readouterr() == ("", "No such \\x1b[2J thing.\n")


def test_ctrl_c_in_any_command_is_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(arguments: argparse.Namespace, settings: Settings) -> int:
        raise KeyboardInterrupt

    _command(monkeypatch, tmp_path, interrupted)

    assert main(["explode"]) == 130
    assert capsys.readouterr() == ("", "Stopped.\n")


def test_a_folder_that_cannot_be_written_is_one_sentence(place: Place) -> None:
    (place.folder / "task-data").write_text("a file where a folder should be", encoding="utf-8")

    done = place.run("status")

    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("Nothing can be written below ")
    assert done.err.count("\n") == 1


def test_a_damaged_database_is_one_sentence(place: Place) -> None:
    (place.folder / "task-data").mkdir()
    (place.folder / "task-data" / "terminus.db").write_bytes(b"this is no database " * 100)

    done = place.run("status")

    assert (done.status, done.out) == (1, "")
    assert "terminus.db cannot be used: it is not a database." in done.err
    assert done.err.count("\n") == 1


def test_a_reader_that_went_away_is_no_trace(place: Place) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as stdout:
        done = subprocess.run(
            [sys.executable, "-m", "runtime", "status"],
            cwd=place.folder, env=place.environ, stdout=stdout, stderr=subprocess.PIPE, timeout=60, check=False,
        )  # fmt: skip

    assert (done.returncode, done.stderr) == (1, b"")


def test_an_output_that_cannot_hold_all_characters_gets_escapes(place: Place) -> None:
    done = place.run("submit", "--quiet", "--verbose", "打印机卡纸了怎么办", PYTHONIOENCODING="ascii")

    assert done.status == 3
    assert "\\u6253" in done.out


def _command(monkeypatch: pytest.MonkeyPatch, folder: Path, run: object) -> None:
    """Put a command of our own among the others, with a storage folder of its own."""
    (folder / "explode.py").write_text(
        'SUMMARY = "explode for tests"\ndef arguments(parser): parser.add_argument("--loud", action="store_true")\n',
        encoding="utf-8",
    )
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(folder)])
    monkeypatch.delitem(sys.modules, "runtime.cli.commands.explode", raising=False)
    monkeypatch.setattr(importlib.import_module("runtime.cli.commands.explode"), "run", run, raising=False)
    monkeypatch.setenv("TERMINUS_STORAGE_FOLDER", str(folder / "task-data"))


def test_a_command_is_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(arguments: argparse.Namespace, settings: Settings) -> int:
        print("loud" if arguments.loud else "quiet")
        return 3

    _command(monkeypatch, tmp_path, run)

    assert main([]) == 0
    assert "  explode     explode for tests\n" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["explode", "--help"])
    assert "Explode for tests.\n" in capsys.readouterr().out
    assert main(["explod"]) == 2
    assert "Did you mean 'explode'?" in capsys.readouterr().err
    assert main(["explode", "--loud"]) == 3
    assert capsys.readouterr().out == "loud\n"
    assert main(["completion", "bash"]) == 0
    assert "explode" in capsys.readouterr().out


def test_an_output_that_is_full_is_a_sentence_and_not_done(place: Place) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "runtime", "status"], cwd=place.folder, env=place.environ,
            stdout=full, stderr=subprocess.PIPE, timeout=60, check=False,
        )  # fmt: skip

    assert (done.returncode, done.stderr) == (
        1, b"status could not write: No space left on device. Make room, and ask again.\n",
    )  # fmt: skip


def test_a_storage_folder_that_cannot_be_used_is_a_sentence(place: Place) -> None:
    (place.folder / "task-data").mkdir()
    (place.folder / "task-data" / "owners").write_text("in the way", encoding="utf-8")

    done = place.run("status")

    assert done.status == 1
    assert done.err.startswith("The storage folder ")
    assert done.err.endswith("Mend it, or set [storage] folder to another.\n")
    assert done.err.count("\n") == 1
