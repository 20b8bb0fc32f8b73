"""A `serve` process under attack: started, stopped, killed and started again over one folder."""

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from bench.measure import NotMeasured

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60.0
STOP_SECONDS = 30.0
NOT_OURS = ("TERMINUS_", "OPENAI_", "TAVILY_")


class DiedAtStart(NotMeasured):
    """The process ended before it took tickets."""


class Daemon:
    """One process of the product, whose storage is `folder / "task-data"`."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.folder = folder
        self.storage = folder / "task-data"
        self.address = ""
        self._environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith(NOT_OURS)},
            "PYTHONPATH": str(ROOT), "TERMINUS_LOG_LEVEL": "error", **environ,
        }  # fmt: skip
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Return when it takes tickets."""
        log = (self.folder / "serve.log").open("ab")
        with log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "runtime", "serve", "--port", "0",
                cwd=self.folder, env=self._environ, stdout=asyncio.subprocess.PIPE, stderr=log,
            )  # fmt: skip
        assert self._process.stdout is not None
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), START_SECONDS)
        except TimeoutError:
            await self.kill()
            raise NotMeasured("the daemon did not start in time") from None
        found = re.search(rb"http://\S+?(?=[;\s]|$)", line)
        if found is None:
            raise DiedAtStart(f"the daemon did not start: {line.decode()!r}; see {self.folder / 'serve.log'}")
        self.address = found[0].decode()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def command(self, *words: str) -> str:
        """What a command beside it prints."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "runtime", *words, cwd=self.folder, env=self._environ,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        told, said = await asyncio.wait_for(process.communicate(), START_SECONDS)
        if process.returncode:
            raise NotMeasured(f"{' '.join(words)} failed: {said.decode().strip()}")
        return told.decode()

    async def dies(self, within: float) -> bool:
        """Whether it ends by itself within some seconds."""
        process = self._process
        if process is None:
            return False
        try:
            await asyncio.wait_for(process.wait(), within)
        except TimeoutError:
            return False
        return True

    async def kill(self) -> None:
        """As a power cut ends it."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """As an operator ends it."""
        await self._end(signal.SIGTERM)

    async def _end(self, how: signal.Signals) -> None:
        process = self._process
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(how)
        await asyncio.wait_for(process.communicate(), STOP_SECONDS)
        self._process = None


@contextlib.asynccontextmanager
async def daemon(folder: Path, **environ: str) -> AsyncIterator[Daemon]:
    """A daemon that is gone when the block ends."""
    one = Daemon(folder, **environ)
    await one.start()
    try:
        yield one
    finally:
        await one.kill()
