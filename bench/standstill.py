"""
How long one step of the daemon's event loop takes for large inputs: milliseconds of CPU, and where.

    python -m bench.standstill [--only ticket,dense,...] [--json]

The daemon runs in this process; clients and the model's server have threads with loops of their own. A step is what the
loop calls before it looks after its sockets again. Nothing that grows with an input may take more than 20 ms of it.
"""

import asyncio
import contextlib
import functools
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp

from bench.answer import ARTICLE, THINGS
from bench.faults.model import slow
from bench.measure import Figures, NotMeasured, arguments, report, table
from runtime.http.server import address, bound, listening
from runtime.service import open_service
from runtime.settings import KnowledgeSettings, ModelSettings, ServerSettings, Settings, StorageSettings
from tests.fake_openai import FakeOpenAI

MOST_MS = 20.0
SAMPLE_SECONDS = 0.002
WAIT_SECONDS = 120.0
SAID = (
    "The printer on the third floor reports a paper jam whenever somebody prints more than two pages and the green "
    "button does nothing although the toner was changed last week so what should I open and who can look at it please"
)


class Step(NamedTuple):
    """The longest of one case."""

    milliseconds: float
    where: tuple[str, ...]
    """Lines of ours in which it was seen, the most frequent first."""


class Steps:
    """What each step of one loop takes, from its thread's CPU clock."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._running = 0
        self._seen: Counter[str] = Counter()
        self._stopped = threading.Event()
        self.longest = Step(0.0, ())

    @contextlib.contextmanager
    def measured(self) -> Iterator[None]:
        run, steps = asyncio.Handle._run, self

        def timed(handle: asyncio.Handle) -> None:
            if threading.get_ident() != steps._thread:
                run(handle)
                return
            steps._running += 1
            began = time.thread_time()
            run(handle)
            steps._end((time.thread_time() - began) * 1e3)

        sampling = threading.Thread(target=self._sample, daemon=True)
        asyncio.Handle._run = timed  # type: ignore[method-assign,assignment]
        sampling.start()
        try:
            yield
        finally:
            asyncio.Handle._run = run  # type: ignore[method-assign]
            self._stopped.set()
            sampling.join()

    def begin(self) -> None:
        """Of another case."""
        self.longest = Step(0.0, ())

    def _end(self, milliseconds: float) -> None:
        if milliseconds > self.longest.milliseconds:
            self.longest = Step(round(milliseconds, 1), tuple(place for place, _ in self._seen.most_common(3)))
        self._seen.clear()

    def _sample(self) -> None:
        while not self._stopped.wait(SAMPLE_SECONDS):
            known, frame = self._running, sys._current_frames().get(self._thread)
            ours: list[str] = []
            while frame is not None:
                name = frame.f_code.co_filename
                if any(f"/{room}/" in name for room in ("actors", "runtime", "bus")) and "site-packages" not in name:
                    ours.append(f"{'/'.join(Path(name).parts[-2:])}:{frame.f_lineno} {frame.f_code.co_name}")
                frame = frame.f_back
            if ours and self._running == known:
                self._seen[ours[0]] += 1


def prose(size: int, *, seed: int = 1) -> str:
    """Sentences and paragraphs of about so many characters."""
    dice, parts, length, words = random.Random(seed), list[str](), 0, SAID.split()
    while length < size:
        chosen = [dice.choice(words).lower() for _ in range(dice.randint(6, 20))]
        sentence = " ".join(chosen).capitalize() + dice.choice([".", ".", ".", "?", "!", ".\n\n"])
        parts.append(sentence)
        length += len(sentence) + 1
    return " ".join(parts)[:size]


def dense(size: int) -> str:
    """Names, dates, sums and addresses, one behind the other: what rules look for."""
    parts = (f"Ann Lee {n} paid EUR {n}.50 on 2026-03-{n % 28 + 1:02} to bob{n}@example.org, see https://x{n}.example/{n}."
             for n in range(size))  # fmt: skip
    return _cut(parts, size)


def listed(size: int) -> str:
    """A log: short lines without sentences."""
    return _cut(
        (f"{n:05} kernel: usb 1-{n % 9}: device not accepting address {n}, error -71\n" for n in range(size)), size
    )


def _cut(parts: Iterator[str], size: int) -> str:
    said = ""
    chunks: list[str] = []
    while len(said) < size:
        chunks.append(next(parts))
        if len(chunks) == 200:
            said, chunks = said + " ".join(chunks), []
    return said[:size]


Ask = Callable[[aiohttp.ClientSession], Awaitable[object]]


def ticket(text: str, **more: Any) -> Ask:
    async def ask(client: aiohttp.ClientSession) -> None:
        async with client.post("/tickets", params={"wait": str(WAIT_SECONDS)}, json={"text": text, **more}) as answer:
            said = await answer.text()
            if answer.status != 200:
                raise NotMeasured(f"a ticket was answered with {answer.status}: {said[:300]}")

    return ask


def research_report(kind: str) -> Ask:
    async def ask(client: aiohttp.ClientSession) -> None:
        body = {"text": "What do I do about the VPN, the printer, the mailbox and the laptop?", "id": f"R-{kind}",
                "workflow": "research"}  # fmt: skip
        async with client.post("/tickets", params={"wait": str(WAIT_SECONDS)}, json=body) as answer:
            await answer.read()
        async with client.get(f"/tickets/R-{kind}/report", params={"format": kind}) as answer:
            await answer.read()
            if answer.status != 200:
                raise NotMeasured(f"a report was answered with {answer.status}")

    return ask


def upload(name: str, body: str) -> Ask:
    async def ask(client: aiohttp.ClientSession) -> None:
        async with client.put(f"/knowledge/documents/{name}", data=body.encode()) as answer:
            await answer.read()
            if answer.status >= 300:
                raise NotMeasured(f"an upload was answered with {answer.status}: {await answer.text()}")

    return ask


CASES: dict[str, Ask] = {
    "ticket 60 KB": ticket(prose(60_000)),
    "ticket 250 KB": ticket(prose(250_000)),
    "ticket again, by memory": ticket(prose(60_000)),
    "another, by memory": ticket(prose(60_000, seed=2)),
    "dense 60 KB": ticket(dense(60_000)),
    "dense 250 KB": ticket(dense(250_000)),
    "log 60 KB": ticket(listed(60_000)),
    "log 250 KB": ticket(listed(250_000)),
    "one line 60 KB": ticket(prose(60_000).replace("\n", " ").replace(".", "").replace("?", "").replace("!", "")),
    "legal 60 KB": ticket(prose(60_000), workflow="legal"),
    "legal dense 60 KB": ticket(dense(60_000), workflow="legal"),
    "complaint 60 KB": ticket("Please write a letter of complaint to my landlord. " + dense(60_000), workflow="legal"),
    "research 20 KB": ticket(prose(20_000), workflow="research"),
    "report as docx": research_report("docx"),
    "report as pdf": research_report("pdf"),
    "report as html": research_report("html"),
    "upload 1 MB of text": upload("long.md", prose(1_000_000)),
    "upload 1 MB of HTML": upload(
        "long.html", f"<html><body><p>{prose(1_000_000).replace('. ', '.</p><p>')}</p></body></html>"
    ),
}


async def measure(only: list[str]) -> Figures:
    figures: Figures = {}
    for model in (False, True):
        async with _daemon(model=model) as (client_address, steps):
            await _elsewhere(client_address, ticket("My VPN drops every hour. What can I do?"))
            for name, ask in CASES.items():
                if only and not any(word in name for word in only):
                    continue
                steps.begin()
                began = time.perf_counter()
                await _elsewhere(client_address, ask)
                longest = steps.longest
                figures[f"{name}, {'model' if model else 'rules'}"] = {
                    "ms": longest.milliseconds, "where": longest.where,
                    "seconds": round(time.perf_counter() - began, 2),
                }  # fmt: skip
    return figures


@contextlib.asynccontextmanager
async def _daemon(*, model: bool) -> AsyncIterator[tuple[str, Steps]]:
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        url = stack.enter_context(_model_server()) if model else ""
        (Path(folder) / "faq").mkdir()
        for thing in THINGS:
            (Path(folder) / "faq" / f"{thing}.md").write_text(ARTICLE.format(thing=thing), encoding="utf-8")
        settings = Settings(
            storage=StorageSettings(folder=f"{folder}/task-data"),
            server=ServerSettings(port=0, body_kilobytes=2048),
            model=ModelSettings(base_url=url, api_key="unused") if model else ModelSettings(provider="extractive"),
            knowledge=KnowledgeSettings(uploads=f"{folder}/uploads"),
        )
        async with open_service(settings) as desk:
            await desk.node.index([f"{folder}/faq"])
            with bound(settings.server) as sock:
                async with listening(desk, sock):
                    await desk.node.wiring.load_families()
                    steps = Steps()
                    with steps.measured():
                        yield address(sock), steps


@contextlib.contextmanager
def _model_server() -> Iterator[str]:
    ready, ended = threading.Event(), threading.Event()
    found: list[str] = []

    async def run() -> None:
        async with FakeOpenAI(slow((0.0, 0.01))) as server:
            found.append(server.url)
            ready.set()
            await asyncio.to_thread(ended.wait)

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield found[0]
    finally:
        ended.set()
        thread.join()


async def _elsewhere(client_address: str, ask: Ask) -> None:
    """As a client with a loop of its own."""

    async def run() -> None:
        timeout = aiohttp.ClientTimeout(total=WAIT_SECONDS + 30)
        async with aiohttp.ClientSession(client_address, timeout=timeout) as client:
            await ask(client)

    await asyncio.to_thread(asyncio.run, run())


def show(figures: Mapping[str, Any]) -> str:
    rows = [(name, f"{each['ms']:.1f}", f"{each['seconds']:.2f}", *each["where"][:2]) for name, each in figures.items()]
    rows = [(*row, *[""] * (5 - len(row))) for row in rows]
    above = [name for name, each in figures.items() if each["ms"] > MOST_MS]
    said = f"Above {MOST_MS:g} ms: {', '.join(above)}" if above else f"No step took more than {MOST_MS:g} ms."
    return f"{table(('case', 'ms', 'seconds', 'where', ''), rows)}\n\n{said}"


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--only", default="", help="cases whose names have one of these words, with commas between")
    options = parser.parse_args()
    only = [word for word in options.only.split(",") if word]
    return report(options, functools.partial(measure, only), show)


if __name__ == "__main__":
    sys.exit(main())
