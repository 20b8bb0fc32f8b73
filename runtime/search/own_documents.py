"""The own documents as a source: a result a document."""

from actors.evidence.passages import Passage
from actors.evidence.sources import SearchResult
from actors.ports import Knowledge, PortFailed
from runtime.knowledge import no_index_message
from runtime.search.results import KEY_POINTS, SUMMARY_CHARACTERS, TEXT_CHARACTERS, TITLE_CHARACTERS, line, shorten


async def search(knowledge: Knowledge, query: str, *, limit: int, within: float) -> tuple[SearchResult, ...]:
    """
    The documents that bear on a query, the best first; none when the search abstains.

    That nothing is indexed at all is a failure: the user can mend it.

    :raises PortFailed: with a sentence for the user.
    """
    findings = await knowledge.search(query, within=within, limit=3 * limit, hops=True)
    if not findings.passages and findings.abstain == no_index_message():
        raise PortFailed(findings.abstain)
    if findings.abstain:
        return ()
    best = max((each.score for each in findings.passages), default=1.0) or 1.0
    documents: dict[str, list[Passage]] = {}
    for passage in findings.passages:
        documents.setdefault(passage.source, []).append(passage)
    return tuple(_result(query, source, found, best) for source, found in documents.items())[:limit]


def _result(query: str, source: str, passages: list[Passage], best: float) -> SearchResult:
    """What a document's best passage says, then the others."""
    first, points = passages[0], list(dict.fromkeys(_quote(each) for each in passages))
    title = shorten(line(first.title, TEXT_CHARACTERS), TITLE_CHARACTERS) or source
    quality = round(max(0.0, min(1.0, first.score / best)), 3)
    return SearchResult(
        "knowledge", title, f"knowledge:{source}", points[0], tuple(points[1 : KEY_POINTS + 1]), quality, query
    )


def _quote(passage: Passage) -> str:
    text = passage.quotes[0].of(passage) if passage.quotes else passage.text
    return shorten(line(text, TEXT_CHARACTERS), SUMMARY_CHARACTERS)
