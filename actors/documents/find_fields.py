"""
What a ticket plainly says of the fields of a template: a label, and behind it the value, word for word.

A value ends at the next label of the template, at a sentence's end or at its line's end. What stands there goes above
somebody's signature, so whatever may mean something else, or more than one thing, is not found: it is asked.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from actors.documents.field_values import clean_value, is_amount, names_currency, read_amount, read_date
from actors.documents.names import (
    begins_company_end,
    is_abbreviation,
    is_name,
    is_placeholder,
    may_begin_name,
)
from actors.documents.template import Field, Template
from actors.text.stop_words import word_set

MOST_SEARCHED = 100_000
"""Characters of a ticket."""
_AHEAD = 200
"""So far behind its label a value ends."""
_BEFORE = 40
"""So much in front of a label says whether it begins there."""
_LINE_END = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_COLONS = ":：﹕︰∶"
_BLANKS = " \t\u00a0\u3000"
_MARKS = f"{_BLANKS}*_"
"""Around a label or a value, in Markdown too, and no part of either."""
_SEPARATORS = f"{_MARKS}-–—•·|#>,，;；、/"
_OPENING = "(（[【「『\"'“‘"
_LINK = re.compile(rf"[{_BLANKS}]{{0,3}}(?:[为為是]|は|(?:is|was)(?!\w)|은|는|이|가)?[{_BLANKS}]{{0,3}}", re.IGNORECASE)
_NOT_EXACTLY = re.compile(r"\s{0,3}(?:[-–—~～至到左前後后之以多余餘角分\d]|[.,，]\d)")
"""Behind an amount or a day: it is not that one, but about it, before it, or more of it."""
_OVER = re.compile(r"""\s{0,3}(?:$|[.。,，;；!！|"'”’*_]\s{0,3})""")
"""Behind an amount or a day that is all that is said."""
_ENDS_ITSELF = ("元", "圆", "원", "整")
"""Behind these an amount is over, though a word follows without a space."""
_DETERMINERS = word_set("the my our your his her their its a an and")
_QUALIFIERS = word_set(
    """
    first second third fourth former co other another new old next last previous counter lead joint main primary total
    monthly yearly annual alleged potential possible original non no not opposing deceased late false real
    """
)
"""Before a label these make another thing of it: the `former plaintiff` is not the plaintiff."""


class FoundField(NamedTuple):
    """A value that a text says, and where."""

    value: str
    quote: str
    """The words of the text, label and value."""
    start: int
    end: int


class _Head(NamedTuple):
    """A label in a text."""

    label: str
    start: int
    end: int
    """Behind the label, its colon and the blanks around that."""
    colon: bool
    begins: bool
    """Nothing before it makes another thing of it."""


class _Piece(NamedTuple):
    """What stands between a label and the next one, or the end of its line."""

    text: str
    at: int
    label: int
    """Where in it a label of the template stands that no colon follows; its length where there is none."""
    is_open: bool
    """There is more of it than a value has, or what ends it may be part of it."""
    runs_on: bool
    """The next label follows without a mark between: where the value ends is told by that label alone."""


def find_fields(template: Template, text: str) -> dict[str, FoundField]:
    """The fields whose value a text says plainly, and no second one."""
    text = text[:MOST_SEARCHED]
    heads = list(_find_heads(template, text))
    pieces = _cut_pieces(heads, text)
    found = {}
    for field in template.fields:
        labels = {each.casefold() for each in field.labels}
        said, doubts = list[FoundField](), list[str]()
        for head, piece in zip(heads, pieces, strict=True):
            if head.label not in labels:
                continue
            value = _read(field, head, piece)
            cleaned = clean_value(field, value)
            cleaned = next((each for each in field.choices if each.casefold() == cleaned.casefold()), cleaned)
            if cleaned and not is_placeholder(cleaned):
                end = piece.at + piece.text.index(value) + len(value)
                said.append(FoundField(cleaned, text[head.start : end], head.start, end))
            elif head.colon or any(map(str.isdigit, piece.text)):
                doubts.append(clean_value(field, piece.text).strip(_SEPARATORS).casefold())
        values = {each.value.casefold() for each in said}
        if len(values) == 1 and all(_repeats(each, *values) for each in doubts if each):
            found[field.name] = said[0]
    return found


def _repeats(doubt: str, value: str) -> bool:
    """Whether what is not plainly a value at least begins with the one that is."""
    return doubt.startswith(value) and not doubt[len(value) : len(value) + 1].isalnum()


def _find_heads(template: Template, text: str) -> Iterator[_Head]:
    """Every label of a template where it is a word of its own; of two at one place the longer one."""
    labels = sorted({each for field in template.fields for each in field.labels if each}, key=len, reverse=True)
    if not labels:
        return
    last, in_value = 0, False
    for found in re.finditer(rf"(?<!\w)(?:{'|'.join(map(re.escape, labels))})", text, re.IGNORECASE):
        start, at = found.span()
        if _is_latin(text[at - 1]) and at < len(text) and _is_latin(text[at]):
            continue
        behind = _skip(text, at, _MARKS)
        colon = behind < len(text) and text[behind] in _COLONS
        if colon:
            at = _skip(text, behind + 1, _MARKS)
        in_value = in_value and _LINE_END.search(text, last, start) is None
        begins = _begins(text, start, found[0], follows_value=in_value and found[0] in labels)
        yield _Head(found[0].casefold(), start, at, colon, begins)
        last, in_value = start, in_value or colon


def _is_latin(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _skip(text: str, at: int, characters: str) -> int:
    while at < len(text) and text[at] in characters:
        at += 1
    return at


def _begins(text: str, start: int, label: str, *, follows_value: bool) -> bool:
    """
    Whether a label is what it says, and not the end of a longer one.

    :param follows_value: it stands on the line of another label's value, written as the template has it.
    """
    line = _LINE_END.split(text[max(0, start - _BEFORE) : start])[-1]
    body = line.rstrip(_SEPARATORS + _OPENING)
    gap = line[len(body) :]
    if gap in {"-", "'", "’", "–"} and body:
        return False
    if not body or not body[-1].isalnum() or len(gap) != 1 or gap not in _BLANKS:
        return True
    word = body.split()[-1].casefold()
    if "\u3040" <= label[0] <= "\u9fff" or word in _DETERMINERS:
        return True
    is_ordinal = any(map(str.isdigit, word)) and (word.startswith("제") or word.endswith(("st", "nd", "rd", "th")))
    return follows_value and not label[0].islower() and word not in _QUALIFIERS and not is_ordinal


def _cut_pieces(heads: list[_Head], text: str) -> list[_Piece]:
    """What stands behind each label."""
    pieces = list[_Piece]()
    nearest, following = len(text), _Head("", len(text), len(text), colon=True, begins=True)
    for head in reversed(heads):
        stop = min(head.end + _AHEAD, following.start)
        line = _LINE_END.search(text, head.end, stop)
        end = line.start() if line else stop
        is_over = line is not None or (stop == following.start and following.begins)
        runs_on = end == following.start < len(text) and text[end - 2 : end - 1].isalnum() and text[end - 1] in _BLANKS
        piece = text[head.end : end].rstrip(_SEPARATORS + _OPENING)
        label = min(max(0, nearest - head.end), len(piece))
        pieces.append(_Piece(piece, head.end, label, not is_over, runs_on))
        nearest, following = head.start, head if head.colon else following
    return pieces[::-1]


def _read(field: Field, head: _Head, piece: _Piece) -> str:
    """The value behind a label; nothing where that is not plainly one of its kind."""
    text = piece.text
    if not head.begins:
        return ""
    if field.kind in {"date", "money"}:
        link = None if head.colon else _LINK.match(text)
        return _read_whole_value(field, text[link.end() :] if link else text)
    if not head.colon:
        return ""
    if field.kind == "choice":
        said = text[: _find_sentence_end(text)].rstrip(_MARKS + ".").casefold()
        return text[: len(said)] if said in map(str.casefold, field.choices) else ""
    return _read_name(text, piece) if field.kind == "party" else _read_text(text, piece)


def _read_whole_value(field: Field, text: str) -> str:
    """A day or an amount that is all that is said of it: what is meant by `5 million` does not end behind the 5."""
    read = read_date if field.kind == "date" else read_amount
    value = read(text)
    behind = text[len(value) :]
    if not value or _NOT_EXACTLY.match(behind):
        return ""
    if field.kind == "money":
        if not is_amount(value) or not names_currency(value):
            return ""
        if value.endswith(_ENDS_ITSELF) and behind[:1].isalpha():
            return value
    over = _OVER.match(behind)
    return value if over is not None and not read(behind[over.end() :]) else ""


def _read_text(text: str, piece: _Piece) -> str:
    end = _find_sentence_end(text)
    value = text[:end].rstrip(_MARKS)
    has_label = any(value.find(each + blank) > 0 for each in _COLONS for blank in _BLANKS)
    if has_label or (end == len(text) and (piece.is_open or piece.runs_on)):
        return ""
    return value


def _read_name(text: str, piece: _Piece) -> str:
    end, at = _find_sentence_end(text), 0
    if end == len(text) and piece.is_open:
        return ""
    behind = text[end : end + 1]
    if behind and behind in "!！?？":
        return ""
    while (comma := _find_comma(text, at, end)) < end:
        if text[comma] in "(（":
            closing = _find_closing(text, comma, end)
            if text[closing + 1 : end].lstrip()[:1].isalnum():
                at = closing + 1  # it stands within the name of a company
                continue
            end, behind = comma, text[comma]
        elif begins_company_end(text[comma + 1 : end]):
            at = comma + 1
            continue
        elif text[comma] == "、" or may_begin_name(text[comma + 1 : end].lstrip()):
            return ""
        else:
            end, behind = comma, text[comma]
    value = text[:end].rstrip(_MARKS)
    if behind == "." and (is_abbreviation(value.split()[-1]) if value else False):
        value = text[: end + 1]
    if behind == "." and len(value.split()) == 1 and _is_latin(value[-1]) and text[end + 1 :].strip():
        return ""  # `Ing. Ann Lee`: who knows whether that is a sentence's end
    return value if is_name(value) and len(value) <= piece.label else ""


def _find_comma(text: str, at: int, end: int) -> int:
    return next((n for n in range(at, end) if text[n] in ",，、(（"), end)


def _find_closing(text: str, at: int, end: int) -> int:
    return next((n for n in range(at, end) if text[n] in ")）"), end)


def _find_sentence_end(text: str) -> int:
    """Where the first sentence ends: a dot behind an abbreviation does not end one, where more of it follows."""
    for n, each in enumerate(text):
        if each in "。；;！？" or (each in "!?" and not text[n + 1 : n + 2].isalnum()):
            return n
        if each == "." and not text[n + 1 : n + 2].strip(" \t\u00a0\u3000\"'”’)"):
            words = text[:n].split()
            if not text[n + 1 :].strip() or not (words and is_abbreviation(words[-1])):
                return n
    return len(text)
