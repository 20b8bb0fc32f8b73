"""docs/http.md: each of its commands runs as it stands there, against a daemon."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.patience import HANGS_SECONDS
from tests.runtime.cli.commands.program import ARTICLE

PAGE = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"(?ms)^```sh\n(.*?)^```$", PAGE) for line in block.splitlines()]


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder with a daemon in it, and where it listens."""
    (tmp_path / "manual").mkdir()
    (tmp_path / "manual" / "printer.md").write_text(ARTICLE, encoding="utf-8")
    (tmp_path / "vpn.md").write_text("# VPN\n\nRestart the client when the VPN drops.\n", encoding="utf-8")
    (tmp_path / "config.toml").write_text('[knowledge]\nfolders = ["manual"]\nuploads = "uploads"\n', encoding="utf-8")
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    program = [sys.executable, "-m", "runtime", "serve", "--port", "0"]
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(  # noqa: S603 - our own program
            program, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        assert process.stdout is not None
        found = re.search(r"http://[0-9.:]+", process.stdout.readline())
        assert found, (tmp_path / "log").read_text(encoding="utf-8")
        try:
            yield tmp_path, found[0]
        finally:
            process.terminate()


def run(command: str, folder: Path, at: str) -> str:
    """What one command of the page prints."""
    command = command.replace("http://127.0.0.1:8421", at)
    done = subprocess.run(  # noqa: S602 - our own page
        command, shell=True, cwd=folder, capture_output=True, text=True, timeout=HANGS_SECONDS, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), command
    return done.stdout


def wait_for_index(folder: Path, at: str) -> Any:
    """How reading the folders ended."""
    until = time.monotonic() + HANGS_SECONDS
    while time.monotonic() < until:
        state = json.loads(run("curl -s http://127.0.0.1:8421/knowledge", folder, at))["indexing"]
        if state["state"] != "running":
            return state
        time.sleep(0.1)
    raise AssertionError("it is still indexing")


@pytest.mark.req("SY-4", "HD-7.5")
def test_every_command_does_what_the_page_says(daemon: tuple[Path, str]) -> None:
    said: dict[str, str] = {}
    for command in COMMANDS:
        said[command] = run(command, *daemon)
        if "/knowledge/index" in command or " -T " in command:
            assert wait_for_index(*daemon)["state"] == "done"

    def find(part: str) -> Any:
        (body,) = (body for command, body in said.items() if part in command)
        return json.loads(body)

    assert find("Paper is stuck")["handoffs"]
    assert find('"id": "HD-7"')["links"]["ticket"] == "/tickets/HD-7"
    assert "event: ended\n" in next(body for command, body in said.items() if "-sN" in command)
    assert find("feedback")["answer"] == "Open the rear cover and pull the paper."
    assert find("resume")["ticket"] == "HD-7"
    assert {each["ticket"] for each in find("tickets?q=paper")["tickets"]} >= {"HD-7"}
    assert find("knowledge/documents?")["documents"][0]["name"] == "manual/printer.md"
    assert "rear cover" in find("knowledge/search")["passages"][0]["text"]
    assert find(" -T vpn.md")["state"] == "running"
    assert not (daemon[0] / "uploads" / "vpn.md").exists()
    assert find("/agents")["agents"][0]["workflow"]
    assert find("/memory?")["verdict"] == "hit"
    assert find("health/ready") == {"live": True, "ready": True}
    assert re.search(
        r'^terminus_runs_ended_total\{status="\w+",why="completed",workflow="helpdesk"\} ',
        next(body for command, body in said.items() if "/metrics" in command),
        re.MULTILINE,
    )
    assert find("HD-404")["status"] == 404
