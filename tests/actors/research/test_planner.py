"""The Planner: a plan whatever the model says, and none made twice."""

from typing import Any

import pytest

from actors.ports import ModelFailed, ModelRequest
from actors.research.messages import MakePlan
from actors.research.models import Plan, ResearchOptions, SearchTask
from actors.research.output_schemas import PlanDraft
from actors.research.planner import Planner
from actors.workflow.progress import RoundBegan
from runtime.families import extractive
from tests.actors.research.test_extractor import Turn
from tests.inquiry import Scripted

TASK = "How does a tide mill store water?"


def order(**more: Any) -> MakePlan:
    usual: dict[str, Any] = {
        "text": TASK, "brief": ResearchOptions(), "plan": None, "learnings": (), "directions": (), "shortfall": "",
    }  # fmt: skip
    return MakePlan(**(usual | more))


async def plan(message: MakePlan, model: Any, turn: Turn | None = None) -> tuple[Plan, str | None]:
    made = await Planner(model, ("web", "knowledge"), "Plan.").receive(message, turn or Turn())  # type: ignore[arg-type]
    return made.plan, made.degraded


@pytest.mark.req("PR-3")
async def test_a_plan_has_questions_queries_sources_and_thresholds() -> None:
    made, degraded = await plan(order(), extractive())
    assert (made.questions, made.queries, made.sources) == ((TASK,), (TASK,), ("web", "knowledge"))
    assert made.least_results > 0
    assert degraded is None, "what was said of an earlier round stays"


async def test_a_plan_that_is_there_is_kept_and_nobody_is_asked() -> None:
    known, model, turn = Plan(("Q?",), ("q",), ("web",)), Scripted({}), Turn()
    assert (await plan(order(plan=known), model, turn))[0] is known
    assert not model.tasks
    assert not turn.said


@pytest.mark.req("PR-9")
async def test_after_a_shortfall_no_query_is_asked_a_second_time() -> None:
    stubborn = Scripted({PlanDraft: PlanDraft(("Other?",), ("Tide Mill water",))})
    known = Plan((TASK,), ("tide mill water",), ("web",))
    made, _ = await plan(order(plan=known, shortfall="Too little."), stubborn)
    assert made.questions == (TASK,)
    assert "tide mill water" not in {each.casefold() for each in made.queries}


async def test_without_a_model_that_answers_the_plan_is_made_by_rules_and_says_so() -> None:
    made, degraded = await plan(order(), Scripted({PlanDraft: ModelFailed("It is down.")}))
    assert made.questions == (TASK,)
    assert degraded == ModelFailed.code


async def test_a_deeper_plan_is_told_the_direction_what_is_open_and_what_was_learnt() -> None:
    from tests.research import a_statement

    tasks: list[ModelRequest] = []

    def draft(task: ModelRequest) -> PlanDraft:
        tasks.append(task)
        return PlanDraft(("Silt?",), ("tide mill silt",))

    message = order(
        brief=ResearchOptions(round=2, direction="silt"),
        directions=("silt", "eels"),
        learnings=(a_statement("Mills silt up."),),
    )
    await plan(message, Scripted({PlanDraft: draft}))
    material = tasks[0].material
    assert (material.direction, material.open, material.learnings) == ("silt", ("silt", "eels"), ("Mills silt up.",))


async def test_a_round_is_announced_once() -> None:
    turn = Turn()
    await plan(order(brief=ResearchOptions(round=2, depth=3, direction="silt")), extractive(), turn)
    await plan(order(plan=Plan((TASK,), (TASK,), ()), shortfall="Too little."), extractive(), turn)
    assert [(each.number, each.of, each.direction) for each in turn.said if isinstance(each, RoundBegan)] == [
        (2, 3, "silt")
    ]


async def test_a_model_plans_with_what_the_task_says_and_with_no_figures_or_sides_of_its_own() -> None:
    loaded = ("Why does it cost 9000 dollars?", 'Is it "the best of all"?')
    asked = PlanDraft((TASK, *loaded), (TASK, "costs of 9000"), ("Glim", "Orbit"))
    made, _ = await plan(order(), Scripted({PlanDraft: asked}))
    assert (made.questions, made.queries, made.sides) == ((TASK,), (TASK,), ())


@pytest.mark.req("RE-14")
async def test_each_query_of_a_plan_is_a_pending_search_beside_those_of_the_rounds_before() -> None:
    known = Plan(("Q?",), ("mills", "tides"), ("web", "urls", "rss"))
    before = (SearchTask("old", "web", "failed", 0, "It was busy."), SearchTask("mills", "web", "done", 3))
    message = order(plan=known, brief=ResearchOptions(round=2), searches=before)

    made = await Planner(Scripted({}), ("web", "rss"), "Plan.").receive(message, Turn())  # type: ignore[arg-type]

    assert set(made.searches or ()) == {
        *before, SearchTask("mills", "rss", round=2), SearchTask("tides", "web", round=2),
        SearchTask("tides", "rss", round=2),
    }  # fmt: skip
