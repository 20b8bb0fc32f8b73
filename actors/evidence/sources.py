"""What research agents need of the world, and the records that pass between them; `runtime/` has the real things."""

from typing import Literal

import msgspec

PAGE_CHARACTERS = 20_000
"""The most text that is kept of one page (RE-6)."""

Reason = Literal[
    "dead", "refused", "blocked", "paywall", "binary", "too_large", "timed_out", "robots", "rate_limited",
    "unreachable", "duplicate", "thin", "budget", "source_failed", "cancelled",
]  # fmt: skip
"""
Why something was not obtained.

dead: the server says that it is not there; refused: our own rules forbid it; blocked: a page against robots instead of
the text; thin: too little text to count; source_failed: a whole source, such as a feed, did not answer.
"""


class SearchResult(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One hit, whichever source it comes from (PR-11)."""

    source: str
    """The name of the source: knowledge, tavily, web, rss, urls."""
    title: str
    url: str
    """Where it can be read: http(s), or `knowledge:` and the path of an indexed document."""
    summary: str = ""
    """Plain text, less than 200 characters."""
    key_points: tuple[str, ...] = ()
    """At most 4."""
    quality: float = 0.0
    """0 to 1, as `result_scoring.py` scores it."""
    query: str = ""
    """The query that found it first."""
    published: str = ""
    """ISO date, when the source says."""


class FailedSource(msgspec.Struct, frozen=True, gc=False, tag="Missed"):  # as journals name it
    """Something that was not obtained: it is logged, listed in the report, and never cited."""

    place: str
    """A URL, or the name of a source."""
    reason: Reason
    detail: str
    """One sentence for the user."""


class Entities(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Names that a page speaks of, stored apart from its text (PR-18)."""

    features: tuple[str, ...] = ()
    competitors: tuple[str, ...] = ()
    tech_stack: tuple[str, ...] = ()


class Original(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What a server sent, kept beside the text that was made of it (PR-12)."""

    sha256: str
    """Of what was sent, in hexadecimal: its name in the storage folder."""
    content_type: str
    charset: str = ""
    size: int = 0
    """Bytes."""


class Page(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag=True):
    """A source that was really read: its cleaned text and what is known of it."""

    key: str
    """Its identity, which passages carry as their `source`: see `dedup.key_of`."""
    url: str
    """Where it was read, redirects followed."""
    title: str
    source: str
    """The name of the source that found it."""
    text: str
    """Markdown or plain text without scripts, styles, navigation and advertisements; at most PAGE_CHARACTERS."""
    full_length: int
    """Characters of the cleaned text before it was cut or compressed."""
    sha256: str
    """Of the whole cleaned text, in hexadecimal."""
    read_at: str
    """ISO time in UTC."""
    quality: float = 0.0
    why: tuple[str, ...] = ()
    """What the quality rests on, each in a few words."""
    summary: str = ""
    key_points: tuple[str, ...] = ()
    entities: Entities = Entities()
    published: str = ""
    language: str = ""
    compressed: bool = False
    """The text is the essential part of one that was over 100 KB (PR-18)."""
    file: str = ""
    """Of an own document: where it lies on this machine."""
    original: Original | None = None
    """Of a page of the web; an own document is in the index from end to end."""


class Statement(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What the report may say: verified against its passage when it was made, and once more when it is rendered."""

    text: str
    quote: str
    passage: str
    """Id of a passage that the case holds."""
    page: str
    """Key of the page."""
    round: int = 1
    heading: str = ""
    """The one that it must be read under, where that is not its passage's."""
