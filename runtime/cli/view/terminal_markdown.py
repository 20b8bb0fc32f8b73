"""Shows what came of a run, and a report: rendered on a terminal, else as it is. Nothing in it commands a terminal."""

from collections.abc import Iterator
from typing import TextIO

from actors.text.catalogue import say
from runtime.cli.view.printing import Line, can_redraw, console, write
from runtime.cli.view.result import lines
from runtime.engine.run_record import Ended
from runtime.families import writes_report
from runtime.program import command
from runtime.user_text import safe

DRAW = "report ID --out report.html"


def show(text: str, stream: TextIO, language: str = "") -> None:
    """Print Markdown; `language`: of what is said around it."""
    text = safe(text, keep="\n\t")
    if not can_redraw(stream):
        print(text.rstrip("\n"), file=stream)
        return
    from rich.markdown import Markdown

    # A link is shown with where it leads: what it is called says nothing of that.
    console(stream).print(Markdown("\n".join(_readable(text.split("\n"), language)), hyperlinks=False))


def show_end(ended: Ended, stream: TextIO, ending: TextIO | None = None, *, verbose: bool = False) -> None:
    """
    Print what came of a run: its report, if it writes one, and how it ended.

    :param ending: where to say how a run ended that writes a report, which can be piped into a file then.
    """
    outcome = ended.outcome
    found = lines(outcome, ended.report, ended.judgement, ended.files, verbose=verbose)
    if not writes_report(outcome.workflow):
        write(found, stream)
        return
    if outcome.resolution is not None:
        show(outcome.resolution.text, stream, outcome.language)
        stream.flush()
    write([Line(""), *found], ending or stream)


def _readable(lines: list[str], language: str) -> Iterator[str]:
    """Without the source of charts, which says nothing to a person."""
    inside = False
    for line in lines:
        if inside:
            inside = line != "```"
        elif line == "```mermaid":
            inside = True
            yield f"_{say('chart_here', language, command=command(DRAW))}_"
        else:
            yield line
