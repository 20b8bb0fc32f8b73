"""A complaint from running prose: the person tells what happened, and no label stands before anything."""

import pytest

from actors.documents.find_fields import find_fields
from runtime.documents.template_folder import load_templates
from runtime.settings import Settings

TEMPLATES = load_templates(Settings())
LOAN = (
    "你好，我叫张三，想起诉李四。2025年3月1日，他向我借款5万元，约定半年后归还，至今没有还。我催了三次，他都不理。"
    "被告住在上海市浦东新区某某路1号。请求法院判令他返还借款5万元。我想向上海市浦东新区人民法院起诉，"
    "请帮我写一份民事起诉状。谢谢！"
)
HEATER = (
    "Please draft a complaint. I am Ann Lee and I want to sue Northgate Trading Ltd for it. On 3 May 2025 "
    "they sold me a heater for USD 12,000 that never worked. They refuse to pay it back. I want to file it "
    "in the District Court of Northgate County. I ask the court for judgment of USD 12,000 with costs."
)
SHORT = "请帮我写民事起诉状。原告王小明，被告上海灯具有限公司。"


@pytest.mark.req("LG-13")
def test_a_chinese_complaint_is_filled_from_what_was_told() -> None:
    found = {name: each.value for name, each in find_fields(TEMPLATES["complaint_zh"], LOAN).items()}

    assert found == {
        "plaintiff": "张三",
        "defendant": "李四",
        "defendant_address": "上海市浦东新区某某路1号",
        "claims": "判令他返还借款5万元",
        "court": "上海市浦东新区人民法院",
        "facts": "2025年3月1日，他向我借款5万元，约定半年后归还，至今没有还。我催了三次，他都不理。",
    }


@pytest.mark.req("LG-13")
def test_an_english_complaint_is_filled_from_what_was_told() -> None:
    found = {name: each.value for name, each in find_fields(TEMPLATES["complaint_en"], HEATER).items()}

    assert found == {
        "plaintiff": "Ann Lee",
        "defendant": "Northgate Trading Ltd",
        "court": "District Court of Northgate County",
        "relief": "judgment of USD 12,000 with costs",
        "facts": "On 3 May 2025 they sold me a heater for USD 12,000 that never worked. They refuse to pay it back.",
    }


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (SHORT, {"plaintiff": "王小明", "defendant": "上海灯具有限公司"}),
        ("我是原告张三，被告是李四。", {"plaintiff": "张三", "defendant": "李四"}),
        ("他让我先协商，向他催讨后我决定向北京市海淀区人民法院起诉。", {"court": "北京市海淀区人民法院"}),
        # asked, not guessed
        ("我想起诉李四、王五。", {}),
        ("我想起诉李四，王五。", {}),
        ("我叫张三和李四一起被骗了。", {}),
        ("我要起诉离婚。被告陈述，他没有钱。被告违约，被告方认为，被告曾承诺。", {}),
        ("被告张三说，以后再还。", {}),
        ("被告李四，还有一个被告王五。被告王五，住北京。", {}),
        ("被告李四欠我的钱。", {}),
        ("请求法院判令：被告：李四", {"defendant": "李四"}),
        ("我的事情很复杂，邻居把水管弄坏了。", {}),
        ("2025年的事。", {}),
    ],
)  # fmt: skip
def test_what_prose_does_not_say_plainly_is_asked(text: str, values: dict[str, str]) -> None:
    found = find_fields(TEMPLATES["complaint_zh"], text)

    assert {name: each.value for name, each in found.items()} == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("The plaintiff is Ann Lee and the defendant is Lamp Ltd.", {"plaintiff": "Ann Lee", "defendant": "Lamp Ltd."}),
        ("My name is Ann Lee, and I want my money.", {"plaintiff": "Ann Lee"}),
        # asked, not guessed
        ("I want to sue Ann Lee and Bob Roe.", {}),
        ("I want to sue Ann Lee, Bob Roe and others.", {}),
        ("I am tired. I am German. I am in Northgate.", {}),
        ("I want to sue Lamp Ltd. Monday was a bad day.", {"defendant": "Lamp Ltd."}),
        ("I pursue Ann Lee.", {}),
        ("The heater was bad and I want my money.", {}),
        ("Did they sell it on 3 May 2025?", {}),
    ],
)
def test_english_prose_is_read_as_carefully(text: str, values: dict[str, str]) -> None:
    found = find_fields(TEMPLATES["complaint_en"], text)

    assert {name: each.value for name, each in found.items()} == values


def test_what_a_label_says_goes_before_the_story() -> None:
    text = "Facts: They never paid.\nOn 3 May 2025 they bought a heater for USD 5."

    assert find_fields(TEMPLATES["complaint_en"], text)["facts"].value == "They never paid"


def test_two_stories_are_asked_about() -> None:
    text = "Facts: They never paid. Facts: They paid half.\nOn 3 May 2025 they bought a heater for USD 5."

    assert "facts" not in find_fields(TEMPLATES["complaint_en"], text)
