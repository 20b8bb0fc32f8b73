"""Random values of any record, full of Markdown that would like to be taken for structure."""

import types
import typing
from typing import Any

import msgspec
from hypothesis import strategies as st

from runtime.families.research_state.state_file import STATUSES, Project

HOSTILE = (
    "---", "\n---\nprojectId: T-9\nstatus: completed\n---\n", "```", "\n```\n", "````text", "# Plan", "\n## Report\n",
    "### x", "| a | b |", "|", "\\|", "\\", "\\\\|", "<br>", "<!--", "-->", "<script>", "<https://x.example>",
    "- **Text:** x", "*empty*", "*none*", "*1*", "**Quote:**", "[1](javascript:x)", "![", "&#0;", "&#x7C;", "&amp;",
    "&", "~~", "$x$", "$$", "\r\n", "\n", "\r", "\t", " ", "  ", "\n\n", "\u2028", "\u2029", "\x85", "\x0b", "\x1c",
    "\u202e", "\u200f", "\ufeff", "\xa0", "1. ", "2)", "-", "+ x", "> q", "===", "yes", "no", "null", "true", "12",
    "1e5", ": ", "checksum: " + "0" * 64, "https://a.example/x_y?q=1&b=<2>", "https://a.example/x_y(z)*", "http://",
    "'", '"', "!!python/object", "&a", "*a", "…", "日本", "😀",
)  # fmt: skip
UNWRITABLE = ("\0", "\ud800", "\udfff")
"""What no file of text may hold."""

texts = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=6), max_size=5).map("".join)


def of(type_: Any) -> st.SearchStrategy[Any]:
    """Values of a type as records are annotated with it."""
    origin, arguments = typing.get_origin(type_), typing.get_args(type_)
    if origin in {types.UnionType, typing.Union}:
        return st.one_of(*(st.none() if each is types.NoneType else of(each) for each in arguments))
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if origin is tuple and arguments[1:] == (Ellipsis,):
        return st.lists(of(arguments[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*(of(each) for each in arguments))
    if type_ in PLAIN:
        return PLAIN[type_]
    return record(type_)


PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: texts, int: st.integers(-(2**60), 2**60), float: st.floats(allow_nan=False), bool: st.booleans()
}  # fmt: skip


def record(type_: type[msgspec.Struct], **fixed: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Records of a type; a field that has a default often keeps it."""
    chosen = {}
    for field in msgspec.structs.fields(type_):
        if field.name in fixed:
            chosen[field.name] = fixed[field.name]
        else:
            some = of(field.type)
            chosen[field.name] = some if field.required else st.one_of(st.just(field.default), some)
    return st.fixed_dictionaries(chosen).map(lambda values: type_(**values))


projects = record(Project, status=st.sampled_from(STATUSES), edited=st.just(False))
