"""Plans by rules, and the bounds of any plan."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.research.models import ResearchOptions
from actors.research.output_schemas import PlanDraft, PlanRequest
from actors.research.planning import (
    QUERY_CHARACTERS,
    QUESTIONS,
    broader,
    draft_plan,
    in_context,
    lead,
    limit_plan,
    list_questions,
)

TASK = "How does a tide mill store water?"


@pytest.mark.req("PR-3")
def test_the_first_round_plans_the_questions_of_the_task() -> None:
    draft = draft_plan(PlanRequest(question="What is a weir? How does it leak? Which sluices are of oak?", breadth=5))
    assert draft.questions == ("What is a weir? How does it leak?", "Which sluices are of oak?")
    assert set(draft.questions) <= set(draft.queries)


@pytest.mark.parametrize(
    ("task", "questions"),
    [
        ("Research tide mills.\n- gates\n- cost of repair\n", ("Research tide mills.", "gates", "cost of repair")),
        ("We own a mill. What does a new wheel cost?", ("We own a mill. What does a new wheel cost?",)),
        ("Compare oak and elm for the wheel of a mill. When does one take which?",
         ("Compare oak and elm for the wheel of a mill. When does one take which?",)),
        ("Say how a sluice is built. What should a village watch out for? And who may open it? Be short.",
         ("Say how a sluice is built. What should a village watch out for? And who may open it?",)),
        ("What is a weir? We have a leak. How is that found?",
         ("What is a weir?", "We have a leak. How is that found?")),
        ("Compare oak and elm on price. Which of the wheels lasts?",
         ("Compare oak and elm on price.", "Which of the wheels lasts?")),
        (f"{'We have a mill of wood. ' * 20} What does a new wheel cost?",
         (f"{'We have a mill of wood. ' * 11}What does a new wheel cost?",)),
        ("What is a weir? What is a weir?", ("What is a weir?",)),
        ("We own both. Compare oak wheels and elm wheels.", ("We own both. Compare oak wheels and elm wheels.",)),
        ("???", ("? ? ?",)),
    ],
)  # fmt: skip
def test_questions_are_the_persons_own_sentences(task: str, questions: tuple[str, ...]) -> None:
    assert list_questions(task) == questions


@pytest.mark.req("PR-6")
def test_a_comparison_asks_for_each_of_its_cells() -> None:
    draft = PlanDraft(("Which one?",), ("lamps",), ("Lumo", "Glim"), ("price", "weight"))
    plan = limit_plan(draft, "Lumo or Glim?", ResearchOptions(), ("web",))
    assert plan.questions == ("Which one?", "Lumo: price", "Glim: price", "Lumo: weight", "Glim: weight")


@pytest.mark.req("DR-1", "DR-4")
def test_a_deeper_round_takes_words_of_the_learning_that_is_nearest() -> None:
    learnt = ("Water is stored behind gates.", "Silt from the Orrin fills a pond in ten years.")
    assert lead(("silt in ponds",), TASK, learnt) == ("silt ponds Orrin fills",)
    assert lead(("silt in ponds",), TASK, ()) == ()


@pytest.mark.req("DR-5")
def test_a_deeper_round_explores_its_direction_first_then_the_other_open_ones_up_to_the_breadth() -> None:
    silt, *others = ("Tide mills: silt", "Tide mills: gates", "Tide mills: eels")
    draft = draft_plan(PlanRequest(question=TASK, breadth=2, round=2, direction=silt, open=(silt, *others)))
    assert draft.questions == ("Tide mills: silt", "Tide mills: gates")


def test_a_direction_that_says_nothing_of_the_task_is_searched_with_its_words() -> None:
    assert in_context("Monitoring", TASK) == "Monitoring tide mill store water"
    assert in_context("Tide gates", TASK) == "Tide gates"


@pytest.mark.req("PR-9")
def test_after_a_shortfall_the_questions_stay_and_the_queries_are_others() -> None:
    before = PlanRequest(
        question=TASK, breadth=5, questions_so_far=(TASK,), searched_in_vain=(TASK,), shortfall="Nothing was found."
    )
    draft = draft_plan(before)
    assert draft.questions == (TASK,)
    assert draft.queries
    assert TASK not in draft.queries
    assert broader((TASK,), draft.queries, ()) == ()


@pytest.mark.req("PR-3")
@pytest.mark.parametrize(("breadth", "results", "pages"), [(1, 1, 1), (3, 2, 1), (5, 3, 2), (10, 5, 4)])
def test_thresholds_follow_the_breadth(breadth: int, results: int, pages: int) -> None:
    plan = limit_plan(PlanDraft((TASK,), (TASK,)), TASK, ResearchOptions(breadth=breadth), ("web",))
    assert (plan.least_results, plan.least_pages) == (results, pages)
    assert plan.least_quality > 0


def test_a_deeper_round_may_answer_from_what_was_read_before() -> None:
    plan = limit_plan(PlanDraft((TASK,), (TASK,)), TASK, ResearchOptions(round=2, direction=TASK), ("web",))
    assert (plan.least_results, plan.least_pages) == (0, 0)


@pytest.mark.req("PR-3")
def test_pr_3_every_query_of_a_draft_is_planned() -> None:
    draft = PlanDraft((TASK,), ("tide mill", "mill pond", "sluice"))
    assert limit_plan(draft, TASK, ResearchOptions(), ("web",)).queries == draft.queries


@pytest.mark.req("PR-3")
def test_the_sources_of_an_order_are_planned_as_they_are_so_that_the_search_can_refuse_an_unknown_one() -> None:
    plan = limit_plan(PlanDraft((TASK,), (TASK,)), TASK, ResearchOptions(sources=("rss", "moon")), ("web", "rss"))
    assert plan.sources == ("rss", "moon")
    assert limit_plan(PlanDraft((TASK,), (TASK,)), TASK, ResearchOptions(), ("web", "rss")).sources == ("web", "rss")


texts = st.lists(st.text(max_size=700), max_size=40).map(tuple)


@given(texts, texts, texts, st.integers(1, 20))
def test_any_draft_becomes_a_plan_within_its_bounds(
    questions: tuple[str, ...], queries: tuple[str, ...], sides: tuple[str, ...], breadth: int
) -> None:
    plan = limit_plan(PlanDraft(questions, queries, sides), TASK, ResearchOptions(breadth=breadth), ("web",))
    assert 1 <= len(plan.questions) <= QUESTIONS
    assert 1 <= len(plan.queries) <= max(2 * breadth, len(plan.questions))
    assert all(0 < len(each) <= QUERY_CHARACTERS and "\n" not in each for each in plan.queries)
    assert len({each.casefold() for each in plan.queries}) == len(plan.queries)
    assert len(plan.sides) != 1
