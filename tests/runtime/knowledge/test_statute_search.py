"""Laws of files: read, kept, looked up, searched, and taken out again."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from actors.statutes.articles import FoundArticles, show_articles
from actors.statutes.jurisdiction import load_jurisdictions
from runtime.knowledge.index import close_indexes, is_lapsed
from runtime.knowledge.knowledge_index import KnowledgeIndex, StatuteIndex
from runtime.knowledge.law_reader import STATUTES, NoLaw, parse_law
from runtime.knowledge.side_index import SideIndexFailed
from runtime.knowledge.statute_search import find_miscited, search
from runtime.processes.pool import Workers

TODAY = "2026-01-01"
LEASES = """# 中华人民共和国租赁法（2020年修正）

（2001年3月1日通过 根据2020年5月1日《关于修改租赁法的决定》修正）

## 第一章 总则

第一条　为了保护承租人和出租人的权利，制定本法。

第二条　出租人应当提前三十日通知承租人收回房屋。
（一）书面通知；
（二）说明理由。

## 第二章 押金

第三条之一　押金不得超过两个月的租金。
"""
OLDER = """---
law: 租赁法
version: 2001-03-01
---
## 第二条

出租人应当提前十日通知承租人收回房屋。
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    laws = tmp_path / "laws"
    laws.mkdir()
    (laws / "new.md").write_text(LEASES, encoding="utf-8")
    (laws / "old.md").write_text(OLDER, encoding="utf-8")
    return laws


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    """What a worker process keeps open until it ends, this one has to let go of."""
    yield
    close_indexes()


Ask = Callable[..., FoundArticles]


def index(tmp_path: Path, folder: Path) -> Ask:
    """Reads a folder of laws; then asks what they say on a day."""
    STATUTES.take(tmp_path, folder)
    return lambda question, limit, on=TODAY: search(str(tmp_path), question, on, TODAY, limit, {})


def test_a_file_is_read_with_its_chapters_its_version_and_articles_between_two() -> None:
    law, articles = parse_law(LEASES.encode(), "new", load_jurisdictions()[0])

    assert (law.name, law.version) == ("租赁法", "2020-05-01")
    assert [(each.number, each.sub, each.chapter) for each in articles] == [
        (1, 0, "第一章 总则"), (2, 0, "第一章 总则"), (3, 1, "第二章 押金"),
    ]  # fmt: skip
    assert articles[1].text == "出租人应当提前三十日通知承租人收回房屋。\n（一）书面通知；\n（二）说明理由。"


@pytest.mark.parametrize("text", ["", "# 通知\n\n没有条文。", "---\nlaw: 租赁法\nauthor: x\n---\n第一条 甲。"])
def test_what_is_no_law_is_refused_with_why(text: str) -> None:
    with pytest.raises(NoLaw):
        parse_law(text.encode(), "a", load_jurisdictions()[0])


@pytest.mark.req("LG-9")
def test_the_version_in_force_on_the_day_is_cited_and_a_later_change_said(tmp_path: Path, folder: Path) -> None:
    statutes = index(tmp_path, folder)

    now, then = (statutes("租赁法第二条", 1, day).articles[0] for day in (TODAY, "2010-01-01"))

    assert ("三十日" in now.text, now.law.version, now.changed) == (True, "2020-05-01", "")
    assert ("十日" in then.text, then.law.version, then.changed) == (True, "2001-03-01", "2020-05-01")
    assert now.citation == then.citation == "《租赁法》第二条"


