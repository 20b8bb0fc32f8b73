"""Runs `python -m runtime` as its user does: in a process and a folder of its own, with nothing else set up."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests import ROOT

SECONDS = 60.0

ARTICLE = """\
# Printer

## Paper jams

When the printer reports a paper jam, open the rear cover and pull the sheet out slowly with both hands.
Then close the cover and press the green button for five seconds.

## Toner

The toner cartridge of the printer is changed every 4000 pages.
"""
QUESTION = "The printer reports a paper jam. What should I open to pull the sheet out?"


class Done:
    """A process that has ended."""

    def __init__(self, done: "subprocess.CompletedProcess[bytes]") -> None:
        self.status = done.returncode
        self.out, self.err = done.stdout.decode(), done.stderr.decode()

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)


class Place:
    """A folder with its own settings and storage."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "TERMINUS_STORAGE_FOLDER": str(folder / "task-data"),
            "PYTHONWARNINGS": "error::ResourceWarning",
        }
        self.log = folder / "task-data" / "logs" / "terminus.log"

    def run(self, *words: str, stdin: str = "", **environ: str) -> Done:
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-m", "runtime", *words], cwd=self.folder, env={**self.environ, **environ},
            input=stdin.encode(), capture_output=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        return Done(done)

    @contextmanager
    def running(self, *words: str, **environ: str) -> Iterator["subprocess.Popen[str]"]:
        """A process that goes on; killed when the block ends and it has not."""
        popen = subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, "-m", "runtime", *words], cwd=self.folder, env={**self.environ, **environ},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            yield popen
        finally:
            popen.kill()
            popen.communicate()

    def article(self) -> None:
        """Index a folder with one document, which answers QUESTION."""
        (self.folder / "manual").mkdir()
        (self.folder / "manual" / "printer.md").write_text(ARTICLE, encoding="utf-8")
        assert self.run("index", "manual").status == 0


@contextmanager
def silent_server() -> Iterator[dict[str, str]]:
    """A model server that takes every connection and never answers; as the variables that point to it."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        yield {
            "OPENAI_BASE_URL": f"http://127.0.0.1:{listening.getsockname()[1]}/v1",
            "OPENAI_API_KEY": "unused-but-needed",
        }


@contextmanager
def out_of_time() -> Iterator[dict[str, str]]:
    """What makes every ticket reach a limit: a model that is silent, nothing in its place, and one second."""
    with silent_server() as variables:
        yield {**variables, "TERMINUS_RUN_MAX_SECONDS": "1", "TERMINUS_MODEL_FALLBACK": "false"}


def read_until(popen: "subprocess.Popen[str]", word: str) -> str:
    """Lines of a process's stderr up to the one with this word."""
    assert popen.stderr is not None
    seen = ""
    for line in popen.stderr:
        seen += line
        if word in line:
            return seen
    raise AssertionError(f"{word!r} was never said: {seen}")
