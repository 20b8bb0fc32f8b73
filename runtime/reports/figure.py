"""Charts as shapes with a place: drawn as SVG and in PDF alike. Points, from the top left corner. Pure."""

import math
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple, assert_never

from actors.reporting.mermaid import figures
from actors.reporting.report import Chart

WIDTH = 560.0
ROW = 22.0
LETTER = 6.6
"""About the width of a letter of 12 points; a wide one counts twice."""
LABELS_LEAST, LABELS_MOST = 70.0, 240.0
"""What is left of bars for their labels."""
RADIUS = 70.0
_ROW_TOP = 4.0
PALETTE = ("#2f6fb0", "#d9822b", "#3c9a5f", "#b5485d", "#7a5bb5", "#8a6d4b", "#c65b9c", "#6b7785")
"""Told apart in light and dark, and by most of those who see few colours."""


class Text(NamedTuple):
    x: float
    y: float
    """Of the base line."""
    text: str
    bold: bool = False
    right: bool = False
    """It ends at x."""


class Bar(NamedTuple):
    x: float
    y: float
    width: float
    height: float
    colour: str


class Wedge(NamedTuple):
    """A slice of a pie, clockwise from the top, in turns of 0 to 1."""

    x: float
    y: float
    radius: float
    start: float
    end: float
    colour: str


class Dot(NamedTuple):
    x: float
    y: float
    radius: float
    colour: str


Shape = Text | Bar | Wedge | Dot


class Figure(NamedTuple):
    width: float
    height: float
    shapes: tuple[Shape, ...]


def figure(chart: Chart) -> Figure:
    """A chart as it is drawn."""
    match chart.kind:
        case "pie":
            height = max(2 * RADIUS + 16, ROW * len(chart.items) + 12)
            return Figure(WIDTH, height, tuple(_pie(chart, height)))
        case "bar":
            return Figure(WIDTH, ROW * len(chart.items) + 8, tuple(_bars(chart)))
        case "timeline":
            return Figure(WIDTH, ROW * len(chart.items) + 8, tuple(_timeline(chart)))
        case "mindmap":
            return Figure(WIDTH, _height_of_map(chart), tuple(_map(chart)))
        case _:
            assert_never(chart.kind)


def fit(text: str, width: float) -> str:
    """As much of a text as has room, cut between words where there are any."""
    room = int(width / LETTER)
    taken = 0
    for place, character in enumerate(text):
        taken += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if taken > room:
            cut = text[: place - 1]
            head, _, tail = (cut, "", "") if text[place - 1] == " " else cut.rpartition(" ")
            return f"{(head if head and len(tail) < len(cut) // 3 else cut).rstrip()}…"
    return text


def turn(of: Wedge, at: float) -> tuple[float, float]:
    """The point of a pie's rim after so many turns."""
    return of.x + of.radius * math.sin(2 * math.pi * at), of.y - of.radius * math.cos(2 * math.pi * at)


def _pie(chart: Chart, height: float) -> Iterator[Shape]:
    total = sum(count for _, count in chart.items) or 1
    x, start = RADIUS + 4, 0.0
    top = (height - ROW * len(chart.items)) / 2
    for place, (label, count) in enumerate(chart.items):
        colour, end = PALETTE[place % len(PALETTE)], start + count / total
        yield Wedge(x, height / 2, RADIUS, start, end, colour)
        y = top + ROW * place
        yield Bar(2 * x + 20, y + 5, 12, 12, colour)
        yield Text(2 * x + 66, y + 15, figures(count), bold=True, right=True)
        yield Text(2 * x + 76, y + 15, fit(label, WIDTH - 2 * x - 80))
        start = end


def _bars(chart: Chart) -> Iterator[Shape]:
    most = max((count for _, count in chart.items), default=0) or 1
    room = min(LABELS_MOST, max(LABELS_LEAST, *(LETTER * len(label) for label, _ in chart.items), 0.0))
    for place, (label, count) in enumerate(chart.items):
        y, width = 4 + ROW * place, (WIDTH - room - 60) * count / most
        yield Text(room + 6, y + 15, fit(label, room), right=True)
        yield Bar(room + 16, y + 3, width, ROW - 6, PALETTE[0])
        yield Text(room + 22 + width, y + 15, figures(count), bold=True)


def _timeline(chart: Chart) -> Iterator[Shape]:
    yield Bar(59, 10, 2, max(0.0, ROW * (len(chart.items) - 1)) + 10, PALETTE[-1])
    for place, (event, year) in enumerate(chart.items):
        y = 4 + ROW * place
        yield Text(48, y + 15, figures(year), bold=True, right=True)
        yield Dot(60, y + 11, 5, PALETTE[0])
        yield Text(74, y + 15, fit(event, WIDTH - 78))


def _map(chart: Chart) -> Iterator[Shape]:
    """Branches in two columns, each with its entries below it."""
    half = WIDTH / 2
    for place, branch in enumerate(chart.branches):
        x, y = half * (place % 2), _ROW_TOP + sum(_height_of_pair(chart, n) for n in range(place // 2))
        its = [entry for entry, at in chart.items if at == place]
        yield Bar(x, y, half - 12, 3, PALETTE[place % len(PALETTE)])
        yield Text(x, y + 19, fit(branch, half - 16), bold=True)
        for number, entry in enumerate(its, 1):
            yield Dot(x + 4, y + 15 + ROW * number, 3, PALETTE[place % len(PALETTE)])
            yield Text(x + 13, y + 19 + ROW * number, fit(entry, half - 28))


def _height_of_pair(chart: Chart, pair: int) -> float:
    most = max(sum(at == place for _, at in chart.items) for place in (2 * pair, 2 * pair + 1))
    return ROW * (most + 1) + 16


def _height_of_map(chart: Chart) -> float:
    return _ROW_TOP + sum(_height_of_pair(chart, pair) for pair in range((len(chart.branches) + 1) // 2))
