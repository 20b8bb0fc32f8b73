"""What a model writes, for those who read along: joined to a few pieces a second, without addresses of its own."""

import re
from collections.abc import Callable

from bus import Clock
from runtime.llm.text_reader import Path, TextReader

TELL_SECONDS = 0.1
"""Pieces that come closer together are told together."""
HELD_CHARACTERS = 300
"""The longest word that is held back until it is whole: it may be an address."""
_WORD = re.compile(rf"[!-~]{{1,{HELD_CHARACTERS}}}\Z")


class DraftStream:
    """Of one answer in the making. What was told is the answer's text, or is taken back."""

    __slots__ = ("_at", "_clean", "_clock", "_draft", "_on_text", "_read", "_reader", "_shown", "_told_at")

    def __init__(
        self, on_text: Callable[[int, str], object], shown: frozenset[Path], clean: Callable[[str], str], clock: Clock
    ) -> None:
        """
        :param on_text: as in `ModelRequest`.
        :param shown: where in the answer the texts stand that people will read.
        :param clean: takes out of a text what may not be told.
        """
        self._on_text, self._shown, self._clean, self._clock = on_text, shown, clean, clock
        self._reader = TextReader(shown)
        self._told_at = clock.time() - TELL_SECONDS
        self._draft = self._read = self._at = 0
        """Which draft is told; how much of it was read, and told."""

    def begin(self) -> None:
        """The answer is asked for again, or given up: what was told of it is void."""
        self._reader, self._draft, self._read = TextReader(self._shown), 0, 0
        if self._at:
            self._at = 0
            self._on_text(0, "")

    def feed(self, piece: str) -> None:
        """The model wrote on."""
        self._reader.feed(piece)
        if self._clock.time() - self._told_at >= TELL_SECONDS:
            self._tell(held_back=True)

    def finish(self) -> None:
        """It is whole."""
        self._tell(held_back=False)

    def _tell(self, *, held_back: bool) -> None:
        text = self._reader.text
        if self._reader.drafts != self._draft:
            self._draft, self._read, self._at = self._reader.drafts, 0, 0
        word = _WORD.search(text, self._read) if held_back else None
        end = word.start() if word else len(text)
        if end <= self._read:
            return
        said = self._clean(text[self._read : end])
        start, self._read, self._at = self._at, end, self._at + len(said)
        self._told_at = self._clock.time()
        self._on_text(start, said)
