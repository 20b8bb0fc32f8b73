"""Who acts: an article on what the other side may do is not shown as an answer; where nothing is known, all are."""

from typing import Any

import pytest

from actors.evidence.case_passages import show_cases
from actors.evidence.court_cases import CourtCase, FoundCase, FoundCases
from actors.evidence.passages import Passage
from actors.legal.acting_party import FILES, choose_bearing, load_relations
from actors.legal.output_schemas import IntentDraft
from tests.actors.legal.answering import Model, Source, legal_stage

RESIGNS = "劳动者提前三十日以书面形式通知用人单位，可以解除劳动合同。"
DISMISSES = "用人单位提前三十日以书面形式通知劳动者本人后，可以解除劳动合同。"
MISCONDUCT = "劳动者有下列情形之一的，用人单位可以解除劳动合同：（一）严重失职的。"
PAY = "经济补偿按劳动者在本单位工作的年限支付。"
PAROLE = "被判处有期徒刑的犯罪分子，可以假释。"
ARTICLES = (RESIGNS, DISMISSES, MISCONDUCT, PAY, PAROLE)


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("公司没有提前通知就解除劳动合同，有经济补偿吗？", {DISMISSES, MISCONDUCT, PAY}),
        ("公司没有提前通知我就解除劳动合同", {DISMISSES, MISCONDUCT, PAY}),
        ("我被公司辞退了", {DISMISSES, MISCONDUCT, PAY}),
        ("公司无故把我开除", {DISMISSES, MISCONDUCT, PAY}),
        ("我想辞职，公司不批", {RESIGNS, PAY}),
        ("我们公司想解雇一个员工", {DISMISSES, MISCONDUCT, PAY}),
        ("拖欠工资会被判刑吗", {RESIGNS, DISMISSES, MISCONDUCT, PAY}),
        ("公司不给股东分红怎么办", set(ARTICLES)),
    ],
)
def test_articles_are_kept_that_speak_of_the_act_of_the_same_party(question: str, kept: set[str]) -> None:
    assert {ARTICLES[n] for n in choose_bearing(question, ARTICLES, "zh")} == kept


def test_where_no_article_speaks_of_the_parties_all_are_kept() -> None:
    assert choose_bearing("公司把我辞退了", [PAROLE, PAROLE], "zh") == [0, 1]
    assert choose_bearing("My employer dismissed me", [RESIGNS], "en") == [0]


def article(number: str, text: str) -> Passage:
    name = f"《劳动合同法》第{number}条"
    return Passage(name, "statute:x", name, "", text, 0, len(text), score=0.9)


async def test_without_a_model_the_right_that_the_other_side_has_is_not_shown() -> None:
    source = Source(article("三十七", RESIGNS), article("四十", DISMISSES))
    model: Any = Model(IntentDraft=IntentDraft("legal_consultation", (), 0.9))

    outcome = await legal_stage("公司没有提前三十天通知就解除劳动合同", model=model, source=source).end()

    assert [each.title for each in outcome.resolution.citations] == ["《劳动合同法》第四十条"]  # type: ignore[union-attr]


@pytest.mark.req("LG-10")
async def test_cases_are_shown_whoever_they_name_with_their_key_points_and_not_those_that_are_far() -> None:
    near = CourtCase("（2031）甲01民终1号", "周某被辞退。" * 60, key_points=("口头辞退违法。",))
    far = CourtCase("（2031）甲01民终2号", "押金不退。")
    found = show_cases(FoundCases((FoundCase(near, 0.4), FoundCase(far, 0.01)), 2), "zh").passages
    model: Any = Model(IntentDraft=IntentDraft("case_search", (), 0.9))

    outcome = await legal_stage("检索公司辞退员工的案例", model=model, source=Source(*found)).end()

    resolution = outcome.resolution
    assert resolution is not None
    assert [each.title for each in resolution.citations] == [near.id]
    assert "口头辞退违法。" in resolution.text


@pytest.mark.parametrize("language", sorted(file.stem for file in FILES.glob("*.toml")))
def test_each_file_is_read_and_each_relation_has_two_sides(language: str) -> None:
    assert all(len(each.said) == len(each.law) == 2 for each in load_relations(language))
