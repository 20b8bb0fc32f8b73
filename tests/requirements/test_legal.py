"""Questions of law as their asker has them answered: who answers, on which sources, and what is told on the way."""

import asyncio
import json
from typing import Any

import msgspec
import pytest

from actors.drafting.drafts import HandoverRequest
from actors.evidence.claims import Claim
from actors.legal.classification import Classification, Domain
from actors.legal.intent_classifier import Classifier
from actors.legal.output_schemas import FieldsDraft, IntentDraft, LegalDraft, MergedDraft, Reply
from actors.ports import Completion, ModelRequest, PortFailed
from bus import Context
from runtime.families import legal_runs
from runtime.families.legal import FIELDS
from runtime.knowledge.decided_cases import CASES
from runtime.knowledge.law_reader import STATUTES
from tests.actors.legal import test_legal_runs as opinions
from tests.actors.legal.answering import DISMISSED, ROSTER, TWO_FIELDS, Model, Source
from tests.actors.legal.answering import NOTICE as ARTICLE
from tests.fakes import Hangs, Says
from tests.patience import HANGS_SECONDS
from tests.requirements.desk import Desk, Wraps, end
from tests.runtime.http.test_stream import blocks

NOTICE = "用人单位提前三十日以书面形式通知劳动者本人或者额外支付劳动者一个月工资后，可以解除劳动合同"
STATED = "提前三十日书面通知或者额外支付一个月工资后，用人单位可以解除劳动合同。"
INJURY = "故意伤害他人身体的，处三年以下有期徒刑、拘役或者管制"
LAWS = {
    "labour": f"---\nlaw: 劳动合同法\nversion: 2012-12-28\n---\n第四十条　{NOTICE}。\n",
    "crime": f"---\nlaw: 刑法\nversion: 2020-12-26\n---\n第二百三十四条　{INJURY}。\n",
}
DECIDED = (
    {
        "id": "（2031）甲01民终12号", "cause": "房屋租赁合同纠纷", "key_points": ["出租人无权扣留押金"],
        "summary": "出租人未退还押金。争议焦点为是否应当退还。判决出租人全额返还押金。",
    },
    {
        "id": "（2032）乙02民终34号", "cause": "房屋租赁合同纠纷", "key_points": ["承租人损坏房屋的，押金可以抵扣"],
        "summary": "承租人损坏房屋，出租人扣留押金。争议焦点为是否应当退还。判决驳回承租人的诉讼请求。",
    },
)  # fmt: skip
SIX = {
    "legal_consultation", "case_search", "regulation_query", "document_draft", "contract_review", "general_chat",
}  # fmt: skip
COMPLAINT = (
    "请帮我写一份民事起诉状。\n原告：张三。\n被告：李四。\n被告住址：某路1号。\n诉讼请求：还钱五万元。\n事实与理由：他借了钱不还。\n"
    "受诉法院：某某法院。\n"
)
CLAUSE = "以上内容仅供参考，不构成法律意见。采取行动之前，请咨询专业律师。"


@pytest.fixture
def law(desk: Desk) -> Desk:
    """A desk that has read two laws and two judgments, whichever door one takes."""
    (laws := desk.folder / "laws").mkdir()
    for name, text in LAWS.items():
        (laws / f"{name}.md").write_text(text, encoding="utf-8")
    (cases := desk.folder / "cases.jsonl").write_text("\n".join(map(json.dumps, DECIDED)), encoding="utf-8")
    for storage in ("data", "task-data"):
        STATUTES.take(desk.folder / storage, laws)
        CASES.take(desk.folder / storage, cases)
    return desk


def state(task: ModelRequest) -> LegalDraft:
    """What the first of these two articles that it has read says."""
    for text, quote in ((STATED, NOTICE), (INJURY, INJURY)):
        for number, each in enumerate(task.findings.passages if task.findings else (), 1):
            if quote in each.text:
                return LegalDraft((Claim(text, number, quote),))
    return LegalDraft()


def thinks(intent: str = "legal_consultation", *fields: str, **answers: Any) -> Model:
    """A model that takes a question for this, and states what its sources say."""
    return Model(**{"IntentDraft": IntentDraft(intent, fields, 0.9), "LegalDraft": state, **answers})


