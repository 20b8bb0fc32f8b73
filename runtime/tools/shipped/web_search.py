"""The web, searched by a model: titles and what the search says of each page, which the model may cite as such."""

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from actors.evidence.passages import Passage
from actors.evidence.sources import SearchResult
from actors.ports import PortFailed
from runtime.resilience.limiters import ResearchBudget
from runtime.search.source_registry import load_sources
from runtime.tools.tool import InvalidArguments, Tool, ToolContext, ToolResult

if TYPE_CHECKING:
    from runtime.settings import Settings

QUERY_CHARACTERS = 300
RESULTS = 6
NOTHING_FOUND = "No page was found."
NOWHERE = "No search of the web is configured: set TAVILY_API_KEY, or [duckduckgo] enabled."


class Query(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments."""

    query: Annotated[str, Meta(description="What to look for, as one types it into a search engine.")]


def list_sources(settings: "Settings") -> list[str]:
    """The configured sources whose results are pages of the web, the most trusted first."""
    return [
        name
        for name, source in load_sources().items()
        if not source.scheme and source.is_installed and source.configured(settings)
    ]


async def search(asked: Query, own: ToolContext, within: float) -> ToolResult:
    """
    What the best source finds; the next is asked when it finds nothing, or fails.

    :raises PortFailed: all of them failed.
    """
    query, names = asked.query.strip()[:QUERY_CHARACTERS], list_sources(own.ports.settings)
    if not query:
        raise InvalidArguments("the query is empty")
    if not names or own.effects is None:
        raise PortFailed(NOWHERE)
    limits = own.ports.settings.research
    budget = ResearchBudget({"pages": limits.pages, "credits": limits.credits}, own.effects)
    sources, failed = own.ports.sources.for_run(own.effects, budget), None
    for name in names:
        try:
            found = await sources.search(name, query, limit=RESULTS, within=within / len(names))
        except PortFailed as error:
            failed = error
            continue
        if pages := [each for each in found if isinstance(each, SearchResult)][:RESULTS]:
            return ToolResult(passages=tuple(map(make_passage, pages)))
        failed = None
    if failed is not None:
        raise failed
    return ToolResult(NOTHING_FOUND)


def make_passage(found: SearchResult) -> Passage:
    """What a search says of a page, as it was given: that is what can be cited, until the page itself is read."""
    text = "\n".join(dict.fromkeys(filter(None, (found.summary, *found.key_points)))) or found.title
    return Passage(f"{found.url}#search", found.url, found.title, "", text, 0, len(text))


TOOL = Tool(
    "web_search", "Search the web. What comes back is what the search says of each page, not the page.", Query, search,
    title="web_search", configured=lambda settings: bool(list_sources(settings)),
    remedy="set TAVILY_API_KEY, or [duckduckgo] enabled", searches=True,
)  # fmt: skip
