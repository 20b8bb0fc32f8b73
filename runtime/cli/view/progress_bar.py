"""How far indexing is: a bar on a terminal, a line now and then otherwise."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TextIO

from runtime.cli.view.printing import can_redraw, console
from runtime.knowledge.indexing import IndexProgress
from runtime.user_text import pluralize, safe

LINE_SECONDS = 2.0
FRAME_SECONDS = 0.1
COUNTED = {"reading": "document", "meaning": "passage", "cases": "byte"}
"""What the numbers count, by phase."""

Show = Callable[[IndexProgress], None]


@contextlib.contextmanager
def bar(stream: TextIO) -> Iterator[Show]:
    """A function that shows progress for as long as this is open. A stream that went away is no reason to stop."""
    with _bar(stream) if can_redraw(stream) else contextlib.nullcontext(_lines(stream)) as show:

        def show_if_there(progress: IndexProgress) -> None:
            with contextlib.suppress(OSError):
                show(progress)

        yield show_if_there


def _lines(stream: TextIO) -> Show:
    last = time.monotonic()

    def show(progress: IndexProgress) -> None:
        nonlocal last
        if progress.waiting:
            print(f"{progress.current.capitalize()} to end", file=stream, flush=True)
            return
        now = time.monotonic()
        if progress.done < progress.total and now - last < LINE_SECONDS:
            return
        last = now
        what = pluralize(progress.passages, "new passage") if progress.phase == "reading" else progress.current
        counted = COUNTED[progress.phase]
        print(f"{progress.done:,} of {pluralize(progress.total, counted)}, {what}", file=stream, flush=True)

    return show


@contextlib.contextmanager
def _bar(stream: TextIO) -> Iterator[Show]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[current]}", markup=False),
    )
    last = 0.0
    with Progress(*columns, console=console(stream), auto_refresh=False, transient=True) as progress:
        task = progress.add_task("index", total=None, current="")

        def show(each: IndexProgress) -> None:
            nonlocal last
            now = time.monotonic()
            current = safe(each.current)[-48:]
            progress.update(task, completed=each.done, total=each.total or None, current=current)
            if each.done == each.total or now - last >= FRAME_SECONDS:
                last = now
                progress.refresh()

        yield show
