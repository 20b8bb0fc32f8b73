"""
The body of a template: Jinja, in its sandbox, of which only values and conditions on them are let in.

A template is anybody's file, so what it may do is a list of what is harmless, checked before it is compiled: no call,
loop, attribute or filter. It can read nothing but its own fields, and takes no longer than it is long.
"""

import functools
import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from actors.documents.field_values import escape_value

if TYPE_CHECKING:
    from jinja2 import nodes
    from jinja2.sandbox import SandboxedEnvironment

BLANK = "______"
"""Where nothing is known."""
MOST_PLACES = 200
"""With the bound of a value, they bound the document."""
MOST_DEPTH = 5
MOST_CONDITIONS = 400
ALLOWED = frozenset(
    {"Template", "Output", "TemplateData", "Name", "If", "Not", "And", "Or", "Compare", "Operand", "Const"}
)
"""The nodes of Jinja that a body may be made of."""
KNOWN = "Known are `{{ name }}`, `if`, `elif`, `else`, `not`, `and`, `or` and `== 'text'`."

_TRAILING = re.compile(r"(?m)([%#]\})[ \t]+$")
_LAST = re.compile(r"(?m)^(?![ \t]*\{[%#][^{}]*[%#]\}[ \t]*$)(.*[^+-])([%#]\})[ \t]*$")
"""A tag at the end of a line on which more stands: the line ends there all the same."""


class InvalidBody(Exception):
    """The body cannot be used: in which of its lines, and why."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line
        self.sentence = sentence


def check_body(text: str, names: Collection[str]) -> frozenset[str]:
    """
    See whether a body can be used.

    :param names: of the fields that it may name.
    :returns: those that it uses.
    :raises InvalidBody: it says something else than values and conditions on them, or names a field that is none.
    """
    from jinja2 import TemplateSyntaxError

    try:
        root = _make_environment().parse(_keep_line_ends(text))
        used = frozenset(_check(root, names))
    except TemplateSyntaxError as error:
        raise InvalidBody(error.lineno, f"{str(error.message).rstrip('.')}. {KNOWN}") from None
    except RecursionError:
        raise InvalidBody(1, "it is nested too deeply. Take some conditions out.") from None
    return used


def write_body(text: str, values: Mapping[str, str]) -> str:
    """
    The body with its values; where there is none stands a blank.

    :param text: one that `check_body` let in.
    """
    return str(_compile(text).render({name: value for name, value in values.items() if value}))


@functools.cache
def _make_environment() -> "SandboxedEnvironment":
    from jinja2 import Undefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def write(value: Any) -> str:
        return BLANK if isinstance(value, Undefined) else escape_value(str(value))

    made = ImmutableSandboxedEnvironment(
        finalize=write, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, cache_size=0,
        autoescape=False,
    )  # fmt: skip
    made.globals.clear()
    return made


@functools.lru_cache(maxsize=64)
def _compile(text: str) -> Any:
    return _make_environment().from_string(_keep_line_ends(text))


def _keep_line_ends(text: str) -> str:
    """Jinja takes the end of the line behind a tag away; that is meant for a tag alone on its line only."""
    return _LAST.sub(r"\1+\2", _TRAILING.sub(r"\1", text))


def _check(root: "nodes.Template", names: Collection[str]) -> Iterator[str]:
    """The fields that a body uses, if all of it is allowed."""
    from jinja2 import nodes

    places = conditions = 0
    waiting: list[tuple[nodes.Node, int]] = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        _check_node(node, names, depth)
        if isinstance(node, nodes.Name):
            yield node.name
        places += isinstance(node, nodes.Output) and sum(isinstance(each, nodes.Name) for each in node.nodes)
        conditions += isinstance(node, nodes.If | nodes.Expr)
        deeper = depth + isinstance(node, nodes.If | nodes.Not | nodes.And | nodes.Or)
        waiting += [(below, deeper) for below in node.iter_child_nodes()]
    if places > MOST_PLACES:
        raise InvalidBody(1, f"there are {places} places for values, and may be {MOST_PLACES}. Take some out.")
    if conditions - places > MOST_CONDITIONS:
        raise InvalidBody(1, f"there are more than {MOST_CONDITIONS} conditions. Take some out.")


def _check_node(node: "nodes.Node", names: Collection[str], depth: int) -> None:
    """:raises InvalidBody: it is none of what a body may be made of."""
    from jinja2 import nodes

    kind = type(node).__name__
    if kind not in ALLOWED:
        raise InvalidBody(node.lineno, f"{kind.lower()} is not known here. {KNOWN}")
    if depth > MOST_DEPTH:
        raise InvalidBody(node.lineno, f"there are more than {MOST_DEPTH} conditions within each other. Take one out.")
    if isinstance(node, nodes.Name) and node.name not in names:
        raise InvalidBody(node.lineno, f"there is no field `{node.name[:60]}`. Fields are: {', '.join(names)}.")
    if isinstance(node, nodes.Output):
        for each in node.nodes:
            if not isinstance(each, nodes.Name | nodes.TemplateData):
                raise InvalidBody(each.lineno, f"`{{{{ }}}}` holds the name of a field and nothing else. {KNOWN}")
    if isinstance(node, nodes.Compare) and any(each.op not in {"eq", "ne"} for each in node.ops):
        raise InvalidBody(node.lineno, f"fields are compared by `==` and `!=` only. {KNOWN}")
