"""A page and the text that it was made from: one document, of which the page is kept."""

import re
from html import unescape
from pathlib import Path, PurePosixPath

from runtime.knowledge.index import contained_files
from runtime.knowledge.readers.parsed_document import Unreadable
from runtime.knowledge.readers.reader import ASCIIDOC, HTML, MARKDOWN, PLAIN, RESTRUCTURED, decode

SHARE = 0.85
"""
So much of a text's words is in the page of the same name, when that was made from it. Of Git's manual 238 of 239 texts
are above it, and 1 of 239 that were set beside another text's page.
"""
REASON = "the same words as "
_SOURCES = PLAIN | MARKDOWN | ASCIIDOC | RESTRUCTURED
_TAG = re.compile(r"<[^<>]*>")
_WORD = re.compile(r"\w{3,}")


def find_page(root: Path, path: str, most: int) -> tuple[str, bytes] | None:
    """The page of the same name in the same folder, as path and bytes; None for what is no text, or has none."""
    place = PurePosixPath(path)
    if place.suffix.lower() not in _SOURCES:
        return None
    for suffix in sorted(HTML):
        try:
            page = str(place.with_suffix(suffix))
            return page, contained_files.read(root, page, most)
        except (OSError, contained_files.TooLarge):
            continue
    return None


def is_twin(data: bytes, page: bytes) -> bool:
    """Whether a page says nearly all that a text says."""
    try:
        text, shown = decode(data), unescape(_TAG.sub(" ", decode(page, html=True)))
    except Unreadable:
        return False
    words = set(_WORD.findall(text.casefold()))
    return bool(words) and len(words & set(_WORD.findall(shown.casefold()))) >= SHARE * len(words)
