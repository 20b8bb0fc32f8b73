"""docs/python.md: each of its programs runs as it stands there."""

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runtime import Node, Settings, Ticket
from runtime.settings import StorageSettings
from tests import ROOT
from tests.runtime.cli.commands.program import ARTICLE, QUESTION

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
PROGRAM, *SNIPPETS = re.findall(r"(?ms)^```python\n(.*?)^```$", PAGE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "manual").mkdir()
    (tmp_path / "manual" / "printer.md").write_text(ARTICLE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_program_indexes_and_answers(folder: Path) -> None:
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "program.py"], cwd=folder, capture_output=True, text=True, timeout=60, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT)},
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(("suggested ", "resolved "))
    assert "open the rear cover" in done.stdout
    assert "[info" not in done.stdout, "the log belongs to the program, not on its output"
    assert (folder / "task-data" / "terminus.db").exists()


async def test_every_snippet_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(storage=StorageSettings(folder=str(folder / "data")))
    async with Node.open(settings) as before:  # what it leaves is there to be resumed
        await before.index(["manual"])
        await before.submit(Ticket(id="HD-16", text=QUESTION))
    said = []
    async with Node.open(settings) as node:
        names: dict[str, Any] = {"node": node}
        await run("\n".join(line for line in PROGRAM.splitlines() if "import " in line), names)
        for snippet in SNIPPETS:
            await run(snippet, names)
            said.append(capsys.readouterr().out)

    told = "".join(said)
    assert "1 manual/printer.md Printer > Paper jams" in told
    assert "ended by ticketing after 11 handoffs" in told
    assert ": orchestrator hands over to memory\n" in told
    assert re.search(r"^\['\w+', '(?:resolved|suggested)', 'not_found'\]$", told, re.MULTILINE)
    assert "<h1>How is the printer maintained?</h1>" in (folder / "report.html").read_text(encoding="utf-8")
    assert "100 %: planning completed, searching completed, " in told
    assert "\ncancelled\n" in told
    assert re.search(r"^HD-16 (resolved|suggested)$", told, re.MULTILINE)
    assert re.search(r"^(resolved|suggested) .*Paper jams", told, re.MULTILINE)
    assert "HD-17 is a ticket of the helpdesk" in told


async def run(snippet: str, names: dict[str, Any]) -> None:
    """One snippet, as it would run inside of a coroutine."""
    code = compile(snippet, "docs/python.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    waiting = eval(code, names)  # noqa: S307 - our own page
    if inspect.isawaitable(waiting):
        await waiting
