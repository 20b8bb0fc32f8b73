"""
References to articles: found in a text, rendered, and the words of the part that one names. Pure.

How they are written is the jurisdiction's.
"""

import itertools
import re
from collections.abc import Callable, Iterator

import msgspec

from actors.statutes.jurisdiction import Jurisdiction, read_number, write_number
from actors.text.unicode_forms import fold_forms

NAME_CHARACTERS = 60
CHARACTERS = 20_000
"""So much of a text is looked at."""
REFERENCES = 40
RANGE = 20
"""Of a range so many articles are looked up; the numbers between the first ones and the last are left out."""
LOOKED_BACK = 160


class Reference(msgspec.Struct, frozen=True, order=True):
    """An article of a law, by name and number."""

    law: str
    number: int
    sub: int = 0
    """Of an article between two, as 第十七条之一: 1."""
    paragraph: int = 0
    item: int = 0


FindLaw = Callable[[str], str]


def find_references(text: str, jurisdiction: Jurisdiction, find_law: FindLaw = lambda _: "") -> tuple[Reference, ...]:
    """
    The articles that a text names, in its order, each once; of a range each article, at most `RANGE`.

    :param find_law: the name of the law that is called so, however it is written; empty: there is none.
    """
    text = fold_forms(text[:CHARACTERS])
    goes_on = jurisdiction.compile(jurisdiction.citations.goes_on)
    spans = jurisdiction.compile(rf"^\s*(?:{jurisdiction.citations.spans})\s*$")
    found: dict[Reference, None] = {}
    law, end, last = "", 0, 0
    for each in jurisdiction.compile(jurisdiction.citations.article).finditer(text):
        before = text[end : each.start()]
        own = _name_near(text, each, jurisdiction, find_law)
        law = own or (law if goes_on.match(before) else "")
        end = each.end()
        if not law:
            continue
        numbers = list(_read_numbers(each["numbers"], jurisdiction))
        if not own and last and spans.match(before):
            numbers = [*_between(last, numbers[0]), *numbers]
        last = numbers[-1]
        named = [Reference(law, number) for number in numbers[:-1]]
        named += (Reference(law, last, *parts) for parts in _list_parts(each, jurisdiction))
        for reference in named:
            if len(found) < REFERENCES:
                found[reference] = None
    return tuple(found)


def render_reference(reference: Reference, jurisdiction: Jurisdiction) -> str:
    """As lawyers write it."""
    said = {
        name: write_number(getattr(reference, name), jurisdiction.numerals)
        for name in ("number", "sub", "paragraph", "item")
    }
    optional = [(reference.sub, jurisdiction.sub), (reference.paragraph, jurisdiction.paragraph)]
    optional.append((reference.item, jurisdiction.item))
    tail = "".join(form.format(**said) for number, form in optional if number)
    written = jurisdiction.citation.format(law=reference.law, parts=tail, **said)
    return written if "{parts}" in jurisdiction.citation else written + tail


def _read_numbers(written: str, jurisdiction: Jurisdiction) -> Iterator[int]:
    """Those of a list or range, between which the name of what is numbered may stand: 第1条到100条."""
    last, end = 0, 0
    spans = jurisdiction.compile(jurisdiction.citations.spans)
    for each in jurisdiction.compile("{n}").finditer(written):
        number = read_number(each[0], jurisdiction.numerals)
        if end and spans.search(written, end, each.start()):
            yield from _between(last, number)
        yield number
        last, end = number, each.end()


def _between(first: int, last: int) -> range:
    """The numbers between the two of a range, without them."""
    return range(first + 1, min(last, first + RANGE - 1))


def _list_parts(found: re.Match[str], jurisdiction: Jurisdiction) -> Iterator[tuple[int, int, int]]:
    """Of each part of an article that is named, its sub-number, paragraph and item; 0 for what is not named."""
    said = found.groupdict(default="")
    sub = read_number(said.get("sub"), jurisdiction.numerals)
    paragraphs, items = (
        list(itertools.islice(_read_numbers(said.get(name, ""), jurisdiction), RANGE)) or [0]
        for name in ("paragraph", "item")
    )
    return ((sub, paragraph, item) for paragraph in paragraphs for item in items)


def _name_near(text: str, found: re.Match[str], jurisdiction: Jurisdiction, find_law: FindLaw) -> str:
    """The name of the law beside a reference: in marks or without, before it; else behind it."""
    before = text[max(0, found.start() - LOOKED_BACK) : found.start()]
    if named := jurisdiction.compile(jurisdiction.citations.named).search(before):
        name = jurisdiction.strip_prefix(named[1].strip())
        return find_law(name) or name
    boundary = jurisdiction.compile(jurisdiction.citations.boundary)
    tail = boundary.split(before[-NAME_CHARACTERS:].rstrip())[-1]
    for start in range(len(tail)):
        if len(tail) - start > 1 and (name := find_law(jurisdiction.strip_prefix(tail[start:]))):
            return name
    behind = jurisdiction.compile(jurisdiction.citations.behind).match(text[found.end() :][:NAME_CHARACTERS])
    return find_law(jurisdiction.strip_prefix(behind[1])) if behind else ""


def lacks_item(text: str, item: int, jurisdiction: Jurisdiction) -> bool:
    """Whether an article has items, and none of this number."""
    is_item = jurisdiction.compile(jurisdiction.layout.item)
    found = [is_item.match(line) for line in text.split("\n")]
    numbers = {read_number(each["number"], jurisdiction.numerals) for each in found if each}
    return bool(item and numbers) and item not in numbers


def quote_part(text: str, paragraph: int, item: int, jurisdiction: Jurisdiction) -> str:
    """
    The words of a paragraph, or of an item with the line before the items that it completes.

    :param paragraph: 0: none is named; an item is then the first of its number.
    :returns: empty where the article has no such part, or is not laid out in lines.
    """
    begins = jurisdiction.compile(jurisdiction.layout.paragraph) if jurisdiction.layout.paragraph else None
    is_item = jurisdiction.compile(jurisdiction.layout.item)
    now, head, inside, said = 0, "", False, list[str]()
    for line in filter(None, map(str.strip, text.split("\n"))):
        found = is_item.match(line)
        if found is None:
            inside = False
            marked = begins.match(line) if begins else None
            now = read_number(marked["number"], jurisdiction.numerals) if marked else now + (begins is None)
            head = line
        else:
            inside = read_number(found["number"], jurisdiction.numerals) == item
        if paragraph not in (0, now) or (item and not inside):
            continue
        if item:
            return f"{head}\n{line}" if head else line
        said.append(line)
    return "\n".join(said) if paragraph else ""
