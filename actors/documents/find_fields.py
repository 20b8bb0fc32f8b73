"""
What a ticket plainly says of the fields of a template: a label, and behind it the value, word for word.

Prefers finding nothing to finding something else: what is said in another way, or twice and not the same, is asked.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from actors.documents.field_values import MONEY, clean_value, find_dates, is_amount, names_currency
from actors.documents.template import Field, Template

MOST_SEARCHED = 100_000
"""Characters of a ticket."""
_COLON = r"\s*[:：]\s*"
_LINK = r"\s*(?:[:：]|[为為是]|は|is|was|은|는|이|가)?\s*"
_NAME_END = re.compile(r"[,，。；;、\n（(]")
_TEXT_END = re.compile(r"[。；;\n]|\.(?=\s|$)")
_NOT_EXACTLY = re.compile(r"\s*(?:[-–—~～至到左前后後之以多余餘角分\d]|[.,，]\d)")
"""Behind an amount or a day: it is not that one, but about it, before it, or more of it."""
_ENDS = re.compile(r"\s*(?:$|\n|[^\w\s])")
_AHEAD = 200
"""So far behind its label a value ends."""


class FoundField(NamedTuple):
    """A value that a text says, and where."""

    value: str
    quote: str
    """The words of the text, label and value."""
    start: int
    end: int


def find_fields(template: Template, text: str) -> dict[str, FoundField]:
    """The fields whose value a text says plainly, and no second one."""
    text = text[:MOST_SEARCHED]
    every = {label.casefold() for field in template.fields for label in field.labels}
    found = {}
    for field in template.fields:
        said = [each for label in field.labels for each in _find(field, label, text, every)]
        if len({each.value.casefold() for each in said}) == 1:
            found[field.name] = min(said, key=lambda each: each.start)
    return found


def _find(field: Field, label: str, text: str, labels: set[str]) -> Iterator[FoundField]:
    """What stands behind a label, where that is a word of its own."""
    needs_colon = field.kind in {"party", "text", "choice"}
    pattern = rf"(?<!\w){re.escape(label)}{_COLON if needs_colon else _LINK}"
    for head in re.finditer(pattern, text, re.IGNORECASE):
        ahead = text[head.end() : head.end() + _AHEAD]
        value = _read(field, ahead)
        cleaned = clean_value(field, value)
        if not cleaned or re.split(r"\s*[:：]", cleaned)[0].casefold() in labels:
            continue  # an empty line of a form, and the next label below it
        end = head.end() + len(value)
        yield FoundField(cleaned, text[head.start() : end], head.start(), end)


def _read(field: Field, ahead: str) -> str:
    """The value at the beginning of what stands behind a label; nothing where none of its kind begins there."""
    match field.kind:
        case "date":
            days = (each for each in find_dates(ahead) if not each.start())
            return next((each[0] for each in days if not _NOT_EXACTLY.match(ahead, each.end())), "")
        case "money":
            amount = MONEY.match(ahead)
            return amount[0] if amount is not None and _is_whole(amount[0], ahead[amount.end() :]) else ""
        case "choice":
            line = ahead.split("\n")[0].strip(" \t.。;；")
            return next((each for each in field.choices if each.casefold() == line.casefold()), "")
        case _:
            stop = (_NAME_END if field.kind == "party" else _TEXT_END).search(ahead)
            if stop is None:
                return "" if len(ahead) == _AHEAD else ahead
            return ahead[: stop.start()]


def _is_whole(amount: str, behind: str) -> bool:
    """Whether an amount is all that is said of it: what is meant by `5 million` does not end behind the 5."""
    if not is_amount(amount) or not names_currency(amount) or _NOT_EXACTLY.match(behind):
        return False
    return amount.endswith(("元", "圆", "원", "整")) or _ENDS.match(behind) is not None
