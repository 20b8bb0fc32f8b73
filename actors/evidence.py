"""
Evidence: passages, claims and citations, and whether a claim may be shown to a person.

Pure. A quote must stand in its passage (after folding of Unicode and white space), and so must every number and
negation of the claim that rests on it. What nobody read is never cited.
"""

from typing import Literal

import msgspec


class Slice(msgspec.Struct, frozen=True, gc=False):
    """A run of characters of a passage that bears on the question: `passage.text[start:end]`."""

    start: int
    end: int
    score: float = 0.0
    """0 to 1, comparable within one search only."""


class Passage(msgspec.Struct, frozen=True, gc=False):
    """A piece of a document that was really read, and where it stands there."""

    id: str
    """Stable for the same document content: `source#ordinal`."""
    source: str
    """Path below the indexed folder, with the folder's name in front, or a URL."""
    title: str
    heading: str
    """The headings that lead to it, joined by ` > `."""
    text: str
    start: int
    end: int
    """Offsets in characters of the document's text as it was read (for text and Markdown: of the file itself)."""
    anchor: str = ""
    """HTML id of the nearest heading or term above it."""
    score: float = 0.0
    quotes: tuple[Slice, ...] = ()
    """The sentences that bear on the question, best first; filled by a search."""


class Findings(msgspec.Struct, frozen=True, gc=False):
    """What a search of the knowledge found for one question."""

    passages: tuple[Passage, ...] = ()
    """Best first."""
    abstain: str = ""
    """Why these passages should not be taken for an answer, in a sentence for the user; empty when they may."""
    confidence: float = 0.0
    """0 to 1: how far the best passage stands above what separates an answer from noise."""


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
