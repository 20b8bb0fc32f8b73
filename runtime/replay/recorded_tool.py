"""A tool whose calls are recorded as those of a port are, whoever makes them."""

from typing import Any

from runtime.replay.port_call import PortMethod
from runtime.replay.recorded_port import CALLER
from runtime.tools.tool import Tool, ToolContext, ToolResult


def record_tool(tool: Tool) -> Tool:
    """The same tool; what is asked of it are its arguments, and neither whose call it is nor how long it may take."""
    method = PortMethod(f"Tool.{tool.name}", awaited=True, called=True, result=ToolResult, listeners={})

    async def call(given: Any, own: ToolContext, within: float) -> ToolResult:
        if (caller := CALLER.get()) is None:
            return await tool.call(given, own, within)
        result: ToolResult = await caller.interceptor.ask(
            caller, method, lambda it: tool.call(it, own, within), (given,), {}
        )
        return result

    return tool._replace(call=call)
