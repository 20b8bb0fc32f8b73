"""What a task asks, taken apart by rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.extractive.decompose import BESIDES, QUESTIONS, decompose, deduplicate, in_task, keywords, subject
from actors.text.comparison_targets import CELLS, SIDES
from actors.text.keywords import terms


@pytest.mark.req("PR-1")
@pytest.mark.parametrize(
    ("task", "questions"),
    [
        ("How does the tide mill decide when to open?", ("How does the tide mill decide when to open?",)),
        ("What is a tide mill and how is it powered?", ("What is a tide mill?", "How is a tide mill powered?")),
        (
            "Please investigate millraces. How are they lined? How can they be sealed?",
            ("How are millraces lined?", "How can millraces be sealed?"),
        ),
        ("What is a sluice? Why does it matter?", ("What is a sluice?", "Why does a sluice matter?")),
        ("Which sluices exist? Which mills have them?", ("Which sluices exist? Which mills have them?",)),
        ("Write a detailed report on tide mills.", ("Tide mills",)),
        ("Research the state of tidal power.", ("The state of tidal power",)),
        ("I forgot my gate's code. How do I get it back?", ("I forgot my gate's code. How do I get it back?",)),
        ("Our mill is old. How do we repair it?", ("Our mill is old. How do we repair it?",)),
        ("我们的磨坊很旧。如何维护它?", ("我们的磨坊很旧. 如何维护它?",)),
        ("Our mill is old. We oil it daily. Which oil does an axle need?", ("Which oil does an axle need?",)),
        ("1. What is a weir?\n2. What is a weir\n3. How do weirs leak?", ("What is a weir?", "How do weirs leak?")),
        (
            "Write a report on tide mills, covering gates, axles, and upkeep.",
            ("Tide mills", "Tide mills: gates", "Tide mills: axles", "Tide mills: upkeep"),
        ),
        (
            "How should gate_height and axle_speed be set?",
            ("How should gate_height be set?", "How should axle_speed be set?"),
        ),
        ("What does TIDE MODE lock, and how can waiting be avoided?",
         ("What does TIDE MODE lock?", "How can waiting be avoided?")),
        ("什么是潮汐磨坊,如何维护它?", ("什么是潮汐磨坊?", "如何维护潮汐磨坊?")),
        ("请写一份关于潮汐磨坊的报告", ("潮汐磨坊",)),
        ("조력 방앗간에 대해 조사해줘", ("조력 방앗간",)),
        ("AI trends 2026", ("AI trends 2026",)),
        ("Why", ("Why",)),
    ],
)  # fmt: skip
def test_a_task_is_taken_apart_into_questions_that_stand_alone(task: str, questions: tuple[str, ...]) -> None:
    assert decompose(task).questions == questions


@pytest.mark.req("PR-1")
@pytest.mark.parametrize(
    ("task", "sides"),
    [
        ("Compare oak and elm wheels", ("oak wheels", "elm wheels")),
        ("breast vs overshot wheels: which should we use?", ("Breast wheels", "overshot wheels")),
        ("What are the differences between tide mills and wind mills?", ("tide mills", "wind mills")),
        ("Should we use Harbor or Quay for our images?", ("Harbor", "Quay")),
        ("Which is better for a small stream, Francis or Pelton?", ("Francis", "Pelton")),
        ("How do Harbor and Quay differ?", ("Harbor", "Quay")),
        ("How do Harbor, Quay and Nexus differ?", ("Harbor", "Quay", "Nexus")),
        ("Harbor vs Quay Server", ("Harbor", "Quay Server")),
        ("比较Harbor和Quay", ("Harbor", "Quay")),
        ("Harbor和Quay有什么区别?", ("Harbor", "Quay")),
        ("Harbor와 Quay의 차이점은 무엇인가요?", ("Harbor", "Quay")),
        ("How does a tide mill work?", ()),
        ("What is the difference between two tides?", ()),
    ],
)
def test_a_comparison_has_sides_and_a_question_for_each(task: str, sides: tuple[str, ...]) -> None:
    asked = decompose(task)
    assert asked.sides == sides
    if sides:
        assert len(asked.questions) == len(sides) + 1
        assert [each.casefold() for each in asked.questions[1:]] == [each.casefold() for each in sides]


@pytest.mark.parametrize(
    ("task", "questions", "sides"),
    [
        (
            "Compare A and B, and when would I need C?",
            ("Compare A and B", "When would I need C?", "A", "B"),
            ("A", "B"),
        ),
        (
            "What is the difference between Harbor and Quay, when should I use which, and how is a mill repaired?",
            ("What is the difference between Harbor and Quay?", "How is a mill repaired?", "Harbor", "Quay"),
            ("Harbor", "Quay"),
        ),
        (
            "Compare Harbor and Quay on size and speed, and how is a mill repaired?",
            ("How is a mill repaired?", "Harbor: size", "Quay: size", "Harbor: speed", "Quay: speed"),
            ("Harbor", "Quay"),
        ),
        (
            "比较Harbor和Quay，以及如何归档日志？",
            ("比较Harbor和Quay", "如何归档日志?", "Harbor", "Quay"),
            ("Harbor", "Quay"),
        ),
    ],
)
def test_what_is_asked_beside_a_comparison_is_a_question_of_its_own(
    task: str, questions: tuple[str, ...], sides: tuple[str, ...]
) -> None:
    assert decompose(task).questions == questions
    assert decompose(task).sides == sides


def test_what_asks_nothing_by_itself_stays_with_its_comparison() -> None:
    task = "How does Harbor differ from Quay, and when would I use which?"
    assert decompose(task).questions == (task,)


def test_a_task_of_nothing_asks_nothing() -> None:
    assert decompose("").questions == ()
    assert decompose("???").questions == ("???",)


@given(st.text(max_size=600))
def test_any_task_has_bounded_questions_none_of_which_repeats_another(task: str) -> None:
    asked = decompose(task)
    assert len(asked.questions) <= (BESIDES + CELLS if asked.criteria else QUESTIONS)
    assert bool(asked.questions) == bool(task.strip())
    assert deduplicate(asked.questions) == asked.questions
    assert len(asked.sides) == 0 or 2 <= len(asked.sides) <= SIDES
    assert len(asked.sides) * len(asked.criteria) <= CELLS
    assert decompose(task) == asked


def test_keywords_leave_out_what_only_asks() -> None:
    assert keywords("How does the tide mill decide when to open?") == "tide mill decide open"
    assert keywords("tide mill gate height", 2) == "tide mill"


@pytest.mark.parametrize(
    ("question", "about"),
    [("What is a tide mill?", "tide mill"), ("How does a weir work?", "weir"), ("什么是潮汐?", "潮汐"), ("Why?", "")],
)
def test_a_question_says_what_it_is_about_where_its_form_tells(question: str, about: str) -> None:
    assert subject(question) == about


def test_terms_are_the_same_for_forms_of_a_word_and_leave_out_filler() -> None:
    assert terms("How do the mills run?") == terms("running a mill")
    assert terms("请问如何配置潮汐") == {"配置", "置潮", "潮汐"}
    assert terms("what is it about?") == frozenset()
    assert terms("How do I get it back?") == {"back"}


@pytest.mark.parametrize(
    ("task", "questions", "looked_up"),
    [
        (
            "When is partitioning of a table worth it, and which limits does it have?",
            ("When is partitioning of a table worth it?", "Which limits does it have?"),
            ("When is partitioning of a table worth it?", "Which limits does it have? partitioning table worth"),
        ),
        (
            "Which kinds of sluices does Marwick have, and when is which one worth it?",
            ("Which kinds of sluices does Marwick have?", "When is which one worth it?"),
            ("Which kinds of sluices does Marwick have?", "When is which one worth it? kinds sluices Marwick"),
        ),
    ],
)
def test_a_question_keeps_its_own_words_and_is_looked_up_with_those_of_its_task(
    task: str, questions: tuple[str, ...], looked_up: tuple[str, ...]
) -> None:
    assert decompose(task).questions == questions
    assert tuple(in_task(each, task) for each in questions) == looked_up
