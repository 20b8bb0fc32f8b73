"""Articles as texts name them, and as they are written back."""

import pytest

from actors.statutes.jurisdiction import load_jurisdictions, read_number, write_number
from actors.statutes.references import Reference, find_references, render_reference

CHINA = load_jurisdictions()[0]
LAWS = {CHINA.squeeze(name): name for name in ("刑法", "民事诉讼法", "劳动合同法", "宪法修正案（2004年）")}


def find(text: str) -> tuple[Reference, ...]:
    return find_references(text, CHINA, lambda name: LAWS.get(CHINA.squeeze(name), ""))


@pytest.mark.req("LG-9")
@pytest.mark.parametrize(
    ("text", "references"),
    [
        ("依据《劳动合同法》第三十九条", [("劳动合同法", 39)]),
        ("《中华人民共和国劳动合同法》第39条", [("劳动合同法", 39)]),
        ("根据劳动合同法第三十九条的规定", [("劳动合同法", 39)]),
        ("民诉法第26条", [("民事诉讼法", 26)]),
        ("《劳动合同法》第三十九条、第四十条和第四十一条", [("劳动合同法", n) for n in (39, 40, 41)]),
        ("《刑法》第十七条之一", [("刑法", 17, 1)]),
        ("《劳动合同法》第四十条第二款第（三）项", [("劳动合同法", 40, 0, 2, 3)]),
        ("《最高人民法院关于适用《民事诉讼法》的解释》第二十六条", [("最高人民法院关于适用《民事诉讼法》的解释", 26)]),
        ("宪法修正案2004年第二十七条的内容是什么？", [("宪法修正案（2004年）", 27)]),
        ("《劳动合同法》第五条至第八条", [("劳动合同法", n) for n in (5, 6, 7, 8)]),
        ("《劳动合同法》第5-8条", [("劳动合同法", n) for n in (5, 6, 7, 8)]),
        ("劳动合同法第三十八、三十九条", [("劳动合同法", n) for n in (38, 39)]),
        ("《劳动合同法》第三十九条第二项", [("劳动合同法", 39, 0, 0, 2)]),
        ("劳动合同法第5条到8条", [("劳动合同法", n) for n in (5, 6, 7, 8)]),
        ("刑法第1条到100条", [("刑法", n) for n in (*range(1, 20), 100)]),
        ("《刑法》第10条和12条、20条", [("刑法", n) for n in (10, 12, 20)]),
        ("《刑法》第十条，三十日内", [("刑法", 10)]),
        ("《刑法》第10条第2款和第3款", [("刑法", 10, 0, 2), ("刑法", 10, 0, 3)]),
        ("《刑法》第十条第一款至第三款、第十一条", [*(("刑法", 10, 0, n) for n in (1, 2, 3)), ("刑法", 11)]),
        ("《刑法》第十条第二款第（一）、（三）项", [("刑法", 10, 0, 2, 1), ("刑法", 10, 0, 2, 3)]),
        ("《刑法》第十条第二款和第十一条第三款", [("刑法", 10, 0, 2), ("刑法", 11, 0, 3)]),
        ("本法第三条", []), ("第三条规定", []), ("合同第五条约定", []), ("", []),
    ],
)  # fmt: skip
def test_a_reference_is_found_however_it_is_written(text: str, references: list[tuple[str, int]]) -> None:
    assert list(find(text)) == [Reference(*each) for each in references]


@pytest.mark.req("LG-9")
def test_it_is_rendered_in_the_standard_form() -> None:
    assert render_reference(Reference("劳动合同法", 39), CHINA) == "《劳动合同法》第三十九条"
    assert render_reference(Reference("刑法", 17, 1), CHINA) == "《刑法》第十七条之一"


def test_every_number_that_is_written_is_read_again() -> None:
    numerals = CHINA.numerals
    assert [n for n in range(1, 3000) if read_number(write_number(n, numerals), numerals) != n] == []


def test_a_long_text_of_references_is_bounded() -> None:
    assert len(find("《刑法》第一条，" * 10_000)) <= 40
    assert len(find("《刑法》" + "".join(f"第{n}条、" for n in range(1, 900)))) == 40
