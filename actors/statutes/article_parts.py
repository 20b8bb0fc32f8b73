"""Paragraphs and items of an article: the words of the one that a question names. Pure."""

from actors.statutes.jurisdiction import Jurisdiction
from actors.statutes.numerals import read_number


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
