"""Attacks by what strangers write and by what is left over: each tells in sentences what it broke."""

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from bench.answer import THINGS, index, text
from bench.faults.daemon import Daemon, daemon
from bench.measure import Figures, NotMeasured
from runtime.engine.node import Node
from runtime.settings import Settings, StorageSettings
from runtime.storage.private import DATABASE
from runtime.tickets import Ticket
from tests.helpdesks.mailbox import ADDRESS, DOVECOT, PASSWORD, TestMailbox, start_dovecot, start_outbox
from tests.runtime.intake.documented.base import listen
from tests.runtime.intake.fake_helpdesk import FakeHelpdesk

LOOK_SECONDS = 0.1
SILENT_SECONDS = 5.0
"""So long a daemon may leave anybody without an answer, on a crowded machine."""
MOST_SECONDS = 90.0
"""What has not happened by then does not happen."""
WORD_SECONDS = 70.0
"""Two looks of the daemon for a person's word, and a little more."""
PATIENCE_SECONDS = 600.0
"""For a crowd."""
ASKERS = 10
STARVED = 0.8
"""Of the time that all take, what the first may not."""
MOST_MEGABYTES = 1_500
DASHES, BLANKS = 8_000, 3_900
RESTART = "restart the access point"
"""What the documents say about the first question of a customer, and,"""
BADGE = "on the back of your badge"
"""about the second."""


