"""Shows a report: rendered on a terminal, as it is otherwise. Nothing in it can command a terminal."""

from collections.abc import Iterator
from typing import TextIO

from runtime.cli.view.run_display import can_redraw
from runtime.messages import safe
from runtime.program import command

INSTEAD = f"_A chart stands here; {command('report ID --out report.html')} draws it._"


def show(text: str, stream: TextIO) -> None:
    """Print Markdown."""
    text = safe(text, keep="\n\t")
    if not can_redraw(stream):
        print(text.rstrip("\n"), file=stream)
        return
    from rich.markdown import Markdown

    from runtime.cli.view.live import console

    # A link is shown with where it leads: what it is called says nothing of that.
    console(stream).print(Markdown("\n".join(_readable(text.split("\n"))), hyperlinks=False))


def _readable(lines: list[str]) -> Iterator[str]:
    """Without the source of charts, which says nothing to a person."""
    inside = False
    for line in lines:
        if inside:
            inside = line != "```"
        elif line == "```mermaid":
            inside = True
            yield INSTEAD
        else:
            yield line
