"""Figures as inline SVG: no script, no link, nothing from elsewhere."""

from html import escape
from typing import assert_never

from runtime.reports.figure import Bar, Dot, Figure, Shape, Text, Wedge, turn

WHOLE = 0.9999


def draw(figure: Figure, title: str) -> str:
    """One `<svg>` element."""
    shapes = "".join(_shape(each) for each in figure.shapes)
    return (
        f'<svg viewBox="0 0 {figure.width:g} {figure.height:g}" width="{figure.width:g}" role="img" '
        f'aria-label="{escape(title)}">{shapes}</svg>'
    )


def _shape(shape: Shape) -> str:
    match shape:
        case Text(x, y, text, bold, right):
            kind = ' class="b"' * bold + ' text-anchor="end"' * right
            return f'<text x="{x:g}" y="{y:g}"{kind}>{escape(text)}</text>'
        case Bar(x, y, width, height, colour):
            return f'<rect x="{x:g}" y="{y:g}" width="{width:.2f}" height="{height:g}" rx="2" fill="{colour}"/>'
        case Dot(x, y, radius, colour):
            return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{colour}"/>'
        case Wedge():
            return _wedge(shape)
        case _:
            assert_never(shape)


def _wedge(wedge: Wedge) -> str:
    if wedge.end - wedge.start > WHOLE:  # an arc from a point to itself is none
        return _shape(Dot(wedge.x, wedge.y, wedge.radius, wedge.colour))
    (x1, y1), (x2, y2) = turn(wedge, wedge.start), turn(wedge, wedge.end)
    large = int(wedge.end - wedge.start > 0.5)
    path = (
        f"M{wedge.x:g} {wedge.y:g}L{x1:.2f} {y1:.2f}A{wedge.radius:g} {wedge.radius:g} 0 {large} 1 {x2:.2f} {y2:.2f}Z"
    )
    return f'<path d="{path}" fill="{wedge.colour}"/>'
