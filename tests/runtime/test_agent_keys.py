"""What the file of an agent says is what happens: each key has a test here that fails when it is ignored."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from actors.evidence.trace_steps import ToolStep
from actors.workflow.outcome import Outcome
from runtime.agent_folder import load_roster
from runtime.config import ConfigError
from runtime.families import FAMILIES
from runtime.families.limits import configure_all, list_agents
from runtime.observe.run_trace import load_steps
from runtime.settings import AgentSettings, AgentsSettings, Settings
from runtime.tickets import Ticket
from tests.fake_openai import FakeOpenAI, Step, hangs, says
from tests.fakes import targets
from tests.runtime.test_agent_files import write
from tests.runtime.tools.test_legal_tools import opened
from tests.thinking import asked

MARITIME = """\
---
name: maritime
family: legal
description: Answers questions on ships.
handles: ships, crews, bills of lading
intents:
  maritime_law:
    means: something happened at sea
    weight: 9
    words:
      zh: 船员; 提单
tools: [case_search]
model: of-the-sea
limits:
  seconds: 0.4
  retries: 0
hands_over_to: [case_analysis]
---
You know the law of the sea.
"""
SAILOR = "船员的工资可以要求优先支付吗？"
pytestmark = pytest.mark.req("LG-30", "SY-7")


def settings(folder: Path, text: str = MARITIME, **limits: AgentSettings) -> AgentsSettings:
    (own := folder / "agents").mkdir()
    write(own, text, "maritime.md")
    return AgentsSettings(folder=str(own), limits=limits)


def thinks(**answers: Any) -> Step:
    """Says these by what is asked for, or does so."""

    async def step(server: FakeOpenAI, request: web.Request) -> web.StreamResponse:
        shape = asked(json.loads(await request.text())).shape
        answer = answers.get(shape, {"claims": []} if shape == "LegalDraft" else {"verdicts": []})
        do: Step = answer if callable(answer) else says(answer)
        return await do(server, request)

    return step


async def run(
    folder: Path, agents: AgentsSettings, text: str = SAILOR, **answers: Any
) -> tuple[Outcome, list[dict[str, Any]], list[ToolStep]]:
    """How it ended, what the model's server was asked, and which tools were called."""
    async with opened(folder, thinks(**answers), agents=agents) as (node, server):
        outcome = await (await node.submit(Ticket(text=text, workflow="legal"))).outcome()
        steps = await load_steps(node.journal.store, outcome.run)
    return outcome, server.bodies, [each for each in steps if isinstance(each, ToolStep)]


def drafts(bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in bodies if asked(each).shape == "LegalDraft"]


async def test_family_words_tools_model_and_text(tmp_path: Path) -> None:
    outcome, bodies, calls = await run(tmp_path, settings(tmp_path, MARITIME.replace("seconds: 0.4", "seconds: 30")))

    assert "maritime" in targets(outcome), "its words, in its family"
    assert {each["model"] for each in bodies} == {"of-the-sea"}
    assert {each["function"]["name"] for body in bodies for each in body.get("tools", ())} == {"case_search"}
    assert {each.tool for each in calls} == {"case_search"}, "it searches with nothing else"
    assert "You know the law of the sea." in asked(drafts(bodies)[0]).system
    assert asked(drafts(bodies)[0]).material["others"].startswith("case_analysis: "), "and nobody else"
    assert "\n" not in asked(drafts(bodies)[0]).material["others"]


async def test_without_tools_nothing_is_searched(tmp_path: Path) -> None:
    text = MARITIME.replace("tools: [case_search]\n", "").replace("seconds: 0.4", "seconds: 30")

    _, bodies, calls = await run(tmp_path, settings(tmp_path, text))

    assert calls == []
    assert not any("tools" in each for each in bodies)


async def test_weight(tmp_path: Path) -> None:
    outcome, *_ = await run(tmp_path, settings(tmp_path, MARITIME.replace("weight: 9", "weight: 1")))

    assert "maritime" not in targets(outcome), "other words say more"


async def test_means(tmp_path: Path) -> None:
    intent = {"intent": "maritime_law", "fields": [], "confidence": 0.9, "entities": []}

    outcome, bodies, _ = await run(tmp_path, settings(tmp_path), "两条船撞了。", IntentDraft=intent)

    assert "maritime_law: something happened at sea" in asked(bodies[0]).material["intents"].splitlines()
    assert "maritime" in targets(outcome)


async def test_seconds(tmp_path: Path) -> None:
    outcome, *_ = await run(tmp_path, settings(tmp_path), LegalDraft=hangs())

    (given,) = [each.at for each in outcome.handoffs if each.target == "maritime"]
    after = min(each.at for each in outcome.handoffs if each.at > given)
    assert 0.2 <= after - given < 2.0, "the server would have been given five"


async def test_what_is_set_for_it_goes_before_its_file(tmp_path: Path) -> None:
    agents = settings(tmp_path, maritime=AgentSettings(seconds=30.0, model="larger"))

    _, bodies, _ = await run(tmp_path, agents)

    assert {each["model"] for each in bodies} == {"larger"}


def test_name_description_handles_retries_and_hands_over_to(tmp_path: Path) -> None:
    own = settings(tmp_path)
    other = MARITIME.replace("maritime", "air").replace("船员; 提单", "飞机").replace("[case_analysis]", "[maritime]")
    write(Path(own.folder), other, "air.md")
    roster = load_roster(Settings(agents=own))

    found = {each.name: each for each in list_agents(FAMILIES, configure_all(FAMILIES, Settings(), roster), roster)}

    assert found["maritime"].description == "Answers questions on ships."
    assert found["maritime"].hands_over_to == ("case_analysis",)
    assert (found["maritime"].seconds, found["maritime"].retries) == (0.4, 0)
    assert roster.of("legal").colleagues_of("air") == {"maritime": "ships, crews, bills of lading"}


@pytest.mark.parametrize(
    ("change", "limits", "sentence"),
    [
        ({"modell": "model"}, {}, "Did you mean 'model'?"),
        ({"family: legal": "family: legale"}, {}, "there is no family 'legale'. Did you mean 'legal'?"),
        ({"    words:\n      zh: 船员; 提单\n": ""}, {}, "the key `words` is missing."),
        ({"name: maritime": "name: civil_law"}, {}, "the name civil_law is that of a part of legal. Choose another."),
        ({}, {"civil_law": AgentSettings(seconds=5.0)}, "civil_law is asked as [agents.legal_research] says."),
        ({}, {"registrar": AgentSettings(model="x")}, "no model thinks for registrar. Remove the key."),
        ({}, {"maritim": AgentSettings(seconds=5.0)}, "Did you mean 'maritime'?"),
    ],
)  # fmt: skip
def test_what_would_be_ignored_is_refused(
    tmp_path: Path, change: Mapping[str, str], limits: dict[str, AgentSettings], sentence: str
) -> None:
    text = MARITIME
    for new, old in change.items():
        text = text.replace(old, new) if new == "modell" else text.replace(new, old)
    given = Settings(agents=settings(tmp_path, text, **limits))

    with pytest.raises(ConfigError, match=re.escape(sentence)):
        configure_all(FAMILIES, given, load_roster(given))