def guesses(desk: Desk, confidence: float, *domains: str) -> None:
    """Have the rules take each question for a consultation, as sure as that."""
    fields = tuple(Domain(name, "", confidence) for name in domains)
    guess = Classification("legal_consultation", "", confidence, (), fields)
    desk.roles["intent_classifier"] = lambda _, own: Classifier(own.model, ROSTER, FIELDS, rules=lambda *_: guess)


class Keeps(Wraps):
    """Keeps what the real agent answers."""

    answered: Any = None

    async def answer(self, message: Any, ctx: Context) -> Any:
        self.answered = await super().answer(message, ctx)
        return self.answered


async def ask(desk: Desk, text: str = DISMISSED, model: Any = None, **more: Any) -> tuple[Any, Any]:
    """How a question ends, and its trace."""
    async with desk.serve(model or thinks()) as web:
        outcome = await web.submit(text, workflow="legal", wait=20, **more)
        _, trace = await web.ask("GET", f"/tickets/{outcome['ticket']}/trace")
        return outcome, trace


def spans(trace: Any, kind: str) -> list[Any]:
    return [each for each in trace["spans"] if each["kind"] == kind]


def named(trace: Any, kind: str) -> list[str]:
    return [each["name"] for each in spans(trace, kind)]


def asked_of(model: Model) -> list[str]:
    return [name for name, _ in model.asked]


def text_of(outcome: Any) -> str:
    text: str = outcome["resolution"]["text"]
    return text


@pytest.mark.req("LG-1")
@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("请检索几个押金纠纷的类似案例", "case_search"),
        ("《劳动合同法》第四十条法条的规定是什么？", "regulation_query"),
        (COMPLAINT, "document_draft"),
    ],
    ids=["case", "article", "complaint"],
)
async def test_lg_1_what_key_words_make_sure_is_classified_without_a_model(law: Desk, text: str, intent: str) -> None:
    model = thinks("general_chat")

    _, trace = await ask(law, text, model)

    (found,) = spans(trace, "classification")
    assert (found["name"], found["by"]) == (intent, "rules")
    assert found["confidence"] >= 0.85
    assert "IntentDraft" not in asked_of(model)


@pytest.mark.req("LG-1", "LG-2")
@pytest.mark.parametrize(("confidence", "calls"), [(0.85, 0), (0.849, 1)])
async def test_lg_1_and_2_from_085_on_no_model_is_asked_and_below_one_is(
    law: Desk, confidence: float, calls: int
) -> None:
    guesses(law, confidence)
    model = thinks("case_search")

    _, trace = await ask(law, model=model)

    (found,) = spans(trace, "classification")
    assert asked_of(model).count("IntentDraft") == calls
    assert found["name"] == ("case_search" if calls else "legal_consultation")


@pytest.mark.req("LG-2", "LG-3")
async def test_lg_2_and_3_a_model_classifies_in_a_structured_form_what_the_rules_are_unsure_of(law: Desk) -> None:
    law.wraps("intent_classifier", Keeps)
    draft = IntentDraft("regulation_query", ("criminal_law",), 0.8, ("王某", "八百元", "李某"))

    _, trace = await ask(law, "王某偷了一辆车，卖了八百元。", thinks(IntentDraft=draft))

    (found,) = spans(trace, "classification")
    assert (found["name"], found["confidence"]) == ("regulation_query", 0.8)
    said = msgspec.to_builtins(law.played["intent_classifier"][0].answered.classification)
    assert (said["intent"], said["category"], said["confidence"]) == ("regulation_query", "criminal_law", 0.8)
    assert [each["text"] for each in said["entities"]] == ["八百元", "王某"], "nobody is named 李某 there"


@pytest.mark.req("LG-3")
async def test_lg_3_a_classification_has_intent_category_confidence_and_entities(law: Desk) -> None:
    law.wraps("intent_classifier", Keeps)

    await ask(
        law,
        "公司2021年3月辞退我，依据《劳动合同法》第三十九条，只肯付 5,000 元补偿，这样合法吗？",
        Model(LegalDraft=state),
    )

    said = msgspec.to_builtins(law.played["intent_classifier"][0].answered.classification)
    assert (said["intent"], said["category"]) == ("legal_consultation", "labor_law")
    assert 0 < said["confidence"] <= 1
    assert [each["text"] for each in said["entities"]] == ["2021年3月", "《劳动合同法》", "第三十九条", "5,000 元"]
    assert {each.name for each in ROSTER.intents} == SIX


