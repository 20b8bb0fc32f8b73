"""Where a quote stands in a text, though it was copied without marks, or wrapped in others. Pure."""

import functools
import html

from actors.text.normalize import find_span, normalize
from actors.text.sentences import split_sentences
from actors.text.word_patterns import compile_words

STRETCH = 1500
"""The most characters from the first fragment of a quote to its last."""
FRAGMENT = 8
"""A shorter fragment beside an ellipsis proves nothing."""

MOST_TRIED = 300
"""Places at which the letters of a quote stand, if they are no whole words there."""

_ELLIPSIS = compile_words(r"\s*(?:\[\s*(?:\.{3}|…)\s*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3,}|…)\s*")
_MARKS = compile_words(
    r"(?m)^\s*(?:>\s?)+|^\s*(?:[-*+•]|\d{1,2}[.)])\s+|^\s*#{1,6}\s|\\(?=[^\w\s])|[*`\"]|(?<!\w)_++|(?<!_)_++(?!\w)"
)
_CITED = compile_words(r"^\s*\[\d{1,3}\]:?\s*|\s*\[\d{1,3}\]\s*$")
_WRAPPING = "\"'“”„«»「」『』‘’ \t\n"
_ADDED = ".,;:!?。，；：！？"


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """
    Where a quote stands: `text[start:end]`, whole words, each as it was written; None when it does not.

    Marks do not count: quotation marks, `>`, list signs, emphasis, back-ticks, a citation's number, entities, a period
    that was added. An ellipsis parts fragments, and so do whole sentences that do not stand together: each must stand
    there, in order, and the quote is all from the first one to the last.
    """
    exact = find_span(quote, text)
    if exact is not None and _is_whole(*exact, text):
        return exact
    bare = _unwrap(quote)
    found = _find_bare(bare, text) or _find_bare(bare.rstrip(_ADDED), text)
    if found is not None:
        return found
    parts = [part for part in _ELLIPSIS.split(bare) if part.strip(_WRAPPING)]
    return _find_in_order(parts if len(parts) > 1 else split_sentences(bare), text)


def _unwrap(quote: str) -> str:
    """What a quote says, without what its author put around it."""
    quote = html.unescape(quote).strip()
    while (bare := _CITED.sub("", quote).strip(_WRAPPING)) != quote:
        quote = bare
    return _ELLIPSIS.sub("", quote, count=1) if _ELLIPSIS.match(quote) else quote


def _find_in_order(parts: list[str], text: str) -> tuple[int, int] | None:
    if len(parts) < 2 or any(len(part.strip(_WRAPPING)) < FRAGMENT for part in parts):
        return None
    start, end = -1, 0
    for part in parts:
        found = _find_bare(part.strip(_WRAPPING), text, end) or _find_bare(part.rstrip(_ADDED + _WRAPPING), text, end)
        if found is None:
            return None
        start, end = (found[0] if start < 0 else start), found[1]
    return (start, end) if end - start <= STRETCH else None


def _find_bare(quote: str, text: str, since: int = 0) -> tuple[int, int] | None:
    """Where the words of a quote stand at or behind a place, marks left out of both."""
    wanted = _bare(quote)[0].strip()
    have, places = _bare(text)
    at = have.find(wanted) if wanted else -1
    for _ in range(MOST_TRIED):
        if at < 0:
            break
        start, end = places[at], places[at + len(wanted) - 1] + 1
        if start >= since and _is_whole(start, end, text):
            return start, end
        at = have.find(wanted, at + 1)
    return None


@functools.lru_cache(64)
def _bare(text: str) -> tuple[str, tuple[int, ...]]:
    """A text folded and without marks, and where each of its characters stood."""
    hidden = {n for found in _MARKS.finditer(text) for n in range(*found.span()) if not text[n].isspace()}
    folded, places = normalize(text)
    kept: list[tuple[str, int]] = []
    for character, place in zip(folded, places, strict=True):
        if place in hidden or (character == " " and (not kept or kept[-1][0] == " ")) or character == '"':
            continue
        kept.append((character, place))
    return "".join(c for c, _ in kept), tuple(place for _, place in kept)


def _is_whole(start: int, end: int, text: str) -> bool:
    """Whether a stretch of a text begins and ends with whole words, in scripts that part words by spaces."""
    return not (_is_within(text, start) or _is_within(text, end))


def _is_within(text: str, at: int) -> bool:
    return 0 < at < len(text) and _is_letter(text[at - 1]) and _is_letter(text[at])


def _is_letter(character: str) -> bool:
    return (character.isalnum() and character < "\u3000") or character == "_"
