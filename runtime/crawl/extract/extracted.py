"""What goes over the line between the crawler and the extraction."""

import msgspec

from actors.evidence.sources import Entities


class Extracted(msgspec.Struct, frozen=True, omit_defaults=True):
    """The main text of one page, and what the page says of itself."""

    title: str
    text: str
    """Markdown or plain text, cut at a paragraph to PAGE_CHARACTERS, or compressed to them."""
    full_length: int
    """Characters before that."""
    sha256: str
    """`dedup.hash_of` the whole text."""
    sketch: tuple[int, ...] = ()
    """`dedup.sketch_of` the whole text, for near duplicates."""
    summary: str = ""
    key_points: tuple[str, ...] = ()
    entities: Entities = Entities()
    canonical: str = ""
    """What the page names as its own URL."""
    published: str = ""
    """ISO date."""
    language: str = ""
    compressed: bool = False
    file: str = ""
    """Of an own document: where it lies on this machine."""
    thin: str = ""
    """Why this is too little or too poor to count as a page, in a sentence; empty when it counts."""
    blocked: str = ""
    """Why this is a page against robots or a sign to log in or pay, and not the text; empty when it is the text."""
    paywall: bool = False
    """Of `blocked`: it asks for money or a log-in, not for a human."""
