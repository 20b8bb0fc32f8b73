"""Research without a model: the places that come closest, word for word, and nothing composed."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.claims import verify
from actors.evidence.passages import Passage, SearchHits
from actors.evidence.places import PLACES, list_places
from actors.ports import ModelRequest
from actors.research.extractive_answers import OF_A_PAGE
from actors.research.output_schemas import (
    Answer,
    AnswerRequest,
    Overview,
    OverviewRequest,
    PlanDraft,
    PlanRequest,
    Points,
    PointsRequest,
)
from actors.research.planning import draft_plan
from runtime.families import extractive

STORES = "The tide mill stores water in a pond behind its gates."


def passage(number: int, source: str, text: str = STORES) -> Passage:
    return Passage(f"{source}#{number}", source, "Tide mills", "Tide mills", text, 0, len(text))


def showing(material: msgspec.Struct, *passages: Passage) -> ModelRequest:
    return ModelRequest(agent="analyzer", instructions="", material=material, findings=SearchHits(passages))


async def test_an_answer_is_the_best_places_of_several_pages_word_for_word() -> None:
    question = "How does a tide mill store water?"
    found = tuple(passage(n, "a" if n < 4 else "b", f"{STORES} {n}") for n in range(1, 6))
    filled = await extractive().fill(Answer, showing(AnswerRequest(question=question, task=question), *found), within=1)
    assert [each.passage for each in filled.value.claims] == [1, 2, 4]
    assert (filled.value.answered, filled.judged) == (False, False)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.text(max_size=30)), max_size=9))
def test_whatever_was_found_places_are_few_and_stand_in_it(found: list[tuple[str, str]]) -> None:
    passages = tuple(passage(n, source, text) for n, (source, text) in enumerate(found))
    places = list_places(passages, of_a_page=OF_A_PAGE)
    assert len(places) <= PLACES
    assert all(each.text == each.quote for each in places)
    assert all(each.text.strip() == passages[each.passage - 1].text.strip() for each in places)
    assert all(verify(each, passages) == "supported" for each in places if each.text.isalnum())


@pytest.mark.req("PR-6")
async def test_the_model_without_a_network_fills_every_shape_of_a_research() -> None:
    question = "What is a tide mill?"
    requests: dict[type[msgspec.Struct], msgspec.Struct] = {
        PlanDraft: PlanRequest(question=question, breadth=2), Answer: AnswerRequest(question=question, task=question),
        Overview: OverviewRequest(question), Points: PointsRequest(question, "tide mill", ("feature",)),
    }  # fmt: skip
    for shape, request in requests.items():
        filled = await extractive().fill(shape, showing(request, passage(1, "a")), within=1.0)
        assert isinstance(filled.value, shape)
        assert not filled.judged


def test_a_plan_is_made_from_what_the_planner_shows() -> None:
    question = "What is a weir?"
    first = PlanRequest(question=question, breadth=3)
    assert draft_plan(first) == PlanDraft((question,), (question,))
    deeper = PlanRequest(question=question, breadth=1, direction="Weirs: eels", open=("Weirs: silt",))
    assert draft_plan(deeper).questions == ("Weirs: eels",)
    again = PlanRequest(
        question=question,
        breadth=3,
        shortfall="Too little.",
        questions_so_far=(question,),
        searched_in_vain=(question,),
    )
    assert draft_plan(again).queries == ("weir",)
