"""How formats with markup of their own become text: laid out like Markdown, with an outline of what stands where."""

from runtime.knowledge.readers.parsed_document import Document, Outline, TextUnit, fold, heading

ENTRY_CHARACTERS = 150
"""A table row longer than this is an entry of its own, under its first cell."""
NAME_CHARACTERS = 60
NAMES = 12
"""So many names are explained together, at most."""
BULLET = "- "


class Layout:
    """Takes a document's blocks one after the other."""

    def __init__(self) -> None:
        self.outline = Outline()
        self._parts: list[str] = []
        self.size = 0
        """Characters that are written."""

    def write(self, prefix: str, text: str) -> int:
        """Put a block into the document's text; returns where it begins behind its prefix."""
        self._parts += (prefix, text, "\n\n")
        start = self.size + len(prefix)
        self.size = start + len(text) + 2
        return start

    def head(self, level: int, text: str, anchor: str = "") -> None:
        """A heading; one without words is none."""
        if text := heading(text):
            self.write("#" * level + " ", text)
            self.outline.head(level, text, anchor)

    def prose(self, text: str, mark: str = "") -> None:
        """A paragraph or a list item with its mark; its line breaks are spaces."""
        if text := fold(text):
            self.outline.prose(text, 0, len(text), self.write(mark, text))

    def code(self, text: str) -> None:
        """Code, whose lines stay as they are."""
        lines = text.strip("\n").rstrip().split("\n")
        text = "\n".join("    " + line.rstrip() for line in lines)
        if text.strip():
            self.outline.code(text, 0, len(text), self.write("", text))

    def term(self, level: int, names: list[str], anchor: str = "") -> None:
        """The last of some names that are explained together; what follows explains them."""
        self.write("", names[-1])
        self.outline.term(level, ", ".join(name for name in names[-NAMES:] if name), anchor)

    def row(self, cells: list[str], name: str = "", anchor: str = "") -> None:
        """A table's row. A long one is an entry, under its first cell if that is short, else under `name`."""
        texts = [text for text in map(fold, cells) if text]
        row = " — ".join(texts)
        if not row:
            return
        start = self.write("", row)
        if len(row) < ENTRY_CHARACTERS:
            self.outline.add(TextUnit(start, start + len(row), opens=True))
            return
        level = self.outline.depth
        if name := texts[0] if len(texts) > 1 and len(texts[0]) < NAME_CHARACTERS else name:
            self.outline.term(level, name, anchor)
        self.outline.prose(row, 0, len(row), start)
        self.outline.leave(level)

    def document(self, title: str = "", above: str = "") -> Document:
        return Document(title or self.outline.title, "".join(self._parts), self.outline.sections, above=above)
