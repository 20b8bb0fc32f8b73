"""
Which statements are supported, which are said already, and where each can be checked. Pure.

Everything that a report says of its topic goes through here, whoever made it: what no passage of a page that was
read supports is left out and counted.
"""

import functools
from collections.abc import Iterable, Iterator, Sequence

from actors.evidence.claims import Citation, Claim, verify
from actors.evidence.passages import Passage, last_heading
from actors.evidence.sources import Page, Statement
from actors.reporting.report import ReportSentence
from actors.text.normalize import normalize
from actors.text.quote_matching import find_quote
from actors.text.source_text import flat
from actors.text.truncate import shorten

PLACES = 5
"""Sources that one sentence names at most."""
CONTAINED_CHARACTERS = 20
"""A text of at least this length that is part of another one says nothing new."""
HEADING_CHARACTERS = 120


class UsedTexts:
    """The texts that one part of a report has used up: nothing is said twice."""

    __slots__ = ("texts",)

    def __init__(self, *others: "UsedTexts") -> None:
        self.texts: dict[str, None] = {text: None for other in others for text in other.texts}

    @classmethod
    def of(cls, texts: Iterable[str]) -> "UsedTexts":
        said = cls()
        for each in texts:
            said.texts[_key(each)] = None
        return said

    def add(self, text: str) -> bool:
        """Whether it is new; then it is said from now on."""
        if self.holds(text):
            return False
        self.texts[_key(text)] = None
        return True

    def holds(self, text: str) -> bool:
        """Whether it is said already, by itself or within another one."""
        key = _key(text)
        return key in self.texts or (len(key) >= CONTAINED_CHARACTERS and any(key in each for each in self.texts))


@functools.lru_cache(1024)
def _key(text: str) -> str:
    """What two spellings of one text have in common."""
    return normalize(text)[0]


class CitationIndex:
    """Statements on one side, pages and passages on the other; numbers of sources in the order of first citation."""

    def __init__(self, pages: Sequence[Page], passages: Sequence[Passage]) -> None:
        self._pages = {page.key: page for page in pages}
        self._passages = {passage.id: passage for passage in passages}
        self._supported: dict[Statement, bool] = {}
        self._places: dict[str, list[Statement]] = {}
        self._cited: dict[tuple[int, str, int], Citation] = {}
        self.numbers: dict[str, int] = {}
        """Key of a page to its number."""

    @property
    def left_out(self) -> int:
        """How many statements are not supported."""
        refused = {_key(each.text) for each, supported in self._supported.items() if not supported}
        return len(refused - self._places.keys())

    @property
    def citations(self) -> tuple[Citation, ...]:
        """What is behind the numbers that were given, sentence by sentence."""
        return tuple(self._cited.values())

    @property
    def cited_passages(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """The text of each passage that a number was given to, with its number."""
        known = {passage: number for number, passage, _ in self._cited}
        return tuple((self._passages[passage].text, (number,)) for passage, number in known.items())

    @property
    def has_paraphrase(self) -> bool:
        """Whether any supported statement is more than the words of its source."""
        return any(supported and not verbatim(each) for each, supported in self._supported.items())

    def supports(self, said: Statement) -> bool:
        """Whether its quote and its facts are in a passage of a page that was read."""
        known = self._supported.get(said)
        if known is None:
            passage = self._passages.get(said.passage)
            known = (
                passage is not None
                and passage.source == said.page
                and said.page in self._pages
                and bool(flat(said.text))
                and verify(Claim(said.text, 1, said.quote), (passage,)) == "supported"
            )
            self._supported[said] = known
            if known:
                places = self._places.setdefault(_key(said.text), [])
                if len(places) < PLACES and said.page not in {each.page for each in places}:
                    places.append(said)
        return known

    def fresh(self, statements: Iterable[Statement], said: UsedTexts) -> Iterator[Statement]:
        """Those that are supported and not said yet; they are said from now on."""
        return (each for each in statements if self.supports(each) and said.add(each.text))

    def line(self, said: Statement) -> ReportSentence:
        """
        A supported statement as a line of the report, with the numbers of all sources that say it.

        It is read under its own heading, or else under its passage's, unless it says that itself.
        """
        numbers = [self._cite(each) for each in self._places[_key(said.text)]]
        under = shorten(flat(said.heading), HEADING_CHARACTERS) if said.heading else self._under(said)
        return ReportSentence(said.text, tuple(dict.fromkeys(numbers)), "" if verbatim(said) else said.quote, under)

    def _under(self, said: Statement) -> str:
        """A sentence that is reworded needs no heading; a quote may need the one that it was found under."""
        passage = self._passages[said.passage]
        heading = shorten(flat(last_heading(passage)), HEADING_CHARACTERS)
        known = (_key(each) for each in (said.text, self._pages[said.page].title))
        return "" if not verbatim(said) or any(_key(heading) in each for each in known) else heading

    def _cite(self, said: Statement) -> int:
        number = self.numbers.setdefault(said.page, len(self.numbers) + 1)
        page, passage = self._pages[said.page], self._passages[said.passage]
        start, end = find_quote(said.quote, passage.text) or (0, 0)
        cited = Citation(
            number, page.url, page.title, passage.heading, passage.text[start:end], passage.start + start,
            passage.start + end, passage.anchor,
        )  # fmt: skip
        self._cited.setdefault((number, passage.id, start), cited)
        return number


def verbatim(said: Statement) -> bool:
    """Whether it is nothing but the words of its source."""
    return said.text == said.quote or _key(said.text) == _key(said.quote)
