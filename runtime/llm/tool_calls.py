"""What a model that thinks about an answer may call: within a bound, each call in its time, what fails done without."""

import functools
from collections.abc import Callable
from typing import Any

import msgspec

from actors.documents.template import Document
from actors.evidence.passages import Passage
from actors.evidence.shortfalls import Shortfall, merge_shortfalls
from bus import Clock
from runtime.llm import prompt
from runtime.llm.output_schema import outline_of, strict_schema
from runtime.tools.tool import InvalidArguments, Tool, ToolContext, ToolResult
from runtime.tools.tool_call import call_tool
from runtime.tools.toolbox import OfferedTools

RESULT_CHARACTERS = 16_000
PASSAGES = 32
"""The most of one call that is shown."""
NO_MORE = "No more calls: answer with what you have."
LEFT_OUT = "{name} failed and is done without: answer with what you have."


class ToolCalls:
    """The tools of one answer in the making, and what came of them."""

    __slots__ = (
        "_clock", "_fence", "_limit", "_on_call", "_own", "_passages", "_skipped", "_tools", "document",
        "incomplete", "left", "texts",
    )  # fmt: skip

    def __init__(
        self, offered: OfferedTools | None, clock: Clock, fence: str, passages: list[Passage], calls: int, limit: int,
        on_call: Callable[[str], object] | None = None,
    ) -> None:  # fmt: skip
        """
        :param passages: what the model was shown; what it finds is put behind that.
        :param calls: how many it may make.
        :param limit: the most characters of one passage.
        :param on_call: is told the name of each tool before it is called.
        """
        self._on_call = on_call
        self._own = offered.own if offered else None
        self._tools = {each.name: each for each in offered.tools} if offered else {}
        self._clock, self._fence, self._passages, self._limit = clock, fence, passages, limit
        self._skipped: dict[str, str] = {}
        self.left = calls if self._tools else 0
        self.texts: list[str] = []
        """What tools said besides passages."""
        self.document: Document | None = None
        """What a tool made for the person, the last of them."""
        self.incomplete: tuple[Shortfall, ...] = ()
        """What searches of tools did not look at."""

    @property
    def skipped(self) -> tuple[str, ...]:
        """What was done without, by the titles of the tools."""
        return tuple(self._skipped.values())

    @property
    def definitions(self) -> list[msgspec.Raw]:
        """The tools as the protocol has them."""
        return [define(each) for each in self._tools.values()]

    async def answer(self, name: str, arguments: str, seconds: float) -> str:
        """
        What a model is told of a call: never an exception's own words.

        :param seconds: what the call may take, with another try.
        """
        if self.left <= 0 or self._own is None:
            return NO_MORE
        tool = self._tools.get(name)
        self.left -= max(1, tool.counts) if tool else 1
        if tool is None:
            return f"There is no such tool; there is only {', '.join(self._tools)}."
        if name in self._skipped:
            return LEFT_OUT.format(name=name)
        try:
            given = msgspec.json.decode(arguments or "{}", type=tool.arguments, strict=False)
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            return explain_arguments(tool, str(error))
        return await self._call(self._own, tool, given, arguments, seconds)

    async def _call(self, own: ToolContext, tool: Tool, given: Any, arguments: str, seconds: float) -> str:
        if self._on_call is not None:
            self._on_call(tool.name)
        try:
            result, _ = await call_tool(tool, given, own, seconds, self._clock, arguments)
        except InvalidArguments as error:
            return explain_arguments(tool, str(error))
        if result is None:
            self._skipped[tool.name] = title = tool.title or tool.name
            if tool.searches:
                self.incomplete = merge_shortfalls(self.incomplete, [Shortfall("source_failed", title)])
            return LEFT_OUT.format(name=tool.name)
        self.document = result.document or self.document
        self.incomplete = merge_shortfalls(self.incomplete, result.incomplete)
        return self._render(tool.name, result)

    def _render(self, name: str, result: ToolResult) -> str:
        """Number what is new behind what was shown, and say which numbers the rest has."""
        numbers = {each.id: number for number, each in enumerate(self._passages, 1)}
        parts: list[str] = []
        if result.text:
            self.texts.append(result.text[:RESULT_CHARACTERS])
            parts.append(prompt.fence_text(self._fence, f"result of {name}", result.text, RESULT_CHARACTERS))
        for each in result.passages[:PASSAGES]:
            if each.id in numbers:
                parts.append(f"Already shown: [{numbers[each.id]}]")
                continue
            self._passages.append(each)
            numbers[each.id] = number = len(self._passages)
            parts.append(prompt.passage_block(self._fence, number, each, self._limit))
        return "\n\n".join(parts) or "It said nothing."


@functools.cache
def define(tool: Tool) -> msgspec.Raw:
    """A tool as the protocol has it, with the schema of its arguments."""
    schema, strict = strict_schema(tool.arguments)
    schema.pop("description", None)
    function = {"name": tool.name, "description": tool.description, "strict": strict, "parameters": schema}
    return msgspec.Raw(msgspec.json.encode({"type": "function", "function": function}))


def explain_arguments(tool: Tool, problem: str) -> str:
    """How a tool is called, for a model that called it otherwise."""
    count = len(tool.arguments.__struct_fields__)
    takes = "one argument" if count == 1 else f"{count} arguments"
    reason = " ".join(problem.encode("utf-8", "replace").decode().split())[:200]
    return f"{tool.name} takes {takes}: {outline_of(tool.arguments)}. Nothing was done ({reason})."
