"""What was learnt leads the next search, without a model."""

import pytest

from actors.research.leads import QUERIES, build_queries, open_topics
from actors.research.output_schemas import PlanDraft, PlanRequest
from actors.research.planning import draft_plan

TASK = "How does a tide mill store water?"
SILT = "Silt in the pond of a tide mill is flushed by Harbor sluices."
FLAPS = "The tide mill at Marwick closes its gates with oak flaps."


def plan_deeper(direction: str, directions: tuple[str, ...], *known: str) -> PlanDraft:
    return draft_plan(
        PlanRequest(question=TASK, breadth=3, round=2, direction=direction, open=directions, learnings=known)
    )


@pytest.mark.req("DR-4")
@pytest.mark.parametrize(
    ("direction", "learning", "query"),
    [
        ("Tide mill silt", SILT, "Tide mill silt Harbor pond"),
        ("Tide mill silt", "Silt is removed each spring by dredgers.", "Tide mill silt removed spring"),
        ("Tide mill gates", FLAPS, "Tide mill gates Marwick closes"),
        ("What does it cost?", "A mill costs 40 crowns in Osterby.", "cost Osterby crowns"),
        ("AI 规制细节", "AI 规制从2026年开始在 Brussels 加强。", "AI 规制细节 Brussels 加强"),
        (
            "AI 규제 세부 내용",
            "AI 규제가 2026년부터 유럽연합에서 강화된다.",
            "AI 규제 세부 내용 2026년부터 유럽연합에서",
        ),
    ],
)
def test_dr_4_a_direction_is_asked_with_the_new_words_of_what_was_learnt(
    direction: str, learning: str, query: str
) -> None:
    assert build_queries((direction,), TASK, (learning,)) == (query,)


@pytest.mark.req("DR-4")
def test_dr_4_the_learning_that_is_nearest_leads_and_of_several_the_latest() -> None:
    assert build_queries(("Tide mill silt",), TASK, (SILT, FLAPS)) == build_queries(("Tide mill silt",), TASK, (SILT,))
    later = "The silt of a tide mill is sold to Quay farmers."
    assert build_queries(("Tide mill silt",), TASK, (SILT, later)) == ("Tide mill silt Quay sold",)


@pytest.mark.req("DR-4")
def test_dr_4_one_direction_with_other_learnings_is_another_plan() -> None:
    plans = [plan_deeper("Tide mill silt", ("Tide mill silt",), *known).queries for known in ((), (SILT,), (FLAPS,))]

    assert len(set(plans)) == 3
    assert {each[0] for each in plans} == {"Tide mill silt"}, "the direction itself is asked first"


@pytest.mark.req("DR-4")
def test_dr_4_what_a_learning_says_already_is_not_looked_for_again() -> None:
    others = ("Oak flaps of gates", "What are oak flaps?", "Eels of the pond")

    assert open_topics(others, (FLAPS,)) == others[1:]
    assert plan_deeper("Tide mill silt", others, FLAPS).questions == ("Tide mill silt", *others[1:])
    assert plan_deeper(others[0], others, FLAPS).questions[0] == others[0], "this round is for it"


def test_a_word_alone_is_never_known() -> None:
    assert open_topics(("Mill",), (FLAPS,)) == ("Mill",)


def test_few_queries_are_led_and_none_without_learnings() -> None:
    directions = tuple(f"Tide mill {each}" for each in ("silt", "gates", "eels", "axles", "upkeep"))

    assert len(build_queries(directions, TASK, (SILT, FLAPS))) == QUERIES
    assert build_queries(directions, TASK, ()) == ()
    assert build_queries(("Tide mill",), TASK, ("A tide mill stores water.",)) == ()
