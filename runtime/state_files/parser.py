"""
Markdown that a person can edit and that is read back without loss: escaped text, nested lists,
tables of records.

A reader knows sections, list items and blocks, each with its line.
"""

import functools
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from actors.evidence.sources import Statement

EMPTY = "*empty*"
"""Where nothing would stand. Unescaped asterisks are ours alone: in a text they are escaped."""
NOTHING = "*none*"

_MARKUP = re.compile(r"[\\`*_\[\]<|#&$~{]")
_UNSEEN = re.compile("[\x01-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_FIRST = re.compile(r"^(?=[-+=>])|^(\d+)(?=[.)](?: |$))")
"""What would begin a list or underline a heading."""
_OUTER_SPACE = re.compile(r"^ | $")
_SURROGATES = re.compile("[\ud800-\udfff]")
_WRITTEN = re.compile(r"\\([!-/:-@\[-`{-~])|&#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}));|&lt;")
_ENTITIES = {"&": "&amp;", "<": "&lt;", "]": "&#93;", "{": "&#123;"}
LIVE = re.compile(
    r"&(?=(?:amp|lt|#93|#123);)|<(?=[A-Za-z/!?])|\](?=[(\[]|:\s{0,9}(?!https?://|[#/\s]))|\{(?=[^}\n]{0,200}=)"
)
"""What a viewer that knows no fences takes for a tag, a link or an attribute, and what stands for it in a block."""
_ENTITY = re.compile("|".join(_ENTITIES.values()))
_MEANT = {entity: character for character, entity in _ENTITIES.items()}
_LINK = re.compile(r"https?://[!-;=?-Z^_a-{}~]+")
"""Characters of which none ends `<...>` or a cell of a table, or makes a link within it."""
_CELL = re.compile(r"((?:\\.|[^|\\])*+)(\||\\?\Z)", re.DOTALL)
_TICKS = re.compile(r"`+")


def clean(text: str) -> str:
    """The text without what no file of text may hold: U+0000 goes, half a surrogate pair becomes U+FFFD."""
    return _SURROGATES.sub("\ufffd", text.replace("\0", ""))


def inline(text: str) -> str:
    """A text on one line of Markdown, in a list item, a heading or a cell."""
    text = clean(text)
    if _LINK.fullmatch(text):
        return f"<{text}>"
    text = _MARKUP.sub(lambda found: "&lt;" if found[0] == "<" else f"\\{found[0]}", text)
    text = _FIRST.sub(r"\1\\", text)
    text = _UNSEEN.sub(lambda found: f"&#x{ord(found[0]):X};", text)
    return _OUTER_SPACE.sub("&#32;", text)


def outline(markdown: str) -> str:
    """The text behind one line of Markdown: the reverse of `inline`."""
    if markdown in {EMPTY, NOTHING}:
        return ""
    if markdown.startswith("<") and markdown.endswith(">"):
        return markdown[1:-1]
    return _WRITTEN.sub(_character, markdown)


def _character(found: re.Match[str]) -> str:
    if found[1]:
        return found[1]
    if found[0] == "&lt;":
        return "<"
    code = int(found[2], 16) if found[2] else int(found[3])
    return clean(chr(code)) if code <= 0x10FFFF else "\ufffd"


def fence(text: str, indent: str = "") -> Iterator[str]:
    """The lines of a block that shows a text as it is. Its fence is longer than any in the text."""
    text = LIVE.sub(lambda found: _ENTITIES[found[0]], clean(text))
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    yield f"{indent}{fence}text"
    yield from (f"{indent}{line}" if line else "" for line in text.split("\n"))
    yield f"{indent}{fence}"


def unfence(text: str) -> str:
    """What stood in a block: the reverse of `fence`."""
    return _ENTITY.sub(lambda found: _MEANT[found[0]], text)


def row(cells: list[str]) -> str:
    """A row of a table, of cells that are Markdown already."""
    return "| " + " | ".join(cells) + " |"


