"""What a specialist reads before it answers: the sources that its tools name, each asked twice at most."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from actors.evidence.passages import Passage, SearchHits
from actors.evidence.trace_steps import make_search_step
from actors.ports import PortFailed, Trace
from actors.text.catalogue import say

TRIES = 2
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
    """Of a query and seconds; raises `PortFailed` with a sentence for the user."""


class Gathered(NamedTuple):
    hits: SearchHits
    """Of all sources, the first one's first; `confidence` is the best of them."""
    unavailable: tuple[str, ...]
    """Sources that failed twice, as people call them."""
    why: str
    """Why nothing was found, or what of the question is not there: an article that it names, say."""


async def gather(
    sources: Sequence[LegalSource], query: LegalQuery, seconds: Callable[[], float], by: str, trace: Trace
) -> Gathered:
    """
    Ask each source; one that fails is asked once more, then skipped, which the answer says.

    :param seconds: how many are left.
    """
    found: list[SearchHits] = []
    unavailable: list[str] = []
    for place, source in enumerate(sources):
        share = SHARE / (len(sources) - place)
        hits = await _try(source, query, lambda share=share: seconds() * share)  # type: ignore[misc]
        if hits is None:
            unavailable.append(say(source.called, query.language))
        else:
            trace.note(make_search_step(by, query.text, source.tool, hits, None))
            found.append(hits)
    passages: Mapping[str, Passage] = {each.id: each for hits in found for each in hits.passages}
    best = max(found, key=lambda each: each.confidence, default=SearchHits())
    merged = msgspec.structs.replace(best, passages=tuple(passages.values()), words=(), meaning=None)
    why = next((each.explain(query.language) for each in found if each.abstain), "")
    return Gathered(merged, tuple(unavailable), why)


async def _try(source: LegalSource, query: LegalQuery, seconds: Callable[[], float]) -> SearchHits | None:
    for _ in range(TRIES):
        try:
            return await source.search(query, seconds())
        except (PortFailed, TimeoutError):
            continue
    return None