async def go(desk: Desk, intent: str, agent: str) -> tuple[tuple[str, ...], Any]:
    """The tools of the agent to which a question of this intent must go, and the trace."""
    guesses(desk, 0.1)
    model = thinks(intent)
    outcome, trace = await ask(desk, "押金这件事怎么办", model)
    (task,) = [task for name, task in model.asked if name == "LegalDraft"]
    assert (outcome["handoffs"][2]["target"], task.agent) == (agent, agent)
    return task.tools, trace


@pytest.mark.req("LG-4")
@pytest.mark.parametrize("intent", ["legal_consultation", "regulation_query"])
async def test_lg_4_both_go_to_legal_research_with_the_search_of_regulations(law: Desk, intent: str) -> None:
    tools, trace = await go(law, intent, "legal_research")

    assert "regulation_search" in tools
    assert "regulation_search" in named(trace, "tool")


@pytest.mark.req("LG-5")
async def test_lg_5_a_search_for_cases_goes_to_case_analysis_with_the_search_of_cases(law: Desk) -> None:
    tools, trace = await go(law, "case_search", "case_analysis")

    assert "case_search" in tools
    assert "case_search" in named(trace, "tool")


@pytest.mark.req("LG-6", "LG-12")
async def test_lg_6_and_12_a_document_is_made_by_document_draft_with_the_tool_for_it(law: Desk) -> None:
    outcome, trace = await ask(law, COMPLAINT)

    assert [each["target"] for each in outcome["handoffs"]][2] == "document_draft"
    assert named(trace, "tool") == ["create_document"]
    assert named(trace, "routing") == ["document_draft"]
    assert text_of(outcome).startswith("# 民事起诉状\n")


@pytest.mark.req("LG-7")
@pytest.mark.parametrize("intent", ["general_chat", "weather"], ids=["chat", "unknown"])
async def test_lg_7_talk_and_what_nobody_knows_get_a_reply_of_the_one_general_agent(law: Desk, intent: str) -> None:
    model = thinks(intent, Reply=Reply("今天很好！"))

    outcome, trace = await ask(law, "嗯嗯", model)

    assert named(trace, "agent") == ["intent_classifier", "legal_general", "registrar"]
    assert text_of(outcome).startswith("今天很好！")
    assert spans(trace, "tool") == []


@pytest.mark.req("LG-8")
async def test_lg_8_legal_research_has_its_own_prompt_two_tools_and_sets_out_the_legal_basis(law: Desk) -> None:
    model = thinks(IntentDraft=IntentDraft("legal_consultation", (), 0.9))

    outcome, _ = await ask(law, model=model)

    (task,) = [task for name, task in model.asked if name == "LegalDraft"]
    assert "legal researcher" in task.instructions
    assert {"regulation_search", "web_search"} <= set(task.tools)
    answer, _, basis = text_of(outcome).partition("\n\n法律依据：\n\n")
    assert answer == f"{STATED} [1]"
    assert basis.startswith("[1] 《劳动合同法》第四十条")


@pytest.mark.req("LG-9")
async def test_lg_9_an_article_is_cited_in_its_standard_form_with_its_words(law: Desk) -> None:
    outcome, _ = await ask(law)

    (cited,) = outcome["resolution"]["citations"]
    lines = text_of(outcome).split("\n")
    at = next(n for n, line in enumerate(lines) if line.startswith("[1]"))
    assert cited["title"] == "《劳动合同法》第四十条"
    assert lines[at].startswith("[1] 《劳动合同法》第四十条")
    assert lines[at + 1] == NOTICE


@pytest.mark.req("LG-10")
async def test_lg_10_cases_are_searched_and_listed_with_summary_and_key_points(law: Desk) -> None:
    outcome, trace = await ask(law, "请检索几个出租人扣留押金的类似案例", Model())

    shown = text_of(outcome)
    assert "case_search" in named(trace, "tool")
    for case in DECIDED:
        place = shown.index(str(case["id"]))
        assert str(case["summary"]) in shown[place:]
        assert str(case["key_points"][0]) in shown[place:]