def cells(line: str) -> list[str]:
    """The cells of a row, still Markdown; each ends with a bar that is not escaped."""
    return [cell.strip(" ") for cell, bar in _CELL.findall(line.strip().removeprefix("|")) if bar == "|"]


DEEPEST = 12
"""Items within items; the records of a research need half of that."""

_ITEM = re.compile(r"( *)-(?: \*\*([^*]+):\*\*)?(?: (.*))?")
_FENCE = re.compile(r"( *)(`{3,})text")
Numbered = tuple[int, str]
"""A line and its number in the file, from 1."""


class Unreadable(Exception):
    """A state file is not as Terminus writes it. The text begins with the line and says what is wrong there."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}")


class Part(msgspec.Struct, frozen=True):
    """What stands below one heading."""

    title: str
    line: int
    lines: tuple[Numbered, ...]


class Item(msgspec.Struct):
    """An item of a list: its label, its text as it is written, what is indented below it."""

    line: int
    label: str
    markdown: str
    block: str | None = None
    """The text that stands in a block of its own."""
    items: list["Item"] = []

    @property
    def text(self) -> str:
        return "\n".join(map(outline, self.markdown.split("\n"))) if self.block is None else self.block


def parts(lines: Sequence[Numbered], mark: str) -> tuple[tuple[Numbered, ...], list[Part]]:
    """What stands before the first heading of this mark, such as "## ", and what stands below each."""
    before: list[Numbered] = []
    found: list[tuple[str, int, list[Numbered]]] = []
    fence = ""
    for number, line in lines:
        if fence:
            fence = "" if line == fence else fence
        elif opening := _FENCE.fullmatch(line):
            fence = opening[1] + opening[2]
        elif line.startswith(mark) or line == mark.rstrip():
            found.append((outline(line[len(mark) :]), number, []))
            continue
        (found[-1][2] if found else before).append((number, line))
    return tuple(before), [Part(title, number, tuple(its)) for title, number, its in found]


def items(lines: Sequence[Numbered]) -> tuple[list[Item], str | None]:
    """
    The items of a list, and the text of the block that stands beside it, if there is one.

    :raises Unreadable: something else stands there.
    """
    top = Item(0, "", "")
    above = [top]
    rest = iter(lines)
    for number, line in rest:
        if not line.strip(" "):
            continue
        if opening := _FENCE.fullmatch(line):
            owner = above[min(len(opening[1]) // 2, len(above) - 1)]
            owner.block = _block(rest, number, opening[1], opening[2])
            continue
        found = _ITEM.fullmatch(line)
        if found is None and len(above) > 1 and _continues(line, above[-1], len(above) - 1):
            above[-1].markdown += "\n" + line.strip(" ")
            continue
        if found is None:
            raise Unreadable(number, "this is neither an item of a list nor a block. Remove it, or indent it as text.")
        depth = len(found[1]) // 2
        if depth >= min(len(above), DEEPEST):
            raise Unreadable(number, "this item is indented too far. Indent it by two spaces more than the one above.")
        item = Item(number, found[2] or "", (found[3] or "").rstrip(" "))
        above[depth].items.append(item)
        above[depth + 1 :] = [item]
    return top.items, top.block


def _continues(line: str, item: Item, depth: int) -> bool:
    """Whether a line goes on with the paragraph that an item begins."""
    goes_on = bool(item.markdown) and not item.items and item.block is None
    return goes_on and line.startswith("  " * depth) and not line.startswith("  " * depth + " ")


def _block(rest: Iterator[Numbered], opened: int, indent: str, fence: str) -> str:
    found: list[str] = []
    for _, line in rest:
        if line == indent + fence:
            return unfence("\n".join(found))
        found.append(line.removeprefix(indent))
    raise Unreadable(opened, f"the block that begins here has no end. Put {fence} below it.")


S = TypeVar("S", bound=msgspec.Struct)
Labelled = tuple[str, Any]
ACRONYMS = {"url": "URL", "sha256": "SHA-256", "swot": "SWOT"}
PARAGRAPH_LINES = 12
ECHOES: Mapping[type, tuple[str, str]] = {Statement: ("quote", "text")}
"""Fields that are left out where they say what another field of the same record says: words quoted as they are."""


def label(name: str) -> str:
    """A field's name for a person."""
    return ACRONYMS.get(name) or name.replace("_", " ").capitalize()