@pytest.mark.req("LG-9")
def test_the_day_that_a_question_tells_of_chooses_the_version_and_a_law_of_later_stays(
    tmp_path: Path, folder: Path
) -> None:
    later = "---\nlaw: 押金法\nversion: 2022-01-01\n---\n第一条 押金应当退还。\n"
    (folder / "deposit.md").write_text(later, encoding="utf-8")
    index(tmp_path, folder)

    def ask(question: str, on: str = "") -> tuple[str, ...]:
        found = search(str(tmp_path), question, on, TODAY, 1, {})
        return tuple(each.law.version for each in found.articles[: found.named])

    assert ask("租赁法第二条怎么规定？") == ("2020-05-01",)
    assert ask("2010年租的房子，租赁法第二条怎么规定？") == ("2001-03-01",)
    assert ask("2010年租的房子，押金法第一条怎么规定？") == ("2022-01-01",)
    assert ask("押金法第一条怎么规定？", on="2010-01-01") == ()
    cited = ["依《租赁法》第三条之一。", "依《租赁法》第九条。"]
    assert find_miscited(str(tmp_path), cited, "2010年租的房子", TODAY) == [[], ["《租赁法》第九条"]]


def test_a_question_finds_what_the_law_calls_otherwise(tmp_path: Path, folder: Path) -> None:
    found = index(tmp_path, folder)("房东要收回房子，要提前多久告诉我？", 3)

    assert found.articles[0].citation == "《租赁法》第二条"
    assert found.named == 0


def test_a_law_for_a_group_that_the_question_does_not_name_comes_behind_another(tmp_path: Path, folder: Path) -> None:
    for law in ("职工法", "妇女保护法"):
        head = f"---\nlaw: {law}\nversion: 2022-01-01\n---\n"
        (folder / f"{law}.md").write_text(f"{head}第一条 不得因结婚辞退职工。\n", encoding="utf-8")
    statutes = index(tmp_path, folder)

    def compare(question: str) -> float:
        score = {each.law.name: each.score for each in statutes(question, 2).articles}
        return score["妇女保护法"] / score["职工法"]

    assert compare("因结婚辞退职工可以吗？") < 0.9 * compare("因结婚辞退女职工可以吗？")


def test_an_article_that_is_named_is_looked_up_and_one_that_is_not_there_is_said(tmp_path: Path, folder: Path) -> None:
    found = index(tmp_path, folder)("《租赁法》第三条之一和第九十九条怎么规定？", 2)

    assert (found.articles[0].citation, found.articles[0].score, found.named) == ("《租赁法》第三条之一", 1.0, 1)
    assert found.missing == ("《租赁法》第九十九条",)


def test_a_law_that_is_named_and_not_indexed_is_said_and_a_contract_is_none(tmp_path: Path, folder: Path) -> None:
    found = index(tmp_path, folder)("《火星移民法》第三条和《租房合同》第五条怎么说？", 2)

    assert (found.unknown, found.missing, found.named) == (("火星移民法",), (), 0)
    assert show_articles(found, "zh").abstain == "这里没有收录名为“火星移民法”的法规。"


@pytest.mark.req("LG-9")
def test_of_an_item_that_is_named_its_own_words_are_shown(tmp_path: Path, folder: Path) -> None:
    statutes = index(tmp_path, folder)

    found = statutes("《租赁法》第二条第二项和第二条第一款怎么规定？", 2)

    assert [(each.citation, each.text) for each in found.articles] == [
        ("《租赁法》第二条第（二）项", "出租人应当提前三十日通知承租人收回房屋。\n（二）说明理由。"),
        ("《租赁法》第二条第一款", "出租人应当提前三十日通知承租人收回房屋。\n（一）书面通知；\n（二）说明理由。"),
    ]
    assert find_miscited(str(tmp_path), ["依《租赁法》第二条第七项。"], "", TODAY) == [["《租赁法》第二条第（七）项"]]


@pytest.mark.req("LG-9")
def test_of_a_range_each_article_is_looked_up(tmp_path: Path, folder: Path) -> None:
    found = index(tmp_path, folder)("《租赁法》第一条至第三条之一", 1)

    assert [each.citation for each in found.articles] == [
        "《租赁法》第一条", "《租赁法》第二条", "《租赁法》第三条之一",
    ]  # fmt: skip


