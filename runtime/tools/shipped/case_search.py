"""Decided cases, looked up by their numbers and searched: the summary and the key points of each."""

from typing import Annotated

import msgspec
from msgspec import Meta

from actors.evidence.case_passages import show_cases
from actors.evidence.trace_steps import BY_MODEL, make_search_step
from actors.text.languages import guess_language
from runtime.knowledge.knowledge_index import CaseStore
from runtime.tools.tool import InvalidArguments, Tool, ToolContext, ToolResult

QUERY_CHARACTERS = 2000
CASES = 6
"""So many cases are read for one question."""


class Cases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments."""

    query: Annotated[str, Meta(description="What the cases are to be about, or their numbers.")]


async def search(asked: Cases, own: ToolContext, within: float) -> ToolResult:
    """
    The cases that a question names, then those that bear on it.

    :raises PortFailed: the cases cannot be read.
    """
    query = asked.query.strip()[:QUERY_CHARACTERS]
    if not query:
        raise InvalidArguments("the query is empty")
    cases = CaseStore(own.ports.folder, own.ports.workers)
    hits = show_cases(await cases.search(query, limit=CASES, within=within), guess_language(query))
    own.trace.note(make_search_step(BY_MODEL, query, "case_search", hits))
    return ToolResult(hits.abstain, hits.passages)


TOOL = Tool(
    "case_search", "Look up decided cases by their numbers, or search them: summary and key points of each.", Cases,
    search, title="source_cases", searches=True,
)  # fmt: skip