def render_item(value: Any, depth: int = 0, name: str = "", place: int = 1) -> Iterator[str]:
    """The lines of one item, and of all that belongs to it."""
    head, below = _taken_apart(value)
    bullet = "  " * depth + "-" + (f" **{name}:**" if name else "")
    if value is None:
        yield f"{bullet} {NOTHING}"
    elif head is not None and "\n" in head:
        yield from _several(head, bullet, "  " * (depth + 1))
    else:
        text = inline(head or "") or ("" if name else EMPTY if head is not None else f"*{place}*")
        yield f"{bullet} {text}".rstrip(" ")
    for number, (sub, each) in enumerate(below, 1):
        yield from render_item(each, depth + 1, sub, number)


def _several(text: str, bullet: str, indent: str) -> Iterator[str]:
    """A text of several lines: a paragraph if it is one, else a block."""
    lines = clean(text).split("\n")
    if len(lines) <= PARAGRAPH_LINES and all(lines) and not any(line.startswith("    ") for line in lines):
        yield f"{bullet} {inline(lines[0])}"
        yield from (f"{indent}{inline(line)}" for line in lines[1:])
    else:
        yield bullet
        yield from fence(text, indent)


def fields(record: msgspec.Struct, *, but: Sequence[str] = ()) -> Iterator[str]:
    """A record's fields, each an item with its label. What has its default is left out."""
    for name, value in _list_fields(record, but):
        yield from render_item(value, 0, name)


def built(item: Item, type_: Any) -> Any:
    """
    The value of this type that an item stands for.

    :raises Unreadable: it is none.
    """
    origin = typing.get_origin(type_)
    if origin in {types.UnionType, typing.Union}:
        if item.markdown == NOTHING:
            return None
        (type_,) = (each for each in typing.get_args(type_) if each is not types.NoneType)
        origin = typing.get_origin(type_)
    if origin is tuple:
        return _tuple(item, typing.get_args(type_))
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        head = _headline(type_)
        return record(
            item.items, type_, item.line, **({head: scalar(item.text, _types(type_)[head], item.line)} if head else {})
        )
    return _scalar(item, type_)


def record(items: Sequence[Item], type_: type[S], line: int, **known: Any) -> S:
    """
    The record whose fields these items are.

    :param line: where it begins, for the error.
    :raises Unreadable: a label is unknown, a value is missing or not of its type.
    """
    known |= values(items, {name: each for name, each in _types(type_).items() if name not in known})
    if (echo := ECHOES.get(type_)) and echo[1] in known:
        known.setdefault(echo[0], known[echo[1]])
    try:
        return type_(**known)
    except TypeError:
        missing = (f.name for f in _fields(type_) if f.required and f.name not in known)
        raise Unreadable(line, f'"{label(next(missing, "value"))}" is missing here.') from None


def values(items: Sequence[Item], types_: Mapping[str, Any]) -> dict[str, Any]:
    """
    The values that labelled items give, by the names of their fields.

    :raises Unreadable: a label is none of these, or its value is not of its type.
    """
    by_label, found = {label(name): name for name in types_}, {}
    for item in items:
        if (name := by_label.get(item.label)) is None:
            said = item.label or item.text[:40]
            raise Unreadable(item.line, f'"{said}" is not known here; these are: {", ".join(by_label)}.')
        found[name] = built(item, types_[name])
    return found


def _taken_apart(value: Any) -> tuple[str | None, list[Labelled]]:
    """What stands on an item's own line, and what below it."""
    match value:
        case None:
            return None, []
        case bool():
            return "yes" if value else "no", []
        case str():
            return value, []
        case tuple():
            return None, [("", each) for each in value]
        case msgspec.Struct():
            head = _headline(type(value))
            return (getattr(value, head) if head else None), list(_list_fields(value, (head,)))
        case _:
            return repr(value), []


