"""A contract taken apart: its clauses, articles that bear on them, risks with both quotes, and what is missing."""

from typing import Any

import pytest

from actors.evidence.claims import Claim
from actors.evidence.passages import NamedDocument, Passage
from actors.legal.contract_clauses import CLAUSES, list_articles, match_articles, read_contract
from actors.legal.contract_terms import FILES, load_terms
from actors.legal.output_schemas import ClauseRisk, IntentDraft, ReviewDraft
from actors.text.catalogue import say
from tests.actors.legal.answering import Model, Source, legal_stage
from tests.actors.legal.test_case_table import assert_numbered

LEASE = """请审查这份租赁合同：
出租方：王某  承租方：赵某
第一条 房屋位于某路1号。
第二条 租赁期限二十五年。
第三条 租金每月5000元。逾期支付的，承租方应当支付违约金。
第四条 押金概不退还。
第五条 甲方可以解除合同。
"""
YEARS = "租赁期限不得超过二十年。超过二十年的，超过部分无效。"


def article(number: str, text: str) -> Passage:
    name = f"《民法典》第{number}条"
    return Passage(f"statute:{name}", f"statute:{name}", name, "", text, 0, len(text))


TWENTY, CONTENT = article("七百零五", YEARS), article("七百零四", "租赁合同的内容一般包括租赁期限、租金等条款。")


async def review(
    text: str = LEASE, source: Source | None = None, document: NamedDocument | None = None, **answers: Any
) -> Any:
    model = Model(IntentDraft=IntentDraft("contract_review", (), 0.9), **answers)
    return await legal_stage(text, model=model, source=source or Source(TWENTY, CONTENT), document=document).end()


async def test_without_a_model_it_says_that_nobody_judged_and_shows_what_bears_on_each_clause() -> None:
    outcome = await review()

    text = outcome.resolution.text
    assert say("review_unjudged", "zh") in text
    assert "第二条 租赁期限二十五年。\n有关法条：《民法典》第七百零五条 [1]" in text
    assert say("review_watch", "zh", words="概不退还") in text
    assert f"{say('review_missing', 'zh', parts='争议解决')}\n有关法条：《民法典》第七百零四条 [2]" in text
    assert YEARS in text
    assert outcome.status == "suggested"


async def test_an_article_that_is_not_there_or_says_something_else_is_not_named() -> None:
    outcome = await review(source=Source(article("七百零五", "出租人应当维修。")))

    assert "七百零五" not in outcome.resolution.text
    assert outcome.resolution.citations == ()


async def test_statutes_that_cannot_be_read_are_named_and_the_clauses_are_shown_all_the_same() -> None:
    outcome = await review(source=Source(fails=99))

    assert outcome.unavailable
    assert say("review_missing", "zh", parts="争议解决") in outcome.resolution.text


async def test_a_risk_stands_with_the_words_of_the_clause_and_of_the_article() -> None:
    risk = ClauseRisk(Claim("租期为二十五年。", 2, "租赁期限二十五年"), Claim(YEARS, 6, YEARS), "high")

    outcome = await review(ReviewDraft=ReviewDraft((risk,)))

    text = outcome.resolution.text
    assert say("review_risk", "zh", clause="第二条", risk="高") in text
    assert "二十五年" in text
    assert {each.source for each in outcome.resolution.citations} >= {"contract", TWENTY.source}
    assert say("review_unjudged", "zh") not in text
    assert outcome.status == "resolved"


@pytest.mark.parametrize(
    "risk",
    [
        ClauseRisk(Claim("x", 2, "租赁期限三十年"), Claim(YEARS, 6, YEARS), "high"),
        ClauseRisk(Claim("x", 2, "租赁期限二十五年"), Claim("x", 6, "超过三十年的无效"), "high"),
        ClauseRisk(Claim("x", 2, "租赁期限二十五年"), Claim("x", 3, "租金每月5000元"), "high"),
        ClauseRisk(Claim("x", 99, "租赁期限二十五年"), Claim(YEARS, 6, YEARS), "high"),
    ],
)
async def test_a_risk_without_both_quotes_is_left_out_which_the_answer_says(risk: ClauseRisk) -> None:
    outcome = await review(ReviewDraft=ReviewDraft((risk,)))

    text = outcome.resolution.text
    assert say("review_no_risk", "zh") in text
    assert say("lost_unquoted", "zh") in text
    assert outcome.status == "suggested"


