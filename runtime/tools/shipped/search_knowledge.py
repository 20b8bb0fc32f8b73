"""The knowledge base, searched by a model that wants to know more than it was shown."""

from typing import Annotated

import msgspec
from msgspec import Meta

from actors.evidence.trace_steps import BY_MODEL
from actors.text.languages import guess_language
from runtime.observe.run_trace import TracedKnowledge
from runtime.tools.tool import InvalidArguments, Tool, ToolContext, ToolResult

QUESTION_CHARACTERS = 1000
NOTHING_FOUND = "No passages were found."


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments."""

    question: Annotated[str, Meta(description="One question, in plain words.")]


async def search(asked: Question, own: ToolContext, within: float) -> ToolResult:
    """
    The passages that bear on a question.

    :raises PortFailed: the search failed.
    """
    question = asked.question.strip()[:QUESTION_CHARACTERS]
    if not question:
        raise InvalidArguments("the question is empty")
    knowledge = TracedKnowledge(own.ports.knowledge, own.trace, BY_MODEL)
    found = await knowledge.search(question, within=within)
    nothing = "" if found.passages else found.explain(guess_language(question)) or NOTHING_FOUND
    return ToolResult(nothing, found.passages, incomplete=found.incomplete)


TOOL = Tool(
    "search_knowledge", "Search the knowledge base for passages that bear on a question.", Question, search,
    title="knowledge_search", searches=True,
)  # fmt: skip