def _list_fields(record: msgspec.Struct, but: Sequence[str]) -> Iterator[Labelled]:
    echo, said = ECHOES.get(type(record), ("", ""))
    for field in _fields(type(record)):
        value = getattr(record, field.name)
        if field.name == echo and value == getattr(record, said):
            continue
        if field.name not in but and (field.required or value != field.default):
            yield label(field.name), value


def _tuple(item: Item, of: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(of) == 2 and of[1] is Ellipsis:
        return tuple(built(each, of[0]) for each in item.items)
    if len(item.items) != len(of):
        raise Unreadable(item.line, f"{len(of)} items must stand below this one, not {len(item.items)}.")
    return tuple(built(each, type_) for each, type_ in zip(item.items, of, strict=True))


def _scalar(item: Item, type_: Any) -> Any:
    if item.items:
        raise Unreadable(item.items[0].line, "nothing may stand below a plain text or number.")
    return scalar(item.text, type_, item.line)


def scalar(text: str, type_: Any, line: int) -> Any:
    """A text, number, or yes and no, as this type."""
    if type_ is bool and text in {"yes", "no"}:
        return text == "yes"
    try:
        return msgspec.convert(text, type_, strict=type_ is str)
    except msgspec.ValidationError as error:
        raise Unreadable(line, f"{str(error).rstrip('.')}.") from None


_fields = functools.cache(msgspec.structs.fields)


@functools.cache
def _types(type_: type[msgspec.Struct]) -> dict[str, Any]:
    return {field.name: field.type for field in _fields(type_)}


@functools.cache
def _headline(type_: type[msgspec.Struct]) -> str:
    """The field that stands on the item's own line: the first one, when it is a text."""
    first = _fields(type_)[0]
    return first.name if first.type is str or typing.get_origin(first.type) is typing.Literal else ""


BREAK = "<br>"
"""Between several texts in a cell. Unescaped, it is ours alone."""
_SEVERAL = re.compile(rf"((?:\\.|(?!{BREAK})[^\\])+)|{BREAK}")

Columns = Mapping[str, str]


def table(
    records: Sequence[msgspec.Struct], columns: Columns, shown: Mapping[str, Callable[[Any], str]]
) -> Iterator[str]:
    """
    The lines of a table; none for no records.

    :param shown: how to fill columns that are for show.
    """
    if not records:
        return
    yield row(list(columns))
    yield row(["---"] * len(columns))
    for each in records:
        yield row([_cell(getattr(each, name)) if name else shown[title](each) for title, name in columns.items()])


def from_table(part: Part, type_: type[msgspec.Struct], columns: Columns) -> tuple[Any, ...]:
    """
    The records that a table shows, whatever the order of its columns.

    :raises Unreadable: a row has too few or too many cells, or one that cannot be read.
    """
    lines = [(number, line) for number, line in part.lines if line.strip()]
    if not lines:
        return ()
    head, types = cells(lines[0][1]), {field.name: field.type for field in msgspec.structs.fields(type_)}
    missing = [title for title, name in columns.items() if name and title not in head]
    if missing:
        raise Unreadable(lines[0][0], f"the table has no column {missing[0]}.")
    records = []
    for number, line in lines[2:]:
        if len(its := cells(line)) != len(head):
            raise Unreadable(number, f"this row must have {len(head)} cells, each with | behind it, not {len(its)}.")
        named = {columns.get(title, ""): cell for title, cell in zip(head, its, strict=True)}
        records.append(type_(**{name: _value(cell, types[name], number) for name, cell in named.items() if name}))
    return tuple(records)


def _cell(value: Any) -> str:
    if isinstance(value, tuple):
        return BREAK.join(inline(each) or EMPTY for each in value)
    return inline(value) if isinstance(value, str) else repr(value)


def _value(cell: str, type_: Any, line: int) -> Any:
    if type_ == tuple[str, ...]:
        return tuple(map(outline, filter(None, _SEVERAL.findall(cell))))
    return scalar(outline(cell), type_, line)
