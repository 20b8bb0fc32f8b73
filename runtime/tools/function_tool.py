"""A function as a tool: its signature becomes the schema, its docstring what a model is told."""

import inspect
import re
import typing
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from actors.ports import PortFailed
from runtime.llm.output_schema import strict_schema
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
