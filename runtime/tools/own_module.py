"""
The tools of the user's own: a Python file that says in `TOOLS` which of its functions they are.

A function's signature becomes the schema, its docstring what a model is told.
"""

import inspect
import re
import typing
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from actors.ports import PortFailed
from runtime.llm.output_schema import strict_schema
from runtime.plugins import ModuleError, load_module
from runtime.processes.pool import WorkFailed, WorkTimedOut
from runtime.tools.tool import InvalidArguments, Tool, ToolContext, ToolResult

if TYPE_CHECKING:
    from runtime.settings import Settings


CALL = "runtime.tools.own_module:call_function"
NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")
PARAMETER = re.compile(r"^:param (\w+):\s*(.*?)(?=^:|\Z)", re.MULTILINE | re.DOTALL)
DESCRIPTION_CHARACTERS = 2000
"""It is sent with every question."""


class InvalidTool(Exception):
    """A function cannot become a tool. The text is a sentence, without the place."""

    def __init__(self, sentence: str, line: int) -> None:
        super().__init__(sentence)
        self.line = line


def make_tool(
    function: Callable[..., Any], *, title: str = "", counts: int = 1,
    configured: Callable[["Settings"], bool] = lambda _: True, remedy: str = "",
) -> Tool:  # fmt: skip
    """
    The tool that a function with a typed signature and a docstring is.

    An async function is awaited, and may take a `ToolContext` besides; any other runs in a process that is killed when
    its time is up, so it stands at the top of its file. `:param name:` in the docstring describes an argument. What it
    returns is a `ToolResult`, a text, or anything that JSON can be made of.

    :raises InvalidTool: it cannot become one.
    """
    if not isinstance(function, FunctionType):
        raise InvalidTool(f"{function!r:.80} is no function.", 1)
    name, awaited = function.__name__, inspect.iscoroutinefunction(function)
    if not NAME.fullmatch(name):
        raise _refuse(function, "a name has small letters, digits and _, and begins with a letter")
    if not awaited and function.__qualname__ != name:
        raise _refuse(function, "only an async function may stand within another one")
    described, _ = read_docstring(function)
    if not described:
        raise _refuse(function, "it has no docstring, which tells a model when to call it")
    arguments = make_arguments(function)
    try:
        strict_schema(arguments)
    except (TypeError, NotImplementedError) as error:
        raise _refuse(function, f"its arguments have no JSON schema ({error})") from None
    if not awaited and _name_context(function):
        raise _refuse(function, "only an async function may take a ToolContext")
    call = _await(function) if awaited else _run_apart(function)
    return Tool(name, described, arguments, call, title, counts, configured, remedy)


def make_arguments(function: FunctionType) -> type[msgspec.Struct]:
    """
    The arguments of a function as a struct that refuses others.

    :raises InvalidTool: its signature cannot become one.
    """
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except Exception as error:  # an annotation may be any expression
        raise _refuse(function, f"its annotations cannot be read ({error})") from None
    if "return" not in hints:
        raise _refuse(function, "what it returns has no type")
    try:
        fields = list(_make_fields(function, hints))
        return msgspec.defstruct(function.__name__, fields, frozen=True, kw_only=True, forbid_unknown_fields=True)
    except TypeError as error:
        raise _refuse(function, f"its arguments cannot be those of a tool ({error})") from None


def _make_fields(function: FunctionType, hints: dict[str, Any]) -> Iterator[tuple[str, Any] | tuple[str, Any, Any]]:
    _, described = read_docstring(function)
    own = _name_context(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if name == own:
            continue
        if parameter.kind not in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}:
            raise _refuse(function, f"{parameter} cannot be given by name")
        if name not in hints:
            raise _refuse(function, f"the argument `{name}` has no type")
        hint = Annotated[hints[name], Meta(description=described[name])] if name in described else hints[name]
        yield (name, hint) if parameter.default is parameter.empty else (name, hint, parameter.default)


def read_docstring(function: FunctionType) -> tuple[str, dict[str, str]]:
    """What a function does, and what each of its arguments is."""
    text = inspect.getdoc(function) or ""
    described = {name: " ".join(its.split()) for name, its in PARAMETER.findall(text)}
    head = re.split(r"^:", text, maxsplit=1, flags=re.MULTILINE)[0]
    return " ".join(head.split())[:DESCRIPTION_CHARACTERS], described


def make_result(value: object) -> ToolResult:
    """What a function returned, as a tool gives it."""
    if isinstance(value, ToolResult):
        return value
    return ToolResult(value if isinstance(value, str) else msgspec.json.encode(value).decode())


def _await(function: FunctionType) -> Callable[[Any, ToolContext, float], Awaitable[ToolResult]]:
    own_name = _name_context(function)

    async def call(arguments: msgspec.Struct, own: ToolContext, within: float) -> ToolResult:  # noqa: ARG001
        return make_result(await function(**msgspec.structs.asdict(arguments), **({own_name: own} if own_name else {})))

    return call


def _run_apart(function: FunctionType) -> Callable[[Any, ToolContext, float], Awaitable[ToolResult]]:
    file, name = str(Path(function.__code__.co_filename).absolute()), function.__name__

    async def call(arguments: msgspec.Struct, own: ToolContext, within: float) -> ToolResult:
        given = msgspec.to_builtins(arguments)
        try:
            return await own.workers.call(CALL, file, name, given, within=within, returns=ToolResult)
        except WorkTimedOut:
            raise TimeoutError from None
        except WorkFailed as error:
            for kind in (InvalidArguments, PortFailed):
                if str(error).startswith(f"{kind.__name__}: "):
                    raise kind(error.detail) from None
            raise

    return call


def _name_context(function: FunctionType) -> str:
    """Which of its arguments is the context; empty: none."""
    hints = typing.get_type_hints(function)
    return next((name for name, hint in hints.items() if hint is ToolContext and name != "return"), "")


def _refuse(function: FunctionType, why: str) -> InvalidTool:
    return InvalidTool(f"the function {function.__name__} cannot be a tool: {why}.", function.__code__.co_firstlineno)


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
