"""What a watcher hears of a question of law on its way: what its agents do, and who was chosen to answer."""

from typing import Any

import msgspec
import pytest

from actors.legal.classification import Classification, Domain, classify
from actors.legal.output_schemas import IntentDraft, LegalDraft, Reply
from actors.ports import Completion, ModelRequest
from actors.workflow.outcome import HandoffMade
from actors.workflow.progress import AgentSelected, StatusChanged
from tests.actors.legal.answering import DISMISSED, TWO_FIELDS, Model, legal_stage
from tests.actors.legal.test_legal_runs import GOOD, sure
from tests.fakes import Says, Stage


async def hear(text: str, **more: Any) -> list[StatusChanged | AgentSelected]:
    return said(await end(text, **more))


async def end(text: str, **more: Any) -> Stage:
    stage = legal_stage(text, **more)
    await stage.end()
    return stage


def said(stage: Stage) -> list[StatusChanged | AgentSelected]:
    return [each for each in stage.heard if isinstance(each, StatusChanged | AgentSelected)]


@pytest.mark.req("LG-14", "LG-15", "LG-16")
async def test_a_question_is_classified_given_to_an_agent_looked_up_thought_about_and_checked_each_told_once() -> None:
    heard = await hear(DISMISSED, model=sure("legal_consultation", "social_labor_law"))

    agent = "legal_research"
    assert heard == [
        StatusChanged("classifying"),
        AgentSelected(agent, 0.9),
        StatusChanged("searching", agent),
        StatusChanged("thinking", agent),
        StatusChanged("checking", agent),
    ]


@pytest.mark.req("LG-14", "LG-15")
async def test_they_are_written_as_clients_know_them() -> None:
    heard = await hear(DISMISSED, model=sure("legal_consultation", "social_labor_law"))

    assert [msgspec.to_builtins(each) for each in heard[:2]] == [
        {"type": "status", "status": "classifying"},
        {"type": "agent-selected", "agent": "legal_research", "confidence": 0.9},
    ]


@pytest.mark.req("LG-14")
async def test_that_it_is_classified_is_told_before_the_model_is_asked() -> None:
    stage: Stage

    def watch(_: ModelRequest) -> IntentDraft:
        assert said(stage) == [StatusChanged("classifying")]
        return IntentDraft("legal_consultation", (), 0.9)

    stage = legal_stage(DISMISSED, model=Model(IntentDraft=watch, LegalDraft=GOOD))

    assert (await stage.end()).status == "resolved"


@pytest.mark.req("LG-15", "LG-18")
async def test_of_several_fields_each_is_told_with_how_sure_it_is_that_the_question_is_of_it() -> None:
    def rules(*_: object) -> Classification:
        domains = (Domain("social_labor_law", "", 0.95), Domain("criminal_law", "", 0.7))
        return Classification("legal_consultation", "", 0.93, (), domains)

    stage = await end(TWO_FIELDS, rules=rules, model=Model(LegalDraft=GOOD))

    heard = said(stage)
    assert heard[:3] == [
        StatusChanged("classifying"), AgentSelected("social_labor_law", 0.95), AgentSelected("criminal_law", 0.7),
    ]  # fmt: skip
    for field in ("social_labor_law", "criminal_law"):
        own = [each.status for each in heard if isinstance(each, StatusChanged) and each.agent == field]
        assert own == ["searching", "thinking", "checking"]
    assert heard[-1] == StatusChanged("merging")
    assert len(heard) == len(set(heard)), "nothing is told twice"
    merged = next(n for n, each in enumerate(stage.heard) if each == heard[-1])
    asked = max(n for n, each in enumerate(stage.heard[:merged]) if isinstance(each, HandoffMade))
    handoff = stage.heard[asked]
    assert isinstance(handoff, HandoffMade)
    assert handoff.target == "opinion_merger"


@pytest.mark.req("LG-15")
async def test_rules_that_are_sure_choose_the_agent_without_a_model() -> None:
    model = Model(LegalDraft=GOOD)

    heard = await hear("请帮我起草一份离婚协议书", model=model, rules=classify)

    found = classify("请帮我起草一份离婚协议书", "zh")
    assert found.is_sure
    assert AgentSelected("document_draft", found.confidence) in heard
    assert "IntentDraft" not in [shape for shape, _ in model.asked]


@pytest.mark.req("LG-16")
async def test_a_tool_that_the_model_calls_is_named() -> None:
    class Calls(Model):
        async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
            if task.on_tool is not None:
                task.on_tool("web_search")
            return await super().fill(shape, task, within=within)

    heard = await hear(DISMISSED, model=Calls(**sure("legal_consultation").answers))

    thinking = heard.index(StatusChanged("thinking", "legal_research"))
    assert heard[thinking + 1] == StatusChanged("using_tool", "legal_research", "web_search")


@pytest.mark.req("LG-16")
async def test_talk_is_thought_about_and_nothing_is_looked_up_or_checked() -> None:
    model = Model(IntentDraft=IntentDraft("general_chat", (), 0.9), Reply=Reply("你好！"))

    heard = await hear("嗯嗯", model=model)

    assert [each.status for each in heard if isinstance(each, StatusChanged)] == ["classifying", "thinking"]


async def test_quotes_without_a_model_are_not_said_to_be_checked() -> None:
    heard = await hear(DISMISSED, model=Model(IntentDraft=IntentDraft("regulation_query", (), 0.9)))

    assert [each.status for each in heard if isinstance(each, StatusChanged)] == [
        "classifying", "searching", "thinking",
    ]  # fmt: skip


async def test_a_classifier_that_fails_has_chosen_nobody() -> None:
    heard = await hear(
        DISMISSED, model=Model(LegalDraft=LegalDraft()), roles={"intent_classifier": lambda: Says(OSError())}
    )

    assert not [each for each in heard if isinstance(each, AgentSelected)]
    assert StatusChanged("searching", "legal_general") in heard
