"""Places: where in the documents an answer may stand, and what stands there. An answer without a model shows them."""

import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from actors.evidence.claims import Citation, Claim, cite
from actors.evidence.passages import BELOW, Passage
from actors.text.catalogue import say
from actors.text.normalize import sanitize_markdown, sanitize_phrase, settle_code

PLACES = 3
"""So many are shown of what was found."""

_PLACE = re.compile(r"\[\d+\] \S")
_HEADING = re.compile(r"(?m)^#{1,6}[ \t]{1,4}")
"""The mark of a heading, over which a short section goes on: shown as what it is, not as more of the section above."""
SECTION_MARK = "› "


def list_places(passages: Sequence[Passage], *, of_a_page: int = PLACES) -> tuple[Claim, ...]:
    """
    The places that come closest, word for word. Whether one of them is the answer, nobody has judged.

    :param of_a_page: so many of one page at most.
    """
    of, chosen = Counter[str](), list[Claim]()
    for number, each in enumerate(passages, 1):
        text = each.text.strip("\n").rstrip()  # code that begins it keeps its indentation
        of[each.source] += bool(text)
        if text and of[each.source] <= of_a_page and len(chosen) < PLACES:
            chosen.append(Claim(text, number, text))
    return tuple(chosen)


def render_places(
    places: Sequence[Claim], passages: Sequence[Passage], language: str
) -> tuple[str, tuple[Citation, ...]]:
    """
    What a person is shown, and the citations behind the numbers in it; nothing where there is no place.

    Each quote is looked up in its passage; one that does not stand there is left out.
    """
    shown = [quoted for claim in places for quoted in cite([claim], passages)[1]]
    numbered = [msgspec.structs.replace(each, number=number) for number, each in enumerate(shown, 1)]
    if not numbered:
        return "", ()
    text = "\n\n".join((say("places", language), *map(quote_place, numbered)))
    return settle_code(text), tuple(numbered)


def strip_leads(text: str) -> str:
    """
    A text without the sentences above its places: the same places are the same answer, whatever is said around them.

    By their form, not their words: what was stored may be in another language, or older than today's wording.
    """
    paragraphs = text.split("\n\n")
    pairs = zip(paragraphs, [*paragraphs[1:], ""], strict=True)
    return "\n\n".join(each for each, below in pairs if not _leads(each, below))


def _leads(paragraph: str, below: str) -> bool:
    return paragraph.endswith((":", "：")) and bool(_PLACE.match(below)) and not _PLACE.match(paragraph)


def name_place(citation: Citation) -> str:
    """The line that names a place: its number, its document, its section."""
    sections = [sanitize_phrase(each) for each in citation.heading.split(BELOW)]
    title = sanitize_phrase(citation.title)
    named = sections if title in sections else [title, *sections]
    return f"[{citation.number}] " + (" › ".join(filter(None, named)) or sanitize_phrase(citation.source))


def quote_place(citation: Citation) -> str:
    """The line that names a place, and below it its words."""
    return settle_code(f"{name_place(citation)}\n{render_words(citation)}")


def render_words(citation: Citation) -> str:
    """The words of a place as they are shown."""
    return sanitize_markdown(_HEADING.sub(SECTION_MARK, citation.quote))
