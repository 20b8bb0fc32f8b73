"""The system as its user runs it: actors on a bus, one Orchestrator, the two commands, helpdesks, files."""

import asyncio
import json
import os
import signal
import socket
import threading
import time
import urllib.request
from collections.abc import Callable
from typing import Any

import frontmatter
import msgspec
import pytest

from actors.helpdesk import messages as m
from actors.research.messages import ResearchClosed
from actors.workflow.outcome import EndReason
from actors.workflow.tables import NotDelivered, RunResumed, RunStopped, Step, TimeUp
from bus import Context, Event
from runtime import families
from runtime.intake import helpdesk_watcher, intake
from tests.fakes import ANSWER, RESOLUTION, WORKERS, Hangs, PassesOn, Thinks
from tests.patience import HANGS_SECONDS
from tests.requirements.desk import PLAIN, TEXT, Desk, Wraps, end
from tests.requirements.test_deep_research import QUESTION, Research
from tests.requirements.test_haunted_helpdesk import HUB, ROLES, find_states, hands_over, loops, targets
from tests.runtime.http.kit import Held
from tests.runtime.intake.fake_helpdesk import fake_helpdesk

CLOSED = m.TicketClosed(status="resolved", resolution=RESOLUTION)


@pytest.mark.req("SY-1")
async def test_sy_1_every_agent_is_an_actor_on_a_bus_in_this_process(desk: Desk) -> None:
    here = (os.getpid(), threading.get_ident(), asyncio.get_running_loop())
    seen: dict[str, set[Any]] = {}

    class Tells(Wraps):
        async def answer(self, message: Any, ctx: Context) -> Any:
            where = (os.getpid(), threading.get_ident(), asyncio.get_running_loop())
            seen.setdefault(ctx.address, set()).add((where == here, ctx.sender))
            return await super().answer(message, ctx)

    for role in (*ROLES, *WORKERS):
        desk.wraps(role, Tells)
    hands_to = iter(sorted(WORKERS - {"worker"}))
    desk.plays("worker", lambda: Tells(PassesOn(next(hands_to))))
    async with desk.serve() as web:
        for n in range(len(WORKERS) - 1):
            await web.submit(f"{TEXT} {n}", wait=20)

    assert set(seen) == {*ROLES, *WORKERS}
    assert {role: its for role, its in seen.items() if its != {(True, "orchestrator")}} == {}


@pytest.mark.req("SY-1")
async def test_sy_1_each_has_a_mailbox_of_its_own_and_takes_one_message_at_a_time(desk: Desk) -> None:
    handled: list[str] = []

    class Busy(Wraps):
        now = most = 0

        async def answer(self, message: Any, ctx: Context) -> Any:
            self.now += 1
            self.most = max(self.most, self.now)
            if ctx.sender == HUB:
                for word in ("one", "two", "three"):
                    ctx.tell(ctx.address, msgspec.structs.replace(message, text=word), number=9)
            for _ in range(5):
                await asyncio.sleep(0)
            self.now -= 1
            if ctx.sender != HUB:
                handled.append(message.text)
                return None
            return await super().answer(message, ctx)

    desk.wraps("worker", Busy)
    async with desk.serve(model := Held()) as web:
        model.free.set()
        outcome = await web.submit(wait=20)

    assert targets(outcome) == PLAIN
    assert handled == ["one", "two", "three"]
    assert desk.played["worker"][0].most == 1


@pytest.mark.req("SY-1")
async def test_sy_1_one_that_hangs_holds_up_no_other(desk: Desk) -> None:
    desk.roles["worker"] = lambda make, own: Hangs() if own.ticket == "T-1" else make(own)
    async with desk.serve() as web:
        await web.submit(id="T-1")

        assert (await web.submit(id="T-2", wait=20))["status"] == "resolved"
        assert (await web.ask("GET", "/tickets/T-1"))[1]["status"] == "running"


@pytest.mark.req("SY-2")
async def test_sy_2_the_orchestrator_counts_the_handoffs_and_knows_the_state(desk: Desk) -> None:
    desk.plays("worker", lambda: PassesOn("network"))

    states = [state for _, state in await find_states(desk)]

    assert list(dict.fromkeys(states)) == [
        "memory_check_pending", "memory_checked", "ticket_analyzed", "resolution_obtained", "resolution_stored",
        "summary_complete",
    ]  # fmt: skip
    assert len(states) == 12


