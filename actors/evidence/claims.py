"""
Evidence: passages, claims and citations, and whether a claim may be shown to a person.

Pure. A quote must stand in its passage (after folding of Unicode and white space), and so must every number and
negation of the claim that rests on it. What nobody read is never cited.
"""

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from actors.evidence.facts import Facts, facts, negated_terms, supplies
from actors.evidence.passages import Passage, Span
from actors.text.normalize import casefold, find_span, normalize, sanitize_markdown
from actors.text.tokenizer import CJK


class Claim(msgspec.Struct, frozen=True, gc=False):
    """One statement of a draft and the words it rests on."""

    text: str
    passage: int
    """1-based number of the passage among those that the author was shown."""
    quote: str


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


Verdict = Literal["supported", "contradicted", "unverified"]

QUOTE_CHARACTERS = 8
"""A shorter quote proves nothing, unless it is the claim itself."""
CLAIM_CHARACTERS = 2000
CLAIMS = 40


def verify(claim: Claim, passages: Sequence[Passage]) -> Verdict:
    """
    Say whether a claim may be shown as resting on its passage.

    The quote must stand there; numbers, dates, identifiers and negations of the claim must be its quote's or passage's.
    """
    found = _place(claim, passages)
    if found is None:
        return "unverified"
    passage, quote = passages[claim.passage - 1], found.of(passages[claim.passage - 1])
    if normalize(claim.text)[0] == normalize(quote)[0]:
        return "supported"
    if _length(quote) < QUOTE_CHARACTERS or not _shares_word(claim.text, quote):
        return "unverified"
    said, quoted = facts(claim.text), facts(quote)
    read = facts("\n".join((passage.title, passage.heading, passage.text)))
    verdicts = {
        _quantities(said, quoted, read),
        "supported" if said.dates <= read.dates else "contradicted" if quoted.dates else "unverified",
        "supported" if all(_has(each, passage) for each in said.identifiers) else "unverified",
        _negations(claim.text, quote, said, quoted, read),
    }
    return "contradicted" if "contradicted" in verdicts else "unverified" if "unverified" in verdicts else "supported"


def cite(claims: Sequence[Claim], passages: Sequence[Passage]) -> tuple[str, tuple[Citation, ...]]:
    """
    Render the supported claims, each with its [number], and the citations behind the numbers.

    A claim that only quotes stands under the heading that it comes from. What is not supported is left out.
    """
    citations: dict[tuple[str, int, int], Citation] = {}
    statements: dict[str, tuple[str, list[int]]] = {}
    headings: dict[str, str] = {}
    for claim in claims[:CLAIMS]:
        place = _place(claim, passages)
        if place is None or verify(claim, passages) != "supported":
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
            headings[key] = sanitize_markdown(passage.heading or passage.title) if excerpt else ""
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
    return "".join(parts)


def _place(claim: Claim, passages: Sequence[Passage]) -> Span | None:
    """Where the claim's quote stands in its passage."""
    if not 1 <= claim.passage <= len(passages):
        return None
    found = find_span(claim.quote, passages[claim.passage - 1].text)
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


_LATIN = re.compile(r"[a-z\u00df-\u024f]{4,}")
_CJK = re.compile(f"[{CJK}]")
_CJK_PAIR = re.compile(rf"(?=({_CJK.pattern}{{2}}))")


def _length(quote: str) -> int:
    """Characters that count: one of Chinese, Japanese or Korean says as much as two."""
    said = " ".join(quote.split())
    return len(said) + len(_CJK.findall(said))


def _shares_word(text: str, quote: str) -> bool:
    """Whether a claim shares a word with its quote, where both have words of one script."""
    said, quoted = casefold(text), casefold(quote)
    compared = False
    for words in (_LATIN, _CJK_PAIR):
        one, other = ({word[:5] for word in words.findall(each)} for each in (said, quoted))
        if one & other:
            return True
        compared = compared or bool(one and other)
    return not compared


def _quantities(said: Facts, quoted: Facts, read: Facts) -> Verdict:
    for each in said.quantities:
        if supplies(quoted.quantities, each):
            continue
        rivals = {other for other in quoted.quantities if other.family == each.family}
        if rivals and not any(supplies(said.quantities, other) for other in rivals):
            return "contradicted"
        if not supplies(read.quantities, each):
            return "unverified"
    return "supported"


def _negations(text: str, quote: str, said: Facts, quoted: Facts, read: Facts) -> Verdict:
    if said.negated and not quoted.negated:
        return "unverified" if read.negated else "contradicted"
    if quoted.negated and not said.negated:
        words = frozenset(re.findall(r"[^\W\d_]{3,}", casefold(text)))
        if any(denial <= words for denial in negated_terms(quote)):
            return "contradicted"
    return "supported"


def _has(identifier: str, passage: Passage) -> bool:
    return any(identifier in normalize(part)[0] for part in (passage.text, passage.heading, passage.title))