@pytest.mark.req("LG-11")
async def test_lg_11_several_cases_are_compared_with_their_differences_and_what_they_are_worth(law: Desk) -> None:
    outcome, _ = await ask(law, "请比较（2031）甲01民终12号和（2032）乙02民终34号", Model())

    shown = text_of(outcome)
    head = next(line for line in shown.split("\n") if line.startswith("| "))
    rows = {line.strip("| ").split(" | ")[0]: line for line in shown.split("\n") if line.startswith("| ")}
    assert all(str(case["id"]) in head for case in DECIDED)
    assert "全额返还" in rows["裁判结果"]
    assert "驳回" in rows["裁判结果"]
    assert all(str(case["key_points"][0]) in rows["参考价值"] for case in DECIDED)
    assert "关键差异：\n- 裁判结果: （2031）甲01民终12号: 支持" in shown


@pytest.mark.req("LG-12")
async def test_lg_12_the_type_is_confirmed_where_it_is_not_said(law: Desk) -> None:
    outcome, trace = await ask(law, "请帮我起草一份法律文书")

    (asked,) = outcome["questions"]
    assert outcome["status"] == "needs_input"
    assert {"民事起诉状", "律师函"} <= set(asked["choices"])
    assert spans(trace, "tool") == []


@pytest.mark.req("LG-12")
async def test_lg_12_what_the_document_needs_is_gathered(law: Desk) -> None:
    outcome, trace = await ask(law, "请帮我写一份民事起诉状。\n原告：张三。\n被告：李四。\n")

    needed = {each["name"] for each in outcome["questions"] if not each.get("optional")}
    assert outcome["status"] == "needs_input"
    assert {"claims", "facts", "court"} <= needed
    assert needed.isdisjoint({"plaintiff", "defendant"})
    assert spans(trace, "tool") == []


LETTER = (
    "请帮我写一份律师函。\n收函人：某某贸易有限公司。\n委托人：张三。\n律师事务所：正义律师事务所。\n事由：拖欠货款。\n"
    "事实：欠款至今未付。\n要求：支付货款120,000元。\n履行期限：2026年4月15日。\n"
)


@pytest.mark.req("LG-13")
@pytest.mark.parametrize(
    ("text", "title", "given"),
    [
        (COMPLAINT, "民事起诉状", ["张三", "李四", "某路1号", "还钱五万元", "他借了钱不还", "某某法院"]),
        (LETTER, "律师函", ["某某贸易有限公司", "张三", "正义律师事务所", "拖欠货款", "120,000元"]),
    ],
    ids=["complaint", "letter"],
)
async def test_lg_13_the_template_fits_the_type_and_is_filled_with_what_was_given(
    law: Desk, text: str, title: str, given: list[str]
) -> None:
    outcome, _ = await ask(law, text, thinks(FieldsDraft=FieldsDraft()))

    written = text_of(outcome)
    assert written.startswith(f"# {title}\n")
    assert [each for each in given if each not in written] == []


class Writes(Model):
    """Classifies when it is let, and writes its answer piece by piece."""

    def __init__(self) -> None:
        super().__init__(IntentDraft=IntentDraft("legal_consultation", (), 0.9), LegalDraft=state)
        self.classifies, self.free = asyncio.Event(), asyncio.Event()

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        if shape is IntentDraft:
            self.classifies.set()
            await self.free.wait()
        if task.on_text is not None:
            task.on_text(0, STATED[:9])
            task.on_text(9, STATED[9:])
        return await super().fill(shape, task, within=within)


async def listen(desk: Desk) -> tuple[list[Any], list[Any]]:
    """What is heard of a question until a model has classified it, and from then on."""
    guesses(desk, 0.1)
    async with desk.serve(model := Writes()) as web, asyncio.timeout(HANGS_SECONDS / 4):
        receipt = await web.submit(DISMISSED, workflow="legal")
        await model.classifies.wait()
        async with web.client.get(receipt["links"]["events"]) as response:
            heard = blocks(response)
            past = [await anext(heard) for _ in range(3)]
            model.free.set()
            return past, [each async for each in heard]


@pytest.mark.req("LG-14")
async def test_lg_14_that_classification_starts_is_told_before_it_is_over(law: Desk) -> None:
    past, _ = await listen(law)

    assert past[-1] == ("status", {"type": "status", "status": "classifying"})


@pytest.mark.req("LG-15")
async def test_lg_15_the_agent_is_told_after_routing_with_the_confidence(law: Desk) -> None:
    past, rest = await listen(law)

    assert "agent-selected" not in [name for name, _ in past]
    chosen = [data for name, data in rest if name == "agent-selected"]
    assert chosen == [{"type": "agent-selected", "agent": "legal_research", "confidence": 0.9}]


