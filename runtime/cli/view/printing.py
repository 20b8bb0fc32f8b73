"""Prints what a command has to say: lines for people, wrapped and coloured on a terminal, or one JSON object."""

import contextlib
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple, TextIO

from runtime.user_text import as_json, safe

if TYPE_CHECKING:
    from rich.console import Console
    from rich.padding import Padding

STYLES = {
    "good": "bold green", "unsure": "yellow", "poor": "bold yellow", "bad": "bold red", "strong": "bold",
    "faint": "dim", "quote": "italic", "going": "cyan",
}  # fmt: skip
"""How rich draws the styles of lines."""
PIPE_COLUMNS = 120
LINK_INDENT = 4


LINKING = ("WT_SESSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "DOMTERM", "ALACRITTY_WINDOW_ID")
"""What terminals set that make links of OSC 8,"""
LINKING_PROGRAMS = {"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio"}
"""those that tell their name,"""
LINKING_VTE = 5000
"""and from this version on GNOME's, in thousands."""


class Link(NamedTuple):
    """Where a line leads."""

    address: str
    """A URL; empty: nowhere that could be opened."""
    written: str
    """How it stands below the line where a terminal makes no links."""


class Line(NamedTuple):
    """One line, or one paragraph that a terminal may wrap."""

    text: str
    style: str = ""
    """good, unsure, poor, bad, strong, faint or quote; only a terminal shows it."""
    indent: int = 0
    spans: tuple[tuple[int, int, str], ...] = ()
    """Styles of parts of it, from one character to before another; then the text is printable already."""
    link: Link | None = None


def print_result(lines: Iterable[Line], value: object, *, json: bool) -> None:
    """Print what came of a command: its lines, or the value that says the same to a program."""
    if json:
        print(as_json(value))
    else:
        write(lines, sys.stdout)


def write(lines: Iterable[Line], stream: TextIO) -> None:
    """Print lines: wrapped and coloured on a terminal, with nothing but their indentation otherwise."""
    if can_redraw(stream):
        target = console(stream)
        for paragraph in paragraphs(lines if can_link() else _write_links_out(lines)):
            target.print(paragraph)
    else:
        for line in _write_links_out(lines):
            print((" " * line.indent + safe(line.text)).rstrip(), file=stream)


def console(stream: TextIO) -> "Console":
    """A console of rich, which only a terminal loads, that takes nothing in a text for markup."""
    from rich.console import Console

    return Console(file=stream, markup=False, highlight=False, emoji=False)


def paragraphs(lines: Iterable[Line]) -> Iterator["Padding"]:
    """Lines as rich draws them."""
    from rich.padding import Padding
    from rich.style import Style
    from rich.text import Text

    for line in lines:
        text = Text(safe(line.text), STYLES.get(line.style, ""))
        for start, end, style in line.spans:
            text.stylize(STYLES.get(style, ""), start, end)
        if line.link is not None and line.link.address:
            text.stylize(Style(link=safe(line.link.address)))
        yield Padding(text, (0, 0, 0, line.indent))


def _write_links_out(lines: Iterable[Line]) -> Iterator[Line]:
    """The same lines without links, each with its address below it."""
    for line in lines:
        yield line._replace(link=None)
        if line.link is not None:
            yield Line(line.link.written, "faint", line.indent + LINK_INDENT)


def can_link() -> bool:
    """Whether this terminal is known to make links of OSC 8: others would show nothing of the address."""
    known = os.environ
    vte = known.get("VTE_VERSION", "")
    return (
        known.get("TERM_PROGRAM") in LINKING_PROGRAMS
        or any(known.get(name) for name in LINKING)
        or (vte.isdigit() and int(vte) >= LINKING_VTE)
    ) and not known.get("TMUX", known.get("STY"))


def can_redraw(stream: TextIO) -> bool:
    """Whether lines can be drawn over on it."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb" and find_spec("rich") is not None


def width(stream: TextIO) -> int:
    """Columns that a line may have there: those of the terminal, of COLUMNS, or enough for a list in a file."""
    with contextlib.suppress(OSError, ValueError):
        if not os.environ.get("COLUMNS"):
            return os.get_terminal_size(stream.fileno()).columns
    return shutil.get_terminal_size((PIPE_COLUMNS, 24)).columns
