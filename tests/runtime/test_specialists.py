"""A specialist is added by one file: it gets tickets with and without a model, keeps its limits, and may go again."""

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from actors.drafting.drafts import Draft, HandoverRequest
from actors.evidence.passages import SearchHits
from actors.helpdesk.output_schemas import Analysis, AnalysisRequest, DraftRequest, Summary
from actors.ports import Completion, ModelRequest
from actors.workflow.outcome import EndReason, Outcome, Spent, explain_end
from actors.workflow.tables import MAX_HANDOFFS
from actors.workflow.verify import verify
from runtime.engine.node import Node
from runtime.families import extractive
from runtime.settings import AgentSettings, AgentsSettings, ModelSettings, Settings, StorageSettings
from runtime.tickets import Ticket
from tests.fake_openai import FakeOpenAI, says
from tests.fakes import ANSWER, PASSAGE, Knows, targets
from tests.patience import HANGS_SECONDS
from tests.runtime.engine.test_node import Model
from tests.runtime.engine.test_node import opened as open_node
from tests.runtime.test_agent_files import PRINTING, write
from tests.thinking import asked

TONER = Ticket(id="T-1", text="The toner on the third floor is empty.")


class Finds(Knows):
    """The same for every question."""

    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        return SearchHits((PASSAGE,))


def opened(folder: Path, model: Any = None, **sections: Any) -> contextlib.AbstractAsyncContextManager[Node]:
    return open_node(folder, model, Finds(), **sections)


class Extracts(Model):
    """What a node without a model thinks with."""

    def for_run(self, run_id: str, *_: Any, **__: Any) -> tuple[Any, Any]:
        return extractive(), Spent


class Passes(Model):
    """Gives a ticket to the specialist on printing, and has it passed on as a test says: by whom to whom, in order."""

    def __init__(self, intent: str, *passes: str) -> None:
        super().__init__()
        self._intent, self._passes = intent, list(passes)

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        if shape is Analysis:
            self.tasks.append(task)
            return Completion(Analysis(self._intent, "normal", "Who brings new toner?"))
        if shape is Draft and self._passes:
            self.tasks.append(task)
            return Completion(Draft(pass_on=HandoverRequest(self._passes.pop(0), "not mine")))
        return await super().fill(shape, task, within=within)


class Hangs(Passes):
    """Never comes to a draft; the first of them may fail instead."""

    def __init__(self, intent: str, *, fails: bool = False) -> None:
        super().__init__(intent)
        self._fails = fails
        self.asked = asyncio.Event()

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        if shape is Draft and self._fails:
            self._fails = False
            raise OSError("The press is on fire.")
        if shape is Draft:
            self.asked.set()
            await asyncio.sleep(HANGS_SECONDS)
        return await super().fill(shape, task, within=within)


def settings(folder: Path, *files: str, **limits: AgentSettings) -> AgentsSettings:
    """A folder with these agents in it."""
    own = folder / "agents"
    own.mkdir(exist_ok=True)
    for number, text in enumerate(files):
        write(own, text, f"{number}.md")
    return AgentsSettings(folder=str(own), limits=limits)


def named(name: str) -> str:
    """Another specialist, who may hand over to everybody."""
    return PRINTING.replace("printing", name).replace("hands_over_to: [worker]\n", "")


async def run(node: Node, ticket: Ticket = TONER) -> Outcome:
    async with asyncio.timeout(HANGS_SECONDS):
        return await (await node.submit(ticket)).outcome()


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        ("The toner on the third floor is empty.", "printing"),
        ("打印机坏了，怎么办？", "printing"),
        ("프린터가 고장입니다", "printing"),
        ("My VPN drops every hour.", "network"),
        ("I forgot my password.", "accounts"),
        ("Please send a refund, the invoice is wrong.", "billing"),
        ("The coffee machine is broken.", "worker"),
    ],
)
async def test_without_a_model_a_specialist_is_reached_by_its_key_words(tmp_path: Path, text: str, agent: str) -> None:
    async with opened(tmp_path, Extracts(), agents=settings(tmp_path, PRINTING)) as node:
        outcome = await run(node, Ticket(text=text))

    assert outcome.status in {"resolved", "suggested"}
    assert targets(outcome)[4] == agent
    assert len(outcome.handoffs) == 11, "as many as for any other ticket"


