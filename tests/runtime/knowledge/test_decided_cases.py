"""Decided cases: read from JSON Lines, found by the court's number however it is written, and by what they say."""

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.evidence.court_cases import CourtCase
from actors.evidence.passages import LOOKED_UP
from actors.ports import PortFailed
from runtime.knowledge.decided_cases import CASES, search_cases
from runtime.knowledge.index import Index, close_indexes
from runtime.knowledge.knowledge_index import CaseStore
from runtime.knowledge.side_index import SideIndexFailed
from runtime.processes.pool import Workers

OVERTIME: dict[str, Any] = {
    "id": "（2031）甲01民终12号", "title": "周某与某物流公司劳动争议案", "court": "甲市中级人民法院",
    "date": "2031-05-06", "cause": "劳动争议", "summary": "公司安排周某长期延长工作时间而未支付加班工资。",
    "key_points": ["考勤记录由用人单位掌握的，由其承担举证责任"], "cited_articles": "《劳动法》第四十四条",
}  # fmt: skip
LEASE: dict[str, Any] = {
    "id": "（2031）甲01民终123号", "cause": "房屋租赁合同纠纷", "court": "甲市中级人民法院",
    "summary": "出租人提前收回房屋，承租人请求返还押金并赔偿搬迁费用。", "source": "a key of somebody else's",
}  # fmt: skip


def write(file: Path, *cases: dict[str, Any] | str) -> Path:
    lines = [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in cases]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    """What a worker process keeps open until it ends, this one has to let go of."""
    yield
    close_indexes()


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    CASES.take(folder, write(tmp_path / "cases.jsonl", OVERTIME, LEASE))
    return folder


def ids(storage: Path, question: str, limit: int = 5) -> list[str]:
    return [each.case.id for each in search_cases(str(storage), question, limit).cases]


def find_case(storage: Path, number: str) -> CourtCase | None:
    """The case that is looked up by its number."""
    return next((each.case for each in search_cases(str(storage), number, 1).cases if each.score == LOOKED_UP), None)


@pytest.mark.req("LG-10")
def test_a_case_is_kept_with_its_summary_and_the_key_points_of_the_judgment(storage: Path) -> None:
    case = find_case(storage, OVERTIME["id"])

    assert case is not None
    assert (case.summary, case.court, case.date) == (OVERTIME["summary"], OVERTIME["court"], "2031-05-06")
    assert case.key_points == ("考勤记录由用人单位掌握的，由其承担举证责任",)
    assert case.cited_articles == ("《劳动法》第四十四条",), "one text is a list of one"


@pytest.mark.parametrize("number", ["(2031)甲01民终12号", "（２０３１）甲 01 民终 12 号"])
def test_the_width_of_brackets_and_digits_does_not_tell_cases_apart(storage: Path, number: str) -> None:
    case = find_case(storage, number)

    assert case is not None
    assert case.id == OVERTIME["id"]
    assert find_case(storage, "（2031）甲01民终1号") is None


def test_a_case_that_a_question_names_is_looked_up_though_another_fits_its_words_better(storage: Path) -> None:
    found = search_cases(str(storage), "(2031)甲01民终123号 的加班工资、考勤记录、举证责任怎么认定？", 5)

    assert [(each.case.id, each.score == 1.0) for each in found.cases] == [(LEASE["id"], True), (OVERTIME["id"], False)]
    assert found.total == 2


def test_a_number_within_a_longer_one_is_not_named(tmp_path: Path) -> None:
    CASES.take(
        tmp_path, write(tmp_path / "c.jsonl", {"id": "BGH 77/20", "summary": "a"}, {"id": "7/20", "summary": "b"})
    )

    scores = [each.score for each in search_cases(str(tmp_path), "What did BGH 77/201 say?", 5).cases]
    assert [score for score in scores if score == 1.0] == []
    assert [(each.case.id, each.score) for each in search_cases(str(tmp_path), "See BGH 77/20.", 1).cases] == [
        ("BGH 77/20", 1.0)
    ]


def test_a_question_in_other_words_finds_the_case_that_says_most_of_it(storage: Path) -> None:
    assert ids(storage, "公司不给加班工资，考勤记录在公司手里怎么办")[0] == OVERTIME["id"]
    assert ids(storage, "房东提前收回房屋，押金能要回来吗")[0] == LEASE["id"]
    assert ids(storage, "海上救助报酬") == []
    assert ids(storage, '"*') == []