async def test_a_clause_whose_risk_is_left_out_has_no_number() -> None:
    left_out = ClauseRisk(Claim("x", 1, "房屋位于某路1号"), Claim("x", 6, "超过三十年的无效"), "high")
    shown = ClauseRisk(Claim("租期为二十五年。", 2, "租赁期限二十五年"), Claim(YEARS, 6, YEARS), "high")

    outcome = await review(ReviewDraft=ReviewDraft((left_out, shown)))

    assert_numbered(outcome.resolution)
    assert "某路" not in outcome.resolution.text


async def test_a_contract_in_a_document_that_the_ticket_names_is_reviewed_with_its_places_there() -> None:
    risk = ClauseRisk(Claim("租期为二十五年。", 2, "租赁期限二十五年"), Claim(YEARS, 6, YEARS), "high")
    document = NamedDocument("contracts/lease.md", "房屋租赁合同", LEASE)

    outcome = await review("请审查合同 contracts/lease.md", document=document, ReviewDraft=ReviewDraft((risk,)))

    assert say("review_risk", "zh", clause="第二条", risk="高") in outcome.resolution.text
    (clause,) = [each for each in outcome.resolution.citations if each.source == document.source]
    assert clause.title == document.title
    assert LEASE[clause.start : clause.end] == clause.quote == "租赁期限二十五年"


async def test_a_contract_in_the_ticket_goes_before_one_that_it_names() -> None:
    other = NamedDocument("contracts/other.md", "其他合同", LEASE.replace("二十五", "三十"))

    outcome = await review(document=other)

    assert "第二条 租赁期限二十五年。" in outcome.resolution.text
    assert "三十" not in outcome.resolution.text


async def test_a_question_about_contracts_without_one_is_answered_with_articles() -> None:
    outcome = await review("竞业限制条款要注意什么？")

    assert say("review_unjudged", "zh") not in outcome.resolution.text


@pytest.mark.parametrize(
    ("text", "language", "labels", "kind"),
    [
        (LEASE, "zh", ["第一条", "第二条", "第三条", "第四条", "第五条"], "租赁合同"),
        ("1. 甲方聘用乙方，试用期六个月。\n2. 工资每月5000元。", "zh", ["1.", "2."], "劳动合同"),
        ("一、货物名称：钢材。二、买方应当付款。", "zh", ["一、", "二、"], "买卖合同"),
        ("Article 1. The landlord lets.\nArticle 2. The tenant pays.", "en", ["Article 1.", "Article 2."], "lease"),
        ("제1조 임대인은 목적물을 임대한다.\n제2조 차임은 월 50만원이다.", "ko", ["제1조", "제2조"], "임대차계약"),
    ],
)  # fmt: skip
def test_clauses_are_known_by_how_contracts_number_them(text: str, language: str, labels: list[str], kind: str) -> None:
    contract = read_contract(text, language)

    assert contract is not None
    assert [each.label for each in contract.clauses] == labels
    assert contract.kind.title == kind
    assert all(text[each.start :].startswith(each.text) for each in contract.clauses)


def test_articles_within_a_sentence_begin_no_clause() -> None:
    assert read_contract("依据《民法典》第五百条和第五百零一条，合同有效吗？", "zh") is None
    contract = read_contract("第一条 按照民法典第五百条办理。\n第二条 付款。", "zh")
    assert contract is not None
    assert len(contract.clauses) == 2


def test_a_contract_of_many_clauses_is_bounded_and_what_is_left_is_counted() -> None:
    contract = read_contract("\n".join(f"第{n}条 租金。" * 300 for n in range(1, 90)), "zh")

    assert contract is not None
    assert (len(contract.clauses), contract.more > 0) == (CLAUSES, True)
    assert max(len(each.text) for each in contract.clauses) <= 1500


@pytest.mark.parametrize("language", sorted(file.stem for file in FILES.glob("*.toml")))
def test_the_file_of_each_language_is_read_and_knows_what_contracts_need(language: str) -> None:
    terms = load_terms(language)

    assert all(each.needs for each in terms.kinds)
    assert len(terms.clause) >= 2


def test_what_is_looked_up_is_named_once_and_kept_where_it_says_what_it_should() -> None:
    contract = read_contract(LEASE, "zh")
    assert contract is not None

    rules = list_articles(contract)
    kept = match_articles(rules, [TWENTY, article("七百零四", "别的内容。")])

    assert len(set(rules)) == len(rules)
    assert [each.citation for each in kept] == [TWENTY.title]
