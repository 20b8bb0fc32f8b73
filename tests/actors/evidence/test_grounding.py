"""What a reworded statement may not add."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.claims import Claim
from actors.evidence.grounding import Shown, adds, plainly, presumes
from actors.evidence.passages import Passage
from actors.research.learnings import verify_claims

QUOTE = "The cache of Halyard holds 4096 entries, which the guide calls “a safe limit”."
PASSAGE = Passage("a#1", "a", "Halyard guide", "Limits", f"{QUOTE} It was made in Oslo.", 0, 99)
SHOWN = Shown((PASSAGE,), "Does Halyard need Linux?")


@pytest.mark.parametrize(
    "text",
    [
        'The cache holds 4096 entries; "we will raise it soon", the maintainers say.',
        "The cache holds 4096 entries, „und das bleibt so“.",
        "The cache of Halyard holds 4096 entries, according to halyard.example.",
        "According to the Mozilla Foundation, the cache holds 4096 entries.",
        "The cache of Halyard holds 4096 entries, more than that of Redis.",
        "Gartner recommends the cache of Halyard for its 4096 entries.",
        "The cache of Halyard holds 4096 entries, as NASA found.",
        "The cache of Halyard holds 4096 entries, see [address removed].",
        "The cache of Halyard holds 4096 entries: run `halyard erase`.",
        "# Halyard\n\nThe cache holds 4096 entries.",
        "The cache <b>of Halyard</b> holds 4096 entries.",
        "| cache |\n|---|\n| 4096 entries |",
    ],
)
def test_quoted_words_hosts_and_names_that_nobody_read_are_additions(text: str) -> None:
    assert adds(Claim(text, 1, QUOTE), (PASSAGE,), SHOWN)


@pytest.mark.parametrize(
    "text",
    [
        QUOTE,
        "Halyard's cache holds 4096 entries.",
        "The cache holds 4096 entries, “a safe limit”.",
        "By its guide the cache of Halyard holds 4096 entries on Linux.",
        "Made in Oslo, the cache of Halyard holds 4096 entries.",
        "The cache (CHE) of Halyard holds 4096 entries.",
        "The cache of Halyard holds 4096 entries. However, that is a limit.",
        "Der Zwischenspeicher von Halyard fasst 4096 Einträge.",
        "Halyard 的缓存有 4096 个条目。",
    ],
)
def test_other_words_for_the_same_are_none(text: str) -> None:
    assert not adds(Claim(text, 1, QUOTE), (PASSAGE,), SHOWN)


def test_marks_of_citation_are_taken_out_of_a_claim_and_left_in_a_quote() -> None:
    assert plainly(Claim("It holds 4096 entries [7][2, 3].", 1, QUOTE)) == "It holds 4096 entries."
    assert plainly(Claim("It holds a[1] of them.", 1, "holds a[1] of")) == "It holds a[1] of them."


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("Why does Halyard evict 9000 entries?", True),
        ('What is meant by "a hard limit"?', True),
        ("What does halyard.example say of it?", True),
        ("See [address removed]", True),
        ("Why does Halyard hold 4096 entries?", False),
        ("What are the 2 ways to use SHA-256 on Linux?", False),
        ("Who is behind Halyard?", False),
    ],
)
def test_a_question_takes_nothing_for_granted_that_nobody_said(text: str, does: bool) -> None:
    assert presumes(text, SHOWN) == does


@given(text=st.text(max_size=400), number=st.integers(-3, 9))
def test_any_claim_is_judged(text: str, number: int) -> None:
    claim = Claim(text, number, QUOTE)
    assert adds(claim, (PASSAGE,), SHOWN) in {True, False}
    assert "\n" not in plainly(claim)


@pytest.mark.parametrize("piece", ["a.", "A ", '"', "<a ", "`a", "[a", "1.", "A\n", "“a", "# "])
def test_what_is_long_and_odd_is_judged_at_once(piece: str) -> None:
    text = piece * 50_000
    began = time.process_time()
    presumes(text, SHOWN)
    plainly(Claim(text, 1, QUOTE))
    verify_claims([Claim(text, 1, QUOTE), Claim(text[:1000], 1, QUOTE)], (PASSAGE,), 1)
    assert time.process_time() - began < 1.0
