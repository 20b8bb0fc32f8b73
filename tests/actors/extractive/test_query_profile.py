"""What a question is about, and what each of its words tells."""

from actors.evidence.passages import Passage
from actors.extractive.query_profile import Asked, asked_by, weigh


def asked(question: str, **weights: float) -> Asked:
    return asked_by(question, question, tuple(weights.items()))


def under(heading: str, title: str = "Tide mills") -> Passage:
    return Passage("a#1", "a", title, heading, "Gates are oiled.", 0, 16)


def test_a_rare_word_tells_more_than_a_common_one() -> None:
    told = weigh("How do I tune the sluice of a mill?", (("sluice", 6.0), ("mill", 1.0)))
    assert told["sluic"] > told["mill"] > 0


def test_a_word_that_no_document_has_tells_little_for_the_search_has_judged_it() -> None:
    told = weigh("Which mills are reimbursed?", (("mills", 2.0), ("reimbursed", 0.0)))
    assert told["mill"] > told["reimburs"] > 0


def test_headings_that_say_all_of_a_question_answer_it_with_all_that_stands_below_them() -> None:
    question = asked("What are the limitations of tide mills?")
    assert question.is_whole_answer(under("Tide mills > Limitations"))
    assert not question.is_whole_answer(under("Tide mills > Upkeep"))
    assert not question.is_whole_answer(under("Mills > gate_limit (integer)"))
