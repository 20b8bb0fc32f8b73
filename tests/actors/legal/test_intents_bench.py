"""The figures that judge the rules: by origin, honest in their confidence, and of several domains."""

import json
from pathlib import Path

import pytest

from bench.intents import Asked, Touching, count_domains, count_intents, judge, main, read, show

CONSULTATION = "老板拖欠我们工资半年了，现在公司说没钱，我们可以申请仲裁吗？"
ASKED = [
    Asked(CONSULTATION, "legal_consultation", "one"),
    Asked("你好！", "general_chat", "one"),
    Asked("公司法第二十条的规定是什么", "legal_consultation", "two"),
    Asked("他们签了合同。", "case_search", "two"),
]


def test_an_origin_is_judged_by_itself() -> None:
    found = count_intents(judge(ASKED))

    assert found["all"] == {"texts": 4, "fires": 3, "coverage": 0.75, "precision": 0.667, "accuracy": 0.5}
    assert found["origins"]["one"]["precision"] == 1.0
    assert found["origins"]["two"] == {"texts": 2, "fires": 1, "coverage": 0.5, "precision": 0.0, "accuracy": 0.0}


@pytest.mark.parametrize(("times", "worst"), [(19, None), (20, 0.0)])
def test_the_worst_origin_is_one_with_enough_firings(times: int, worst: float | None) -> None:
    assert count_intents(judge(ASKED[:2] + [ASKED[2]] * times))["worst_origin"] == worst


def test_two_domains_are_right_when_two_are_meant() -> None:
    both = Touching("合伙开店，合伙人欠的债务我要承担责任吗？", ["civil_law", "commercial_law"])
    one = Touching("劳动合同到期公司不续签，要付经济补偿吗？", ["social_labor_law"])
    too_many = Touching("合伙开店，合伙人欠的债务我要承担责任吗？", ["civil_law"])

    found = count_domains([both, one, too_many])

    assert (found["several"], found["several_found"]) == (1, 2)
    assert (found["several_precision"], found["several_recall"]) == (0.5, 1.0)
    assert (found["precision"], found["recall"], found["exact"]) == (0.8, 1.0, 0.667)


def test_the_program_reads_a_folder_and_prints_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "held").mkdir()
    lines = [{"text": each.text, "intent": each.intent, "origin": each.origin, "licence": "?"} for each in ASKED]
    (tmp_path / "held/intents_zh.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    touching = json.dumps({"text": CONSULTATION, "domains": ["social_labor_law"]})
    (tmp_path / "held/domains_multi_zh.jsonl").write_text(touching, encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["intents", "--data", str(tmp_path), "--split", "held", "--wrong"])

    main()

    printed = capsys.readouterr().out
    assert "coverage" in printed
    assert "two legal_consultation regulation_query" in printed
    assert len(read(tmp_path / "held/intents_zh.jsonl", Asked)) == len(ASKED)


def test_a_folder_without_the_data_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["intents", "--data", str(tmp_path)])

    with pytest.raises(SystemExit, match=r"holds no intents_zh\.jsonl"):
        main()


def test_what_was_not_measured_is_shown_as_a_dash() -> None:
    figures = {
        "intents": count_intents([]),
        "domains": count_domains([]),
        "microseconds": {"median": 1, "p95": 2},
    }

    assert "worst origin with 20 firings or more: -" in show(figures)
