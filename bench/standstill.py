"""
How long one step of the daemon's event loop takes for large and for hostile inputs: milliseconds of CPU, and where.

    python -m bench.standstill [--only ticket,dense,hostile,...] [--json]

The daemon runs in this process; clients, the model's server, a helpdesk, a mailbox and a site have threads with loops
of their own. A step is what the loop calls before it looks after its sockets again; none that grows with an input may
take more than 20 ms of it. Of hostile texts, which are those of `bench.hostile`, the worst of each way in is shown.
"""

import asyncio
import base64
import contextlib
import functools
import gc
import itertools
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, TypeVar

import aiohttp

from bench.answer import ARTICLE, THINGS
from bench.faults.model import slow
from bench.hostile.doors import MIDDLES
from bench.measure import Figures, NotMeasured, arguments, report, table
from runtime.engine.service import open_service
from runtime.http.server import address, bound, listening
from runtime.settings import (
    FetchSettings,
    HelpdesksSettings,
    KnowledgeSettings,
    ModelSettings,
    ServerSettings,
    Settings,
    StorageSettings,
)
from tests.fake_openai import FakeOpenAI
from tests.helpdesks.mailbox import (
    ADDRESS,
    DOVECOT,
    TestMailbox,
    connect_mailbox,
    start_dovecot,
    start_outbox,
)
from tests.runtime.intake.fake_helpdesk import ADAPTER, FakeHelpdesk, fake_helpdesk
from tests.site import Reply, Site, site
from tests.site_pages import page

MOST_MS = 20.0
SAMPLE_SECONDS, LOOK_SECONDS = 0.002, 0.02
WAIT_SECONDS = 120.0
TICKET, TOLD, MAIL, PAGE = 60_000, 200_000, 400_000, 1_000_000
"""Characters of a hostile text, by its way in: a ticket is taken up to 256 KB; helpdesks and sites may tell more."""
PAGES = 6
"""So many pages one research reads."""
A = TypeVar("A")
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
            while isinstance(frame, FrameType):  # of a thread that goes on it was another thing once
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


class World(NamedTuple):
    """Who writes to a daemon, and what it reads."""

    at: str
    """The daemon's address."""
    steps: Steps
    desk: FakeHelpdesk
    web: Site
    mailbox: TestMailbox | None
    """None: there is no dovecot on this machine, or who runs this may not start it."""


Ask = Callable[[aiohttp.ClientSession, World], Awaitable[object]]


def ticket(text: str, **more: Any) -> Ask:
    async def ask(client: aiohttp.ClientSession, _: World) -> None:
        async with client.post("/tickets", params={"wait": str(WAIT_SECONDS)}, json={"text": text, **more}) as answer:
            said = await answer.text()
            if answer.status != 200:
                raise NotMeasured(f"a ticket was answered with {answer.status}: {said[:300]}")

    return ask


def research_report(kind: str) -> Ask:
    async def ask(client: aiohttp.ClientSession, _: World) -> None:
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
    async def ask(client: aiohttp.ClientSession, _: World) -> None:
        async with client.put(f"/knowledge/documents/{name}", data=body.encode()) as answer:
            await answer.read()
            if answer.status >= 300:
                raise NotMeasured(f"an upload was answered with {answer.status}: {await answer.text()}")

    return ask


NUMBERS = itertools.count(1)