@pytest.mark.req("LG-16")
async def test_lg_16_that_it_is_thought_about_is_told_and_the_answer_streams(law: Desk) -> None:
    _, rest = await listen(law)

    assert ("status", {"type": "status", "status": "thinking", "agent": "legal_research"}) in rest
    written = [data["text"] for name, data in rest if name == "answer-text"]
    assert written == [STATED[:9], STATED[9:]]
    assert rest[-1][0] == "ended"


@pytest.mark.req("LG-17")
async def test_lg_17_advice_ends_with_a_disclaimer_apart_from_it_that_points_to_a_lawyer(law: Desk) -> None:
    outcome, _ = await ask(law)

    assert STATED in text_of(outcome)
    assert text_of(outcome).endswith(f"\n\n---\n{CLAUSE}")
    assert text_of(outcome).count(CLAUSE) == 1


CRIME = "刑法"
TEAM = ("social_labor_law", "criminal_law")
THIRTY, YEARS = "用人单位应当提前三十日书面通知劳动者。", "故意伤害他人身体的，处三年以下有期徒刑。"


def consults(desk: Desk, labour: Any = None, crime: Any = None) -> None:
    """Have the rules find two fields of law in each question, and these say what is to be said of them."""
    guesses(desk, 0.9, *TEAM)
    desk.plays(TEAM[0], labour or (lambda: Says(opinions.state(THIRTY))))
    desk.plays(TEAM[1], crime or (lambda: Says(opinions.state(YEARS, source="statute:9"))))


@pytest.mark.req("LG-18")
async def test_lg_18_all_fields_of_a_question_are_recognised_and_asked_side_by_side(law: Desk) -> None:
    _, trace = await ask(law, TWO_FIELDS, Model())

    (found,) = spans(trace, "classification")
    assert set(TEAM) <= set(found["category"].split(", "))
    assert set(TEAM) <= set(spans(trace, "routing")[0]["name"].split(", "))
    assert set(TEAM) <= set(named(trace, "agent"))


@pytest.mark.req("LG-19")
async def test_lg_19_the_agents_are_at_work_at_the_same_time(desk: Desk) -> None:
    here = asyncio.Barrier(2)

    class Waits(Says):
        async def receive(self, message: Any, ctx: Context) -> Any:
            async with asyncio.timeout(HANGS_SECONDS / 8):
                await here.wait()
            return super().receive(message, ctx)

    consults(desk, lambda: Waits(opinions.state(THIRTY)), lambda: Waits(opinions.state(YEARS, source="statute:9")))

    outcome, _ = await ask(desk, TWO_FIELDS, Model())

    assert THIRTY in text_of(outcome)
    assert YEARS in text_of(outcome)


class Lasts(Hangs):
    """Knows whether it was interrupted."""

    interrupted = 0

    async def receive(self, message: Any, ctx: Context) -> None:
        try:
            await super().receive(message, ctx)
        except asyncio.CancelledError:
            Lasts.interrupted += 1
            raise


class Sees(Wraps):
    """Sees who has been interrupted by the time that it is asked."""

    interrupted = 0

    async def answer(self, message: Any, ctx: Context) -> Any:
        self.interrupted = Lasts.interrupted
        return await super().answer(message, ctx)


@pytest.mark.req("LG-19", "LG-22")
async def test_lg_19_and_22_each_has_thirty_seconds_is_interrupted_and_holds_up_no_other(desk: Desk) -> None:
    Lasts.interrupted = 0
    consults(desk, crime=Lasts)
    desk.wraps("opinion_merger", Sees)
    async with desk.serve(Model()) as web:
        outcome = await end(web, (await web.submit(TWO_FIELDS, workflow="legal"))["ticket"])

    assert 30 <= outcome.seconds <= 30.9
    assert desk.played["opinion_merger"][0].interrupted == 1
    assert outcome.resolution is not None
    assert THIRTY in outcome.resolution.text
    assert outcome.unavailable == (CRIME,)


@pytest.mark.req("LG-19", "LG-20")
async def test_lg_20_what_succeeded_is_returned_and_what_is_unavailable_is_named(desk: Desk) -> None:
    consults(desk, crime=lambda: Says(OSError("disk on fire")))

    outcome, _ = await ask(desk, TWO_FIELDS, Model())

    assert THIRTY in text_of(outcome)
    assert "以下方面暂时未能得到答复：刑法。" in text_of(outcome)
    assert outcome["unavailable"] == [CRIME]


