"""Records as rows of a Markdown table and back."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from runtime.state_files.markdown_escape import EMPTY, cells, inline, outline, row
from runtime.state_files.parser import Part, Unreadable
from runtime.state_files.record_lists import scalar

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