@pytest.mark.req("SY-2")
def test_sy_2_no_agent_can_move_the_state_itself(desk: Desk) -> None:
    """Not with events of the system, and not with the answers of others."""

    class Meddles(Wraps):
        async def answer(self, message: Any, ctx: Context) -> Any:
            said: list[Event] = [
                TimeUp(), RunStopped(), RunStopped(), RunResumed(), NotDelivered(handoff=ctx.number, error="lost"),
            ]  # fmt: skip
            for each in said:
                ctx.tell(HUB, each)
            for number in (ctx.number - 1, ctx.number + 1, 0):
                ctx.tell(HUB, m.SummaryCompleted(summary="done"), number=number)
            return await super().answer(message, ctx)

    for role in ("memory", "worker", "summarization"):
        desk.wraps(role, Meddles)

    outcome = desk.submit()

    assert (outcome["why"], outcome["status"], targets(outcome)) == ("completed", "resolved", PLAIN)
    assert outcome["summary"].startswith("Solved: ")
    assert len(desk.log("message.refused")) == 4 * 8


@pytest.mark.req("SY-2")
@pytest.mark.parametrize(
    ("behave", "why", "made"),
    [
        (lambda _: None, "completed", 11),
        (lambda desk: loops(desk, "worker", "network", times=3), "loop_detected", 11),
        (lambda desk: hands_over(desk, 12), "max_handoffs_exceeded", 21),
    ],
    ids=["marker", "loop", "cap"],
)
def test_sy_2_it_enforces_markers_the_pattern_and_the_cap(
    desk: Desk, behave: Callable[[Desk], None], why: str, made: int
) -> None:
    behave(desk)

    outcome = desk.submit()

    assert (outcome["why"], outcome["by"]) == (why, "ticketing")
    assert (outcome["marker"], len(outcome["handoffs"])) == ("TERMINATE_WORKFLOW", made)


@pytest.mark.req("SY-2")
async def test_sy_2_it_enforces_the_ten_minutes(desk: Desk) -> None:
    desk.plays("worker", Hangs)
    async with desk.serve() as web:
        outcome = await end(web, (await web.submit())["ticket"])

    assert (outcome.why, outcome.by) == (EndReason.TIMED_OUT, "ticketing")
    assert 600 <= outcome.seconds <= 602


class Insists(Wraps):
    """Answers whatever it is asked with the word of the terminator."""

    word: Event = CLOSED

    async def answer(self, message: Any, ctx: Context) -> Any:
        ctx.tell(HUB, self.word, number=ctx.number)
        return self.word


class InsistsOnReport(Insists):
    word = ResearchClosed(status="resolved", report=None, summary="done", partial=None, resolution=RESOLUTION)


@pytest.mark.req("SY-3")
@pytest.mark.parametrize("role", ["memory", "worker", "summarization"])
def test_sy_3_only_ticketing_can_end_a_ticket(desk: Desk, role: str) -> None:
    desk.wraps(role, Insists)

    outcome = desk.submit()

    assert outcome["by"] == "ticketing"
    assert outcome["handoffs"][-1]["target"] == "ticketing"
    assert (outcome["why"], outcome["status"]) == ("answers_refused", "error"), "what it insisted on is not so"
    assert desk.events(outcome)[-1]["sender"] == "ticketing"


@pytest.mark.req("SY-3")
@pytest.mark.parametrize("role", ["planner", "searcher", "extractor", "analyzer"])
def test_sy_3_only_the_reporter_can_end_a_research(desk: Desk, role: str) -> None:
    desk.wraps(role, InsistsOnReport)

    it = Research().run(desk, "--depth", "1")

    assert it.outcome["by"] == "reporter"
    assert it.outcome["handoffs"][-1]["target"] == "reporter"
    assert it.outcome["status"] != "resolved"


@pytest.mark.req("SY-3")
def test_sy_3_a_table_in_which_another_ends_it_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    family, *others = families.FAMILIES
    last = Step("summarization", m.CloseTicket, {m.TicketClosed: "terminated"})
    flow = msgspec.structs.replace(family.flow, steps={**family.flow.steps, "summary_complete": last})
    monkeypatch.setattr(families, "FAMILIES", (msgspec.structs.replace(family, flow=flow), *others))

    done = desk.shell("submit", TEXT, model=Thinks())

    assert done.status == 2
    assert "only ticketing may terminate" in done.err


