"""Articles and cases as passages: their standard form, their version, and what is said when there is none."""

from actors.evidence.case_passages import show_cases
from actors.evidence.court_cases import CourtCase, FoundCase, FoundCases
from actors.statutes.articles import Article, FoundArticles, LawVersion, show_articles
from actors.text.catalogue import say

LAW = LawVersion("租赁法", "2020-05-01", "2021-01-01")
ARTICLE = Article(LAW, 2, 0, "第一章 总则", "出租人应当提前通知。", "《租赁法》第二条", changed="2027-01-01", score=1.0)


def test_an_article_bears_its_standard_form_its_chapter_and_what_is_known_of_its_version() -> None:
    (passage,) = show_articles(FoundArticles((ARTICLE,), named=1, total=9), "zh").passages

    assert (passage.title, passage.text) == ("《租赁法》第二条", "出租人应当提前通知。")
    assert passage.heading == "第一章 总则 > 2020-05-01 版本, 自 2021-01-01 起施行, 自 2027-01-01 起已修改"
    assert passage.source == "statute:租赁法@2020-05-01#2"


def test_what_is_not_there_is_said() -> None:
    named = show_articles(FoundArticles((ARTICLE,), named=1, total=9), "zh")
    absent = show_articles(FoundArticles((), missing=("《租赁法》第九十九条",), total=9), "zh")
    nothing = show_articles(FoundArticles(), "zh")

    assert named.abstain == ""
    assert "《租赁法》第九十九条" in absent.abstain
    assert nothing.abstain == say("statutes_none", "zh")
    assert "another language" in show_articles(FoundArticles(total=9), "en").abstain


def test_a_case_is_its_summary_with_the_key_points_of_the_judgment() -> None:
    case = CourtCase("（2021）京01民终234号", "房东提前收房。", court="某法院", key_points=("应当提前通知。",))

    (passage,) = show_cases(FoundCases((FoundCase(case, 0.4),), total=1), "zh").passages

    assert passage.text == "房东提前收房。\n\n裁判要点：\n- 应当提前通知。"
    assert show_cases(FoundCases(), "zh").abstain == say("cases_none", "zh")
