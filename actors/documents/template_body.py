"""
The body of a template: text with `{{ name }}` and `{% if name %} ... {% else %} ... {% endif %}`, as Jinja writes them.

There is nothing else: no call, no loop, no expression. So a template of anybody's can read nothing but its own fields,
and takes no longer than it is long.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple, Union

import msgspec

BLANK = "______"
"""Where nothing is known."""
MOST_PLACES = 200
"""With the bound of a value, they bound the document."""
MOST_DEPTH = 5

_TAG = re.compile(r"\{\{(?P<value>[^{}\n]*)\}\}|\{%(?P<order>[^{}%\n]*)%\}|\{#[^\n]*?#\}")
_ALONE = re.compile(r"^[ \t]*(\{%[^{}%\n]*%\}|\{#[^\n]*?#\})[ \t]*\n", re.MULTILINE)
_OPEN = re.compile(r"\{[{%#]|[}%#]\}")
_IF = re.compile(r"if\s+(not\s+)?(\w+)")
_NAME = re.compile(r"\w+")


class Place(msgspec.Struct, frozen=True, tag=True):
    """Where a value stands."""

    name: str


class Words(msgspec.Struct, frozen=True, tag=True):
    text: str


class Either(msgspec.Struct, frozen=True, tag=True):
    """One of two pieces, by whether a value is known."""

    name: str
    known: tuple["Node", ...]
    unknown: tuple["Node", ...]


Node = Union[Place, Words, Either]  # noqa: UP007 - it is named by itself


class InvalidBody(Exception):
    """The body cannot be used: in which of its lines, and why."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line
        self.sentence = sentence


class _Open(NamedTuple):
    """A condition that has not ended yet."""

    line: int
    name: str
    negated: bool
    before: list[Node]
    """What is read outside of it."""
    first: list[Node] | None
    """What stands before its `else`."""


def parse_body(text: str, names: Collection[str]) -> tuple[Node, ...]:
    """
    Take a body apart.

    :param names: of the fields that it may name.
    :raises InvalidBody: it says something else than values and conditions on them, or names a field that is none.
    """
    nodes: list[Node] = []
    opened: list[_Open] = []
    places = 0
    for above, words, line, tag in _split(text):
        if words:
            if stray := _OPEN.search(words):
                raise InvalidBody(
                    above + words.count("\n", 0, stray.start()),
                    "a `{{`, `{%` or `{#` that is not closed on its line. Close it.",
                )
            nodes.append(Words(words))
        if tag is None:
            continue
        if tag["value"] is not None:
            nodes.append(Place(_read_name(tag["value"], names, line)))
            places += 1
        elif tag["order"] is not None:
            nodes = _obey(tag["order"].strip(), names, line, nodes, opened)
    if opened:
        raise InvalidBody(opened[-1].line, "this `if` has no `{% endif %}`. Add it.")
    if places > MOST_PLACES:
        raise InvalidBody(1, f"there are {places} places for values, and may be {MOST_PLACES}. Take some out.")
    return tuple(nodes)


def _split(text: str) -> Iterator[tuple[int, str, int, re.Match[str] | None]]:
    """Pieces of text and the tag behind each, both with their lines; an order alone on its line leaves no empty one."""
    at, lines = 0, _Lines(text)
    alone = {found.start(1): (found.start(), found.end()) for found in _ALONE.finditer(text)}
    for tag in _TAG.finditer(text):
        start, end = alone.get(tag.start(), tag.span())
        yield lines.number(at), text[at:start], lines.number(tag.start()), tag
        at = end
    yield lines.number(at), text[at:], 0, None


class _Lines:
    """The number of a line by a place in the text; places come in their order."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._line = text, 0, 1

    def number(self, at: int) -> int:
        self._line += self._text.count("\n", self._at, at)
        self._at = max(self._at, at)
        return self._line


def _read_name(said: str, names: Collection[str], line: int) -> str:
    name = said.strip()
    if not _NAME.fullmatch(name):
        raise InvalidBody(line, f"`{{{{ {name[:60]} }}}}` must be the name of a field and nothing else.")
    if name not in names:
        raise InvalidBody(line, f"there is no field `{name[:60]}`. Fields are: {', '.join(names)}.")
    return name


def _obey(order: str, names: Collection[str], line: int, nodes: list[Node], opened: list[_Open]) -> list[Node]:
    """Begin, turn or end a condition; the list that is read into from now on."""
    if found := _IF.fullmatch(order):
        if len(opened) == MOST_DEPTH:
            raise InvalidBody(line, f"there are more than {MOST_DEPTH} conditions within each other. Take one out.")
        opened.append(_Open(line, _read_name(found[2], names, line), bool(found[1]), nodes, None))
        return []
    if order == "else" and opened and opened[-1].first is None:
        opened[-1] = opened[-1]._replace(first=nodes)
        return []
    if order == "endif" and opened:
        ended = opened.pop()
        first, second = (nodes, []) if ended.first is None else (ended.first, nodes)
        known, unknown = (second, first) if ended.negated else (first, second)
        return [*ended.before, Either(ended.name, tuple(known), tuple(unknown))]
    raise InvalidBody(
        line, f"`{{% {order[:60]} %}}` is none of `if NAME`, `if not NAME`, `else` and `endif` in their order."
    )


def list_places(nodes: tuple[Node, ...]) -> Iterator[str]:
    """The names of all fields that a body uses, in its order."""
    for node in nodes:
        if isinstance(node, Either):
            yield node.name
            yield from list_places(node.known)
            yield from list_places(node.unknown)
        elif isinstance(node, Place):
            yield node.name


def write_body(nodes: tuple[Node, ...], values: Mapping[str, str]) -> str:
    """The body with its values; where there is none stands a blank."""
    parts: list[str] = []
    for node in nodes:
        match node:
            case Words(text):
                parts.append(text)
            case Place(name):
                parts.append(values.get(name) or BLANK)
            case Either(name, known, unknown):
                parts.append(write_body(known if values.get(name) else unknown, values))
    return "".join(parts)