class Visitor(threading.Thread):
    """Asks a daemon for two tickets and its health, as soon as it answers, and tells it to stop."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.url = f"http://127.0.0.1:{port}"
        self.said: list[Any] = []
        self.over = threading.Event()
        """The daemon has ended, whatever it was told."""

    def run(self) -> None:
        try:
            for n in range(2):
                self.said.append(self.ask("/tickets?wait=20", {"text": f"{TEXT} {n}", "id": f"T-{n}"}))
            self.said.append(self.ask("/health"))
        finally:
            if not self.over.is_set():
                os.kill(os.getpid(), signal.SIGTERM)

    def ask(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})  # noqa: S310 - ours
        until = time.monotonic() + HANGS_SECONDS / 4
        while time.monotonic() < until and not self.over.wait(0.01):
            try:
                with urllib.request.urlopen(request, timeout=HANGS_SECONDS / 4) as response:  # noqa: S310 - ours
                    return json.load(response)
            except OSError:  # it does not listen yet, or takes no tickets yet
                continue
        return None


@pytest.mark.req("SY-4")
def test_sy_4_serve_runs_the_daemon_until_it_is_told_to_stop(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    visitor = Visitor(port)

    visitor.start()
    done = desk.shell("serve", "--port", str(port), model=Thinks())
    visitor.over.set()
    visitor.join()

    *outcomes, health = visitor.said
    for n, outcome in enumerate(outcomes):
        assert (outcome["ticket"], outcome["status"], outcome["by"]) == (f"T-{n}", "resolved", "ticketing")
        assert ANSWER in outcome["resolution"]["text"]
    assert (health["live"], health["ready"], len(outcomes)) == (True, True, 2)
    assert done.status == 0
    assert done.out.splitlines() == [f"Terminus listens on http://127.0.0.1:{port}", "Stopped"]


@pytest.mark.req("SY-5")
def test_sy_5_submit_runs_one_ticket_and_prints_the_result(desk: Desk) -> None:
    done = desk.shell("submit", TEXT, "--id", "HD-7", model=Thinks())
    kept = desk.shell("status", "--json").json["runs"]

    assert done.status == 0
    assert ANSWER in done.out
    assert done.out.startswith("Resolved")
    assert "[1] kb/vpn.md" in done.out
    assert [(each["ticket"], each["status"]) for each in kept] == [("HD-7", "resolved")]


@pytest.mark.req("SY-5")
def test_sy_5_it_prints_too_that_nothing_was_found(desk: Desk) -> None:
    done = desk.shell("submit", "Where is the tennis court?", model=Thinks())

    assert done.status == 3
    assert done.out.startswith("Not found in the sources\n")


@pytest.mark.req("SY-6")
@pytest.mark.parametrize("door", ["webhook", "poll"])
async def test_sy_6_a_helpdesks_ticket_comes_in_and_its_resolution_goes_back(
    desk: Desk, door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(helpdesk_watcher, "PUT_OFF_SECONDS", 0.05)

    async def until(true: Callable[[], Any]) -> None:
        async with asyncio.timeout(HANGS_SECONDS / 2):
            while not true():  # noqa: ASYNC110 - it may be true of anything
                await asyncio.sleep(0.01)

    async with fake_helpdesk() as helpdesk:
        helpdesk.connect(desk.folder, poll_seconds=3600 if door == "webhook" else 10)
        if door == "poll":
            helpdesk.write("7", "ann", TEXT)
        async with desk.serve() as web:
            async with asyncio.timeout(HANGS_SECONDS / 2):  # what is delivered from now on no look would find
                while (await web.ask("GET", "/intake"))[1]["helpdesks"][0]["polled"] is None:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            if door == "webhook":
                status, told = await helpdesk.deliver(web.client, helpdesk.write("7", "ann", TEXT))
                assert (status, told) == (202, {"state": "taken"})
            await until(lambda: helpdesk.said("7", public=False) or helpdesk.said("7", public=True))
            _, standing = await web.ask("GET", "/tickets/hd.desk.7")

    (note,) = helpdesk.said("7", public=False)
    assert ANSWER in note
    assert standing["outcome"]["run"] in note
    assert (standing["question"], standing["status"], standing["requester"]) == (TEXT, "resolved", "ann")


CONFIG = """
[storage]
folder = "kept"
[run]
max_handoffs = 15
[research]
breadth = 2
depth = 3
"""


@pytest.mark.req("SY-7")
def test_sy_7_config_toml_configures_it(desk: Desk) -> None:
    (desk.folder / "config.toml").write_text(CONFIG, encoding="utf-8")
    hands_over(desk, 5)

    outcome = desk.submit()
    it = Research().run(desk)

    assert (outcome["why"], len(outcome["handoffs"])) == ("max_handoffs_exceeded", 16)
    assert it.rounds == [2, 2, 2]
    assert (desk.folder / "kept" / "terminus.db").is_file()
    assert not (desk.folder / "task-data").exists()


@pytest.mark.req("SY-7")
def test_sy_7_what_it_does_not_know_is_refused_with_the_place(desk: Desk) -> None:
    (desk.folder / "config.toml").write_text("[run]\nmax_handofs = 15\n", encoding="utf-8")

    done = desk.shell("submit", TEXT, model=Thinks())

    assert (done.status, done.out) == (2, "")
    assert "config.toml" in done.err
    assert "max_handoffs" in done.err


@pytest.mark.req("SY-7")
def test_sy_7_task_data_holds_the_state_files(desk: Desk) -> None:
    it = Research().run(desk, "--id", "RS-1", "--depth", "1")

    assert it.outcome["ticket"] == "RS-1"
    state = frontmatter.load(str(desk.folder / "task-data" / "RS-1.md"))
    assert (state["projectId"], state["status"]) == ("RS-1", "completed")
    assert QUESTION in state.content
    assert "spare entries" in state.content
