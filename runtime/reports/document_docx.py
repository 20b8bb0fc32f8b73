"""A document from a template as a Word document: its headings, its paragraphs, and what is bold in them."""

import html
import re

from actors.documents.template import Document
from runtime.reports.docx import open_document, save

_HEADING = re.compile(r"(#{1,6})\s+(\S.*)")
_MARK = re.compile(r"\\([!-/:-@\[-`{-~])|(\*\*)")


def render_document(document: Document) -> bytes:
    """The content of the file."""
    made = open_document(document.title, document.language)
    for number, block in enumerate(re.split(r"\n\s*\n", document.markdown.strip())):
        if heading := _HEADING.fullmatch(block.strip()):
            if number:  # the first one is the title
                made.add_heading("".join(text for text, _ in read_spans(heading[2])), len(heading[1]) - 1)
            continue
        paragraph = made.add_paragraph()
        for text, bold in read_spans(" ".join(block.split("\n"))):
            paragraph.add_run(text).bold = bold
    return save(made)


def read_spans(markdown: str) -> list[tuple[str, bool]]:
    """The text of a paragraph as a person reads it, and which pieces of it are bold."""
    spans, bold, at, text = list[tuple[str, bool]](), False, 0, ""
    for mark in _MARK.finditer(markdown):
        text += html.unescape(markdown[at : mark.start()]) + (mark[1] or "")
        at = mark.end()
        if mark[2]:
            spans.append((text, bold))
            bold, text = not bold, ""
    spans.append((text + html.unescape(markdown[at:]), bold))
    return [span for span in spans if span[0]]
