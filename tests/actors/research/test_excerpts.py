"""Excerpts: long enough to be understood, and no longer than what bears on the question."""

import msgspec

from actors.evidence.claims import Claim, verify
from actors.evidence.passages import Meaning, Passage, SearchHits, Sentence, Span
from actors.extractive.query_profile import asked_by
from actors.ports import ModelRequest
from actors.research.excerpts import EXCERPTS, LEAST_COSINE, LONGEST, NEAR_COSINE, OF_A_SECTION, excerpts
from actors.research.extractive_answers import answer
from actors.research.output_schemas import Answer, AnswerRequest

QUESTION = "How does a tide mill store water?"
OPENS = "A tide mill is driven by the tide. Its pond is filled at high water."
STORES = "The tide mill stores water in the pond behind its gates."
STEPS = "To fill the pond of a tide mill:\n\n- open the gates at low water\n- close them at high water"
STRANGE = "Bakers like their flour coarse. They pay for it in eggs."


def passage(text: str, quoted: str, heading: str = "Tide mills", number: int = 1) -> Passage:
    start = text.index(quoted)
    place = Span(start, start + len(quoted), 2.0)
    return Passage(f"a#{number}", "a", "Mills", heading, text, 0, len(text), score=10.0, quotes=(place,))


def found(*passages: Passage, begins: tuple[int, ...] = ()) -> list[str]:
    return [each.text for each in excerpts(SearchHits(passages, begins=begins), asked_by(QUESTION, QUESTION))]


def test_an_excerpt_is_its_paragraph_and_the_steps_that_go_on_with_it() -> None:
    (said,) = found(passage(f"{STORES} It is full twice a day.\n\n{STEPS}\n\n{STRANGE}", STORES, "Old works"))

    assert said == f"{STORES} It is full twice a day.\n\n{STEPS}"


def test_an_excerpt_begins_where_it_can_be_understood_and_ends_before_an_introduction_of_nothing() -> None:
    text = f"{OPENS} {STORES} The steps for the water of the tide mill are:\n\n| step |\n| --- |"

    (said,) = found(passage(text, STORES))

    assert said == f"{OPENS} {STORES}"


def test_no_excerpt_is_longer_than_its_bound() -> None:
    more = " ".join(f"The tide mill number {n} stores its water for {n} hours." for n in range(60))

    said = found(passage(f"{STORES}\n\n{more}", STORES))

    assert said
    assert all(len(each) <= LONGEST for each in said)


def test_where_a_section_of_the_question_begins_is_quoted_before_a_detail_of_it() -> None:
    detail = passage(
        "When the water is high the tide mill stores it in three ponds.", "When the water is high", number=2
    )
    opening = passage("Most mills by the sea store water. They wait for the ebb.", "Most mills by the sea")

    assert found(detail, opening, begins=(2,))[0].startswith("Most mills by the sea")
    assert found(detail, opening)[0].startswith("When the water")


def test_of_one_section_there_are_few_excerpts_and_of_all_no_more_than_are_read_at_once() -> None:
    lines = [f"The tide mill of {name} stores water for {n} hours." for n, name in enumerate("ABCDEFGH", 3)]
    one = [passage(line, line, number=n) for n, line in enumerate(lines)]
    several = [passage(line, line, f"Tide mills > Mill {n}", n) for n, line in enumerate(lines)]

    assert len(found(*one)) <= OF_A_SECTION
    assert len(found(*several)) == EXCERPTS


def test_every_excerpt_stands_in_its_passage_as_it_is() -> None:
    page = passage(f"{OPENS}\n\n{STORES} It is full twice a day.\n\n{STEPS}", STORES)

    assert all(verify(Claim(said, 1, said), (page,)) == "supported" for said in found(page))


def by_meaning(*cosines: float, begins: tuple[int, ...] = (), weighed: int = 2) -> SearchHits:
    """Passages of one sentence each, with what a search knows of their meaning."""
    texts = ("Gates of oak open by themselves at the ebb.", "How a tide mill stores water was sung of by many poets.")
    passages = tuple(passage(text, text, f"Mills > Part {n}", n) for n, text in enumerate(texts[: len(cosines)], 1))
    places = [
        Sentence(n, Span(0, len(each.text), cosine))
        for n, (each, cosine) in enumerate(zip(passages, cosines, strict=True), 1)
    ]
    meaning = Meaning(max(cosines), cosines, tuple(sorted(places[:weighed], key=lambda each: -each.place.score)))
    return SearchHits(passages, meaning=meaning, begins=begins)


def of(hits: SearchHits) -> list[str]:
    return [each.text for each in excerpts(hits, asked_by(QUESTION, QUESTION))]


def test_what_means_what_is_asked_comes_before_what_only_has_its_words() -> None:
    assert of(by_meaning(0.8, 0.35))[0].startswith("Gates of oak")
    assert of(by_meaning(0.35, 0.8))[0].startswith("How a tide mill")


def test_what_is_far_from_the_question_in_meaning_is_no_excerpt() -> None:
    assert of(by_meaning(LEAST_COSINE - 0.01)) == []
    assert of(by_meaning(LEAST_COSINE + 0.01)) != []


def test_the_beginning_of_a_section_counts_by_the_meaning_of_its_passage_where_its_sentences_were_not_weighed() -> None:
    assert of(by_meaning(0.4, 0.8, begins=(2,), weighed=1))[0].startswith("How a tide mill")
    assert of(by_meaning(0.4, 0.8, weighed=1))[0].startswith("Gates of oak")


def test_a_sentence_near_enough_is_taken_for_an_answer_whatever_the_search_says_of_a_word() -> None:
    asked = AnswerRequest(question=QUESTION, task=QUESTION)

    def said(cosine: float) -> Answer:
        hits = msgspec.structs.replace(by_meaning(cosine), abstain="The documents do not speak of 'told'.")
        return answer(ModelRequest(agent="analyzer", instructions="", material=asked, findings=hits))

    assert said(NEAR_COSINE).answered
    assert said(NEAR_COSINE - 0.01) == Answer()


def test_where_it_is_asked_what_a_thing_is_what_says_so_comes_before_what_only_speaks_of_it() -> None:
    speaks, defines = "The sluice gate is often jammed by ice.", "Each pond has a door called the sluice gate."
    other, opened = "A sluice gate is a door that holds back the pond.", "Ice never stops a sluice gate of iron."
    asked = asked_by("What is a sluice gate?", "What is a sluice gate?")

    def first(one: str, two: str) -> str:
        hits = SearchHits((passage(one, one, "Works", 1), passage(two, two, "Yard", 2)))
        return excerpts(hits, asked)[0].text

    assert first(speaks, defines) == defines
    assert first(opened, other) == other