@pytest.mark.req("LG-9")
def test_an_article_of_a_repealed_law_is_not_shown_and_the_repeal_is_said(tmp_path: Path, folder: Path) -> None:
    head = "---\nlaw: 旧租赁法\nversion: 1990-01-01\nrepealed: 2001-03-01\n---\n"
    (folder / "gone.md").write_text(f"{head}## 第一条\n\n甲。\n", encoding="utf-8")
    statutes = index(tmp_path, folder)

    now, then = (statutes("《旧租赁法》第一条", 1, day) for day in (TODAY, "1995-01-01"))

    assert (now.named, now.repealed) == (0, (("《旧租赁法》第一条", "2001-03-01"),))
    assert show_articles(now, "en").abstain == (
        "《旧租赁法》第一条 is not in force: its law was repealed from 2001-03-01 on."
    )
    assert (then.named, then.repealed, then.articles[0].text) == (1, (), "甲。")


def test_a_wrong_citation_is_found_whoever_makes_it(tmp_path: Path, folder: Path) -> None:
    index(tmp_path, folder)

    said = find_miscited(
        str(tmp_path), ["依《租赁法》第二条。", "依《租赁法》第九十九条。", "依《虚构法》第一条。"], "押金？", TODAY
    )

    assert said == [[], ["《租赁法》第九十九条"], ["《虚构法》第一条"]]


def test_what_did_not_change_is_not_read_again_and_what_vanished_goes(tmp_path: Path, folder: Path) -> None:
    first = STATUTES.take(tmp_path, folder)
    again = STATUTES.take(tmp_path, folder)
    (folder / "old.md").unlink()
    last = STATUTES.take(tmp_path, folder)

    counts = [(each.documents, each.read, each.removed) for each in (first, again, last)]
    assert counts == [(2, 2, 0), (2, 0, 0), (1, 0, 1)]
    assert search(str(tmp_path), "租赁法第二条", "2010-01-01", TODAY, 1, {}).named == 0


def test_laws_of_another_folder_stay(tmp_path: Path, folder: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("# 寄存法\n\n第一条　寄存人应当支付保管费。\n", encoding="utf-8")
    index(tmp_path, folder)

    statutes = index(tmp_path, other)

    assert statutes("寄存法第一条", 1).named == 1
    assert statutes("租赁法第二条", 1).named == 1


async def test_agents_search_in_a_process_of_its_own(tmp_path: Path, folder: Path) -> None:
    workers = Workers(1)
    try:
        statutes = StatuteIndex(tmp_path, workers, lambda: TODAY)
        empty = await statutes.search("押金", within=20.0)
        report = STATUTES.take(tmp_path, folder)
        found = await statutes.search("押金最多多少？", within=20.0)
        wrong = await statutes.find_miscited(["《租赁法》第八条"], "押金？", within=20.0)
    finally:
        workers.close()

    assert (empty.total, report.passages, found.total) == (0, 4, 4)
    assert found.articles[0].citation == "《租赁法》第三条之一"
    assert wrong == [["《租赁法》第八条"]]


async def test_laws_that_another_version_had_indexed_are_read_again_by_whoever_renews_the_index(
    tmp_path: Path, folder: Path
) -> None:
    index(tmp_path, folder)
    close_indexes()
    with contextlib.closing(sqlite3.connect(tmp_path / STATUTES.file)) as db:
        db.execute("PRAGMA user_version = 3")
    with pytest.raises(SideIndexFailed, match=rf"another version .*index --statutes {folder}. once"):
        search(str(tmp_path), "押金", "", TODAY, 1, {})

    workers = Workers(1)
    try:
        await KnowledgeIndex(tmp_path, workers).renew()
    finally:
        workers.close()

    assert search(str(tmp_path), "租赁法第二条", "", TODAY, 1, {}).named == 1
    assert not is_lapsed(tmp_path)
