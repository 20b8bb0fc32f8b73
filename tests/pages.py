"""Pages of docs/ whose commands run in tests as they stand there."""

import re
import subprocess
import sys
from pathlib import Path

from tests import ROOT
from tests.patience import HANGS_SECONDS


def read_commands(page: str, heading: str = "") -> list[str]:
    """The commands of a page, or of what stands below one of its headings."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    if heading:
        text = re.split(r"(?m)^##? ", text.partition(f"\n## {heading}\n")[2])[0]
    commands = [line for block in re.findall(r"(?ms)^```sh\n(.*?)^```$", text) for line in block.splitlines()]
    assert commands, f"{page} has no commands there"
    return commands


def run_command(command: str, folder: Path, environ: dict[str, str] | None = None, *, status: int = 0) -> str:
    """What a command prints in a shell of its own; it ends with this status."""
    done = subprocess.run(  # noqa: S602 - our own page
        command, shell=True, cwd=folder, env=environ, capture_output=True, text=True, timeout=HANGS_SECONDS, check=False
    )
    assert done.returncode == status, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def install_command(folder: Path, environ: dict[str, str]) -> dict[str, str]:
    """Variables with which a shell finds `terminus`: the checkout that is tested."""
    script = folder / "bin" / "terminus"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m runtime "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return {**environ, "PATH": f"{script.parent}:{environ['PATH']}"}
