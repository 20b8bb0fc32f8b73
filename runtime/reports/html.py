"""A report as one HTML page: no script, nothing loaded from elsewhere, every word of a source escaped."""

import base64
import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import assert_never

from actors.reporting import document as o
from actors.reporting.links import display_url, link, publisher, source_link
from actors.reporting.report import Chart, Report, ReportSentence, SourceEntry, Table
from actors.text.catalogue import html_language, say
from actors.text.source_text import Piece, flat, pieces
from runtime.reports.figure import figure
from runtime.reports.style import CSS
from runtime.reports.svg import draw

BACK = 20
"""Links from a source back to where it is cited."""


def render(report: Report) -> bytes:
    """The page."""
    return Page(report).text().encode("utf-8", "replace")


def render_fragment(report: Report) -> bytes:
    """
    What stands on the page below its title, for a page that shows more than the report.

    It leads to no file of this machine: who reads it is at another.
    """
    return "\n".join(Page(report, is_local=False).body()).encode("utf-8", "replace")


class Page:
    """One page in the making: it knows which citations it has placed, so that sources can lead back to them."""

    def __init__(self, report: Report, *, is_local: bool = True) -> None:
        self._report = report
        self._is_local = is_local
        self._language = report.language
        self._placed: Counter[int] = Counter()
        self._headings: list[str] = []

    def text(self) -> str:
        """The whole page."""
        title = escape(flat(self._report.title))
        allowed = base64.b64encode(hashlib.sha256(CSS.encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'"
        return "\n".join(
            (
                f'<!doctype html>\n<html lang="{html_language(self._language)}">\n<head>\n<meta charset="utf-8">',
                f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
                '<meta name="viewport" content="width=device-width, initial-scale=1">',
                '<meta name="referrer" content="no-referrer">',
                f"<title>{title}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>",
                *self.body(),
                "</main>\n</body>\n</html>\n",
            )
        )

    def body(self) -> list[str]:
        """What stands below the title, the contents before the first heading."""
        parts = [html for part in o.outline(self._report) for html in self._part(part)]
        top = next((place for place, html in enumerate(parts) if html.startswith("<h2")), len(parts))
        return [*parts[:top], self._contents(), *parts[top:]]

    def _contents(self) -> str:
        items = (f'<li><a href="#h{n}">{text}</a></li>' for n, text in enumerate(self._headings, 1))
        label = say("contents", self._language)
        return f'<nav aria-label="{label}"><ul>{"".join(items)}</ul></nav>'

    def _part(self, part: o.Part) -> Iterator[str]:
        match part:
            case o.Heading(text, level):
                yield self._heading(escape(flat(text)), level)
            case o.Remark(text, warns):
                yield f'<p class="{"warns" if warns else "note"}">{escape(flat(text))}</p>'
            case o.Passages(lines, running=True):
                yield f"<p>{' '.join(self._running(line) for line in lines)}</p>"
                yield from (self._words(line) for line in lines if line.quote)
            case o.Passages(lines):
                yield f"<ul>{''.join(f'<li>{self._sentence(line)}</li>' for line in lines)}</ul>"
            case o.Disagreements(pairs):
                for one, other in pairs:
                    against = f'<p class="note">{say("against", self._language)}</p>{self._sentence(other)}'
                    yield f'<div class="pair">{self._sentence(one)}{against}</div>'
            case o.Points(items, more):
                yield self._points(items, more)
            case Table() as table:
                yield self._grid(table)
            case Chart() as chart:
                title = flat(chart.title)
                drawn = f'<div class="wide" tabindex="0">{draw(figure(chart), title)}</div>'
                yield f"<figure>{drawn}<figcaption>{escape(title)}</figcaption></figure>"
            case o.Works(listed):
                yield f'<ol class="works">{"".join(self._work(each) for each in listed)}</ol>'
            case o.Quotes():
                pass  # they stand right below their sentences
            case _:
                assert_never(part)

    def _heading(self, text: str, level: int) -> str:
        if level > 2:
            return f"<h3>{text}</h3>"
        self._headings.append(text)
        return f'<h2 id="h{len(self._headings)}">{text}</h2>'

    def _running(self, line: ReportSentence) -> str:
        return f"{' '.join(map(_spans, pieces(line.text)))} {self._marks(line)}"

    def _sentence(self, line: ReportSentence) -> str:
        label = f"<strong>{escape(flat(line.under))}:</strong> " if line.under else ""
        blocks = list(_blocks(pieces(line.text)))
        if not blocks or not blocks[0].startswith("<p>"):
            blocks.insert(0, "<p></p>")
        blocks[0] = f"<p>{label}{blocks[0].removeprefix('<p>').removesuffix('</p>')} {self._marks(line)}</p>"
        if len(blocks) == 1:
            blocks[0] = f"<span>{blocks[0].removeprefix('<p>').removesuffix('</p>')}</span>"
        return "".join(blocks) + (self._words(line) if line.quote else "")

    def _marks(self, line: ReportSentence) -> str:
        marks = []
        for number in line.numbers:
            self._placed[number] += 1
            marks.append(f'<a id="c{number}-{self._placed[number]}" href="#s{number}">[{number}]</a>')
        return f'<span class="n">{"".join(marks)}</span>' if marks else ""

    def _cell(self, line: ReportSentence) -> str:
        if not line.short:
            return self._sentence(line)
        return f"{escape(line.short)} {self._marks(line)}{self._words(line) if line.quote else ''}"

    def _grid(self, table: Table) -> str:
        named = (escape(flat(each)) for each in table.head)
        head = "".join(f'<th scope="col">{each}</th>' if each else "<td></td>" for each in named)
        rows = []
        for first, *cells in table.rows:
            said = "".join(f"<td>{self._cell(cell)}</td>" for cell in cells)
            rows.append(f'<tr><th scope="row">{escape(flat(first.text))}</th>{said}</tr>')
        whole = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        return f'<div class="wide" tabindex="0">{whole}</div>'  # who has no mouse scrolls it by keys

    def _work(self, listed: SourceEntry) -> str:
        back = range(1, min(self._placed[listed.number], BACK) + 1)
        leads = " ".join(
            f'<a href="#c{listed.number}-{n}" aria-label="{say("citation", self._language, number=n)}">↑{n}</a>'
            for n in back
        )
        host, read = publisher(listed.url, self._language), o.reading(listed, self._language)
        return (
            f'<li id="s{listed.number}" value="{listed.number}"><strong>{escape(flat(listed.title))}</strong> — '
            f"{escape(host)}<br>{self._place(listed)}<br><small>{escape(read)} {leads}</small></li>"
        )

    def _place(self, listed: SourceEntry) -> str:
        said = escape(display_url(listed.url))
        target = source_link(listed) if self._is_local else link(listed.url)
        linked = f'<a href="{escape(target)}" rel="noopener noreferrer nofollow">{said}</a>'
        return linked if target else f"<code>{said}</code>"

    def _points(self, items: tuple[str, ...], more: int) -> str:
        rest = f'<li class="note">{escape(o.more_items(more, self._language))}</li>' if more else ""
        return f"<ul>{''.join(f'<li>{escape(flat(each))}</li>' for each in items)}{rest}</ul>"

    def _words(self, line: ReportSentence) -> str:
        """What the source says, where the report says it otherwise."""
        title, blocks = say("words_of_source", self._language), "".join(_blocks(pieces(line.quote)))
        return f"<details><summary>{title}</summary><blockquote>{blocks}</blockquote></details>"


def _blocks(said: tuple[Piece, ...]) -> Iterator[str]:
    for kind, group in itertools.groupby(said, key=lambda piece: (piece.kind, bool(piece.mark))):
        match kind:
            case ("item", True):
                numbered = (f'<li value="{int(piece.mark[:-1])}">{_spans(piece)}</li>' for piece in group)
                yield f"<ol>{''.join(numbered)}</ol>"
            case ("item", False):
                yield f"<ul>{''.join(f'<li>{_spans(piece)}</li>' for piece in group)}</ul>"
            case ("code", _):
                yield from (f"<pre>{escape(piece.text)}</pre>" for piece in group)
            case _:
                yield from (f"<p>{_spans(piece)}</p>" for piece in group)


def _spans(piece: Piece) -> str:
    return "".join(f"<code>{escape(each.text)}</code>" if each.code else escape(each.text) for each in piece.spans)
