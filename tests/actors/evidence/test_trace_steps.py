"""The steps of a trace as values: scores beside what was found, claims with their reasons, texts that carry no harm."""

import msgspec

from actors.evidence.claims import Claim
from actors.evidence.passages import Meaning, Passage, SearchHits
from actors.evidence.trace_steps import FOUND, AnswerStep, CheckedClaim, clip, make_claim, make_search_step

HOSTILE = "a\x1b[2Jb\u202ec\ud800d\n\te"


def passage(number: int) -> Passage:
    return Passage(f"kb/{number}.md#1", f"kb/{number}.md", "Title", f"Title > Part {number}", "Text.", 0, 5)


def test_what_a_search_found_stands_with_its_nearness_and_what_kept_it_out() -> None:
    hits = SearchHits(
        (passage(1), passage(2)), "The documents do not speak of 'x'.",
        meaning=Meaning(0.512, (None, 0.512)),
    )  # fmt: skip

    step = make_search_step("worker", "How?", "documents", hits)

    assert [(each.source, each.heading, each.meaning) for each in step.found] == [
        ("kb/1.md", "Title > Part 1", None),
        ("kb/2.md", "Title > Part 2", 0.51),
    ]
    assert (step.abstain, step.nearest) == ("The documents do not speak of 'x'.", 0.51)


def test_of_many_finds_the_best_are_kept_and_the_others_are_counted() -> None:
    hits = SearchHits(tuple(passage(n) for n in range(FOUND + 5)))

    step = make_search_step("worker", "How?", "documents", hits)

    assert (len(step.found), step.more) == (FOUND, 5)
    assert (len(step.abridge().found), step.abridge().more) == (2, FOUND + 3)


def test_an_answer_that_is_abridged_keeps_the_claims_that_were_not_kept() -> None:
    kept, dropped = CheckedClaim("", "a"), CheckedClaim("b", "c", fate="dropped", why="it says nothing")

    short = AnswerStep("worker", claims=(kept, dropped, kept)).abridge()

    assert (short.claims, short.more) == ((dropped,), 2)


def test_a_claim_that_only_quotes_is_not_kept_twice_and_one_of_no_passage_has_no_source() -> None:
    assert make_claim(Claim("Text.", 1, "Text. "), (passage(1),)) == CheckedClaim("", "Text.", "kb/1.md")
    assert make_claim(Claim("Said.", 9, "Text."), (passage(1),)) == CheckedClaim("Said.", "Text.")


def test_hostile_text_is_cut_to_one_line_that_every_encoding_carries() -> None:
    text = clip(HOSTILE * 1000, 50)

    assert len(text) <= 50
    assert not {"\x1b", "\n", "\t", "\ud800"} & set(text)
    assert msgspec.json.decode(msgspec.json.encode(text)) == text
