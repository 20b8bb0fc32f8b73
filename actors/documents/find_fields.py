"""
What a ticket plainly says of the fields of a template, word for word.

It says a value behind a label (`Plaintiff: Ann Lee`), in words of running prose that the field
declares (`I am Ann Lee`), or in the story that it tells. What stands there goes above somebody's
signature, so whatever may mean something else, or more than one thing, is not found: it is asked.
"""

import re
from bisect import bisect
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from actors.documents.field_values import clean_value, is_amount, names_currency, read_amount, read_date
from actors.documents.names import (
    COMPANY_ENDS,
    is_abbreviation,
    is_name,
    is_placeholder,
    may_begin_name,
    read_name,
)
from actors.documents.template import Field, Template
from actors.text.normalize import casefold
from actors.text.sentences import sentences
from actors.text.stop_words import word_set

MOST_SEARCHED = 10_000
"""Characters of a ticket, which take some 40 ms of the loop at most; whoever asks for a letter writes less."""
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
_OVER = re.compile(r"""\s{0,3}(?:$|[.。,，;；!！|"'”’*_]\s{0,3})""")
"""Behind an amount or a day that is all that is said."""
_STOP = re.compile(rf"[。；;！？]|[!?](?!\w)|\.(?=[{_BLANKS}\"'”’)]|$)")
_NAME = re.compile(
    r"(?:[^,，、(（]|[(（][^()（）]{0,80}[)）]\s{0,3}(?=\w)"
    rf"|,\s{{0,3}}(?:{'|'.join(map(re.escape, sorted(COMPANY_ENDS)))})(?!\w))*",
    re.IGNORECASE,
)
"""A name with what belongs to it behind a comma or in brackets: `Lamp (Northgate) Trading Co., Ltd.`"""
_DETERMINERS = word_set("the my our your his her their its a an and")
_QUALIFIERS = word_set(
    """
    first second third fourth former co other another new old next last previous counter lead joint main primary total
    monthly yearly annual alleged potential possible original non no not opposing deceased late false real
    """
)
"""Before a label these make another thing of it: the `former plaintiff` is not the plaintiff."""
_LINE = re.compile("[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_FIGURES = re.compile(r"(?<!\w)(?:[A-Za-z]{3,9}|[A-Z$€£¥￥₩]{1,3})?\s?\d+|\d+")
_ASKS = ("请", "謝", "谢", "麻烦", "您好", "你好", "please", "thank", "hello", "hi,", "dear")
_ORDINAL = re.compile(r"제\d+|\d+(?:st|nd|rd|th)")


class FoundField(NamedTuple):
    """A value that a text says, and where."""

    value: str
    quote: str
    """The words of the text, from what leads to the value to its end."""
    start: int
    end: int


class _Head(NamedTuple):
    """A label in a text, or the words of prose that lead to a value."""

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
    phrases = {each: _split_phrases(each) for each in template.fields}
    heads = list(_find_heads(template, {each for of in phrases.values() for each in of}, text))
    pieces = _cut_pieces(heads, text)
    found, untold = dict[str, FoundField](), list[Field]()
    for field, of in phrases.items():
        labels = {each.casefold() for each in field.labels}
        said, doubts = list[FoundField](), list[str]()
        for head, piece in zip(heads, pieces, strict=True):
            if head.label in of:
                value = _read_prose(field, head, of[head.label], piece)
            elif head.label in labels:
                value = _read(field, head, piece)
            else:
                continue
            cleaned = clean_value(field, value)
            cleaned = next((each for each in field.choices if each.casefold() == cleaned.casefold()), cleaned)
            if cleaned and not is_placeholder(cleaned):
                end = piece.at + piece.text.index(value) + len(value)
                said.append(FoundField(cleaned, text[head.start : end], head.start, end))
            elif head.label in labels and (head.colon or _says_other(field, piece.text)):
                doubts.append(clean_value(field, piece.text).strip(_SEPARATORS).casefold())
        values = {each.value.casefold() for each in said}
        if len(values) == 1 and all(_repeats(each, *values) for each in doubts if each):
            found[field.name] = said[0]
        elif field.story and not said and not any(doubts):
            untold.append(field)
    for field in untold:
        if told := _find_story(template, text, heads, found):
            found[field.name] = told
    return found


def _find_story(
    template: Template, text: str, heads: list[_Head], found: Mapping[str, FoundField]
) -> FoundField | None:
    """The sentences that tell what happened: who asks for the document, or fills a place, tells nothing."""
    kinds = {each.name: each.kind for each in template.fields}
    names = [casefold(each) for each in (template.title, *template.names)]
    forms, leads = [each.start for each in heads if each.colon], [each.start for each in heads]
    told = list[tuple[int, int]]()
    for line in _LINE.finditer(text):
        for start, end in sentences(text, *line.span()):
            sentence = casefold(text[start:end])
            held = {kinds[name] for name, each in found.items() if each.start < end and start < each.end}
            is_form = bisect(forms, end - 1) > bisect(forms, start - 1) or bool(held - {"party"})
            asks = sentence.startswith(_ASKS) or sentence.endswith(("?", "？"))
            asks |= any(name in sentence for name in names)
            is_led = bool(held) or bisect(leads, end - 1) > bisect(leads, start - 1)
            if not is_form and not asks and (not is_led or _tells_event(sentence)):
                told.append((start, end))
    if not any(_tells_event(text[start:end]) for start, end in told):
        return None
    (start, _), (_, end) = told[0], told[-1]
    parts = (text[a:b] + ("" if text[b - 1] in "。！；" else " ") for a, b in told)
    return FoundField("".join(parts).strip(), text[start:end], start, end)


def _tells_event(sentence: str) -> bool:
    """Whether it says a day or an amount, as what happened does; without one it is asked for."""
    starts = (each.start() for each in _FIGURES.finditer(sentence))
    said = (sentence[start : start + _BEFORE] for start in starts)
    return any(read_date(each) or names_currency(read_amount(each)) for each in said)


def _says_other(field: Field, text: str) -> bool:
    """Whether behind a label without a colon there may be a day or an amount, though not plainly."""
    return field.kind in {"date", "money"} and any(map(str.isdigit, text))


def _split_phrases(field: Field) -> dict[str, list[tuple[str, str]]]:
    """What leads to a value in prose, with the words that it ends with and those behind it."""
    phrases: dict[str, list[tuple[str, str]]] = {}
    for each in field.phrases:
        before, _, rest = each.partition("{")
        last, _, behind = rest.partition("}")
        phrases.setdefault(before.casefold(), []).append((last, behind))
    return phrases


def _repeats(doubt: str, value: str) -> bool:
    """Whether what is not plainly a value at least begins with the one that is."""
    return doubt.startswith(value) and not doubt[len(value) : len(value) + 1].isalnum()


def _find_heads(template: Template, phrases: set[str], text: str) -> Iterator[_Head]:
    """Every label of a template where it is a word of its own; of two at one place the longer one."""
    labels = {each for field in template.fields for each in field.labels}
    words = sorted(labels | phrases, key=len, reverse=True)
    if not words:
        return
    last, in_value = 0, False
    # words that lead to a value in Chinese prose stand behind others without a space
    pattern = "|".join(
        rf"(?<!\w){re.escape(each)}" if each in labels or each.isascii() else re.escape(each) for each in words
    )
    for found in re.finditer(pattern, text, re.IGNORECASE):
        start, at = found.span()
        if _is_latin(text[at - 1]) and at < len(text) and _is_latin(text[at]):
            continue
        behind = _skip(text, at, _MARKS)
        colon = behind < len(text) and text[behind] in _COLONS
        if colon:
            at = _skip(text, behind + 1, _MARKS)
        in_value = in_value and _LINE_END.search(text, last, start) is None
        leads = found[0].casefold() in phrases
        begins = leads or _begins(text, start, found[0], follows_value=in_value and found[0] in labels)
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
    qualifies = word in _QUALIFIERS or _ORDINAL.fullmatch(word) is not None
    return follows_value and not label[0].islower() and not qualifies


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
        name = read_name(text) if field.kind == "party" and not text.isascii() else ""
        return name if len(name) <= piece.label else ""
    end = _find_sentence_end(text)
    value = text[:end].rstrip(_MARKS)
    if field.kind == "choice":
        value = value.rstrip(f"{_MARKS}.")
        return value if value.casefold() in map(str.casefold, field.choices) else ""
    if end == len(text) and piece.is_open:
        return ""
    if field.kind == "party":
        return _read_name(text, end, piece)
    has_label = any(value.find(each + blank) > 0 for each in _COLONS for blank in _BLANKS)
    return "" if has_label or (end == len(text) and piece.runs_on) else value


def _read_prose(field: Field, head: _Head, endings: list[tuple[str, str]], piece: _Piece) -> str:
    """The value behind words of prose, up to the end of its sentence or to the words behind it."""
    endings = [each for each in endings if "".join(each) in piece.text]
    text = piece.text[: _find_sentence_end(piece.text)] if endings else ""
    if field.kind == "party":
        name = read_name(text[: piece.label])
        dot = piece.text[len(name) : len(name) + 1]
        return f"{name}." if name and dot == "." and is_abbreviation(name.split()[-1]) else name
    for last, behind in endings:
        at = text.find(last + behind)
        value = text[: at + len(last)] if last or behind else text
        is_whole = len(value) < len(piece.text) or not (piece.is_open or piece.runs_on)
        if at >= 0 and is_whole and not value.endswith(tuple(_COLONS)):
            return value.rpartition(head.label)[2]  # `向他催讨后向某法院起诉` leads to it twice
    return ""


def _read_whole_value(field: Field, text: str) -> str:
    """A day or an amount that is all that is said of it: what is meant by `5 million` does not end behind the 5."""
    read = read_date if field.kind == "date" else read_amount
    value = read(text)
    if not value or (field.kind == "money" and not (is_amount(value) and names_currency(value))):
        return ""
    behind = text[len(value) :]
    over = _OVER.match(behind)
    return value if over is not None and not read(behind[over.end() :]) else ""


def _read_name(text: str, end: int, piece: _Piece) -> str:
    """The name with which a piece begins whose first sentence ends there."""
    found = _NAME.match(text, 0, end)
    name = found[0] if found else ""
    value, behind = name.rstrip(_MARKS), text[len(name) : len(name) + 1]
    if behind and behind in "、!！?？":
        return ""
    if behind and behind in ",，" and may_begin_name(text[len(name) + 1 : end].lstrip()):
        return ""
    if behind == "." and value:
        if is_abbreviation(value.split()[-1]):
            value = text[: end + 1]
        if len(value.split()) == 1 and _is_latin(value.rstrip(".")[-1:]) and text[end + 1 :].strip():
            return ""  # `Ing. Ann Lee`: who knows whether that is a sentence's end
    return value if is_name(value) and len(value) <= piece.label else ""


def _find_sentence_end(text: str) -> int:
    """Where the first sentence ends: a dot behind an abbreviation does not end one, where more of it follows."""
    for stop in _STOP.finditer(text):
        words = text[: stop.start()].split()
        goes_on = stop[0] == "." and text[stop.end() :].strip() and words and is_abbreviation(words[-1])
        if not goes_on:
            return stop.start()
    return len(text)