@pytest.mark.parametrize(("intent", "agent"), [("printing", "printing"), (" Printing", "printing"), ("gone", "worker")])
async def test_a_model_is_told_of_it_and_gives_it_tickets(tmp_path: Path, intent: str, agent: str) -> None:
    model = Passes(intent)
    async with opened(tmp_path, model, agents=settings(tmp_path, PRINTING)) as node:
        outcome = await run(node)

    analysis, draft = model.tasks[:2]
    assert isinstance(analysis.material, AnalysisRequest)
    assert "printing: printing and scanning" in map(str, analysis.material.intents)
    assert (outcome.status, targets(outcome)[4], draft.agent) == ("resolved", agent, agent)
    assert isinstance(draft.material, DraftRequest)
    others = {each.partition(":")[0] for each in draft.material.others}
    assert others == ({"worker"} if agent == "printing" else {"accounts", "billing", "network", "printing"})
    assert draft.instructions.startswith("Answer from the numbered passages")
    assert "\n\nYou solve support tickets" in draft.instructions
    assert "You never terminate the workflow." in draft.instructions


async def test_its_file_says_which_model_thinks_for_it_and_whether_that_may_search(tmp_path: Path) -> None:
    text = PRINTING.replace("tools: [search_knowledge]", "model: large-1")
    model = Passes("printing")
    async with opened(tmp_path, model, agents=settings(tmp_path, text)) as node:
        await run(node)

    draft, reading, summary = model.tasks[1:4]
    assert (draft.model, draft.tools, reading.model, summary.model) == ("large-1", (), "large-1", "")


async def test_a_model_server_is_shown_what_there_is_and_asked_for_the_model_of_the_file(tmp_path: Path) -> None:
    async def step(server: FakeOpenAI, request: web.Request) -> web.StreamResponse:
        shape = asked(json.loads(await request.text())).shape
        answer = {
            "Analysis": {"intent": "printing", "urgency": "low", "question": TONER.text, "language": "en"},
            "Draft": {"claims": [{"text": ANSWER, "passage": 1, "quote": ANSWER}], "pass_on": None},
            "SecondReading": {"verdicts": [{"number": 1, "verdict": "entailed"}]},
            "Summary": {"summary": "Done."},
        }[shape]
        return await says(answer)(server, request)

    async with FakeOpenAI(step) as server:
        model = ModelSettings(base_url=server.url, name="small-1")
        agents = settings(tmp_path, PRINTING.replace("tools:", "model: large-1\ntools:"))
        storage = StorageSettings(folder=str(tmp_path / "data"))
        async with Node.open(Settings(model=model, agents=agents, storage=storage)) as node:
            node.knowledge = Finds()
            outcome = await run(node)

    triage, draft, _, _ = [asked(body) for body in server.bodies]
    assert (outcome.status, targets(outcome)[4]) == ("resolved", "printing")
    assert [body["model"] for body in server.bodies] == ["small-1", "large-1", "large-1", "small-1"]
    assert {"printing: printing and scanning", "incident: something does not work"} <= set(
        triage.material["intents"].splitlines()
    )
    assert "toner; paper jam" not in str(server.bodies[0]), "key words are for who has no model"
    assert draft.material["others"] == "worker: any ticket that is nobody else's"
    assert draft.system.startswith("Answer from the numbered passages")
    assert "\n\nYou solve support tickets about printers and scanners.\n\nHow to read" in draft.system


async def test_handovers_to_and_from_it_are_counted(tmp_path: Path) -> None:
    model = Passes("other", "printing", "worker")
    async with opened(tmp_path, model, agents=settings(tmp_path, PRINTING)) as node:
        outcome = await run(node)

    made = [(each.source, each.target) for each in outcome.handoffs if "orchestrator" not in {each.source, each.target}]
    assert made == [("worker", "printing"), ("printing", "worker")]
    assert (outcome.status, len(outcome.handoffs)) == ("resolved", 13)


