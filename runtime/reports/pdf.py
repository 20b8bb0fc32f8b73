"""A report as PDF, by reportlab alone: no library of the system is needed."""

import io
import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, assert_never

from reportlab.graphics.shapes import Circle, Drawing, Rect, String
from reportlab.graphics.shapes import Wedge as Slice
from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import Flowable, KeepTogether, Paragraph, SimpleDocTemplate, Spacer, Table
from reportlab.platypus import TableStyle as Rules

from actors.reporting import document as o
from actors.reporting.links import display_url, publisher, source_link
from actors.reporting.report import Chart, Report, ReportSentence, SourceEntry
from actors.reporting.report import Table as ReportTable
from actors.text.catalogue import html_language, say
from actors.text.normalize import remove_controls
from actors.text.source_text import Piece, Span, flat, pieces
from actors.text.truncate import shorten
from runtime.reports.figure import Bar, Dot, Shape, Text, Wedge, figure
from runtime.reports.fonts import Fonts

INK, FAINT, RULE, SOFT, WARNING = map(HexColor, ("#1d2126", "#5d6670", "#c9ced4", "#f1f3f5", "#8a4b00"))
HEAD_CHARACTERS = 200
CODE_CHARACTERS = 84
"""Longer lines of code are broken, with a mark."""
WIDE = re.compile(r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]")
_LONG_WORD = re.compile(rf"(?:(?!{WIDE.pattern})\S){{200}}(?=\S)")
"""The layout measures a word once for each of its letters: 4,000 without a blank took three seconds."""


def render(report: Report) -> bytes:
    """The document."""
    out, title = io.BytesIO(), flat(report.title)
    document = SimpleDocTemplate(
        out, pagesize=A4, leftMargin=22 * mm, rightMargin=22 * mm, topMargin=20 * mm, bottomMargin=20 * mm,
        title=title, author="Terminus", lang=html_language(report.language), invariant=1,
    )  # fmt: skip
    writer = _Writer(document.width, report.language)
    parts = [writer.paragraph([Span(title)], "title")]
    for part in o.outline(report):
        parts += writer.part(part)
    document.build(parts, onFirstPage=writer.footer, onLaterPages=writer.footer)
    return out.getvalue()


