"""An opinion as it is shown: statements, and below them each source in its standard form with its words. Pure."""

from collections.abc import Sequence

import msgspec

from actors.evidence.claims import Citation, Claim, Resolution, render_claims
from actors.evidence.passages import Passage
from actors.evidence.places import name_place
from actors.text.catalogue import say
from actors.text.normalize import sanitize_line
from actors.text.truncate import shorten

DIGEST_CHARACTERS = 300
"""So much of an article's words stands below an answer; the whole of it is in its source."""
BLOCKS = 3
"""Of a case each by itself: its summary, its key points, its articles."""


def render_statements(
    claims: Sequence[Claim], passages: Sequence[Passage], language: str
) -> tuple[str, tuple[Citation, ...]]:
    """Statements with their numbers, and the sources behind the numbers; nothing where no quote stands."""
    text, citations = render_claims(claims, passages)
    if not citations:
        return "", ()
    return f"{text}\n\n{render_sources(citations, language)}", citations


def render_quotes(
    claims: Sequence[Claim], passages: Sequence[Passage], language: str, *, looked_up: bool
) -> tuple[str, tuple[Citation, ...]]:
    """The sources alone, below a sentence that says how near they are."""
    _, citations = render_claims(claims, passages)
    if not citations:
        return "", ()
    lead = say("legal_sure" if looked_up else "legal_perhaps", language)
    return "\n\n".join([lead, *map(render_source, citations)]), citations


def render_sources(citations: Sequence[Citation], language: str) -> str:
    return "\n\n".join([say("legal_basis", language), *map(render_source, citations)])


def render_source(citation: Citation) -> str:
    """A source as lawyers name it, and its words."""
    blocks = citation.quote.split("\n\n")[:BLOCKS]
    said = (shorten(sanitize_line(each), DIGEST_CHARACTERS) for each in blocks)
    return "\n".join([name_place(citation), *said])


def renumber(resolution: Resolution, first: int) -> Resolution:
    """The same with numbers from `first` on, so that it can stand behind another."""
    text = resolution.text
    numbers = {each.number: first + place for place, each in enumerate(resolution.citations)}
    for old in sorted(numbers, reverse=True):
        text = text.replace(f"[{old}]", f"[\0{numbers[old]}]")
    citations = tuple(msgspec.structs.replace(each, number=numbers[each.number]) for each in resolution.citations)
    return msgspec.structs.replace(resolution, text=text.replace("\0", ""), citations=citations)