def make_hostile(middle: str, characters: int) -> str:
    return MIDDLES[middle] * (characters // len(MIDDLES[middle]))


def send_hostile(middle: str) -> Ask:
    """As a ticket, which may be refused."""
    most = min(TICKET, TICKET * 4 // len(MIDDLES[middle].encode("utf-8", "replace")) * len(MIDDLES[middle]))

    async def ask(client: aiohttp.ClientSession, _: World) -> None:
        params, body = {"wait": str(WAIT_SECONDS)}, {"text": make_hostile(middle, most)}
        async with client.post("/tickets", params=params, json=body) as answer:
            await answer.read()
            if answer.status >= 500:
                raise NotMeasured(f"a ticket was answered with {answer.status}")

    return ask


def deliver_hostile(middle: str) -> Ask:
    """As a delivery that names a hostile ticket, and what the helpdesk then tells of it."""

    async def ask(client: aiohttp.ClientSession, world: World) -> None:
        number, before = str(next(NUMBERS)), await _count_looks(client, "desk")
        event = world.desk.write(number, f"ann{number}", make_hostile(middle, TOLD))
        event = {**event, "more": make_hostile(middle, TICKET)}
        status, told = await world.desk.deliver(client, event)
        if status == 400 and middle == "surrogates":
            return
        if status != 202:
            raise NotMeasured(f"a delivery was answered with {status}: {told}")
        await _until_looked(client, "desk", before)

    return ask


def mail_hostile(middle: str, kind: str) -> Ask:
    async def ask(client: aiohttp.ClientSession, world: World) -> None:
        if world.mailbox is None:
            return
        number, before = next(NUMBERS), await _count_looks(client, "mail")
        body, subject = (
            base64.encodebytes(make_hostile(middle, size).encode("utf-8", "replace")) for size in (MAIL, 400)
        )
        head = (
            f"From: ann{number}@example.test\r\nTo: {ADDRESS}\r\nMessage-ID: <{number}@example.test>\r\n"
            f"Subject: =?utf-8?B?{subject.decode().replace(chr(10), '')}?=\r\nMIME-Version: 1.0\r\n"
            f"Content-Type: text/{kind}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        )
        world.mailbox.deliver(head.encode() + body.replace(b"\n", b"\r\n"))
        await _until_looked(client, "mail", before)

    return ask


def research_hostile(middles: Sequence[str]) -> Ask:
    """Reads pages of these."""

    async def ask(client: aiohttp.ClientSession, world: World) -> None:
        urls = []
        for middle in middles:
            path = f"/{next(NUMBERS)}"
            text = make_hostile(middle, PAGE)
            html = page("VPN", f"<p>The VPN drops every hour.</p><p>{text}</p>").encode("utf-8", "replace")
            world.web.pages[path] = Reply(html)
            urls.append(world.web.url(path))
        body = {"text": "Why does the VPN drop?", "workflow": "research", "options": {"urls": urls, "depth": 1}}
        async with client.post("/tickets", params={"wait": str(WAIT_SECONDS)}, json=body) as answer:
            said = await answer.text()
            if answer.status != 200:
                raise NotMeasured(f"a research was answered with {answer.status}: {said[:300]}")

    return ask


async def _count_looks(client: aiohttp.ClientSession, helpdesk: str) -> int:
    """At tickets of a helpdesk, once it has been asked for what is new."""
    while True:
        async with client.get("/intake") as answer:
            (state,) = [each for each in (await answer.json())["helpdesks"] if each["name"] == helpdesk]
        if state["polled"] is not None:
            return sum(state["judged"].values())
        await asyncio.sleep(LOOK_SECONDS)


async def _until_looked(client: aiohttp.ClientSession, helpdesk: str, before: int) -> None:
    """A ticket was looked at again, and nothing that follows from it is left to do."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            async with client.get("/intake") as answer:
                state = await answer.json()
            looks = sum(sum(each["judged"].values()) for each in state["helpdesks"] if each["name"] == helpdesk)
            if looks > before and not state["waiting"] and not state["unwritten"]:
                return
            await asyncio.sleep(LOOK_SECONDS)


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


HOSTILE: dict[str, dict[str, Ask]] = {
    "hostile tickets": {middle: send_hostile(middle) for middle in MIDDLES},
    "hostile deliveries": {middle: deliver_hostile(middle) for middle in MIDDLES},
    "hostile mails": {
        f"{middle} ({kind})": mail_hostile(middle, kind) for middle in MIDDLES for kind in ("plain", "html")
    },
    "hostile pages": {
        ", ".join(each): research_hostile(each)
        for each in (list(MIDDLES)[first : first + PAGES] for first in range(0, len(MIDDLES), PAGES))
    },
}


async def measure(only: Sequence[str], texts: Sequence[str] = ()) -> Figures:
    """
    :param only: the cases whose names hold one of these; none: all.
    :param texts: the hostile texts whose names hold one of these; none: all.
    """
    figures: Figures = {}
    for model in (False, True):
        async with _daemon(model=model) as world:
            await _elsewhere(world, ticket("My VPN drops every hour. What can I do?"))
            for name, asks in {**{name: {"": ask} for name, ask in CASES.items()}, **HOSTILE}.items():
                if only and not any(word in name for word in only):
                    continue
                began, worst = time.perf_counter(), Step(-1.0, ())
                for text, ask in asks.items():
                    if text and texts and not any(word in text for word in texts):
                        continue
                    world.steps.begin()
                    await _elsewhere(world, ask)
                    longest = world.steps.longest
                    if longest.milliseconds > worst.milliseconds:
                        worst = longest._replace(where=(text, *longest.where) if text else longest.where)
                figures[f"{name}, {'model' if model else 'rules'}"] = {
                    "ms": worst.milliseconds, "where": worst.where,
                    "seconds": round(time.perf_counter() - began, 2),
                }  # fmt: skip
    return figures


@contextlib.asynccontextmanager
async def _daemon(*, model: bool) -> AsyncIterator[World]:
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        url = stack.enter_context(_apart(lambda: FakeOpenAI(slow((0.0, 0.01))))).url if model else ""
        desk, web = stack.enter_context(_apart(fake_helpdesk)), stack.enter_context(_apart(site))
        desk.connect(folder)
        adapter = ADAPTER.replace(
            'messages = "ticket.body.messages"',
            'messages = "ticket.body.messages[].{id: id, author: author, text: plain(text), public: public}"',
        )
        (folder / "fake.adapter").write_text(adapter, encoding="utf-8")
        mailbox = None
        if DOVECOT.exists() and os.geteuid() == 0:
            mailbox = TestMailbox(stack.enter_context(start_dovecot()).port, "user")
            connect_mailbox(folder, mailbox, stack.enter_context(_apart(start_outbox)), name="mail")
        (folder / "faq").mkdir()
        for thing in THINGS:
            (folder / "faq" / f"{thing}.md").write_text(ARTICLE.format(thing=thing), encoding="utf-8")
        settings = Settings(
            storage=StorageSettings(folder=f"{folder}/task-data"),
            server=ServerSettings(port=0, body_kilobytes=2048),
            model=ModelSettings(base_url=url, api_key="unused") if model else ModelSettings(provider="extractive"),
            knowledge=KnowledgeSettings(uploads=f"{folder}/uploads"),
            helpdesks=HelpdesksSettings(folder=f"{folder}/helpdesks"),
            fetch=FetchSettings(allow=("127.0.0.0/8",), robots=False),
        )
        async with open_service(settings) as service:
            await service.node.index([f"{folder}/faq"])
            with bound(settings.server) as sock:
                async with listening(service, sock):
                    await service.node.wiring.load_families()
                    gc.collect()
                    gc.freeze()  # as `serve` does
                    stack.callback(gc.unfreeze)
                    steps = Steps()
                    with steps.measured():
                        yield World(address(sock), steps, desk, web, mailbox)


@contextlib.contextmanager
def _apart(start: Callable[[], AbstractAsyncContextManager[A]]) -> Iterator[A]:
    """Serves in a thread with a loop of its own."""
    ready, ended = threading.Event(), threading.Event()
    found: list[A] = []

    async def run() -> None:
        async with start() as server:
            found.append(server)
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


async def _elsewhere(world: World, ask: Ask) -> None:
    """As a client with a loop of its own."""

    async def run() -> None:
        timeout = aiohttp.ClientTimeout(total=WAIT_SECONDS + 30)
        async with aiohttp.ClientSession(world.at, timeout=timeout) as client:
            await ask(client, world)

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
