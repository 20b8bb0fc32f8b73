"""The tools of the user's own: a Python file that says in `TOOLS` which of its functions they are."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import msgspec

from runtime.plugins import ModuleError, load_module
from runtime.tools.function_tool import InvalidTool, make_arguments, make_result, make_tool
from runtime.tools.tool import Tool, ToolResult

SETTING = "[agents] tools"
NO_TOOLS = "it has no `TOOLS`. Name there the functions that are tools, such as `TOOLS = [look_up]`."


def load_own(path: str, taken: Collection[str]) -> dict[str, Tool]:
    """
    The tools of a file, by name.

    :param taken: names that are in use.
    :raises ConfigError: the file cannot be loaded, or something in it is no tool.
    """
    file = Path(path)
    found = getattr(load_module(file, SETTING), "TOOLS", None)
    if not isinstance(found, Iterable) or isinstance(found, str):
        raise ModuleError(file, 1, NO_TOOLS)
    tools: dict[str, Tool] = {}
    for each in found:
        try:
            tool = each if isinstance(each, Tool) else make_tool(each)
        except InvalidTool as error:
            raise ModuleError(file, error.line, str(error)) from None
        if tool.name in taken or tool.name in tools:
            line = each.__code__.co_firstlineno if hasattr(each, "__code__") else 1
            whose = "the name of a tool that ships" if tool.name in taken else "there twice"
            raise ModuleError(file, line, f"the tool {tool.name} is {whose}. Choose another name.")
        tools[tool.name] = tool
    return tools


def call_function(file: str, name: str, arguments: dict[str, Any]) -> ToolResult:
    """In a worker process: call a function of a file."""
    function = getattr(load_module(Path(file), SETTING), name)
    given = msgspec.convert(arguments, make_arguments(function))
    return make_result(function(**msgspec.structs.asdict(given)))
