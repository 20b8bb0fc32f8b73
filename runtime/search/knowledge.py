"""The own documents as a source: a result a document."""

from actors.ports import Knowledge
from actors.research.ports import SearchResult

SUMMARY_CHARACTERS = 199


async def search(knowledge: Knowledge, query: str, *, limit: int, within: float) -> tuple[SearchResult, ...]:
    """The documents that bear on a query, the best first; none when the search abstains."""
    findings = await knowledge.search(query, within=within, limit=3 * limit, hops=True)
    if findings.abstain:
        return ()
    best = max((each.score for each in findings.passages), default=1.0) or 1.0
    results: dict[str, SearchResult] = {}
    for passage in findings.passages:
        quote = " ".join((passage.quotes[0].of(passage) if passage.quotes else passage.text).split())
        results.setdefault(
            passage.source,
            SearchResult(
                "knowledge", passage.title or passage.source, f"knowledge:{passage.source}",
                quote[:SUMMARY_CHARACTERS], quality=round(min(1.0, passage.score / best), 3), query=query,
            ),
        )  # fmt: skip
    return tuple(results.values())[:limit]
