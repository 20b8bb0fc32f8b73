"""What the agents of a run said of their work before anybody watched: late watchers hear it in its place."""

from collections.abc import Iterable, Iterator

from actors.workflow.outcome import AnswerReady, HandoffMade, RunEvent
from actors.workflow.progress import AnswerText, DraftChecked, ProgressEvent, StageProgress, Working

LIMIT = 200
"""How much is kept; of what is said within one stage it is only the last."""


class ProgressHistory:
    """What was said in one run, each with the number of the handoff that it followed."""

    __slots__ = ("_drafts", "_handoff", "_said")

    def __init__(self) -> None:
        self._drafts: dict[str, AnswerText] = {}
        """What models have written so far of answers that nobody has checked, by the agent."""
        self._handoff = 0
        self._said: list[tuple[int, Working]] = []

    def hear(self, event: object) -> None:
        if isinstance(event, HandoffMade):
            self._handoff = event.number
        elif isinstance(event, AnswerText):
            before = self._drafts.get(event.agent) if event.start else None
            self._drafts[event.agent] = AnswerText(event.agent, 0, (before.text if before else "") + event.text)
        elif isinstance(event, DraftChecked):
            self._drafts.pop(event.agent, None)
        elif isinstance(event, AnswerReady):
            self._drafts.clear()  # of who was interrupted, too, and could not say that it was over
        elif isinstance(event, Working):
            last = self._said[-1][1] if self._said else None
            if isinstance(event, StageProgress) and isinstance(last, StageProgress) and event.stage == last.stage:
                self._said.pop()
            if len(self._said) < LIMIT:
                self._said.append((self._handoff, event))

    def among(self, progress: Iterable[RunEvent]) -> Iterator[ProgressEvent]:
        """The progress of the run so far, and what was said in its place between."""
        waiting = list(self._said)
        for event in progress:
            if isinstance(event, HandoffMade):
                while waiting and waiting[0][0] < event.number:
                    yield waiting.pop(0)[1]
            yield event
        yield from (said for _, said in waiting)
        yield from (draft for draft in self._drafts.values() if draft.text)
