"""What a specialist reads before it answers: what those of its tools find that search."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from actors.evidence.passages import SearchHits
from actors.evidence.shortfalls import Shortfall, merge_shortfalls
from actors.ports import PortFailed
from actors.text.catalogue import say_name

SHARE = 0.4
"""Of the time that is left: what all sources together may take before the specialist goes on without them."""


class LegalQuery(NamedTuple):
    """What is looked for."""

    text: str
    language: str
    fields: Mapping[str, float]
    """Of law, each with how sure it is that the question is of it, 0 to 1."""


class LegalSource(NamedTuple):
    """Something that can be searched for a legal question."""

    tool: str
    """As agents' files name it."""
    called: str
    """As the catalogue names it to people."""
    search: Callable[[LegalQuery, float], Awaitable[SearchHits]]
    """Of a query and seconds; raises `PortFailed` where the tool is to be done without."""


class Gathered(NamedTuple):
    hits: SearchHits
    """Of all sources, the first one's first."""
    unavailable: tuple[str, ...]
    """Sources that failed, as people call them."""
    why: str
    """Why nothing was found, or what of the question is not there: an article that it names, say."""


async def gather(sources: Sequence[LegalSource], query: LegalQuery, seconds: Callable[[], float]) -> Gathered:
    """
    Ask each source; one that fails is skipped, which the answer says, as it says what the first one lacks.

    :param seconds: how many are left.
    """
    found: list[SearchHits] = []
    main = SearchHits()
    unavailable: list[str] = []
    for place, source in enumerate(sources):
        try:
            found.append(await source.search(query, seconds() * SHARE / (len(sources) - place)))
            main = main if place else found[0]
        except PortFailed:
            unavailable.append(say_name(source.called, query.language))
    passages = {each.id: each for hits in found for each in hits.passages}
    failed = (Shortfall("source_failed", each) for each in unavailable)
    incomplete = merge_shortfalls(*(each.incomplete for each in found), failed)
    told = (each.abstain for each in found if each.abstain and (each is main or each.passages or not passages))
    why = next(told, "")
    return Gathered(SearchHits(tuple(passages.values()), why, incomplete=incomplete), tuple(unavailable), why)
