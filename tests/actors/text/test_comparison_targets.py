"""What a task compares with what, and on what, in the many ways in which people say so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.extractive.decompose import BESIDES, QUESTIONS, decompose
from actors.text.comparison_targets import CELLS, CRITERIA, SIDES, compared_in, list_targets, question_on

HQN = ("Harbor", "Quay", "Nexus")
HQ = HQN[:2]


@pytest.mark.req("PR-1")
@pytest.mark.parametrize(
    ("task", "sides", "criteria"),
    [
        ("Compare Harbor, Quay and Nexus on price, speed and licence", HQN, ("price", "speed", "licence")),
        ("Please compare Harbor, Quay, and Nexus in terms of price and licence.", HQN, ("price", "licence")),
        ("Compare the price, speed and licence of Harbor, Quay and Nexus", HQN, ("price", "speed", "licence")),
        ("compare Harbor with Quay and Nexus regarding price and storage", HQN, ("price", "storage")),
        ("Could you compare Harbor and Quay by cost, upkeep and support?", HQ, ("cost", "upkeep", "support")),
        ("I want to compare Harbor and Quay with respect to cost and upkeep", HQ, ("cost", "upkeep")),
        ("Research and compare Harbor, Quay and Nexus for cost, noise and upkeep", HQN, ("cost", "noise", "upkeep")),
        ("Write a comparison of Harbor, Quay and Nexus, focusing on cost and upkeep", HQN, ("cost", "upkeep")),
        ("Compare Harbor, Quay and Nexus. Consider price, speed and licence.", HQN, ("price", "speed", "licence")),
        ("Compare Harbor and Quay.\nCriteria: price, speed", HQ, ("price", "speed")),
        ("Harbor vs Quay vs Nexus: price, speed, licence", HQN, ("price", "speed", "licence")),
        ("Harbor vs. Quay on price", HQ, ("price",)),
        ("Harbor compared with Quay on price", HQ, ("price",)),
        ("What are the differences between Harbor, Quay and Nexus in price and security?", HQN, ("price", "security")),
        ("What are the differences in price and security between Harbor and Quay?", HQ, ("price", "security")),
        ("How do Harbor, Quay and Nexus differ in price and speed?", HQN, ("price", "speed")),
        ("How does Harbor compare to Quay on security?", HQ, ("security",)),
        ("Choose between Harbor, Quay and Nexus based on price and speed", HQN, ("price", "speed")),
        ("Compare C, Rust and Go on speed and safety", ("C", "Rust", "Go"), ("speed", "safety")),
        ("Compare oak and elm wheels in terms of price", ("oak wheels", "elm wheels"), ("price",)),
        ("Which is better for a small team, Harbor, Quay or Nexus?", HQN, ()),
        ("Should we use Harbor, Quay or Nexus?", HQN, ()),
        ("Harbor, Quay or Nexus: which is cheaper?", HQN, ()),
        ("What distinguishes Harbor from Quay?", HQ, ()),
        ("What are the pros and cons of Harbor vs Quay?", HQ, ()),
        ("Compare Harbor and Quay in 2024", HQ, ()),
        ("How do the VPN and the web desktop differ?", ("VPN", "web desktop"), ()),
        ("比较Harbor、Quay和Nexus的价格、性能和安全性", HQN, ("价格", "性能", "安全性")),
        ("请比较Harbor、Quay和Nexus在价格、性能和安全性方面的差异", HQN, ("价格", "性能", "安全性")),
        ("从价格和性能方面对比Harbor、Quay和Nexus", HQN, ("价格", "性能")),
        ("Harbor、Quay和Nexus在价格和性能方面有什么区别?", HQN, ("价格", "性能")),
        ("对比一下Harbor与Quay", HQ, ()),
        ("Harbor、Quay和Nexus哪个更好?", HQN, ()),
        ("Harbor, Quay, Nexus를 가격, 성능, 보안 측면에서 비교해줘", HQN, ("가격", "성능", "보안")),
        ("가격과 성능 측면에서 Harbor, Quay, Nexus를 비교해줘", HQN, ("가격", "성능")),
        ("Harbor와 Quay, Nexus의 가격과 성능을 비교해 주세요", HQN, ("가격", "성능")),
        ("Harbor와 Quay와 Nexus의 차이", HQN, ()),
        ("Harbor와 Quay 중 어느 것이 더 좋은가요?", HQ, ()),
    ],
)  # fmt: skip
def test_pr_1_a_comparison_is_taken_apart_however_it_is_asked_for(
    task: str, sides: tuple[str, ...], criteria: tuple[str, ...]
) -> None:
    asked = decompose(task)

    assert (asked.sides, asked.criteria) == (sides, criteria)
    cells = [question_on(side, criterion) for criterion in criteria for side in sides]
    assert list(asked.questions[-len(cells) :] if cells else cells) == cells
    assert len(asked.questions) == (len(cells) or 1 + len(sides))


@pytest.mark.req("PR-1")
@pytest.mark.parametrize(
    "task",
    [
        "How do I compare two dates in Python?",
        "How do I compare a date with a timestamp in SQL?",
        "Which operator is used to compare dates and times?",
        "What does the compare function return?",
        "What is compare-and-swap?",
        "Explain how Postgres compares strings and numbers",
        "How are strings compared and sorted?",
        "How does the tide mill work compared to last year?",
        "What are price comparison sites and who runs them?",
        "What is the difference between two tides?",
        "Is there a difference between what people say and what they do?",
        "Compare the two approaches",
        "Compare it with that",
        "How does a tide mill differ?",
        "如何比较日期和时间戳?",
        "他比较喜欢茶和咖啡",
        "比较好的茶和咖啡有哪些?",
        "파이썬에서 문자열과 숫자를 비교하는 방법은?",
        "비교 연산자는 무엇인가요?",
    ],
)
def test_pr_1_a_question_that_merely_has_the_word_compares_nothing(task: str) -> None:
    asked = decompose(task)
    assert (asked.sides, asked.criteria) == ((), ())


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a, b and c", ["a", "b", "c"]),
        ("a, b, and c", ["a", "b", "c"]),
        ("research and development, sales, and support", ["research and development", "sales", "support"]),
        ("a or b", ["a", "b"]),
        ("价格、性能和安全", ["价格", "性能", "安全"]),
        ("사과와 배", ["사과", "배"]),
    ],
)
def test_a_list_has_its_items(text: str, items: list[str]) -> None:
    assert list_targets(text) == items


@pytest.mark.req("PR-1")
def test_pr_1_a_table_of_any_size_is_bounded() -> None:
    things, criteria = (", ".join(f"{kind}{n}a" for n in range(40)) for kind in ("Thing", "property"))

    asked = decompose(f"Compare {things[:120]} and Last on {criteria[:120]}")

    assert 2 < len(asked.sides) <= SIDES
    assert 0 < len(asked.criteria) <= CRITERIA
    assert len(asked.sides) * len(asked.criteria) <= CELLS
    assert len(asked.questions) <= max(QUESTIONS, BESIDES + CELLS)


@given(
    st.lists(st.sampled_from(["compare ", "a, ", "B ", " vs ", " on ", "和", "比较", "의 ", "비교", "的", "在", ": "]))
)
def test_any_sentence_has_nothing_or_two_sides(parts: list[str]) -> None:
    found = compared_in(["".join(parts)])
    assert len(found.sides) != 1
    assert found.sides or not found.criteria


@pytest.mark.req("PR-1")
def test_pr_1_what_else_a_task_asks_stands_beside_the_table() -> None:
    task = "Compare Harbor and Quay on price and speed. Which registry mirrors best?"
    assert decompose(task).questions == (
        "Which registry mirrors best?",
        *(f"{s}: {c}" for c in ("price", "speed") for s in HQ),
    )
