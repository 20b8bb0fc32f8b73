"""Research without a model: verbatim, on the topic, nothing twice, and honest when there is nothing."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.claims import verify
from actors.evidence.passages import Passage, SearchHits, Span
from actors.ports import ModelRequest
from actors.research.excerpts import EXCERPTS
from actors.research.extractive_answers import answer, landscape
from actors.research.output_schemas import (
    Answer,
    AnswerRequest,
    Landscape,
    LandscapeRequest,
    Overview,
    OverviewRequest,
    PlanDraft,
    PlanRequest,
)
from actors.research.planning import draft_plan
from runtime.families import extractive

DEFINES = "A tide mill is a mill that is driven by the tide."
STORES = "The tide mill stores water in a pond behind its gates."
OPENS = "Its gates of oak open at 6 metres."


def passage(name: str, heading: str, *sentences: str, score: float = 10.0, title: str = "Tide mills") -> Passage:
    text, places = "", []
    for number, sentence in enumerate(sentences):
        start = len(text)
        text += sentence + "\n\n"
        places.append(Span(start, start + len(sentence), 2.0 - number / 10))
    return Passage(f"{name}#1", name, title, heading, text, 0, len(text), score=score, quotes=tuple(places))


def asked(
    question: str, *passages: Passage, abstain: str = "", confidence: float = 0.5, task: str = "",
    sides: tuple[str, ...] = (), learnings: tuple[str, ...] = (),
) -> ModelRequest:  # fmt: skip
    material = AnswerRequest(question=question, task=task or question, sides=sides, learnings=learnings)
    return showing(material, *passages, abstain=abstain, confidence=confidence)


def showing(material: msgspec.Struct, *passages: Passage, abstain: str = "", confidence: float = 0.5) -> ModelRequest:
    findings = SearchHits(passages, abstain, confidence)
    return ModelRequest(agent="analyzer", instructions="", material=material, findings=findings)


def texts(answered: Answer) -> list[str]:
    return [claim.text for claim in answered.claims]


def test_an_answer_quotes_word_for_word_and_stands_in_its_passage() -> None:
    found = passage("a", "Tide mills", STORES, DEFINES)
    said = answer(asked("How does a tide mill store water?", found))
    assert STORES in said.claims[0].text
    assert all(verify(claim, (found,)) == "supported" and claim.text == claim.quote for claim in said.claims)


def test_a_search_that_abstains_is_no_answer() -> None:
    said = answer(asked("Who painted the mill?", passage("a", "Tide mills", DEFINES), abstain="Nobody says."))
    assert said == Answer()
    assert answer(asked("Who painted the mill?")) == Answer()


def test_what_leans_on_a_sentence_that_is_not_there_is_not_quoted() -> None:
    assert texts(answer(asked("When do the gates of oak open?", passage("a", "Gates", OPENS)))) == []


def test_two_sources_that_say_the_same_are_quoted_once_unless_their_figures_differ() -> None:
    one = passage("a", "Tide mills", "The tide mill opens its gates at 6 metres of water.")
    same = passage("b", "Tide mills", "The gates of the tide mill open at 6 metres of water.")
    other = passage("c", "Tide mills", "The tide mill opens its gates at 8 metres of water.")
    question = "When does a tide mill open its gates?"
    assert len(texts(answer(asked(question, one, same)))) == 1
    assert len(texts(answer(asked(question, one, other)))) == 2


@pytest.mark.req("DR-6")
def test_what_is_known_is_not_said_again() -> None:
    found = passage("a", "Tide mills", STORES)
    assert texts(answer(asked("How does a tide mill store water?", found, learnings=(STORES,)))) == []


@pytest.mark.req("DR-5")
def test_a_deeper_round_does_not_wander_from_the_subject_of_the_task() -> None:
    wandering = passage("b", "Benches > Sharpening", "The sharpening of saws takes an hour of work.", title="Benches")
    question = "Sharpening of saws"
    assert texts(answer(asked(question, wandering, task="How does a tide mill store water?"))) == []
    assert texts(answer(asked(question, wandering)))


def test_quotes_that_leave_no_word_unsaid_are_taken_for_an_answer() -> None:
    found = passage("a", "Tide mills", STORES, "Each tide mill of the coast can store the water of one night.")
    assert answer(asked("How does a tide mill store water?", found)).answered
    assert not answer(asked("How does a mill endure ice, storms and floods?", found)).answered
    assert answer(
        asked("How does a tide mill store water?", passage("a", "Tide mills", STORES), confidence=0.9)
    ).answered


words = st.lists(
    st.sampled_from(["the", "tide", "mill", "stores", "water", "gate", "opens", "night", "is", "a", "of", "pond", "6"]),
    min_size=5,
    max_size=14,
)
sentences = words.map(lambda each: f"The {' '.join(each)}.")


@given(st.lists(st.lists(sentences, min_size=1, max_size=5), max_size=6))
def test_every_claim_of_any_findings_verifies_and_they_are_few(pages: list[list[str]]) -> None:
    found = tuple(passage(f"p{n}", "Tide mills", *page) for n, page in enumerate(pages))
    said = answer(asked("How does a tide mill store water?", *found))
    assert len(said.claims) <= EXCERPTS
    assert all(verify(claim, found) == "supported" for claim in said.claims)
    assert len(set(texts(said))) == len(texts(said))
    assert said == answer(asked("How does a tide mill store water?", *found))


@pytest.mark.req("PR-6")
def test_a_landscape_is_what_stands_under_judging_headings_of_the_subject() -> None:
    good = passage("a", "Tide mills > Advantages", "A tide mill needs no wood to run.")
    alien = passage("b", "Saws > Advantages", "A saw needs no water at all to run.", title="Saws")
    rival = passage("c", "Tide mills > Alternatives > Wind mills", "A wind mill runs whenever there is some wind.")
    draft = landscape(showing(LandscapeRequest("Tide mills"), good, alien, rival))
    assert [each.text for each in draft.strengths] == ["A tide mill needs no wood to run."]
    assert [(each.name, len(each.claims)) for each in draft.competitors] == [("Wind mills", 1)]
    assert draft.weaknesses == ()


async def test_the_model_without_a_network_fills_every_shape_of_a_research() -> None:
    question = "What is a tide mill?"
    requests: dict[type[msgspec.Struct], msgspec.Struct] = {
        PlanDraft: PlanRequest(question=question, breadth=2), Answer: AnswerRequest(question=question, task=question),
        Overview: OverviewRequest(question), Landscape: LandscapeRequest(question),
    }  # fmt: skip
    for shape, request in requests.items():
        task = showing(request, passage("a", "Tide mills", DEFINES))
        filled = await extractive().fill(shape, task, within=1.0)
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


def test_under_a_heading_that_says_all_of_the_question_other_words_answer_it() -> None:
    below = passage("a", "Tide mills > Limitations", "The wheel does not turn at high water.")
    beside = passage("b", "Tide mills", "Tide mills have been built on this coast since the year 1100.")
    found = texts(answer(asked("What are the limitations of tide mills?", below, beside)))
    assert found == ["The wheel does not turn at high water."]
