"""
Evidence: passages, claims and citations, and whether a claim may be shown to a person.

Pure. A quote must stand in its passage, its wrapping aside, and the claim that rests on it must say what it says
(`support.py`). What nobody read is never cited.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from actors.evidence.passages import Passage, Span, name_place
from actors.evidence.support import SUPPORTED, Finding, Verdict, compare
from actors.text.normalize import normalize, sanitize_line, sanitize_markdown, settle_code
from actors.text.quote_matching import find_quote


class Claim(msgspec.Struct, frozen=True, gc=False):
    """One statement of a draft and the words it rests on."""

    text: Annotated[
        str, Meta(description="Says no more than the quote.", extra_json_schema={"order": 3, "shown": True})
    ]
    passage: Annotated[int, Meta(description="Its number.", extra_json_schema={"order": 1})]
    """1-based number of the passage among those that the author was shown."""
    quote: Annotated[str, Meta(description="Its words, letter by letter.", extra_json_schema={"order": 2})]


class Citation(msgspec.Struct, frozen=True, gc=False):
    """Where a statement of a resolution can be checked. `number` is what stands as [number] in its text."""

    number: int
    source: str
    title: str
    heading: str
    quote: str
    start: int
    end: int
    anchor: str = ""


class Resolution(msgspec.Struct, frozen=True, gc=False):
    """What a person is told: a text whose statements carry [n], and the citations behind them."""

    text: str
    citations: tuple[Citation, ...] = ()
    grade: Literal["resolved", "suggested"] = "suggested"
    """`suggested`: the closest passages, quoted; nobody has judged that they solve the ticket."""


CLAIM_CHARACTERS = 2000
CLAIMS = 40


def verify(claim: Claim, passages: Sequence[Passage], known: str = "") -> Verdict:
    """Say whether a claim may be shown as resting on its passage; `check` says why not."""
    return check(claim, passages, known).verdict


def check(claim: Claim, passages: Sequence[Passage], known: str = "") -> Finding:
    """
    Compare a claim with its quote, which must stand in its passage.

    :param known: the ticket: what it says of itself, its numbers and names, is no invention.
    """
    found = place_of(claim, passages)
    if found is None:
        return Finding("unverified", "its quote does not stand in the passage, word for word", "lost_unquoted")
    passage = passages[claim.passage - 1]
    return SUPPORTED if is_verbatim(claim, passages) else compare(claim.text, found.of(passage), passage, known)


def is_verbatim(claim: Claim, passages: Sequence[Passage]) -> bool:
    """Whether a claim is nothing but its quote, which stands in its passage."""
    found = place_of(claim, passages)
    return found is not None and normalize(claim.text)[0] == normalize(found.of(passages[claim.passage - 1]))[0]


def relabel(claim: Claim, passages: Sequence[Passage]) -> Claim:
    """The claim with the number of the passage that holds its quote, if the one it names does not and just one does."""
    if place_of(claim, passages) is not None:
        return claim
    numbers = [n for n, each in enumerate(passages, 1) if find_quote(claim.quote, each.text) is not None]
    return msgspec.structs.replace(claim, passage=numbers[0]) if len(numbers) == 1 else claim


def cite(claims: Sequence[Claim], passages: Sequence[Passage]) -> tuple[str, tuple[Citation, ...]]:
    """
    Render the supported claims, each with its [number], and the citations behind the numbers.

    A claim that only quotes stands under the heading that it comes from. What is not supported is left out.
    """
    return render_claims([each for each in claims[:CLAIMS] if verify(each, passages) == "supported"], passages)


def render_claims(claims: Sequence[Claim], passages: Sequence[Passage]) -> tuple[str, tuple[Citation, ...]]:
    """As `cite`, of claims that were checked before; one whose quote does not stand in its passage is not shown."""
    citations: dict[tuple[str, int, int], Citation] = {}
    statements: dict[str, tuple[str, list[int]]] = {}
    headings: dict[str, str] = {}
    for claim in claims:
        place = place_of(claim, passages)
        if place is None:
            continue
        passage = passages[claim.passage - 1]
        citation = _citation(passage, place, len(citations) + 1)
        citation = citations.setdefault((citation.source, citation.start, citation.end), citation)
        key = normalize(claim.text)[0]
        excerpt = key == normalize(citation.quote)[0]
        text = sanitize_markdown((citation.quote if excerpt else claim.text)[:CLAIM_CHARACTERS])
        if text:
            numbers = statements.setdefault(key, (text, []))[1]
            numbers += [] if citation.number in numbers else [citation.number]
            headings[key] = sanitize_line(name_place(passage)) if excerpt else ""
    return _render(statements, headings), tuple(citations.values())


def _render(statements: dict[str, tuple[str, list[int]]], headings: dict[str, str]) -> str:
    parts: list[str] = []
    last = ""
    for key, (text, numbers) in statements.items():
        marks = "".join(f"[{number}]" for number in numbers)
        prose, gap, code = text.partition("\n\n    ")
        heading = headings[key]
        parts.append("\n" if parts and not heading and not last else "\n\n" if parts else "")
        if heading and heading != last:
            parts.append(f"{heading}:\n")
        parts.append(f"{marks}\n{text}" if text.startswith("    ") else f"{prose} {marks}{gap}{code}")
        last = heading
    return settle_code("".join(parts))


def place_of(claim: Claim, passages: Sequence[Passage]) -> Span | None:
    """Where the claim's quote stands in its passage."""
    if not 1 <= claim.passage <= len(passages):
        return None
    found = find_quote(claim.quote, passages[claim.passage - 1].text)
    return Span(*found) if found else None


def _citation(passage: Passage, place: Span, number: int) -> Citation:
    return Citation(
        number=number,
        source=passage.source,
        title=passage.title,
        heading=passage.heading,
        quote=place.of(passage),
        start=passage.start + place.start,
        end=passage.start + place.end,
        anchor=passage.anchor,
    )
