"""What a specialist reads first: all that its sources find, and what is not there."""

import msgspec
import pytest

from actors.evidence.passages import SearchHits
from actors.evidence.shortfalls import Shortfall
from actors.legal.gathering import LegalQuery, LegalSource, gather
from actors.ports import PortFailed
from tests.actors.legal.answering import NOTICE

NONE = "No cases have been imported yet."
FOUND = SearchHits((NOTICE,))
EMPTY = SearchHits(abstain=NONE)


def make_source(hits: SearchHits) -> LegalSource:
    async def search(query: LegalQuery, within: float) -> SearchHits:
        return hits

    return LegalSource("a_tool", "source_cases", search)


@pytest.mark.parametrize(
    ("sources", "why"),
    [((EMPTY, FOUND), NONE), ((FOUND, EMPTY), ""), ((EMPTY, SearchHits()), NONE), ((FOUND, FOUND), "")],
)
async def test_what_the_first_source_lacks_is_said_though_another_finds_something(
    sources: tuple[SearchHits, ...], why: str
) -> None:
    query = LegalQuery("Which cases are there?", "en", {})

    gathered = await gather([make_source(each) for each in sources], query, lambda: 9.0)

    assert gathered.why == why


async def test_what_the_sources_did_not_look_at_is_kept_and_so_is_who_failed() -> None:
    async def fail(query: LegalQuery, within: float) -> SearchHits:
        raise PortFailed("No disk.")

    slow = Shortfall("no_meaning", "It took too long.")
    sources = [
        make_source(msgspec.structs.replace(FOUND, incomplete=(slow,))), LegalSource("a_tool", "source_cases", fail),
    ]  # fmt: skip

    gathered = await gather(sources, LegalQuery("Which cases are there?", "en", {}), lambda: 9.0)

    assert gathered.hits.incomplete == (slow, Shortfall("source_failed", *gathered.unavailable))
