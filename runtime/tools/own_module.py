"""The tools of the user's own: a Python file that says in `TOOLS` which of its functions they are."""

import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from runtime.settings import ConfigError
from runtime.tools.function_tool import InvalidTool, make_arguments, make_result, make_tool
from runtime.tools.tool import Tool, ToolResult

MODULE = "terminus_own_tools"
REASON_CHARACTERS = 200
NO_TOOLS = "it has no `TOOLS`. Name there the functions that are tools, such as `TOOLS = [look_up]`."

_loaded: dict[tuple[str, int], ModuleType] = {}


class OwnToolsError(ConfigError):
    """The user's module cannot be used. One sentence: where, and what is wrong."""

    def __init__(self, file: Path, line: int, sentence: str) -> None:
        super().__init__(f"{file}, line {line}: {sentence}")


def load_own(path: str, taken: Collection[str]) -> dict[str, Tool]:
    """
    The tools of a file, by name.

    :param taken: names that are in use.
    :raises ConfigError: the file cannot be loaded, or something in it is no tool.
    """
    file = Path(path)
    found = getattr(load_module(file), "TOOLS", None)
    if not isinstance(found, Iterable) or isinstance(found, str):
        raise OwnToolsError(file, 1, NO_TOOLS)
    tools: dict[str, Tool] = {}
    for each in found:
        try:
            tool = each if isinstance(each, Tool) else make_tool(each)
        except InvalidTool as error:
            raise OwnToolsError(file, error.line, str(error)) from None
        if tool.name in taken or tool.name in tools:
            line = each.__code__.co_firstlineno if hasattr(each, "__code__") else 1
            whose = "the name of a tool that ships" if tool.name in taken else "there twice"
            raise OwnToolsError(file, line, f"the tool {tool.name} is {whose}. Choose another name.")
        tools[tool.name] = tool
    return tools


def load_module(file: Path) -> ModuleType:
    """
    The module of a file, carried out once as long as it stays as it is.

    :raises ConfigError: it cannot be loaded.
    """
    try:
        key = (str(file.absolute()), file.stat().st_mtime_ns)
        if key not in _loaded:
            _loaded[key] = _carry_out(file)
    except OSError as error:
        why = f"({error.strerror})" if error.strerror else ""
        raise ConfigError(f"The module that [agents] tools names, {file}, cannot be read {why}.") from None
    return _loaded[key]


def _carry_out(file: Path) -> ModuleType:
    source = file.read_bytes()
    name = f"{MODULE}_{len(_loaded)}"
    module = ModuleType(name)
    module.__file__ = str(file.absolute())
    sys.modules[name] = module  # types look there for what their annotations name
    try:
        exec(compile(source, module.__file__, "exec"), module.__dict__)  # noqa: S102 - it is the user's own program
    except SyntaxError as error:
        raise OwnToolsError(file, error.lineno or 1, f"this is not Python ({error.msg}).") from None
    except (Exception, SystemExit) as error:
        why = " ".join(str(error).split())[:REASON_CHARACTERS] or type(error).__name__
        raise OwnToolsError(file, _find_line(error, module.__file__), f"it cannot be loaded ({why}).") from None
    return module


def _find_line(error: BaseException, file: str) -> int:
    """Where in a file something was raised, the innermost place."""
    line, step = 1, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == file:
            line = step.tb_lineno
        step = step.tb_next
    return line


def call_function(file: str, name: str, arguments: dict[str, Any]) -> ToolResult:
    """In a worker process: call a function of a file."""
    function = getattr(load_module(Path(file)), name)
    given = msgspec.convert(arguments, make_arguments(function))
    return make_result(function(**msgspec.structs.asdict(given)))
