"""What a reworded statement may not add to its source: quoted words, hosts, names, marks of citation. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence

from actors.evidence import Claim, Passage
from actors.folding import fold, locate

_QUOTED = re.compile(
    r"\"([^\"\n]{3,400})\"|“([^”\n]{3,400})”|„([^“”\n]{3,400})[“”]|«([^»\n]{3,400})»|「([^」\n]{2,400})」|『([^』\n]{2,400})』"
)
_HOST = re.compile(r"\b(?:[a-z][a-z0-9-]*\.)+[a-z]{2,}\b", re.IGNORECASE)
_NAME = re.compile(r"(?<![\w'’.-])[A-Z][A-Za-z]{2,}")
_ATTRIBUTED = re.compile(
    r"\b([A-Z][A-Za-z]+) (?:says?|said|reports?|reported|writes?|wrote|claims?|claimed|states?|stated|found|advises?|"
    r"recommends?)\b"
)
_BEGINS = re.compile(r"(?:^|[.!?:;。]\s*|\n\s*|[\"“„«(\[]\s*)$")
_ENGLISH = re.compile(r"\b(?:the|of|and|is|are|with|that|by|for|to)\b", re.IGNORECASE)
_BRACKETED = re.compile(r"\[(?!\s*\d)[^\[\]\n]{1,80}\]")
"""What an author puts in, and what stands where an unknown address was taken out."""
_MARK = re.compile(r"\s*\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3}){0,20}\]")
ACRONYM = 6
"""Capital letters of one at most."""


def plainly(claim: Claim) -> str:
    """The words of a claim without marks of citation: numbers are given to sources by the report alone."""
    text = claim.text.strip()
    return text if text == claim.quote or _MARK.search(claim.quote) else _MARK.sub("", text).strip()


def shown_text(passages: Iterable[Passage], *known: str) -> str:
    """All that an author had before them, folded."""
    return fold("\n".join((*known, *(f"{each.title}\n{each.heading}\n{each.text}" for each in passages))))[0]


def adds(claim: Claim, passages: Sequence[Passage], shown: str) -> bool:
    """
    Whether a claim brings in what nobody read.

    :param shown: as `shown_text` has it.
    """
    if fold(claim.text)[0] == fold(claim.quote)[0]:
        return False
    text = passages[claim.passage - 1].text if 1 <= claim.passage <= len(passages) else ""
    said = (next(filter(None, found)) for found in _QUOTED.findall(claim.text))
    if any(locate(words.strip(" .,;:!?"), text) is None for words in said):
        return True
    return any(fold(each)[0] not in shown for each in _additions(claim))


def _additions(claim: Claim) -> Iterator[str]:
    yield from _HOST.findall(claim.text)
    yield from _BRACKETED.findall(claim.text)
    yield from _names(claim)


def _names(claim: Claim) -> Iterator[str]:
    """Names within English sentences on English sources; in other languages much else has a capital letter."""
    if not (_ENGLISH.search(claim.text) and _ENGLISH.search(claim.quote)):
        return
    yield from _ATTRIBUTED.findall(claim.text)
    initials = {word[0] for word in re.findall(r"\w+", claim.quote.casefold())}
    for found in _NAME.finditer(claim.text):
        name = found[0]
        short = name.isupper() and len(name) <= ACRONYM and set(name.casefold()) <= initials
        if not short and not _BEGINS.search(claim.text[: found.start()]):
            yield name.removesuffix("s")