@pytest.mark.req("LG-21")
async def test_lg_21_what_the_specialists_say_is_one_answer(desk: Desk) -> None:
    consults(desk)
    claims = (Claim(THIRTY, 2, THIRTY), Claim(YEARS, 1, YEARS))

    outcome, trace = await ask(desk, TWO_FIELDS, Model(MergedDraft=MergedDraft(claims)))

    assert "opinion_merger" in named(trace, "agent")
    assert text_of(outcome).startswith(f"{THIRTY} [1]\n{YEARS} [2]\n\n法律依据：")
    assert text_of(outcome).count("法律依据：") == text_of(outcome).count(CLAUSE) == 1


@pytest.mark.req("LG-21")
async def test_lg_21_without_a_model_rules_make_one_answer_of_them(desk: Desk) -> None:
    consults(desk)

    outcome, _ = await ask(desk, TWO_FIELDS, Model())

    assert f"{YEARS} [1]" in text_of(outcome)
    assert f"{THIRTY} [2]" in text_of(outcome)
    assert text_of(outcome).count("法律依据：") == text_of(outcome).count(CLAUSE) == 1


def offers(patch: pytest.MonkeyPatch, *sources: Source) -> None:
    """Have each specialist search these."""
    patch.setattr(legal_runs, "list_sources", lambda _: [each for one in sources for each in one.offer(())])


