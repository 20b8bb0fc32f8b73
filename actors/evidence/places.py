"""Places: where in the documents an answer may stand, and what stands there. An answer without a model shows them."""

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from actors.evidence.claims import Citation, Claim, cite
from actors.evidence.passages import Passage
from actors.text.catalogue import say
from actors.text.normalize import sanitize_markdown, sanitize_phrase, settle_code

Closeness = Literal["sure", "perhaps", "far"]
"""Whether what was found answers what was asked: it does, somebody must look, or it does not."""

LEADS: dict[Closeness, str] = {"sure": "places_sure", "perhaps": "places_perhaps", "far": "places_far"}
"""What stands above the places, as the catalogue names it."""
_MARKS = "#> "
"""What may stand before a sentence that a ticket asks: it is a heading there, or was said by somebody else."""
_PLACE = re.compile(r"\[\d+\] \S")


class PartPlaces(msgspec.Struct, frozen=True, gc=False):
    """The places for one thing that a ticket asks."""

    asked: str
    """The sentence that asks it; empty where the ticket asks nothing else."""
    closeness: Closeness
    places: tuple[Claim, ...] = ()
    """What is quoted from each, the best first; nothing where all is far."""


def render_places(
    parts: Sequence[PartPlaces], passages: Sequence[Passage], language: str
) -> tuple[str, tuple[Citation, ...]]:
    """
    What a person is shown, and the citations behind the numbers in it; no citations where nothing was found at all.

    Each quote is looked up in its passage; one that does not stand there is left out.
    """
    paragraphs: list[str] = []
    known: dict[tuple[str, int, int], Citation] = {}
    for part in parts:
        asked = sanitize_phrase(part.asked.lstrip(_MARKS))
        shown = [quoted for claim in part.places for quoted in cite([claim], passages)[1]]
        if not shown:
            paragraphs.append(say("nothing_on", language, asked=asked) if asked else say(LEADS["far"], language))
            continue
        on = [say("on", language, asked=asked)] if asked else []
        paragraphs.append("\n".join((*on, say(LEADS[part.closeness], language))))
        for quoted in shown:
            key = (quoted.source, quoted.start, quoted.end)
            numbered = known.setdefault(key, msgspec.structs.replace(quoted, number=len(known) + 1))
            paragraphs.append(quote_place(numbered))
    return settle_code("\n\n".join(paragraphs)) if known else "", tuple(known.values())


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
    sections = [sanitize_phrase(each) for each in citation.heading.split(" > ")]
    title = sanitize_phrase(citation.title)
    named = sections if title in sections else [title, *sections]
    return f"[{citation.number}] " + (" › ".join(filter(None, named)) or sanitize_phrase(citation.source))


def quote_place(citation: Citation) -> str:
    """The line that names a place, and below it its words."""
    return settle_code(f"{name_place(citation)}\n{sanitize_markdown(citation.quote)}")
