"""The statutes, looked up and searched: the articles that a question names or comes near, in the version of a day."""

from typing import Annotated

import msgspec
from msgspec import Meta

from actors.evidence.trace_steps import BY_MODEL, make_search_step
from actors.statutes.articles import show_articles
from actors.text.languages import guess_language
from runtime.knowledge.knowledge_index import StatuteIndex
from runtime.times import is_day
from runtime.tools.tool import InvalidArguments, Tool, ToolContext, ToolResult

QUERY_CHARACTERS = 20_000


class FieldOfLaw(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(description="Such as civil_law, criminal_law, social_labor_law.")]
    sure: float = 1.0


class Articles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments."""

    query: Annotated[
        str, Meta(description="A question, or articles by name: 《name of the law》第X条. Articles are looked up.")
    ]
    fields: Annotated[
        tuple[FieldOfLaw, ...], Meta(description="Fields of law that it is of, each with how sure; may be empty.")
    ] = ()
    on: Annotated[
        str, Meta(description="The day whose law counts, as YYYY-MM-DD; empty: that of the question, else today.")
    ] = ""


async def search(asked: Articles, own: ToolContext, within: float) -> ToolResult:
    """
    Articles in force, each with its citation.

    :raises PortFailed: the statutes cannot be read.
    """
    query = asked.query.strip()[:QUERY_CHARACTERS]
    if not query:
        raise InvalidArguments("the query is empty")
    if asked.on and not is_day(asked.on):
        raise InvalidArguments("`on` is a day, written as YYYY-MM-DD")
    statutes = StatuteIndex(own.ports.folder, own.ports.workers)
    fields = {each.name: each.sure for each in asked.fields}
    hits = show_articles(await statutes.search(query, within=within, on=asked.on, fields=fields), guess_language(query))
    own.trace.note(make_search_step(BY_MODEL, query, "regulation_search", hits))
    return ToolResult(hits.abstain, hits.passages)


TOOL = Tool(
    "regulation_search", "Look up articles of statutes in force by their names, or search them by a question.",
    Articles, search, title="source_statutes", searches=True,
)  # fmt: skip
