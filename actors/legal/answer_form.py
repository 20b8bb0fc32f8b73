"""Another form of an answer than statements one below the other: a table of cases, the review of a contract."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import msgspec

from actors.evidence.claims import Citation, Claim, Resolution, check, is_verbatim, place_of, render_claims
from actors.evidence.passages import Passage
from actors.legal.opinion import render_source
from actors.text.normalize import sanitize_line

Choices = tuple[tuple[str, tuple[str, ...]], ...]


class AnswerForm(NamedTuple):
    """What is asked of a model for such an answer, and what becomes of it."""

    shape: type[msgspec.Struct]
    material: msgspec.Struct
    passages: tuple[Passage, ...]
    """What it is about, in the order of their numbers."""
    choices: Choices
    """As in `ModelRequest`."""
    list_claims: Callable[[Any], tuple[Claim, ...]]
    """All that a draft claims, so that it can be read beside its sources, and what it cites be looked up."""
    render: Callable[[Any, Sequence[Passage], Collection[str]], tuple[Resolution | None, int]]
    """Of a draft, all passages shown and texts that must not be shown: the answer, how many claims were lost."""


class CitedClaims:
    """Claims as they are shown, each checked, with the numbers of their citations."""

    def __init__(self, passages: Sequence[Passage], known: str, refused: Collection[str] = ()) -> None:
        """
        :param known: the question: what it says itself is no invention.
        :param refused: texts that must not be shown; their quotes may.
        """
        self._passages, self._known, self._refused = passages, known, refused
        self._citations: dict[tuple[str, int, int], Citation] = {}
        self._retold: dict[int, None] = {}
        self.lost = 0
        """Claims whose quote does not stand in their passage."""

    @property
    def citations(self) -> tuple[Citation, ...]:
        return tuple(self._citations.values())

    def show(self, claim: Claim) -> tuple[str, int] | None:
        """What a claim says if its quote bears it out, else the quote, with its number; None: no quote is there."""
        if place_of(claim, self._passages) is None:
            self.lost += 1
            return None
        borne_out = check(claim, self._passages, self._known).verdict == "supported"
        if not borne_out or claim.text in self._refused:
            claim = msgspec.structs.replace(claim, text=claim.quote)
        number = self.cite(claim)
        if not is_verbatim(claim, self._passages):
            self._retold[number] = None
        return claim.text, number

    def show_together(self, *claims: Claim) -> list[tuple[str, int]]:
        """Claims that say something only together, as `show` has each; empty: the quote of one is not there."""
        lost = sum(place_of(each, self._passages) is None for each in claims)
        self.lost += lost
        return [] if lost else [shown for each in claims if (shown := self.show(each)) is not None]

    def cite(self, claim: Claim) -> int:
        """The number of the place that a claim quotes, which stands there."""
        (citation,) = render_claims([claim], self._passages)[1]
        key = (citation.source, citation.start, citation.end)
        numbered = msgspec.structs.replace(citation, number=len(self._citations) + 1)
        return self._citations.setdefault(key, numbered).number

    def render_retold_sources(self) -> list[str]:
        """The words behind what was retold."""
        return [render_source(each) for each in self.citations if each.number in self._retold]


def mark(shown: tuple[str, int]) -> str:
    """A text that was shown, with its number."""
    return f"{sanitize_line(shown[0])} [{shown[1]}]"
