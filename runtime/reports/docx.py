"""A report as a Word document: real headings, lists, tables and links, so that it can be worked on."""

import io
from typing import Any, assert_never

from docx import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt, RGBColor

from actors.reporting import document as o
from actors.reporting.links import display_url, publisher, source_link
from actors.reporting.mermaid import figures
from actors.reporting.report import Chart, Report, ReportSentence, SourceEntry, Table
from actors.text.catalogue import html_language, say
from actors.text.normalize import remove_controls
from actors.text.source_text import Piece, flat, pieces

MONOSPACED = "Courier New"
FAINT = RGBColor(0x5D, 0x66, 0x70)
BAR = RGBColor(0x2F, 0x6F, 0xB0)
WARNING = RGBColor(0x8A, 0x4B, 0x00)
BLOCKS = 12
"""Characters of the longest bar."""
COUNTS_CM, TIMELINE_CM, MAP_CM = (8.0, 1.5, 5.5), (1.5, 13.5), (3.5, 11.5)


def render(report: Report) -> bytes:
    """The document."""
    document = open_document(flat(report.title), report.language)
    writer = _Writer(document, report.language)
    for part in o.outline(report):
        writer.add(part)
    return save(document)


def open_document(title: str, language: str) -> Any:
    """A Word document of ours that has its title so far; python-docx has no types."""
    document = Document()
    document.styles["Normal"].font.name = "Calibri"
    document.styles["Normal"].font.size = Pt(11)
    document.core_properties.title = title[:255]
    document.core_properties.language = html_language(language)
    document.core_properties.author = "Terminus"
    document.core_properties.comments = ""
    document.add_heading(title, 0)
    return document


def save(document: Any) -> bytes:
    """A Word document as the content of its file."""
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


