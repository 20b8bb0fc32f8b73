"""Cases compared: which, on what, each cell with a quote of its case; what is not said, and what a model made up."""

import re
from typing import Any

import pytest

from actors.evidence.case_passages import show_cases
from actors.evidence.claims import Claim, Resolution
from actors.evidence.court_cases import CourtCase, FoundCase, FoundCases
from actors.legal.case_criteria import FILES, load_criteria
from actors.legal.case_table import choose_cases, explain_missing, fill_by_rules
from actors.legal.classification import classify
from actors.legal.output_schemas import CaseCell, CaseDifference, CaseTableDraft, IntentDraft
from actors.text.catalogue import say
from tests.actors.legal.answering import Model, Source, legal_stage

DISMISSED = CourtCase(
    "（2031）甲01民终12号", "周某2028年入职。公司口头通知周某解除劳动合同。周某请求支付赔偿金八万元。"
    "争议焦点为解除是否合法。法院认为解除未经协商。判决公司支付周某赔偿金七万元。",
    "周某案", "甲市中级人民法院", "2031-05-06", "劳动争议",
    ("未经协商即解除的，属于违法解除",), ("《劳动合同法》第四十条",),
)  # fmt: skip
ABSENT = CourtCase(
    "（2032）乙02民终34号", "【基本案情】陈某连续旷工六日。\n【裁判结果】驳回陈某的诉讼请求。", "陈某案"
)  # fmt: skip
LEASE = CourtCase("（2033）丙03民终56号", "黄某拒不退还押金。")
QUESTION = "比较（2031）甲01民终12号和（2032）乙02民终34号"


def passages(*scores: float) -> Any:
    found = (FoundCase(case, score) for case, score in zip((DISMISSED, ABSENT, LEASE), scores, strict=False))
    return show_cases(FoundCases(tuple(found), 3), "zh").passages


def rows(resolution: Resolution | None) -> dict[str, list[str]]:
    assert resolution is not None
    lines = [line.strip("| ").split(" | ") for line in resolution.text.split("\n") if line.startswith("| ")]
    return {name: cells for name, *cells in lines}


async def compare(model: Model) -> Any:
    model.answers["IntentDraft"] = IntentDraft("case_search", (), 0.9)
    return await legal_stage(QUESTION, model=model, source=Source(*passages(1.0, 1.0))).end()


def assert_numbered(resolution: Resolution) -> None:
    """Citations are numbered without gaps, and each is referred to."""
    numbers = [each.number for each in resolution.citations]
    assert numbers == [*range(1, len(numbers) + 1)]
    assert set(numbers) == {int(each) for each in re.findall(r"\[(\d+)\]", resolution.text)}


@pytest.mark.req("LG-11")
async def test_each_criterion_is_a_row_with_a_quote_of_each_case_and_what_is_not_said_is_said() -> None:
    outcome = await compare(Model())

    table = rows(outcome.resolution)
    assert table["比较项"] == [DISMISSED.id, ABSENT.id]
    assert table["诉讼请求"] == ["周某请求支付赔偿金八万元。 [1]", say("comparison_unsaid", "zh")]
    assert table["案件事实"] == ["周某2028年入职。公司口头通知周某解除劳动合同。 [2]", "陈某连续旷工六日。 [3]"]
    assert table["适用法律"][0].startswith("《劳动合同法》第四十条 [")
    assert table["参考价值"][0].startswith("未经协商即解除的")
    for each in outcome.resolution.citations:
        assert each.quote in next(one.text for one in passages(1.0, 1.0) if one.title == each.title)
    assert outcome.status == "suggested", "nobody judged it"


@pytest.mark.req("LG-11")
async def test_where_courts_decided_otherwise_it_is_said_with_both_sides() -> None:
    outcome = await compare(Model())

    text = outcome.resolution.text
    line = next(line for line in text.split("\n") if line.startswith("- 裁判结果"))
    assert f"{DISMISSED.id}: 支持" in line
    assert f"{ABSENT.id}: 驳回" in line


