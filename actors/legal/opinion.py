"""An opinion as it is shown: statements, and below them each source in its standard form with its words. Pure."""

from collections.abc import Sequence

from actors.evidence.claims import Citation, Claim, render_claims
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