@pytest.mark.req("LG-23")
async def test_lg_23_a_tool_that_fails_once_is_called_again(law: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    offers(monkeypatch, source := Source(ARTICLE, fails=1))

    outcome, trace = await ask(law)

    assert len(source.asked) == 2
    assert named(trace, "agent") == ["intent_classifier", "legal_research", "registrar"]
    assert (STATED in text_of(outcome), outcome["unavailable"]) == (True, [])


@pytest.mark.req("LG-23")
async def test_lg_23_one_that_fails_twice_is_skipped_and_named(law: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    offers(monkeypatch, broken := Source(fails=99), Source(ARTICLE))

    outcome, _ = await ask(law)

    assert len(broken.asked) == 2
    assert STATED in text_of(outcome)
    assert outcome["unavailable"] == ["法规库"]


@pytest.mark.req("LG-24")
async def test_lg_24_the_general_agent_stands_in_with_an_answer_and_advice(law: Desk) -> None:
    law.plays("legal_research", lambda: Says(OSError("disk on fire")))

    outcome, trace = await ask(law)

    assert named(trace, "agent")[-2:] == ["legal_general", "registrar"]
    above, _, _ = text_of(outcome).partition(STATED)
    assert "一般性回答" in above
    assert "请稍后再试，或咨询律师" in above
    assert STATED in text_of(outcome)


@pytest.mark.req("LG-25")
@pytest.mark.parametrize(
    "error",
    [PortFailed("The model server at http://127.0.0.1:9/v1 refused the key: set [model] key."), OSError("disk")],
    ids=["port", "other"],
)
async def test_lg_25_what_went_wrong_is_said_for_people_without_technical_detail(law: Desk, error: Exception) -> None:
    law.plays("legal_research", lambda: Says(error))
    law.plays("legal_general", lambda: Says(error))

    outcome, _ = await ask(law)

    for said in (outcome["detail"], outcome["summary"]):
        assert "请稍后再试" in said
        assert "也可以咨询专业律师" in said
        assert not any(each.isascii() and each.isalnum() for each in said)


@pytest.mark.req("LG-26")
def test_lg_26_every_question_has_an_id_of_its_own_that_all_of_its_run_is_known_by(law: Desk) -> None:
    ids = []
    for _ in range(2):
        outcome = law.submit(DISMISSED, "--workflow", "legal", model=thinks())
        ids.append(law.shell("status", outcome["ticket"], "--json").json["trace"])
        assert law.shell("trace", ids[-1], "--json").json["run"] == outcome["run"], "it is found by its id"

    assert len(set(ids)) == 2
    assert all(len(each) == 32 and int(each, 16) for each in ids)
    assert [each["trace"] for each in law.log("workflow.started")] == ids
    assert {each["trace"] for each in law.lines() if "run" in each} == {*ids}


@pytest.mark.req("LG-27")
async def test_lg_27_intent_routing_agents_and_how_each_did_are_in_the_trace(law: Desk) -> None:
    guesses(law, 0.9, "criminal_law")
    law.plays("legal_research", lambda: Says(OSError("disk on fire")))

    _, trace = await ask(law)

    (found,), (route,) = spans(trace, "classification"), spans(trace, "routing")
    assert (found["name"], found["category"], found["confidence"]) == ("legal_consultation", "criminal_law", 0.9)
    assert route["name"] == "legal_research"
    fates = {each["name"]: each.get("status", "ok") for each in spans(trace, "agent")}
    assert fates == {"intent_classifier": "ok", "legal_research": "failed", "legal_general": "ok", "registrar": "ok"}


@pytest.mark.req("LG-28")
async def test_lg_28_each_call_of_a_tool_is_traced_with_name_input_output_and_duration(law: Desk) -> None:
    _, trace = await ask(law)

    (call,) = spans(trace, "tool")
    assert call["name"] == "regulation_search"
    assert DISMISSED in call["input"]
    assert "passage" in call["output"]
    assert call["seconds"] > 0


@pytest.mark.req("LG-29")
def test_lg_29_a_trace_is_kept_and_found_later_by_what_was_asked(law: Desk) -> None:
    outcome = law.submit(DISMISSED, "--workflow", "legal", model=thinks("legal_consultation"))

    found = law.shell("traces", "--workflow", "legal", "--intent", "legal_consultation", "--json").json["traces"]
    other = law.shell("traces", "--intent", "case_search", "--json").json["traces"]
    trace = law.shell("trace", found[0]["trace"], "--json").json

    assert ([each["run"] for each in found], other) == ([outcome["run"]], [])
    assert named(trace, "tool") == ["regulation_search"]
    assert trace["spans"][0]["kind"] == "run"


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
---
You know the law of the sea.
"""


@pytest.mark.req("LG-30")
def test_lg_30_an_agent_is_declared_with_name_model_prompt_and_tools(law: Desk) -> None:
    (law.folder / "agents").mkdir()
    (law.folder / "agents" / "maritime.md").write_text(MARITIME, encoding="utf-8")
    (law.folder / "config.toml").write_text('[agents]\nfolder = "agents"\n', encoding="utf-8")
    model = thinks()

    outcome = law.submit("船员的工资可以要求优先支付吗？", "--workflow", "legal", model=model)

    task = next(task for name, task in model.asked if name == "LegalDraft")
    assert outcome["handoffs"][2]["target"] == "maritime"
    assert (task.agent, task.model, task.tools) == ("maritime", "of-the-sea", ("case_search",))
    assert "You know the law of the sea." in task.instructions


NURSE = "她是一家私立医院的护士，怀孕五个月。"


@pytest.mark.req("LG-31")
async def test_lg_31_each_agent_knows_who_asks_and_the_key_points_of_the_case(law: Desk) -> None:
    guesses(law, 0.1)
    model = thinks("legal_consultation", *TEAM)
    model.answers["MergedDraft"] = MergedDraft()
    law.plays(TEAM[1], lambda: Says(opinions.state(YEARS, source="statute:9")))

    await ask(law, TWO_FIELDS, model, options={"background": NURSE}, requester="li@firm.example")

    told = {name: str(task.material) for name, task in model.asked if name != "SecondReading"}
    assert told.keys() == {"IntentDraft", "LegalDraft", "MergedDraft"}
    assert [name for name, material in told.items() if NURSE not in material or "li@firm.example" not in material] == []
    assert "legal_consultation; fields: social_labor_law, criminal_law" in told["LegalDraft"]


@pytest.mark.req("LG-32")
async def test_lg_32_an_agent_hands_over_with_what_the_next_one_needs(law: Desk) -> None:
    def draft(task: ModelRequest) -> LegalDraft:
        if task.agent == "legal_research":
            return LegalDraft(pass_on=HandoverRequest("contract_review", "It asks for a clause."))
        return state(task)

    model = thinks(LegalDraft=draft)

    outcome, trace = await ask(law, model=model)

    *_, task = [task for name, task in model.asked if name == "LegalDraft"]
    assert ("legal_research", "contract_review") in [(each["source"], each["target"]) for each in outcome["handoffs"]]
    assert task.agent == "contract_review"
    assert "legal_research passed it on: It asks for a clause." in task.material.context
    assert named(trace, "tool").count("regulation_search") == 1, "what was read is handed over, too"
    assert STATED in text_of(outcome)
