"""What a user sets for the models: own parameters, own rules, a model an agent; and what a server's cache finds."""

import itertools
from pathlib import Path

import msgspec

from actors.drafting.drafts import Draft
from actors.research.output_schemas import Answer, Overview, Points
from runtime.agent_folder import load_roster
from runtime.llm import prompt
from runtime.llm.output_schema import schema_of
from runtime.llm.usage import estimate
from runtime.settings import AgentSettings, AgentsSettings, Settings
from runtime.tickets import Ticket
from tests.fake_openai import FakeOpenAI
from tests.runtime.families.modelled import thinking
from tests.runtime.families.test_research_runs import QUESTION
from tests.runtime.llm.foreign import chat
from tests.thinking import asked

COMMON_TOKENS = 1024
"""From so many tokens of common beginning on servers find it in their caches."""


async def test_what_the_user_sends_besides_is_in_each_request_and_each_agent_has_its_model(tmp_path: Path) -> None:
    agents = AgentsSettings(
        organisation="Halyard Ltd", tone="short and dry", instructions="Say du, never Sie.",
        limits={"worker": AgentSettings(model="large"), "ticketing": AgentSettings(model="small")},
    )  # fmt: skip
    extra = '{"temperature": 0.2, "reasoning": {"effort": "low"}}'
    async with FakeOpenAI(chat()) as server, thinking(tmp_path, server, agents=agents, extra=extra) as node:
        outcome = await (await node.submit(Ticket(id="T-1", text=QUESTION))).outcome()

    assert outcome.status == "resolved"
    assert {asked(body).shape: body["model"] for body in server.bodies} == {
        "Analysis": "small", "Draft": "large", "SecondReading": "large", "Summary": "fake-model",
    }  # fmt: skip
    for body in server.bodies:
        assert (body["temperature"], body["reasoning"]) == (0.2, {"effort": "low"})
        if asked(body).shape == "SecondReading":
            continue  # whoever checks an answer has no tone
        system = body["messages"][0]["content"]
        assert all(each in system for each in ("Halyard Ltd", "short and dry", "Say du, never Sie."))
        assert system.index("Say du") < system.index("How to read what follows"), "the rules have the last word"


def test_the_model_of_the_worker_is_that_of_specialists_without_one(tmp_path: Path) -> None:
    (tmp_path / "printing.md").write_text(
        "---\nname: printing\ndescription: Printers.\nhandles: printers\nmodel: tiny\nintents:\n  printing:\n"
        "    means: printers\n    words:\n      en: toner\n---\nYou know printers.\n",
        encoding="utf-8",
    )
    limits = {"worker": AgentSettings(model="large"), "billing": AgentSettings(model="exact")}
    roster = load_roster(Settings(agents=AgentsSettings(folder=str(tmp_path), limits=limits)))
    models = {name: roster[name].model for name in ("worker", "network", "billing", "printing", "planner")}
    assert models == {"worker": "large", "network": "large", "billing": "exact", "printing": "tiny", "planner": ""}


def test_agents_that_answer_share_a_beginning_that_servers_cache() -> None:
    roster = load_roster(Settings())
    for name, shape in (("worker", Draft), ("network", Draft), ("analyzer", Answer)):
        schema = schema_of(shape).text
        common = roster[name].instructions + prompt.RULE + prompt.SCHEMA + schema
        assert estimate(common.encode()) >= COMMON_TOKENS, name


def test_specialists_of_a_family_share_the_beginning_of_what_they_are_told() -> None:
    roster = load_roster(Settings(agents=AgentsSettings(organisation="Halyard Ltd")))
    for one, other in (("worker", "network"), ("legal_research", "case_analysis")):
        first, second = roster[one].instructions, roster[other].instructions
        common = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
        assert first.startswith("You work for Halyard Ltd.")
        assert common > 0.5 * len(first), one


def test_evidence_is_written_before_what_rests_on_it_and_nothing_is_referred_to() -> None:
    for shape in (Draft, Answer, Overview, Points):
        sent = msgspec.json.decode(schema_of(shape).json_schema)["json_schema"]
        assert "$ref" not in str(sent)
        claims = sent["schema"]["properties"]["claims"]["items"]["properties"]
        assert list(claims)[:3] == ["passage", "quote", "text"]
        assert all(each["description"] for each in claims.values())