async def test_it_hands_over_only_to_whom_its_file_names(tmp_path: Path) -> None:
    model = Passes("printing", "billing")
    async with opened(tmp_path, model, agents=settings(tmp_path, PRINTING)) as node:
        outcome = await run(node)

    assert "billing" not in targets(outcome)
    (told,) = model.tasks[2].refused
    assert told == "You cannot pass this on to 'billing'. Answer it yourself, or with no claims."


async def test_however_many_there_are_a_run_has_twenty_handoffs(tmp_path: Path) -> None:
    names = [f"press{number}" for number in range(20)]
    model = Passes("press0", *names[1:], *names)
    async with opened(tmp_path, model, agents=settings(tmp_path, *map(named, names))) as node:
        assert verify(node.flows["helpdesk"]) == MAX_HANDOFFS + 1
        outcome = await run(node)

    assert outcome.why is EndReason.MAX_HANDOFFS_EXCEEDED
    assert len(outcome.handoffs) == MAX_HANDOFFS + 1


@pytest.mark.parametrize(("limits", "seconds"), [({}, 0.3), ({"printing": AgentSettings(seconds=0.1)}, 0.1)])
async def test_its_limits_are_kept(tmp_path: Path, limits: dict[str, AgentSettings], seconds: float) -> None:
    text = PRINTING.replace("seconds: 40", "seconds: 0.3")
    async with opened(tmp_path, Hangs("printing"), agents=settings(tmp_path, text, **limits)) as node:
        outcome = await run(node)

    assert outcome.why is EndReason.STEP_TIMED_OUT
    assert outcome.detail == explain_end(EndReason.STEP_TIMED_OUT, "en", MAX_HANDOFFS)
    assert seconds <= outcome.seconds < seconds + 2.0
    assert targets(outcome).count("printing") == 1, "its file says that it is not asked again"


async def leave(folder: Path, model: Hangs, text: str = PRINTING) -> None:
    """A process that ends while the specialist is at work."""
    async with opened(folder, model, agents=settings(folder, text)) as node:
        await node.submit(TONER)
        async with asyncio.timeout(HANGS_SECONDS):
            await model.asked.wait()


async def resume(folder: Path) -> Outcome:
    """Another one, in which its file is gone."""
    async with opened(folder) as node, asyncio.timeout(HANGS_SECONDS):
        (handle,) = await node.resume()
        outcome = await handle.outcome()
        assert (await node.status(TONER.id))[1] == outcome
        return outcome


async def test_a_ticket_of_a_specialist_that_is_gone_goes_to_the_common_worker(tmp_path: Path) -> None:
    await leave(tmp_path, Hangs("printing"))

    outcome = await resume(tmp_path)

    assert (outcome.status, targets(outcome)[4]) == ("resolved", "worker")
    assert len(outcome.handoffs) == 11


async def test_a_specialist_that_is_gone_and_had_answered_already_ends_the_run_in_a_sentence(tmp_path: Path) -> None:
    await leave(tmp_path, Hangs("printing", fails=True), PRINTING.replace("retries: 0", "retries: 1"))

    with capture_logs() as lines:
        outcome = await resume(tmp_path)

    assert (outcome.status, outcome.why, outcome.by) == ("error", EndReason.STEP_FAILED, "ticketing")
    assert outcome.detail == explain_end(EndReason.STEP_FAILED, "en", MAX_HANDOFFS)
    assert [each["target"] for each in lines if each["event"] == "step.failed"] == ["printing"]


async def test_what_a_specialist_answered_stays_when_it_is_gone(tmp_path: Path) -> None:
    async with opened(tmp_path, Passes("printing"), agents=settings(tmp_path, PRINTING)) as node:
        outcome = await run(node)
    async with opened(tmp_path) as node:
        assert (await node.status(TONER.id))[1] == outcome
        assert "printing" in targets(outcome)


async def test_a_run_that_it_answered_goes_on_without_it(tmp_path: Path) -> None:
    class Stops(Hangs):
        """Comes to a draft, and to no summary."""

        async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
            if shape is Summary:
                self.asked.set()
                await asyncio.sleep(HANGS_SECONDS)
            return await Passes.fill(self, shape, task, within=within)

    await leave(tmp_path, Stops("printing"))

    outcome = await resume(tmp_path)

    assert (outcome.status, targets(outcome)[4]) == ("resolved", "printing")
    assert len(outcome.handoffs) == 11
