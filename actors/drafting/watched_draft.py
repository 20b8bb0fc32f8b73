"""What watchers are told of a draft: its text while a model writes it, and which of that could not be verified."""

from collections.abc import Callable, Collection, Iterable
from typing import Self

from actors.workflow.progress import AnswerText, DraftChecked
from bus import Context


class WatchedDraft:
    """
    Of one agent's turn. Where nobody watches, nothing is told and nothing kept.

    Once the `with` is left the draft is none any more: nothing that was told stays, unless `conclude` said so.
    """

    __slots__ = ("_ctx", "_text")

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._text = ""
        """What watchers have read of it, and do not know yet to be an answer or none."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.conclude(self._text.splitlines(), ())

    @property
    def on_text(self) -> Callable[[int, str], object] | None:
        """As `ModelRequest` has it."""
        return self._tell if self._ctx.has_live_watchers else None

    def conclude(self, written: Iterable[str], kept: Collection[str]) -> None:
        """The draft was checked: of the statements that a model has written the answer has those that are `kept`."""
        if self._text:
            self._text = ""
            lost = (each for each in written if each not in kept)
            self._ctx.publish(DraftChecked(self._ctx.address, tuple(dict.fromkeys(lost))))

    def _tell(self, start: int, text: str) -> None:
        self._text = self._text[:start] + text
        self._ctx.publish(AnswerText(self._ctx.address, start, text))
