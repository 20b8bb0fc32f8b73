"""Passages: what was found in the sources. Frozen values."""

import msgspec

from actors.evidence.shortfalls import Shortfall
from actors.text.catalogue import ENGLISH, say

TICKET_SOURCE = "contract"
"""The source of what stands in the ticket itself: private, and gone with it. No document that was read is called so."""


STATUTE, CASE = "statute:", "case:"
"""How the sources of articles of law and of decided cases begin; people know both by their titles."""
BELOW = " > "
"""Between the headings that lead to a passage."""
HEADING_CHARACTERS = 300
"""Of a heading so much is looked at; a longer one is none, but text that a page dresses up as one."""
LOOKED_UP = 1.0
"""The score of an article or a case that was asked for by its name and looked up."""


class Span(msgspec.Struct, frozen=True, gc=False):
    """A run of characters of a passage: `passage.text[start:end]`."""

    start: int
    end: int

    def of(self, passage: "Passage") -> str:
        return passage.text[self.start : self.end]


class Passage(msgspec.Struct, frozen=True, gc=False):
    """A piece of a document that was really read, and where it stands there."""

    id: str
    """Stable for the same document content: `source#ordinal`."""
    source: str
    """Path below the indexed folder, with the folder's name in front, or a URL."""
    title: str
    heading: str
    """The headings that lead to it, with BELOW between them."""
    text: str
    start: int
    end: int
    """Offsets in characters of the document's text as it was read (for text and Markdown: of the file itself)."""
    anchor: str = ""
    """HTML id of the nearest heading or term above it."""
    score: float = 0.0


def was_looked_up(passage: Passage) -> bool:
    """Whether it is an article or a case that was asked for by its name."""
    return passage.score >= LOOKED_UP and passage.source.startswith((STATUTE, CASE))


def name_place(passage: Passage) -> str:
    """What an excerpt stands below: its section of a document; the article, the case that it is of."""
    named = passage.source.startswith((STATUTE, CASE))
    return passage.title if named else passage.heading or passage.title


def last_heading(passage: Passage) -> str:
    """The heading that a passage stands directly below; of one without any, the title of its document."""
    return passage.heading.rpartition(BELOW)[2].strip()[:HEADING_CHARACTERS] or passage.title


class NamedDocument(msgspec.Struct, frozen=True, gc=False):
    """A document of the knowledge base, whole."""

    source: str
    title: str
    text: str
    """What the offsets of its passages refer to."""


class Meaning(msgspec.Struct, frozen=True, gc=False):
    """How near what was found is in meaning to what was asked, by cosines: -1 to 1, the same over all searches."""

    best: float
    """Of the nearest passage of all that were searched."""
    passages: tuple[float | None, ...] = ()
    """Of each passage found; None: it has no vector, or is not among the nearest."""


class Reason(msgspec.Struct, frozen=True, gc=False):
    """Why what was found is no answer: a sentence of the catalogue, and the word that it speaks of."""

    key: str
    word: str = ""

    def say(self, language: str) -> str:
        """The sentence; nothing but the language says how it reads."""
        return say(self.key, language, word=self.word)


class SearchHits(msgspec.Struct, frozen=True, gc=False):
    """What a search of the knowledge found for one question."""

    passages: tuple[Passage, ...] = ()
    """Best first."""
    abstain: str = ""
    """Why these passages should not be taken for an answer, in an English sentence; empty when they may."""
    meaning: Meaning | None = None
    """None: unknown, for the search went by words alone."""
    incomplete: tuple[Shortfall, ...] = ()
    """What it did not look at, though it was to."""
    reason: Reason | None = None
    """`abstain`, for a person of any language; None: `abstain` is all that is known."""

    @classmethod
    def refuse(cls, reason: Reason) -> "SearchHits":
        """Nothing was found, for this reason."""
        return cls(abstain=reason.say(ENGLISH), reason=reason)

    @property
    def words_only(self) -> str:
        """Why it went by words alone, where meaning was to be looked at, too, in an English sentence; else empty."""
        return next((each.detail for each in self.incomplete if each.code in {"no_meaning", "no_vectors"}), "")

    def explain(self, language: str) -> str:
        """Why these passages are no answer, in a sentence for the user."""
        return self.reason.say(language) if self.reason else self.abstain
