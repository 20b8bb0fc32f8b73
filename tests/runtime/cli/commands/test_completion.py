"""`completion`: what a shell is told completes commands, options, choices and files."""

import shutil
import subprocess
from pathlib import Path

import pytest

from runtime.cli.parsers import command_names
from tests.runtime.cli.commands.program import Place

ASK = """
. "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
complete -p terminus >/dev/null || exit 9
$(complete -p terminus | sed 's/.*-F \\([^ ]*\\).*/\\1/') terminus "${@: -1}" "${@: -2:1}"
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def script(place: Place) -> Path:
    done = place.run("completion", "bash")
    assert (done.status, done.err) == (0, "")
    assert list(place.folder.iterdir()) == []
    file = place.folder / "terminus.bash"
    file.write_text(done.out, encoding="utf-8")
    return file


def offered(script: Path, *words: str) -> set[str]:
    """What bash offers when Tab is pressed behind the last of some words."""
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(  # noqa: S603 - the script under test
        [bash, "--norc", "-c", ASK, "bash", str(script), "terminus", *words],
        cwd=script.parent, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return {line.strip() for line in done.stdout.splitlines()}


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_commands_options_choices_and_files(script: Path) -> None:
    (script.parent / "ticket.md").touch()
    (script.parent / "manual").mkdir()

    assert offered(script, "") >= set(command_names())
    assert offered(script, "su") == {"submit"}
    assert offered(script, "submit", "--re") >= {"--research", "--requester"}
    assert offered(script, "feedback", "--w") == {"--wrong"}
    assert offered(script, "completion", "") >= {"bash", "zsh", "fish"}
    assert offered(script, "submit", "tick") == {"ticket.md"}
    assert offered(script, "submit", "--out", "tick") == {"ticket.md"}
    assert offered(script, "index", "") == {"manual"}


@pytest.mark.parametrize(("shell", "sign"), [("zsh", "#compdef terminus\n"), ("fish", "complete -c terminus ")])
def test_other_shells_get_a_script_of_their_own(shell: str, sign: str, place: Place) -> None:
    done = place.run("completion", shell)

    assert (done.status, done.err) == (0, "")
    assert sign in done.out
    for name in command_names():
        assert name in done.out
    assert "requester" in done.out


def test_another_shell_is_refused_with_those_that_there_are(place: Place) -> None:
    done = place.run("completion", "cmd.exe")

    assert (done.status, done.out) == (2, "")
    assert "'bash', 'zsh', 'fish'" in done.err
