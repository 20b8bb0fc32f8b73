"""The law's tools in the hands of a model: what it looks up it may cite, checked like all else; what fails is said."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from actors.documents.template import Document
from actors.evidence.trace_steps import ToolStep
from actors.workflow.outcome import Outcome
from runtime.engine.node import Node
from runtime.knowledge.decided_cases import CASES
from runtime.knowledge.law_reader import STATUTES
from runtime.observe.run_trace import load_steps
from runtime.settings import AgentSettings, AgentsSettings, ModelSettings, Settings, StorageSettings
from runtime.tickets import Ticket
from runtime.tools.shipped.create_document import TOOL as CREATE
from runtime.tools.shipped.create_document import Order, Value
from runtime.tools.tool import InvalidArguments, ToolResult
from tests.actors.legal.answering import make_context
from tests.fake_openai import FakeOpenAI, Step, calls, says

LAW = """---
law: 租赁法
version: 2020-05-01
---
第二条　出租人应当提前三十日通知承租人收回房屋。

第九条　押金不得超过两个月的租金。
"""
MORE = "\n\n".join(f"第{n}十条　租赁法规定了什么是其他情形。" for n in "二三四五六七八九")
"""More than are read for one question."""
CASE = {"id": "（2031）甲01民终12号", "summary": "出租人未退还押金，法院判令全额返还。", "cause": "房屋租赁合同纠纷"}
ASKED = "《租赁法》第二条规定了什么？"
NINTH = "押金不得超过两个月的租金。"


@asynccontextmanager
async def opened(
    folder: Path,
    *script: Step,
    agents: AgentsSettings = AgentsSettings(),  # noqa: B008 - it is frozen
) -> AsyncIterator[tuple[Node, FakeOpenAI]]:
    (laws := folder / "laws").mkdir()
    (laws / "leases.md").write_text(LAW + MORE, encoding="utf-8")
    (folder / "cases.jsonl").write_text(json.dumps(CASE), encoding="utf-8")
    storage = folder / "data"
    CASES.take(storage, folder / "cases.jsonl")
    STATUTES.take(storage, laws)
    async with FakeOpenAI(*script) as server:
        model = ModelSettings(base_url=server.url, name="fake-model", tries=1, call_seconds=5.0)
        settings = Settings(storage=StorageSettings(folder=str(storage)), model=model, agents=agents)
        async with Node.open(settings) as node:
            yield node, server


async def ask(folder: Path, text: str, *script: Step) -> tuple[Outcome, list[dict[str, Any]]]:
    async with opened(folder, *script) as (node, server):
        outcome = await (await node.submit(Ticket(text=text, workflow="legal"))).outcome()
    return outcome, server.bodies


def claim(passage: int, quote: str) -> Step:
    return says({"claims": [{"text": quote, "passage": passage, "quote": quote}], "pass_on": None})


APPROVED = says({"verdicts": [{"number": 1, "verdict": "entailed"}]})


@pytest.mark.req("LG-4", "LG-8", "LG-9")
async def test_an_article_that_a_model_looks_up_by_itself_is_cited_in_its_standard_form(tmp_path: Path) -> None:
    look_up = calls(("regulation_search", '{"query": "《租赁法》第九条", "fields": [], "on": ""}'))

    outcome, bodies = await ask(tmp_path, ASKED, look_up, claim(9, NINTH), APPROVED)

    assert [each["function"]["name"] for each in bodies[0]["tools"]] == ["regulation_search"]
    assert NINTH in bodies[1]["messages"][-1]["content"]
    assert outcome.resolution is not None
    assert [each.title for each in outcome.resolution.citations] == ["《租赁法》第九条"]
    assert outcome.status == "resolved"


@pytest.mark.req("LG-30", "LG-31")
async def test_an_agent_is_asked_with_its_own_model_prompt_and_tools_and_told_what_the_question_names(
    tmp_path: Path,
) -> None:
    agents = AgentsSettings(limits={"legal_research": AgentSettings(model="a-larger-one")})
    async with opened(tmp_path, claim(1, "出租人应当提前三十日通知承租人收回房屋。"), agents=agents) as (node, server):
        spec = node.roster.of("legal")["legal_research"]
        await (await node.submit(Ticket(text=ASKED, workflow="legal"))).outcome()
        body, *readings = server.bodies

    assert {each["model"] for each in readings} == {"a-larger-one"}
    system, user = body["messages"][0]["content"], body["messages"][1]["content"]
    assert body["model"] == "a-larger-one"
    assert spec.instructions.split("\n")[0] in system
    assert {each["function"]["name"] for each in body["tools"]} <= set(spec.tools)
    assert "regulation_query" in user
    assert "《租赁法》第二条" in user


@pytest.mark.req("LG-5", "LG-10")
async def test_a_case_that_a_model_finds_by_itself_is_cited_by_its_number(tmp_path: Path) -> None:
    look_up = calls(("case_search", '{"query": "押金"}'))

    outcome, bodies = await ask(tmp_path, "请检索几个装修纠纷的类似案例", look_up, claim(1, "法院判令全额返还。"))

    assert {each["function"]["name"] for each in bodies[0]["tools"]} == {"case_search", "regulation_search"}
    assert outcome.resolution is not None
    assert [each.title for each in outcome.resolution.citations] == [CASE["id"]]


async def test_a_day_that_is_none_is_sent_back_and_nothing_is_looked_up(tmp_path: Path) -> None:
    look_up = calls(("regulation_search", '{"query": "押金", "on": "2024年"}'))

    _, bodies = await ask(tmp_path, ASKED, look_up, says({"claims": []}))

    assert "YYYY-MM-DD" in bodies[1]["messages"][-1]["content"]


async def test_a_quote_that_is_not_in_what_the_model_looked_up_is_not_shown(tmp_path: Path) -> None:
    look_up = calls(("regulation_search", '{"query": "押金"}'))

    outcome, _ = await ask(tmp_path, ASKED, look_up, claim(2, "押金不得超过三个月的租金。"))

    assert outcome.status == "suggested", "what the question names is quoted instead"
    assert "押金不得超过三个月的租金" not in str(outcome)


@pytest.mark.req("LG-23", "LG-25")
async def test_a_source_that_cannot_be_read_is_named_and_the_others_answer(tmp_path: Path) -> None:
    async with opened(tmp_path, claim(1, "出租人应当提前三十日通知承租人收回房屋。")) as (node, _):
        (node.folder / CASES.file).write_bytes(b"no database")
        handle = await node.submit(Ticket(text="请检索收回房屋的类似案例", workflow="legal"))
        outcome = await handle.outcome()

    assert outcome.unavailable == ("案例库",)
    assert outcome.resolution is not None
    assert "database" not in outcome.resolution.text


@pytest.mark.req("LG-28")
async def test_what_a_specialist_reads_before_it_answers_is_a_call_in_the_trace(tmp_path: Path) -> None:
    async with opened(tmp_path, claim(1, "出租人应当提前三十日通知承租人收回房屋。")) as (node, _):
        outcome = await (await node.submit(Ticket(text=ASKED, workflow="legal"))).outcome()
        steps = await load_steps(node.journal.store, outcome.run)

    (step,) = [each for each in steps if isinstance(each, ToolStep)]
    assert (step.by, step.tool, step.passages, step.failed) == ("legal_research", "regulation_search", 8, "")
    assert ASKED in step.arguments


@pytest.mark.req("LG-12", "LG-28")
async def test_the_document_that_was_asked_for_is_made_by_the_tool_which_the_trace_tells(tmp_path: Path) -> None:
    given = "被告住址：某路1号。\n诉讼请求：还钱。\n事实与理由：借了钱。\n受诉法院：某法院。\n"
    async with opened(tmp_path, says({"fields": []})) as (node, _):
        text = f"请帮我写一份民事起诉状。\n原告：张三。\n被告：李四。\n{given}"
        outcome = await (await node.submit(Ticket(text=text, workflow="legal"))).outcome()
        steps = await load_steps(node.journal.store, outcome.run)

    assert outcome.resolution is not None, outcome.questions
    assert "某路1号" in outcome.resolution.text
    (step,) = [each for each in steps if isinstance(each, ToolStep)]
    assert (step.by, step.tool, step.failed) == ("document_draft", "create_document", "")


@pytest.mark.req("LG-12", "LG-13")
class TestCreateDocument:
    SAID = "原告：张三。被告：李四。"

    async def create(self, order: Order, said: str = SAID) -> ToolResult:
        return await CREATE.call(order, make_context(Settings())._replace(said=said), 1.0)

    async def test_what_the_person_has_yet_to_say_is_told(self) -> None:
        result = await self.create(Order("民事起诉状", (Value("plaintiff", "张三", "原告：张三"),)))

        assert result.document is None
        assert "- defendant" in result.text
        assert "- plaintiff:" not in result.text

    async def test_with_all_that_is_needed_the_document_is_made(self) -> None:
        values = {"plaintiff": "张三", "defendant": "李四", "claims": "还钱", "facts": "借了钱", "court": "某法院"}
        values |= {"defendant_address": "某路1号"}
        said = self.SAID + "还钱 借了钱 某法院 某路1号"

        result = await self.create(
            Order("民事起诉状", tuple(Value(field, value, value) for field, value in values.items())), said
        )

        assert isinstance(result.document, Document), result.text
        assert all(each in result.text for each in values.values())

    async def test_what_the_person_did_not_write_is_not_filled_in(self) -> None:
        with pytest.raises(InvalidArguments, match="did not write"):
            await self.create(Order("民事起诉状", (Value("plaintiff", "王五", "原告：王五"),)))

    async def test_what_a_quote_does_not_say_is_not_filled_in_though_it_stands_elsewhere(self) -> None:
        with pytest.raises(InvalidArguments, match="its quote does not say it"):
            await self.create(Order("民事起诉状", (Value("plaintiff", "李四", "原告：张三"),)))

    async def test_an_unknown_template_or_field_is_told_with_those_there_are(self) -> None:
        with pytest.raises(InvalidArguments, match="民事起诉状"):
            await self.create(Order("情书"))
        with pytest.raises(InvalidArguments, match="plaintiff"):
            await self.create(Order("民事起诉状", (Value("lover", "张三", "张三"),)))
