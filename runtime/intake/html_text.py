"""What a helpdesk keeps as HTML: read as text, and text written as HTML. Nothing of it is obeyed or loaded."""

import html
import re
from html.parser import HTMLParser

MOST_CHARACTERS = 1_000_000
UNSEEN = frozenset({"script", "style", "head", "title", "template"})
BLOCKS = frozenset({
    "address", "article", "blockquote", "br", "div", "dl", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li",
    "ol", "p", "pre", "section", "table", "tr", "ul",
})  # fmt: skip
"""What begins a line."""


def read_text(source: str) -> str:
    """The text that HTML shows; lines of what it quotes begin with `>`, as in mails."""
    reader = _TextReader()
    reader.feed(source[:MOST_CHARACTERS])
    reader.close()
    lines = [" ".join(line.split()) for line in "".join(reader.parts).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def write_html(text: str) -> str:
    """A text as HTML that shows it: nothing in it is markup."""
    return html.escape(text).replace("\r\n", "\n").replace("\n", "<br>\n")


class _TextReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._unseen = self._quoted = 0

    def _break_line(self) -> None:
        self.parts.append("\n" + "> " * min(self._quoted, 1))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the base class calls it so
        self._unseen += tag in UNSEEN
        self._quoted += tag == "blockquote"
        if tag in BLOCKS:
            self._break_line()

    def handle_endtag(self, tag: str) -> None:
        self._unseen = max(0, self._unseen - (tag in UNSEEN))
        self._quoted = max(0, self._quoted - (tag == "blockquote"))
        if tag in BLOCKS and tag != "br":
            self._break_line()

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.parts.append(re.sub(r"\s+", " ", data))