def test_what_the_file_no_longer_holds_goes_and_the_rest_of_the_store_stays(storage: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.jsonl", {"id": "X 1/2", "summary": "海上救助报酬"})
    CASES.take(storage, other)

    again = CASES.take(storage, tmp_path / "cases.jsonl")
    changed = CASES.take(storage, write(tmp_path / "cases.jsonl", LEASE))

    assert (again.read, again.documents, again.removed) == (0, 2, 0)
    assert (changed.read, changed.documents, changed.removed) == (0, 1, 1)
    assert find_case(storage, OVERTIME["id"]) is None
    assert ids(storage, "加班工资") == []
    assert ids(storage, "海上救助报酬") == ["X 1/2"]
    assert CASES.remove(storage, other) == 1
    assert CASES.remove(storage, other) is None
    assert CASES.list_sources(storage) == [(str(tmp_path / "cases.jsonl"), 1)]


def test_a_case_that_is_written_twice_is_as_it_was_read_last(tmp_path: Path) -> None:
    first, second = {"id": "X 1/2", "summary": "rescue at sea"}, {"id": "x 1/2", "summary": "salvage reward"}

    report = CASES.take(tmp_path, write(tmp_path / "c.jsonl", first, second))

    assert report.documents == 1
    assert ids(tmp_path, "rescue") == []
    assert ids(tmp_path, "salvage") == ["x 1/2"]


def test_a_line_that_is_no_case_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    lines: list[dict[str, Any] | str] = [
        '{"id": "X 1/2"', "[]", {"id": " ", "summary": "a"}, {"id": "X 3/4"}, "", OVERTIME,
        {**LEASE, "date": "6 May 2031"}, {"id": "X 5/6", "summary": "a" * (1 << 20)}, LEASE,
    ]  # fmt: skip

    report = CASES.take(tmp_path, write(tmp_path / "c.jsonl", *lines))

    assert report.documents == 2
    assert [place for place, _ in report.skipped] == [f"line {number}" for number in (1, 2, 3, 4, 7, 8)]
    reasons = [reason for _, reason in report.skipped]
    assert reasons[2] == "its id is empty"
    assert "summary" in reasons[3]
    assert reasons[4] == "its date is no day: write it as YYYY-MM-DD"
    assert reasons[5] == "it is longer than 1 MB"


def test_a_reading_that_is_broken_off_leaves_the_store_as_it_was(storage: Path, tmp_path: Path) -> None:
    def stop(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        CASES.take(storage, write(tmp_path / "cases.jsonl", {"id": "X 1/2", "summary": "salvage"}), stop)

    assert ids(storage, "加班工资") == [OVERTIME["id"]]
    assert find_case(storage, "X 1/2") is None


def test_readers_see_the_old_cases_while_others_are_written(storage: Path) -> None:
    with contextlib.closing(Index.make(storage / CASES.file)) as index, index.writing():
        index.remove_folder(str(storage.parent / "cases.jsonl"))
        assert ids(storage, "加班工资") == [OVERTIME["id"]]


def test_without_cases_nothing_is_found_and_nothing_is_made(tmp_path: Path) -> None:
    assert search_cases(str(tmp_path), "加班工资", 5).total == 0
    assert find_case(tmp_path, "X 1/2") is None
    assert CASES.list_sources(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_index_says_what_helps(storage: Path) -> None:
    for file in storage.iterdir():
        file.unlink()
    (storage / CASES.file).write_bytes(b"no database at all" * 100)
    with pytest.raises(SideIndexFailed, match=r"not a database. Delete .*cases.db and run .*index --cases"):
        find_case(storage, "X 1/2")


def test_an_index_of_another_version_names_the_command_that_makes_it_anew_with_all_that_it_held(
    storage: Path, tmp_path: Path
) -> None:
    other = write(tmp_path / "other.jsonl", {"id": "X 1/2", "summary": "海上救助报酬"})
    CASES.take(storage, other)
    close_indexes()
    with contextlib.closing(sqlite3.connect(storage / CASES.file)) as db:
        db.execute("PRAGMA user_version = 3")

    with pytest.raises(SideIndexFailed, match=r"another version of Terminus. Run .*index --cases .*jsonl. once"):
        find_case(storage, "X 1/2")
    CASES.take(storage, tmp_path / "cases.jsonl")

    assert ids(storage, "加班工资") == [OVERTIME["id"]]
    assert ids(storage, "海上救助报酬") == ["X 1/2"]


def test_agents_ask_it_in_a_worker_process(storage: Path, tmp_path: Path) -> None:
    async def ask() -> None:
        workers = Workers(1)
        try:
            store = CaseStore(storage, workers)
            found = await store.search("加班工资", limit=3, within=30)
            assert [each.case.id for each in found.cases] == [OVERTIME["id"]]
            (tmp_path / "damaged").write_bytes(b"no database at all" * 100)
            (tmp_path / "damaged").replace(storage / CASES.file)
            with pytest.raises(PortFailed, match="Delete"):
                await store.search("X 1/2", limit=3, within=30)
        finally:
            workers.close()

    asyncio.run(ask())
