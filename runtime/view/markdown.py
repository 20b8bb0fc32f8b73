"""Shows a report: rendered on a terminal, as it is otherwise. Nothing in it can command a terminal."""

from typing import TextIO

from runtime.view.follow import can_redraw
from runtime.wording import safe


def show(text: str, stream: TextIO) -> None:
    """Print Markdown."""
    text = safe(text, keep="\n\t")
    if not can_redraw(stream):
        print(text.rstrip("\n"), file=stream)
        return
    from rich.markdown import Markdown

    from runtime.view.live import console

    console(stream).print(Markdown(text, hyperlinks=False))  # a link is shown with where it leads
