"""A superlative of a claim is that of its quote, in other words perhaps, but not another one."""

import pytest

from actors.evidence.claims import Claim, check
from actors.evidence.passages import Passage


def judge(claim: str, quote: str) -> str:
    passage = Passage("a#1", "a", "Caches", "Eviction", quote, 0, len(quote))
    return check(Claim(claim, 1, quote), (passage,)).verdict


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Halyard evicts the largest entry first.", "A full Halyard evicts the least recently used entry."),
        ("The most recently used entry is evicted.", "Halyard evicts the least recently used entry."),
        ("The fastest server is asked.", "Halyard asks the nearest server."),
    ],
)
def test_another_superlative_of_the_same_thing_is_no_claim_of_its_quote(claim: str, quote: str) -> None:
    assert judge(claim, quote) == "contradicted"


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Halyard keeps the biggest entry.", "The largest entry is kept by Halyard."),
        ("Halyard evicts the oldest entry.", "Halyard evicts the least recently used entry."),
        ("The smallest table is hashed.", "The largest table is scanned and the smallest table is hashed."),
        ("Halyard logs each request entry.", "Halyard logs the entry of each request; the oldest request entry goes."),
    ],
)
def test_the_same_superlative_in_other_words_stands(claim: str, quote: str) -> None:
    assert judge(claim, quote) == "supported"