@pytest.mark.req("LG-10", "LG-11")
async def test_a_model_s_cells_are_shown_where_their_quotes_bear_them_out() -> None:
    facts, made_up = "公司口头通知周某解除劳动合同", "周某经常迟到"
    draft = CaseTableDraft(
        (
            CaseCell("公司口头解除了合同。", 1, facts, criterion="facts"),
            CaseCell("周某获赔九十万元。", 1, "判决公司支付周某赔偿金七万元", criterion="result"),
            CaseCell("周某迟到。", 1, made_up, criterion="holding"),
            CaseCell("陈某旷工。", 2, "陈某连续旷工六日", criterion="facts"),
        ),
        (
            CaseDifference("result", Claim("口头", 1, "周某2028年入职"), Claim("无", 2, made_up)),
            CaseDifference("weather", Claim("口头", 1, "周某2028年入职"), Claim("无", 2, "驳回陈某的诉讼请求")),
            CaseDifference("facts", Claim(facts, 1, facts), Claim("陈某连续旷工", 2, "陈某连续旷工六日")),
        ),
    )

    outcome = await compare(Model(CaseTableDraft=draft))

    table = rows(outcome.resolution)
    assert table["裁判结果"][0].startswith("判决公司支付周某赔偿金七万元 ["), (
        "the number is not in the quote: it is shown"
    )
    assert table["裁判理由"][0].startswith("法院认为解除未经协商。"), "what a model leaves out is quoted by rules"
    assert table["裁判理由"][1] == say("comparison_unsaid", "zh")
    text = outcome.resolution.text
    assert "九十万" not in text
    assert made_up not in text
    (line,) = [line for line in text.split("\n") if line.startswith("- 案件事实: ")]
    assert line.startswith(f"- 案件事实: {DISMISSED.id}: {facts} [")
    assert f"]; {ABSENT.id}: 陈某连续旷工" in line
    assert_numbered(outcome.resolution)
    assert say("lost_unquoted", "zh") in text
    assert outcome.status == "suggested"


def test_named_cases_are_compared_and_without_names_those_that_are_near_if_a_comparison_is_asked_for() -> None:
    assert [each.title for each in choose_cases(QUESTION, passages(1.0, 1.0, 0.4), "zh")] == [DISMISSED.id, ABSENT.id]
    assert len(choose_cases("对比违法解除的案例", passages(0.4, 0.3, 0.01), "zh")) == 2
    assert len(choose_cases("对比违法解除的案例", passages(0.4, 0.06, 0.06), "zh")) == 2, "two are needed"
    assert len(choose_cases("对比违法解除的案例", passages(0.4, 0.03), "zh")) == 1
    assert choose_cases("有没有违法解除的案例", passages(0.4, 0.3), "zh") == ()


async def test_a_case_that_is_not_there_is_said() -> None:
    asked = "比较（2031）甲01民终12号和（2039）丁01民终1号"

    why = explain_missing(classify(asked, "zh"), passages(1.0), "zh")

    assert why == say("cases_missing", "zh", cases="（2039）丁01民终1号")
    assert explain_missing(classify(QUESTION, "zh"), passages(1.0, 1.0), "zh") == ""


@pytest.mark.parametrize("language", sorted(file.stem for file in FILES.glob("*.toml")))
def test_the_criteria_of_each_language_are_read_and_speak_of_key_points(language: str) -> None:
    rows = {each.name for each in load_criteria(language).rows}
    case = CourtCase("A 1", "x", key_points=("The point.",), cited_articles=("Article 1",))
    (shown,) = show_cases(FoundCases((FoundCase(case, 1.0),), 1), language).passages

    cells = {each.criterion: each.quote for each in fill_by_rules("?", [shown], language).cells}

    assert rows == {"claim", "facts", "issue", "law", "holding", "result", "value"}
    assert (cells["value"], cells["law"]) == ("The point.", "Article 1")


@pytest.mark.req("LG-10")
async def test_cases_are_shown_with_their_key_points_and_not_those_that_are_far() -> None:
    near = CourtCase("（2031）甲01民终1号", "周某被辞退。" * 60, key_points=("口头辞退违法。",))
    far = CourtCase("（2031）甲01民终2号", "押金不退。")
    found = show_cases(FoundCases((FoundCase(near, 0.4), FoundCase(far, 0.01)), 2), "zh").passages
    model: Any = Model(IntentDraft=IntentDraft("case_search", (), 0.9))

    outcome = await legal_stage("检索公司辞退员工的案例", model=model, source=Source(*found)).end()

    assert outcome.resolution is not None
    assert [each.title for each in outcome.resolution.citations] == [near.id]
    assert "口头辞退违法。" in outcome.resolution.text