class _Writer:
    """Appends parts to a document."""

    def __init__(self, document: Any, language: str) -> None:
        self._document = document
        self._language = language

    def add(self, part: o.Part) -> None:
        match part:
            case o.Heading(text, level):
                self._document.add_heading(flat(text), level - 1)
            case o.Remark(text, warns):
                self._remark(flat(text), warns=warns)
            case o.Passages(lines, running=True):
                _running(self._document.add_paragraph(), *lines)
            case o.Passages(lines):
                self._list(lines)
            case o.Disagreements(pairs):
                self._disagreements(pairs)
            case o.Points(items, more):
                self._points((*items, o.more_items(more, self._language)) if more else items)
            case Table() as table:
                self._grid(table)
            case Chart() as chart:
                self._chart(chart)
            case o.Works(listed):
                for each in listed:
                    self._work(each)
            case o.Quotes(title, lines):
                self._document.add_heading(title, 1)
                self._quotes(lines)
            case _:
                assert_never(part)

    def _remark(self, text: str, *, warns: bool) -> None:
        run = self._document.add_paragraph().add_run(text)
        run.italic, run.bold = not warns, warns
        run.font.color.rgb = WARNING if warns else FAINT

    def _list(self, lines: tuple[ReportSentence, ...]) -> None:
        for line in lines:
            self._sentence(line, "List Bullet")

    def _disagreements(self, pairs: tuple[tuple[ReportSentence, ReportSentence], ...]) -> None:
        for one, other in pairs:
            self._sentence(one, "List Bullet")
            self._sentence(other, "List Bullet 2", f"{say('against', self._language)} ")

    def _points(self, items: tuple[str, ...]) -> None:
        for item in items:
            self._document.add_paragraph(flat(item), "List Bullet")

    def _quotes(self, lines: tuple[ReportSentence, ...]) -> None:
        for line in lines:
            _running(self._document.add_paragraph(), line)
            self._pieces(pieces(line.quote), "Quote")

    def _sentence(self, line: ReportSentence, style: str, before: str = "") -> None:
        said = pieces(line.text)
        paragraph = self._document.add_paragraph(before, style)
        if line.under:
            paragraph.add_run(f"{flat(line.under)}: ").bold = True
        rest = said
        if said and said[0].kind != "code":
            _spans(paragraph, said[0])
            rest = said[1:]
        _marks(paragraph, line)
        self._pieces(rest, "List Continue")

    def _pieces(self, said: tuple[Piece, ...], style: str) -> None:
        for piece in said:
            listed = "List Continue" if piece.mark else "List Bullet 2"
            text = f"{piece.mark} " if piece.mark else ""
            paragraph = self._document.add_paragraph(text, listed if piece.kind == "item" else style)
            _spans(paragraph, piece)

    def _grid(self, table: Table) -> None:
        grid = self._document.add_table(rows=1, cols=len(table.head), style="Table Grid")
        for cell, text in zip(grid.rows[0].cells, table.head, strict=True):
            cell.paragraphs[0].add_run(flat(text)).bold = True
        for first, *rest in table.rows:
            cells = grid.add_row().cells
            cells[0].paragraphs[0].add_run(flat(first.text)).bold = True
            for cell, line in zip(cells[1:], rest, strict=True):
                if line.short:
                    cell.paragraphs[0].add_run(remove_controls(line.short))
                    _marks(cell.paragraphs[0], line)
                else:
                    _running(cell.paragraphs[0], line)
        self._document.add_paragraph()

    def _chart(self, chart: Chart) -> None:
        """A table of what was counted, with bars of letters; of a map a row a branch."""
        self._document.add_paragraph().add_run(flat(chart.title)).bold = True
        most = max((count for _, count in chart.items), default=0) or 1
        widths = {"timeline": TIMELINE_CM, "mindmap": MAP_CM}.get(chart.kind, COUNTS_CM)
        grid = self._document.add_table(rows=0, cols=len(widths), style="Table Grid")
        grid.autofit = False
        for label, count in chart.items:
            cells = grid.add_row().cells
            bar = "█" * max(1, round(BLOCKS * count / most)) if count else ""
            match chart.kind:
                case "timeline":
                    said: tuple[str, ...] = (figures(count), label)
                case "mindmap":
                    said = (chart.branches[int(count)], label)
                case _:
                    said = (label, figures(count), bar)
            for cell, text, width in zip(cells, said, widths, strict=True):
                cell.width = Cm(width)
                run = cell.paragraphs[0].add_run(remove_controls(text))
                run.font.color.rgb = BAR if text and text is bar else None
        for column, width in zip(grid.columns, widths, strict=True):
            column.width = Cm(width)  # each program reads one or the other
        self._document.add_paragraph()

    def _work(self, listed: SourceEntry) -> None:
        paragraph = self._document.add_paragraph(f"[{listed.number}] ")
        paragraph.add_run(flat(listed.title)).bold = True
        paragraph.add_run(f" — {publisher(listed.url, self._language)}").add_break()
        target = source_link(listed)
        if target:
            _link(paragraph, display_url(listed.url), target)
        else:
            paragraph.add_run(display_url(listed.url))
        paragraph.add_run().add_break()
        _faint(paragraph, o.reading(listed, self._language))


def _running(paragraph: Any, *lines: ReportSentence) -> None:
    for line in lines:
        for place, piece in enumerate(pieces(line.text)):
            if place:
                paragraph.add_run(" ")
            _spans(paragraph, piece)
        _marks(paragraph, line)
        if line is not lines[-1]:
            paragraph.add_run(" ")


def _spans(paragraph: Any, piece: Piece) -> None:
    for span in piece.spans:
        run = paragraph.add_run(span.text)
        if span.code:
            run.font.name = MONOSPACED
            run.font.size = Pt(10)


def _marks(paragraph: Any, line: ReportSentence) -> None:
    if line.numbers:
        paragraph.add_run(" " + "".join(f"[{number}]" for number in line.numbers)).font.color.rgb = FAINT


def _faint(paragraph: Any, text: str) -> None:
    run = paragraph.add_run(text)
    run.font.size = Pt(9)
    run.font.color.rgb = FAINT


def _link(paragraph: Any, text: str, target: str) -> None:
    """A link to elsewhere; python-docx knows only how to read them."""
    element = OxmlElement("w:hyperlink")
    element.set(qn("r:id"), paragraph.part.relate_to(target, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    run = paragraph.add_run(text)
    run.font.underline = True
    run.font.color.rgb = RGBColor(0x1A, 0x5F, 0xA8)
    element.append(run._r)  # noqa: SLF001 - the run's element moves into the link
    paragraph._p.append(element)  # noqa: SLF001
