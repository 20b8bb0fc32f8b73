"""What a legal specialist reads before it answers: its search tools, called as a model calls them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

import msgspec

from actors.documents.template import Document
from actors.evidence.passages import SearchHits
from actors.legal.answer_form import AnswerForm
from actors.legal.case_table import plan_comparison
from actors.legal.contract_review import plan_review
from actors.legal.drafter import Create
from actors.legal.gathering import Gathered, LegalQuery, LegalSource
from actors.legal.messages import AnswerQuestion
from actors.legal.specialist import PlanForm
from actors.ports import Documents, PortFailed
from actors.roster import AgentSpec
from runtime.tools.shipped import case_search, create_document, regulation_search, search_knowledge
from runtime.tools.tool import InvalidArguments, Tool, ToolContext
from runtime.tools.toolbox import OfferedTools, call_tool


def ask_articles(query: LegalQuery) -> msgspec.Struct:
    """The question, with the fields of law that it is of."""
    fields = tuple(regulation_search.FieldOfLaw(*each) for each in query.fields.items())
    return regulation_search.Articles(query.text, fields)


ARGUMENTS: dict[str, Callable[[LegalQuery], msgspec.Struct]] = {
    "case_search": lambda query: case_search.Cases(query.text),
    "regulation_search": ask_articles,
    "search_knowledge": lambda query: search_knowledge.Question(query.text),
}
"""By the tools that are called with every question: they search what this installation was given."""


def list_sources(offered: OfferedTools) -> Sequence[LegalSource]:
    """Of the tools that an agent may call those that it begins with."""
    return [make_source(each, offered.own) for each in offered.tools if each.name in ARGUMENTS]


def make_source(tool: Tool, own: ToolContext) -> LegalSource:
    """A tool as a specialist asks it."""

    async def search(query: LegalQuery, within: float) -> SearchHits:
        loop = asyncio.get_running_loop()
        result, failed = await call_tool(tool, ARGUMENTS[tool.name](query), own, within, loop)
        if result is None:
            raise PortFailed(failed)
        return SearchHits(result.passages, abstain=result.text, incomplete=result.incomplete)

    return LegalSource(tool.name, tool.title or tool.name, search)


def make_creator(offered: OfferedTools) -> Create:
    """How a document is made of what a person gave: as a model would have it made."""

    async def create(template: str, values: Mapping[str, str], said: str, within: float) -> Document:
        given = tuple(create_document.Value(field, value, value) for field, value in values.items())
        order, own = create_document.Order(template, given), offered.own._replace(said=said)
        tool = next((each for each in offered.tools if each.name == create_document.TOOL.name), None)
        if tool is None:
            raise PortFailed(f"No document can be made: put {create_document.TOOL.name} among the agent's `tools`.")
        try:
            result, failed = await call_tool(tool, order, own, within, asyncio.get_running_loop())
        except InvalidArguments as error:
            raise PortFailed(str(error)) from error
        if result is None or result.document is None:
            raise PortFailed(failed or "The document could not be made. Try again.")
        return result.document

    return create


def plan_form(spec: AgentSpec, sources: Sequence[LegalSource], documents: Documents) -> PlanForm | None:
    """Another form of answer than statements: the review of a contract, for whoever has cases a table of them."""
    tools = {each.tool: each for each in sources}
    statutes = tools.get(regulation_search.TOOL.name)

    async def compare(asked: AnswerQuestion, found: Gathered, within: float) -> AnswerForm | None:  # noqa: ARG001
        return plan_comparison(asked.text, found.hits.passages, asked.language, asked.shared)

    async def review(asked: AnswerQuestion, found: Gathered, within: float) -> AnswerForm | None:  # noqa: ARG001
        async def look_up(articles: str) -> SearchHits:
            assert statutes is not None  # noqa: S101 - see below
            return await statutes.search(LegalQuery(articles, asked.language, {}), within)

        law = look_up if statutes else None
        return await plan_review(asked.text, asked.language, asked.shared, law, documents, within)

    if any(each.name == "contract_review" for each in spec.intents):
        return review
    return compare if case_search.TOOL.name in tools else None
