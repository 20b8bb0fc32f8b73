"""
A report as Markdown that any viewer renders and that reads well as it is. Pure.

What comes from sources is escaped: it makes no heading, list, table, link, image or HTML. The links are ours.
"""

import re
from collections.abc import Iterator
from typing import assert_never

from actors.reporting import document as o
from actors.reporting.links import display_url, publisher, source_link
from actors.reporting.mermaid import mermaid
from actors.reporting.report import Chart, Report, ReportSentence, SourceEntry, Table
from actors.text.catalogue import say
from actors.text.normalize import remove_controls
from actors.text.source_text import Span, flat, pieces

_INLINE = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|$)"  # before what it would escape
    r"|[`\[\]~]|\*(?!\s)|(?<!\s)\*|(?<![^\W_])_|_(?![^\W_])"
    r"|<(?![\s=\d])|&(?=[#\w])|\$(?!\d)|:(?=//)|(?<=\b[wW]{3})\.|@(?=\w)|\{"
)
_LIVE = re.compile(r"<[A-Za-z/!?]|\][ \n]{0,9}[(:\[]|\{[^}\n]{0,200}=")
"""What may do something where it is not taken for code: tags, links, attributes."""
_ENTITIES = {"<": "&lt;", "&": "&amp;"}
"""Not every viewer knows a backslash before these."""
_START = re.compile(r"#|>|[-+](?=[\s+-]|$)|=|:::|\|")
BREAK = "  \n"
"""A line's end that viewers keep."""
_CLOSING = re.compile(r"(?<!\S)#+$")
"""What would be taken for the end of a heading."""
_NUMBERED = re.compile(r"(\d{1,9})([.)])(?=\s|$)")


def render_markdown(report: Report) -> str:
    """The whole report."""
    blocks = [_heading(report.title, 1)]
    for part in o.outline(report):
        blocks += _part(part, report.language)
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    """Text on one line that means nothing but itself."""
    line = _INLINE.sub(_escape, " ".join(remove_controls(text).split()))
    line = _NUMBERED.sub(r"\1\\\2", line, count=1) if _NUMBERED.match(line) else line
    return f"\\{line}" if _START.match(line) else line


def _part(part: o.Part, language: str) -> Iterator[str]:
    match part:
        case o.Heading(text, level):
            yield _heading(flat(text), level)
        case o.Remark(text, warns):
            yield f"> **{escape(text)}**" if warns else f"_{escape(text)}_"
        case o.Passages(lines, running=True):
            yield " ".join(_running(line) for line in lines)
        case o.Passages(lines):
            yield _list([_sentence_blocks(line) for line in lines])
        case o.Disagreements(pairs):
            against = say("against", language)
            yield _list([[*_sentence_blocks(one), f"_{against}_ {_running(other)}"] for one, other in pairs])
        case o.Points(items, more):
            said = [escape(item) for item in items] + ([o.more_items(more, language)] if more else [])
            yield _list([[each] for each in said])
        case Table() as table:
            yield render_table(table)
        case Chart() as chart:
            yield _fence(mermaid(chart), "mermaid")
        case o.Works(listed):
            yield "\n".join(_work(each, language) for each in listed)
        case o.Quotes(title, lines):
            yield _heading(title, 2)
            yield "\n\n".join(_quotation(line) for line in lines)
        case _:
            assert_never(part)


def render_table(table: Table) -> str:
    """A table, a line a row."""
    rows = [
        " | ".join(_cell(ReportSentence(each)) for each in table.head),
        " | ".join("---" for _ in table.head),
    ]
    rows += [" | ".join(_cell(cell) for cell in row) for row in table.rows]
    return "\n".join(f"| {row} |" for row in rows)


def _heading(text: str, level: int) -> str:
    line = _CLOSING.sub(r"\\\g<0>", escape(text))
    return f"{'#' * level} {line}"


def _list(items: list[list[str]]) -> str:
    """A list, each item of which has one block or several."""
    apart = any(len(blocks) > 1 for blocks in items)
    said = ("- " + "\n\n".join(blocks).replace("\n", "\n  ").replace("\n  \n", "\n\n") for blocks in items)
    return ("\n\n" if apart else "\n").join(said)


def _running(line: ReportSentence) -> str:
    return f"{_spans(tuple(span for piece in pieces(line.text) for span in piece.spans))} {_marks(line)}".strip()


def _sentence_blocks(line: ReportSentence) -> list[str]:
    """A sentence with its numbers, as blocks: prose, the lists and the code that belong to it."""
    label, tail = f"**{escape(line.under)}:** " if line.under else "", _marks(line)
    blocks: list[str] = []
    items: list[str] = []
    said = pieces(line.text)
    for piece in said:
        if piece.kind == "item":
            items.append(f"{piece.mark or '-'} {_spans(piece.spans)}")
            continue
        blocks += ["\n".join(items)] if items else []
        items = []
        blocks.append(_block(piece.text) if piece.kind == "code" else _spans(piece.spans))
    blocks += ["\n".join(items)] if items else []
    if not blocks or said[0].kind != "prose":
        return [f"{label}{tail}", *blocks]
    return [f"{label}{blocks[0]} {tail}".strip(), *blocks[1:]]


def _marks(line: ReportSentence) -> str:
    return "".join(f"[{number}]" for number in line.numbers)


def _spans(said: tuple[Span, ...]) -> str:
    text = ""
    for span in said:
        apart = " " if span.code and text.endswith("`") else ""  # their marks would run into one
        text += apart + (_code(span.text) if span.code else _inline(span.text))
    line = _NUMBERED.sub(r"\1\\\2", text, count=1) if _NUMBERED.match(text) else text
    return f"\\{line}" if _START.match(line) else line


def _inline(text: str) -> str:
    return _INLINE.sub(_escape, " ".join(text.split()) if text.isspace() else re.sub(r"\s+", " ", text))


def _escape(found: re.Match[str]) -> str:
    return _ENTITIES.get(found[0], f"\\{found[0]}")


def _code(text: str) -> str:
    mark = "`" * (max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    room = " " if text.startswith("`") or text.endswith("`") or mark != "`" else ""
    return f"{mark}{room}{' '.join(text.split())}{room}{mark}"


def _block(text: str) -> str:
    """Code as a block. What may be live stands a line at a time: a viewer that knows no fences would run it."""
    if not _LIVE.search(text):
        return _fence(text)
    return BREAK.join(_code(line) for line in text.split("\n") if line.strip())


def _fence(text: str, language: str = "") -> str:
    mark = "`" * max(3, max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    return f"{mark}{language}\n{text}\n{mark}"


def _cell(line: ReportSentence) -> str:
    parts = (_inline(part) for part in flat(line.in_table).split("|"))  # a backslash would not do in every viewer
    return f"{'&#124;'.join(parts)} {_marks(line)}".strip()


def _work(listed: SourceEntry, language: str) -> str:
    target, said = source_link(listed), _code(display_url(listed.url))
    place = f"[{said}](<{target}>)" if listed.file and target else f"<{target}>" if target else said
    return (
        f"{listed.number}. **{escape(listed.title)}** — {escape(publisher(listed.url, language))}, {place}{BREAK}"
        f"   {escape(o.reading(listed, language))}"
    )


def _quotation(line: ReportSentence) -> str:
    quote = " ".join(
        _spans(piece.spans) if piece.kind != "code" else _code(flat(piece.text)) for piece in pieces(line.quote)
    )
    return f"{_running(line)}\n\n> “{quote}”"