class _Writer:
    """Makes parts into what reportlab lays out."""

    def __init__(self, width: float, language: str) -> None:
        self._width = width
        self._language = language
        self._fonts = Fonts()
        self._styles = _styles(self._fonts)

    def footer(self, canvas: Any, document: Any) -> None:
        canvas.setFont(self._fonts.plain, 8)
        canvas.setFillColor(FAINT)
        canvas.drawRightString(A4[0] - 22 * mm, 11 * mm, str(document.page))

    def part(self, part: o.Part) -> Iterator[Flowable]:
        match part:
            case o.Heading(text, level):
                yield self.paragraph([Span(flat(text))], f"h{level}")
            case o.Remark(text, warns):
                yield self.paragraph([Span(flat(text))], "warning" if warns else "note")
            case o.Passages(lines, running=True):
                yield self._flow(" ".join(map(self._running, lines)))
            case o.Passages(lines):
                yield from (each for line in lines for each in self._sentence(line))
            case o.Disagreements(pairs):
                yield from (each for pair in pairs for each in self._pair(*pair))
            case o.Points(items, more):
                said = (*items, o.more_items(more, self._language)) if more else items
                yield from (self.paragraph([Span(flat(each))], "item", bullet="•") for each in said)
            case ReportTable() as table:
                yield self._grid(table)
            case Chart() as chart:
                yield self._picture(chart)
            case o.Works(listed):
                yield from map(self._work, listed)
            case o.Quotes(title, lines):
                yield self.paragraph([Span(title)], "h2")
                yield from (each for line in lines for each in self._quote(line))
            case _:
                assert_never(part)

    def paragraph(self, spans: Sequence[Span], style: str, *, bullet: str = "") -> Flowable:
        bold = style in {"title", "h2", "h3", "warning", "head"}
        return self._flow("".join(self._markup(span, bold=bold) for span in spans), style, bullet=bullet)

    def _flow(self, markup: str, style: str = "text", *, bullet: str = "") -> Flowable:
        chosen = self._styles[style]
        if len(WIDE.findall(markup)) > 8:  # a script without spaces is broken anywhere
            chosen = ParagraphStyle(f"{style}-wide", parent=chosen, wordWrap="CJK")
        return Paragraph(markup, chosen, bulletText=bullet or None)

    def _markup(self, span: Span, *, bold: bool = False) -> str:
        text = _LONG_WORD.sub(r"\g<0> ", " ".join(remove_controls(span.text).split("\n")))
        runs = self._fonts.runs(Span(text, span.code), bold=bold)
        return "".join(f'<font face="{run.font}">{escape(run.text)}</font>' for run in runs)

    def _spans(self, piece: Piece) -> str:
        return "".join(map(self._markup, piece.spans))

    def _running(self, line: ReportSentence) -> str:
        return f"{' '.join(map(self._spans, pieces(line.text)))} {self._marks(line)}"

    def _marks(self, line: ReportSentence) -> str:
        marks = (f'<a href="#s{number}" color="#1a5fa8">[{number}]</a>' for number in line.numbers)
        return f'<font size="8">{"".join(marks)}</font>'

    def _sentence(self, line: ReportSentence, bullet: str = "•") -> Iterator[Flowable]:
        said = pieces(line.text)
        first, rest = (self._spans(said[0]), said[1:]) if said and said[0].kind != "code" else ("", said)
        label = self._markup(Span(f"{flat(line.under)}: "), bold=True) if line.under else ""
        yield self._flow(f"{label}{first} {self._marks(line)}", "item", bullet=bullet)
        yield from (self._piece(piece) for piece in rest)

    def _piece(self, piece: Piece) -> Flowable:
        match piece.kind:
            case "code":
                return self._code(piece.text)
            case "item":
                return self._flow(self._spans(piece), "inner", bullet=piece.mark or "–")
            case "prose":
                return self._flow(self._spans(piece), "under")
            case _:
                assert_never(piece.kind)

    def _code(self, text: str) -> Flowable:
        lines = (broken for line in remove_controls(text).split("\n") for broken in _broken(line))
        kept = (self._markup(Span(line.replace(" ", "\u00a0"), code=True)) for line in lines)
        return Paragraph("<br/>".join(kept), self._styles["code"])

    def _pair(self, one: ReportSentence, other: ReportSentence) -> Iterator[Flowable]:
        yield from self._sentence(one)
        yield self.paragraph([Span(say("against", self._language))], "against")
        yield self._flow(self._running(other), "under")

    def _quote(self, line: ReportSentence) -> Iterator[Flowable]:
        yield self._flow(self._running(line))
        for piece in pieces(line.quote):
            yield self._code(piece.text) if piece.kind == "code" else self._flow(self._spans(piece), "quote")

    def _grid(self, table: ReportTable) -> Flowable:
        rows = [[self._head(each) for each in table.head]]
        for first, *cells in table.rows:
            rows.append([self._head(first.text), *(self._flow(self._cell(each), "cell") for each in cells)])
        share = self._width / (len(table.head) - 0.5)
        widths = [share / 2, *[share] * (len(table.head) - 1)]
        rules = Rules([("GRID", (0, 0), (-1, -1), 0.5, RULE), ("BACKGROUND", (0, 0), (-1, 0), SOFT),
                       ("VALIGN", (0, 0), (-1, -1), "TOP")])  # fmt: skip
        return Table(rows, widths, repeatRows=1, style=rules, splitInRow=1, spaceBefore=4, spaceAfter=8)

    def _cell(self, line: ReportSentence) -> str:
        return f"{self._markup(Span(line.short))} {self._marks(line)}" if line.short else self._running(line)

    def _head(self, text: str) -> Flowable:
        """Bounded, for it stands on each page."""
        return self.paragraph([Span(shorten(flat(text), HEAD_CHARACTERS))], "head")

    def _picture(self, chart: Chart) -> Flowable:
        drawn = figure(chart)
        scale = min(1.0, self._width / drawn.width)
        drawing = Drawing(drawn.width * scale, drawn.height * scale)
        drawing.scale(scale, scale)
        for shape in drawn.shapes:
            for each in self._shapes(shape, drawn.height):
                drawing.add(each)
        return KeepTogether([self.paragraph([Span(flat(chart.title))], "h3"), drawing, Spacer(0, 8)])

    def _shapes(self, shape: Shape, height: float) -> Iterator[Any]:
        match shape:
            case Text(x, y, text, bold, right):
                yield from self._text(Span(text), x, height - y, bold=bold, right=right)
            case Bar(x, y, width, tall, colour):
                yield Rect(x, height - y - tall, width, tall, fillColor=HexColor(colour), strokeColor=None)
            case Dot(x, y, radius, colour):
                yield Circle(x, height - y, radius, fillColor=HexColor(colour), strokeColor=None)
            case Wedge(x, y, radius, start, end, colour):
                turned = {"startangledegrees": 90 - 360 * end, "endangledegrees": 90 - 360 * start}
                yield Slice(x, height - y, radius, **turned, fillColor=HexColor(colour), strokeColor=None)
            case _:
                assert_never(shape)

    def _text(self, span: Span, x: float, y: float, *, bold: bool, right: bool) -> Iterator[Any]:
        runs = self._fonts.runs(span, bold=bold)
        widths = [stringWidth(run.text, run.font, 10) for run in runs]
        x -= sum(widths) if right else 0
        for run, width in zip(runs, widths, strict=True):
            yield String(x, y, run.text, fontName=run.font, fontSize=10, fillColor=INK)
            x += width

    def _work(self, listed: SourceEntry) -> Flowable:
        target, said = source_link(listed), self._markup(Span(display_url(listed.url)))
        place = f'<a href="{escape(target)}" color="#1a5fa8">{said}</a>' if target else said
        title = self._markup(Span(flat(listed.title)), bold=True)
        host = self._markup(Span(f"— {publisher(listed.url, self._language)}"))
        read = self._markup(Span(o.reading(listed, self._language)))
        return self._flow(
            f'<a name="s{listed.number}"/>{title} {host}<br/>{place}<br/><font size="8" color="#5d6670">{read}</font>',
            "work",
            bullet=f"[{listed.number}]",
        )


