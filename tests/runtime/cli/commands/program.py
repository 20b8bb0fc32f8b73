"""Runs `python -m runtime` as its user does: in a process and a folder of its own, with nothing else set up."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests import ROOT
from tests.forked import FORK_SERVER

SECONDS = 60.0

ARTICLE = """\
# Printer

## Paper jams

When the printer reports a paper jam, open the rear cover and pull the sheet out slowly with both hands.
Then close the cover and press the green button for five seconds.

The toner cartridge of the printer is changed every 4000 pages.
"""
QUESTION = "The printer reports a paper jam. What should I open to pull the sheet out?"


class Done:
    """A process that has ended."""

    def __init__(self, status: int, out: bytes, err: bytes) -> None:
        self.status, self.out, self.err = status, out.decode(), err.decode()

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)


class Place:
    """A folder with its own settings and storage."""

    def __init__(self, folder: Path, *, forks: bool = True) -> None:
        """:param forks: whether an interpreter that has loaded the product is forked, instead of starting another."""
        self.folder, self.forks = folder, forks
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "TERMINUS_STORAGE_FOLDER": str(folder / "task-data"),
            "PYTHONWARNINGS": "error::ResourceWarning",
        }
        self.log = folder / "task-data" / "logs" / "terminus.log"

    def run(self, *words: str, stdin: str = "", **environ: str) -> Done:
        with self._start(words, environ, stdin=subprocess.PIPE) as popen:
            try:
                out, err = popen.communicate(stdin.encode(), timeout=SECONDS)
            except BaseException:
                popen.kill()
                raise
        return Done(popen.returncode, out, err)

    @contextmanager
    def running(self, *words: str, **environ: str) -> Iterator["subprocess.Popen[str]"]:
        """A process that goes on; killed when the block ends and it has not."""
        popen = self._start(words, environ, stdin=subprocess.DEVNULL, text=True)
        try:
            yield popen
        finally:
            popen.kill()
            popen.communicate()

    def _start(self, words: Sequence[str], environ: dict[str, str], **given: Any) -> "subprocess.Popen[Any]":
        start = FORK_SERVER.popen if self.forks and not _concerns_interpreter(environ) else subprocess.Popen
        return start(
            [sys.executable, "-m", "runtime", *words], cwd=self.folder, env={**self.environ, **environ},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **given,
        )  # fmt: skip

    def article(self) -> None:
        """Index a folder with one document, which answers QUESTION."""
        (self.folder / "manual").mkdir()
        (self.folder / "manual" / "printer.md").write_text(ARTICLE, encoding="utf-8")
        assert self.run("index", "manual").status == 0


def _concerns_interpreter(environ: Iterable[str]) -> bool:
    """Whether variables say what an interpreter looks at when it starts."""
    return any(name.startswith(("PYTHON", "LC_", "LANG")) for name in environ)


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
    """Lines of a process's stderr up to the one with this word; one that does not say it in time is killed."""
    assert popen.stderr is not None
    seen = ""
    late = threading.Timer(SECONDS, popen.kill)
    late.start()
    try:
        for line in popen.stderr:
            seen += line
            if word in line:
                return seen
    finally:
        late.cancel()
    raise AssertionError(f"{word!r} was never said: {seen}")
