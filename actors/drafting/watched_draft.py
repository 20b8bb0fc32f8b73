"""What watchers are told of a draft: its text while a model writes it, and which of that could not be verified."""

from collections.abc import Callable, Collection

from actors.drafting.drafts import Draft
from actors.workflow.progress import AnswerText, DraftChecked
from bus import Context


class WatchedDraft:
    """Of one agent's turn. Where nobody watches, nothing is told and nothing kept."""

    __slots__ = ("_ctx", "_told")

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._told = False

    @property
    def on_text(self) -> Callable[[int, str], object] | None:
        """As `ModelRequest` has it."""
        return self._tell if self._ctx.has_live_watchers else None

    def conclude(self, draft: Draft, kept: Collection[str]) -> None:
        """The draft was checked: `kept` are the statements of the answer."""
        if self._told:
            lost = (each.text for each in draft.claims if each.text not in kept)
            self._ctx.publish(DraftChecked(self._ctx.address, tuple(dict.fromkeys(lost))))

    def _tell(self, start: int, text: str) -> None:
        self._told = bool(start or text)
        self._ctx.publish(AnswerText(self._ctx.address, start, text))