def _broken(line: str) -> Iterator[str]:
    while len(line) > CODE_CHARACTERS:
        yield f"{line[:CODE_CHARACTERS]} ↩"
        line = line[CODE_CHARACTERS:]
    yield line


def _styles(fonts: Fonts) -> dict[str, ParagraphStyle]:
    text = ParagraphStyle(
        "text", fontName=fonts.plain, fontSize=10, leading=14.5, textColor=INK, spaceAfter=5, splitLongWords=1,
        bulletFontName=fonts.plain, bulletFontSize=10,
    )  # fmt: skip
    heading = {"fontName": fonts.bold, "keepWithNext": 1}
    more: dict[str, dict[str, Any]] = {
        "title": {"fontName": fonts.bold, "fontSize": 19, "leading": 24, "spaceAfter": 10},
        "h2": heading | {"fontSize": 13, "leading": 17, "spaceBefore": 13, "spaceAfter": 5},
        "h3": heading | {"fontSize": 10.5, "leading": 14, "spaceBefore": 6, "spaceAfter": 3},
        "note": {"textColor": FAINT},
        "warning": {"textColor": WARNING, "backColor": HexColor("#fff4e2"), "borderPadding": 5, "spaceBefore": 5,
                    "spaceAfter": 10},
        "item": {"leftIndent": 13, "bulletIndent": 2},
        "inner": {"leftIndent": 27, "bulletIndent": 16},
        "under": {"leftIndent": 13},
        "against": {"leftIndent": 13, "textColor": FAINT, "fontSize": 9, "spaceAfter": 2},
        "quote": {"leftIndent": 13, "textColor": FAINT, "fontSize": 9.5},
        "code": {"leftIndent": 17, "fontName": fonts.code, "fontSize": 8.5, "leading": 12, "backColor": SOFT,
                 "borderPadding": 4, "spaceBefore": 4, "spaceAfter": 9},
        "head": {"fontName": fonts.bold, "fontSize": 9.5, "leading": 13},
        "cell": {"fontSize": 9.5, "leading": 13},
        "work": {"leftIndent": 24, "bulletIndent": 0, "spaceAfter": 9, "fontSize": 9.5, "leading": 13.5},
    }  # fmt: skip
    return {"text": text} | {name: ParagraphStyle(name, parent=text, **values) for name, values in more.items()}
