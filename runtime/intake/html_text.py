"""What a helpdesk keeps as HTML: read as text, and text written as HTML. Nothing of it is obeyed or loaded."""

import html
import re

MOST_CHARACTERS = 300_000
"""Of markup, which is five to ten times the text: more would hold the loop for longer than its other work."""
UNSEEN = frozenset({"script", "style", "head", "title", "template"})
BLOCKS = frozenset(
    {
        "address", "article", "blockquote", "br", "div", "dl", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
        "li", "ol", "p", "pre", "section", "table", "tr", "ul",
    }
)  # fmt: skip
"""What begins a line;"""
ITEMS = frozenset({"br", "dd", "dt", "li"})
"""nothing goes on behind these on a line of its own."""
QUOTED = "\0"
"""What a quoted line begins with until it is written out; no document holds it."""

_UNREADABLE = dict.fromkeys([*range(9), 11, 12, *range(14, 32), *range(0xD800, 0xE000)], " ")
"""Characters that no document may hold."""


def read_text(source: str) -> str:
    """The text that HTML shows; lines of what it quotes begin with `>`, as in mails."""
    text = "".join(_list_parts(source[:MOST_CHARACTERS].translate(_UNREADABLE)))
    lines = [" ".join(line.split()) for line in text.split("\n")]
    said = "\n".join(line for line in lines if line != QUOTED)
    return re.sub(r"\n{3,}", "\n\n", said).strip().replace(QUOTED, ">")


def write_html(text: str) -> str:
    """A text as HTML that shows it: nothing in it is markup."""
    return html.escape(text).replace("\r\n", "\n").replace("\n", "<br>\n")


def _list_parts(source: str) -> list[str]:
    # Python's own parser takes seconds for some kilobytes of tags that never end; libxml2 goes on in one pass.
    from lxml import etree

    parser = etree.HTMLParser(remove_comments=True, remove_pis=True, no_network=True, huge_tree=True)
    try:
        root = etree.fromstring(f"<div>{source}</div>", parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        root = None
    parts: list[str] = []
    unseen = quoted = 0

    def add(text: str | None) -> None:
        if text and not unseen:
            parts.append(re.sub(r"\s+", " ", text))

    def break_line() -> None:
        parts.append(f"\n{QUOTED} " if quoted else "\n")

    for event, element in etree.iterwalk(root, events=("start", "end")) if root is not None else ():
        tag = element.tag
        if event == "start":
            unseen += tag in UNSEEN
            quoted += tag == "blockquote"
            if tag in BLOCKS:
                break_line()
            add(element.text)
            continue
        unseen -= tag in UNSEEN
        quoted -= tag == "blockquote"
        if tag in BLOCKS and tag not in ITEMS:
            break_line()
        add(element.tail)
    return parts