class Watch:
    """How long a daemon left those without an answer who asked for its life and for its tickets."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.silences: dict[str, float] = {}

    async def run(self) -> None:
        await asyncio.gather(*(self._ask(path) for path in ("/health/live", "/tickets?limit=1")))

    async def _ask(self, path: str) -> None:
        timeout = aiohttp.ClientTimeout(total=MOST_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout) as client:
            while True:
                began = time.monotonic()
                try:
                    async with client.get(self._address + path) as answer:
                        await answer.read()
                except (aiohttp.ClientError, OSError):
                    return  # it is gone, or never answers
                finally:
                    self.silences[path] = max(self.silences.get(path, 0.0), time.monotonic() - began)
                await asyncio.sleep(LOOK_SECONDS)

    @property
    def longest(self) -> float:
        return round(max(self.silences.values(), default=0.0), 1)


@contextlib.asynccontextmanager
async def _watching(one: Daemon) -> AsyncIterator[Watch]:
    watch = Watch(one.address)
    task = asyncio.ensure_future(watch.run())
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _happens(condition: Callable[[], bool], within: float = MOST_SECONDS) -> bool:
    """Whether something becomes true in time."""
    until = time.monotonic() + within
    while not condition():
        if time.monotonic() > until:
            return False
        await asyncio.sleep(LOOK_SECONDS)
    return True


def _tell(figures: Figures, faults: dict[str, bool]) -> Figures:
    return {**figures, "broken": [sentence for sentence, happened in faults.items() if happened]}


async def dashes(folder: Path) -> Figures:
    """A mail with a line of dashes that ends in a letter, and an innocent one behind it."""
    if not DOVECOT.exists():
        raise NotMeasured("Debian's dovecot-imapd is not installed; leave `dashes` out")
    with start_dovecot() as server:
        mailbox = TestMailbox(server.port, "dashes")
        for number, said in enumerate((f"My VPN drops.\n{'-' * DASHES}x\n", "My printer is slow.")):
            mailbox.deliver(_write_mail(number, said))
        async with start_outbox() as outbox:
            _connect_mailbox(folder, mailbox.port, outbox.port)
            await index(folder)
            async with daemon(folder) as one, _watching(one) as watch:
                began = time.monotonic()
                answered = await asyncio.to_thread(_wait_for_draft, mailbox, "<1@example.test>")
                seconds = time.monotonic() - began
    return _tell(
        {"silent seconds": watch.longest, "innocent mail answered after seconds": round(seconds, 1)},
        {
            "a mail held the daemon": watch.longest > SILENT_SECONDS,
            "the mail behind it was not answered": not answered,
        },
    )


def _write_mail(number: int, said: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = f"ann{number}@example.test", ADDRESS, "Help"
    mail["Message-ID"] = f"<{number}@example.test>"
    mail.set_content(said)
    return mail


def _connect_mailbox(folder: Path, imap: int, smtp: int) -> None:
    (folder / "helpdesks").mkdir()
    (folder / "token").write_text(PASSWORD, encoding="utf-8")
    (folder / "helpdesks" / "desk.toml").write_text(
        f'system = "mail"\nurl = "imap://127.0.0.1:{imap}/INBOX"\nsmtp = "smtp://127.0.0.1:{smtp}"\nuser = "dashes"\n'
        f'bot = "{ADDRESS}"\ntoken = "file:{folder / "token"}"\npoll_seconds = 1\nspacing_seconds = 0\n',
        encoding="utf-8",
    )  # fmt: skip


def _wait_for_draft(mailbox: TestMailbox, answered: str) -> bool:
    until = time.monotonic() + MOST_SECONDS
    while time.monotonic() < until:
        if answered in {each["In-Reply-To"] for each in mailbox.read("Drafts")}:
            return True
        time.sleep(1.0)
    return False


async def blanks(folder: Path) -> Figures:
    """A research whose question is blanks, while others ask; then a restart, which takes it up again."""
    await index(folder)
    silences = []
    async with daemon(folder) as one:
        await _post_blanks(one)
        for _ in range(2):
            async with _watching(one) as watch:
                ended = await _ends(one, "R-blanks")
            silences.append(watch.longest)
            if not ended:
                await one.kill()
                await one.start()
    return _tell(
        {"silent seconds": silences[0], "silent seconds after a restart": silences[1], "over": ended},
        {
            "a question held the daemon": silences[0] > SILENT_SECONDS,
            "and again after a restart": silences[1] > SILENT_SECONDS,
            "the research did not end": not ended,
        },
    )


async def _post_blanks(one: Daemon) -> None:
    question = f"How does the VPN{' ' * BLANKS}differ from the printer?"
    body = {"id": "R-blanks", "text": question, "research": {"depth": 1, "breadth": 2, "sources": ["knowledge"]}}
    timeout = aiohttp.ClientTimeout(total=2 * SILENT_SECONDS)
    with contextlib.suppress(TimeoutError):  # it is held already
        async with (
            aiohttp.ClientSession(one.address, timeout=timeout) as client,
            client.post("/tickets", json=body) as answer,
        ):
            if answer.status != 202:
                raise NotMeasured(f"the research was not taken: {await answer.text()}")


async def _ends(one: Daemon, ticket: str) -> bool:
    """Whether a ticket ends in time."""
    timeout = aiohttp.ClientTimeout(total=10.0)
    until = time.monotonic() + MOST_SECONDS
    async with aiohttp.ClientSession(one.address, timeout=timeout) as client:
        while time.monotonic() < until:
            with contextlib.suppress(aiohttp.ClientError, TimeoutError, OSError):
                async with client.get(f"/tickets/{ticket}") as answer:
                    if (await answer.json()).get("outcome"):
                        return True
            await asyncio.sleep(LOOK_SECONDS)
    return False


class Desk(FakeHelpdesk):
    """A helpdesk that counts how often it is asked about its ticket."""

    looks = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.looks += request.method == "GET" and request.path.startswith("/tickets/")
        return await super().handle(request)


@contextlib.asynccontextmanager
async def _desk(folder: Path, **more: Any) -> AsyncIterator[tuple[Desk, Daemon]]:
    """A stand-in helpdesk, and a daemon that looks after it."""
    async with listen(Desk("")) as desk:
        desk.connect(folder, poll_seconds=1, **more)
        await index(folder)
        async with daemon(folder) as one:
            yield desk, one


async def leftover_tag(folder: Path) -> Figures:
    """A tag of approval that a person set for the first suggestion, and that stays when the customer writes again."""
    async with _desk(folder, mode="approve") as (desk, _):
        desk.write("7", "ann", f"My {THINGS[0]} drops every 10 minutes.")
        await _happens(lambda: len(desk.said("7", public=False)) == 1)
        desk.tickets["7"]["tags"] = ["ai-send"]
        approved = await _happens(lambda: len(desk.said("7", public=True)) == 1)
        desk.tickets["7"]["tags"] = ["ai-send"]  # this one cannot be asked to remove it
        desk.write("7", "ann", f"And now my {THINGS[1]} asks for a code.")
        suggested = await _happens(lambda: len(desk.said("7", public=False)) == 2)
        looks = desk.looks
        spoke = await _happens(lambda: len(desk.said("7", public=True)) > 1, WORD_SECONDS)
        looked = desk.looks - looks
    if not spoke and looked < 2:
        raise NotMeasured(f"the daemon looked {looked} times for a word, so nothing was tried")
    return _tell(
        {
            "suggestions": 1 + suggested,
            "looks for a word": looked,
            "sent to the customer": len(desk.said("7", public=True)),
        },
        {
            "what a person approved was not sent": not approved,
            "the follow-up got no suggestion": not suggested,
            "a tag from before approved a suggestion": spoke,
        },
    )


async def follow_up(folder: Path) -> Figures:
    """A customer who has an answer asks something else in the same ticket."""
    async with _desk(folder) as (desk, one):
        desk.write("7", "ann", f"My {THINGS[1]} drops every few minutes. What can I do?")
        await _happens(lambda: len(desk.said("7", public=False)) == 1)
        desk.write("7", "ann", f"Thank you, that helped. Which code does my {THINGS[7]} ask for?")
        answered = await _happens(lambda: len(desk.said("7", public=False)) == 2)
        notes = [" ".join(each.split()) for each in desk.said("7", public=False)]
        ended = await _ends(one, "hd.desk.7")
    second = notes[1] if answered else ""
    if RESTART not in notes[0]:
        raise NotMeasured("the first question was not answered from the documents")
    return _tell(
        {"notes": len(notes), "over": ended},
        {
            "the follow-up got no note": not answered,
            "the follow-up got the first answer again": f"[1] The {THINGS[1]}" in second,
            "the follow-up was not answered": answered and not (BADGE in second and f"[1] The {THINGS[7]}" in second),
        },
    )


async def backlog(folder: Path, count: int) -> Figures:
    """A daemon that starts on a folder with so many open tickets, as a crash leaves it, while people go on asking."""
    await index(folder)
    storage = folder / "task-data"
    await _leave_open(storage, count)
    began = time.monotonic()
    async with daemon(folder) as one:
        ready = time.monotonic() - began
        timeout = aiohttp.ClientTimeout(total=PATIENCE_SECONDS)
        async with aiohttp.ClientSession(one.address, timeout=timeout) as client, _watching(one) as watch:
            asking = asyncio.gather(*(_ask(client, number) for number in range(ASKERS)))
            ends: list[float] = []  # when the first had ended, and when half of all had
            while (left := _count_open(storage)) or not asking.done():
                passed = time.monotonic() - began
                ends += [passed] * ((left < count) + (left < count / 2) - len(ends))
                if passed > PATIENCE_SECONDS:
                    break
                await asyncio.sleep(LOOK_SECONDS)
            said = await asking
            ends += [time.monotonic() - began] * (2 - len(ends))
            over, memory = time.monotonic() - began, _read_peak(one.pid)
    return _tell(
        {
            "open at the start": count, "left": left, "ready after seconds": round(ready, 1),
            "new tickets answered": len(said), "the quickest within seconds": round(min(said), 1),
            "the slowest within seconds": round(max(said), 1), "first ended after seconds": round(ends[0], 1),
            "half ended after seconds": round(ends[1], 1), "all over after seconds": round(over, 1),
            "silent seconds": watch.longest, "peak megabytes": memory,
        },
        {
            "not every ticket ended": left > 0,
            "a new ticket was not answered": max(said) >= PATIENCE_SECONDS,
            "the first answers waited for nearly all": ends[0] - ready > STARVED * (over - ready),
            "people went without an answer": watch.longest > SILENT_SECONDS,
            "it took more memory than it may": memory > MOST_MEGABYTES,
        },
    )  # fmt: skip


async def _leave_open(storage: Path, count: int) -> None:
    """Tickets that were accepted by a process that is gone."""
    async with Node.open(Settings(storage=StorageSettings(folder=str(storage)))) as node:
        tickets = [_make_ticket(number) for number in range(count)]
        cases = [node.make_case(each) for each in tickets]
        flow = node.flows["helpdesk"]
        await asyncio.gather(*(
            node.journal.accept(ticket, f"R-{ticket.id}", flow, case, "gone", seen=0)
            for ticket, case in zip(tickets, cases, strict=True)
        ))  # fmt: skip


def _make_ticket(number: int) -> Ticket:
    return Ticket(id=f"O-{number}", text=text(number), workflow="helpdesk")


async def _ask(client: aiohttp.ClientSession, number: int) -> float:
    """After how many seconds somebody has the answer who comes again while there is no room."""
    body = {"id": f"N-{number}", "text": text(number)}
    began = time.monotonic()
    while (passed := time.monotonic() - began) < PATIENCE_SECONDS:
        async with client.post("/tickets", params={"wait": str(PATIENCE_SECONDS)}, json=body) as answer:
            await answer.read()
        if answer.status == 200:
            return time.monotonic() - began
        await asyncio.sleep(1.0)
    return passed


def _count_open(storage: Path) -> int:
    with contextlib.closing(sqlite3.connect(f"file:{storage / DATABASE}?mode=ro", uri=True)) as database:
        return int(database.execute("SELECT count(*) FROM run WHERE ended IS NULL").fetchone()[0])


def _read_peak(pid: int) -> int:
    """The most memory that a process has had, in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024
