"""What a model may not add to what it was shown: quoted words, code, figures, hosts, names, markup. Pure."""

import functools
import re
from collections.abc import Iterable, Iterator, Sequence

from actors.evidence.claims import Claim
from actors.evidence.passages import Passage
from actors.text.normalize import normalize
from actors.text.quote_matching import find_quote
from actors.text.word_patterns import compile_words

_QUOTED = re.compile(
    r"\"([^\"\n]{3,400})\"|“([^“”\n]{3,400})”|„([^„“”\n]{3,400})[“”]|«([^«»\n]{3,400})»|「([^「」\n]{2,400})」|『([^『』\n]{2,400})』"
)
_HOST = re.compile(r"\b(?:[a-z][a-z0-9-]{0,62}\.){1,8}[a-z]{2,24}\b", re.IGNORECASE)
_NAME = re.compile(r"(?<![\w'’.-])[A-Z][A-Za-z]{2,}")
_ATTRIBUTED = re.compile(
    r"\b([A-Z][A-Za-z]+) (?:says?|said|reports?|reported|writes?|wrote|claims?|claimed|states?|stated|found|advises?|"
    r"recommends?)\b"
)
_BEFORE = frozenset('.!?:;。"“„«([')
"""A sentence, a list or a quote begins behind these."""
_ENGLISH = re.compile(r"\b(?:the|of|and|is|are|with|that|by|for|to)\b", re.IGNORECASE)
_BRACKETED = re.compile(r"\[(?!\s*\d)[^\[\]\n]{1,80}\]")
"""What an author puts in, and what stands where an unknown address was taken out."""
_CODE = re.compile(r"`([^`\n]{2,200})`")
_FIGURE = re.compile(r"(?<![\w/-])\d[\d.,:]*\d(?![\w-])")
"""Of several digits: "one of 2" is a way to ask, and "SHA-256" is a name."""
_TAG = re.compile(r"</?[a-z!][^<>\n]{0,200}>", re.IGNORECASE)
_MARKUP = re.compile(r"!\[|\|\s*:?-{3,}|```|~~~|^\s{0,3}(?:#{1,6}|[-*+>])\s", re.MULTILINE)
_MARK = compile_words(r"\s*\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3}){0,20}\]")
LOOKED_AT = 1000
ACRONYM = 6
"""Capital letters of one at most."""


def plainly(claim: Claim) -> str:
    """The words of a claim without marks of citation: numbers are given to sources by the report alone."""
    text = claim.text.strip()
    if _quotes(claim):
        return text
    line = " ".join(text.split())
    return line if _MARK.search(claim.quote) else _MARK.sub("", line).strip()


class Shown:
    """All that an author had before them; folded when it is first looked into, for that takes a while."""

    def __init__(self, passages: Iterable[Passage], *known: str) -> None:
        self._texts = (*known, *(text for each in passages for text in (each.title, each.heading, each.text)))

    @functools.cached_property
    def text(self) -> str:
        return normalize("\n".join(self._texts))[0]

    def has(self, words: str) -> bool:
        return normalize(words)[0] in self.text


def _begins(before: str) -> bool:
    """Whether what follows begins a sentence, a line or a quote: its capital letter says nothing."""
    bare = before.rstrip()
    return not bare or bare[-1] in _BEFORE or "\n" in before[len(bare) :]


def adds(claim: Claim, passages: Sequence[Passage], shown: Shown) -> bool:
    """Whether a claim brings in what nobody read."""
    if _quotes(claim):
        return False
    if _MARKUP.search(claim.text):
        return True
    text = passages[claim.passage - 1].text if 1 <= claim.passage <= len(passages) else ""
    if any(find_quote(words, text) is None for words in _quotations(claim.text)):
        return True
    return not all(shown.has(each) for each in (*_put_in(claim.text), *_names(claim)))


def presumes(text: str, shown: Shown) -> bool:
    """Whether a question, or a direction, takes for granted what nobody said."""
    text = text[:LOOKED_AT]  # what is kept of one is shorter
    return not all(shown.has(each) for each in (*_quotations(text), *_FIGURE.findall(text), *_put_in(text)))


def _quotes(claim: Claim) -> bool:
    """Whether it is nothing but the words of its source."""
    return normalize(claim.text)[0] == normalize(claim.quote)[0]


def _quotations(text: str) -> Iterator[str]:
    return (next(filter(None, found)).strip(" .,;:!?") for found in _QUOTED.findall(text))


def _put_in(text: str) -> Iterator[str]:
    for form in (_HOST, _BRACKETED, _CODE, _TAG):
        yield from form.findall(text)


def _names(claim: Claim) -> Iterator[str]:
    """Names within English sentences on English sources; in other languages much else has a capital letter."""
    if not (_ENGLISH.search(claim.text) and _ENGLISH.search(claim.quote)):
        return
    yield from _ATTRIBUTED.findall(claim.text)
    initials = {word[0] for word in re.findall(r"\w+", claim.quote.casefold())}
    for found in _NAME.finditer(claim.text):
        name = found[0]
        short = name.isupper() and len(name) <= ACRONYM and set(name.casefold()) <= initials
        if not short and not _begins(claim.text[: found.start()]):
            yield name.removesuffix("s")
