"""A research as lines of text: its rounds, the stages it enters, the items they complete. Pure."""

from collections.abc import Iterator

from actors.text.truncate import shorten
from actors.workflow.outcome import HandoffMade
from actors.workflow.progress import Progress, ProgressEvent, RoundBegan, StageProgress

DIRECTION_CHARACTERS = 300
ITEM_CHARACTERS = 120
STAGES = frozenset(stage.name for stage in Progress().stages)


def opening(event: RoundBegan) -> tuple[str, str]:
    """What stays on the screen of a round."""
    known = "1 learning so far" if event.learnings == 1 else f"{event.learnings} learnings so far"
    return f"[Depth {event.number}/{event.of}] Exploring: {cut(event.direction, DIRECTION_CHARACTERS)}", f"  {known}"


def enters_stage(event: ProgressEvent) -> bool:
    """Whether a run enters a stage itself; what a run within it says of its stages does not count."""
    return isinstance(event, HandoffMade) and event.state in STAGES


def new_round(before: Progress, event: ProgressEvent) -> RoundBegan | None:
    """The round that an event begins, if it is not one that is planned anew."""
    return event if isinstance(event, RoundBegan) and event.number > before.round else None


def describe_changes(before: Progress, after: Progress, event: ProgressEvent, at: float) -> Iterator[tuple[str, bool]]:
    """What there is to say after an event: each line, and whether it must be said at once."""
    if began := new_round(before, event):
        yield from ((line, True) for line in opening(began))
    running = after.running
    if running is not None and (before.running is None or before.running.name != running.name):
        yield f"{_when(after, at)}  {running.name}", True
    if isinstance(event, StageProgress) and event.item:
        yield f"{_when(after, at)}    {event.stage}{items(event.done, event.total)}  {cut(event.item)}", False


def standing(board: Progress, at: float) -> str:
    """Where a research is, for who sees nothing happen; nothing when it is at no stage."""
    running = board.running
    if running is None:
        return ""
    left = running.remaining_seconds(at)
    about = "" if left is None else f", about {left:.0f} s left for it"
    return f"{_when(board, at)}  {running.name}{items(running.done, running.total)} goes on{about}"


def items(done: int, total: int) -> str:
    return f" {done}/{total}" if total else f" {done}" if done else ""


def cut(text: str, most: int = ITEM_CHARACTERS) -> str:
    return shorten(text, most)


def _when(board: Progress, at: float) -> str:
    return f"{at:9.3f} s  {board.percent:>3} %"
