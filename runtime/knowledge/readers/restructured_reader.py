"""reStructuredText, parsed by docutils: sections, lists, tables and what directives hold, as Sphinx would show it."""

import csv
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, ClassVar

from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Directive, Parser, directives, states
from docutils.statemachine import StringList
from docutils.utils import new_document, unescape

from actors.text.stop_words import word_set
from runtime.knowledge.readers.document_layout import BULLET, Layout
from runtime.knowledge.readers.parsed_document import Document
from runtime.knowledge.readers.plain_text_reader import read_plain

_NAMED = re.compile(r"(?:\.\.|\|)[ \t]+([\w.+:-]{1,80}?) ?::")
_OPTION = re.compile(r":[\w-]+:(?:\s|$)")
NEVER = 5
"""Above what docutils calls severe: it reports nothing, and ends at nothing."""
LEVELS = 9
PARAGRAPH_CHARACTERS = 4_000
"""A longer one is read as it stands: looking for the ends of its markup takes docutils time by the square."""
SUBSTITUTED = 3
"""What stands for something that stands for something goes on no further."""

_CODE = word_set("code code-block sourcecode parsed-literal highlight-block prompt console doctest testcode ipython")
_OWN = word_set("replace unicode")
"""What a word stands for is found by docutils itself."""
_DROPPED = word_set(
    """
    toctree contents image include literalinclude raw index meta highlight default-domain default-role module
    py:module currentmodule py:currentmodule math graphviz digraph graph inheritance-diagram mermaid uml plantuml
    testsetup testcleanup sectionauthor codeauthor moduleauthor tabularcolumns role target-notes sectnum header footer
    title date program automodule autoclass autofunction automethod autodata autoexception autosummary bibliography
    rst-class
    """
)
_SPOKEN = word_set(
    """
    attention caution danger error hint important note tip warning seealso todo topic sidebar admonition rubric table
    """
)
"""What stands behind their name is text of them."""
_WITHOUT_NAME = word_set("figure tab container only ifconfig audit-event")
"""What stands behind their name is for Sphinx, and what they hold is text."""
_CHANGES = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
    "deprecated-removed": "Deprecated since version",
}


def read_restructured(text: str) -> Document:
    """Read a reStructuredText file by its structure. What docutils cannot parse is read as plain text."""
    try:
        tree = _parse(text)
    except Exception:  # what is nested a hundred times, and other markup that is made to do harm
        return read_plain(text)
    reader = _Reader(tree)
    reader.read(tree)
    return reader.layout.document()


def _parse(text: str) -> nodes.document:
    """The tree of a text. Each directive that it names is ours, so none reads a file or makes anything of raw text."""
    vars(directives)["_directives"].clear()  # what other files named is not kept for ever
    for name in {match.group(1).lower() for match in _NAMED.finditer(text)} - _OWN:
        directives.register_directive(name, _Directive)
    tree = new_document("", _settings())
    Parser(inliner=_make_inliner()).parse(text.replace("\0", ""), tree)
    return tree


@cache
def _settings() -> Any:
    settings = get_default_settings(Parser)
    settings.file_insertion_enabled = settings.raw_enabled = settings.warning_stream = False
    settings.report_level = settings.halt_level = NEVER
    settings.trim_footnote_reference_space = True
    settings.line_length_limit = 1_000_000
    return settings


def _make_inliner() -> states.Inliner:
    """
    What reads the inside of a paragraph: whatever a role is called, it says how words look, and addresses are words.

    Methods of a class below docutils' own would not do: it takes its patterns from the very class that it is of.
    """
    inliner = states.Inliner()

    def parse(text: str, *more: Any) -> Any:
        if len(text) > PARAGRAPH_CHARACTERS:
            return [nodes.Text(unescape(text))], []
        return states.Inliner.parse(inliner, text, *more)

    def read_words(text: str, _: int) -> list[nodes.Node]:
        return [nodes.Text(text)] if text else []

    vars(inliner).update(parse=parse, interpreted=_read_role, implicit_inline=read_words)
    return inliner


def _read_role(_raw: str, escaped: str, *_: object) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Whatever its role: `words <target>` as its words, `~module.name` as its name."""
    text = unescape(escaped)
    words, opens, target = text.rstrip().rpartition("<")
    if words and opens and target.endswith(">"):
        text = words.rstrip()
    elif text.startswith("~"):
        text = text.rpartition(".")[2]
    return [nodes.Text(text.lstrip("!"))], []


class _Directive(Directive):
    """Whatever a text names: some are dropped, some hold code or text, and what is left are entries of a manual."""

    has_content: ClassVar[bool] = True

    def run(self) -> list[nodes.Node]:
        name, (said, content) = self.name.lower(), self._split()
        if name in _DROPPED:
            return []
        if name in _CODE:
            return [nodes.literal_block(text="\n".join(content or said))]
        if name == "csv-table":
            rows = csv.reader(line for line in content if line)
            return [_row([self._inline(cell) for cell in row]) for row in rows]
        if name in _CHANGES:
            return self._nest([f"{_CHANGES[name]} {' '.join(said)}", *content])
        if name in _SPOKEN:
            return self._nest([*said, "", *content])
        found = self._nest(content)
        if name == "list-table":
            items = [item for each in found for item in each.children if item.children]
            return [_row([cell.children for cell in item.children[0].children]) for item in items]
        if name in _WITHOUT_NAME or not said:
            return found
        terms = [nodes.term("", "", *self._inline(each)) for each in said]
        return [nodes.definition_list_item("", *terms, nodes.definition("", *found))]

    def _split(self) -> tuple[list[str], list[str]]:
        """The lines of its argument, and those of its content; what stands between is for Sphinx."""
        lines, said = list(self.content), list[str]()
        if not self.block_text.partition("\n")[0].rstrip().endswith("::"):
            while lines and lines[0].strip() and not _OPTION.match(lines[0]):
                said.append(lines.pop(0).strip())
        while lines and _OPTION.match(lines[0]):
            del lines[0]
            while lines and lines[0].startswith(" "):
                del lines[0]
        return said, lines

    def _nest(self, lines: list[str]) -> list[nodes.Node]:
        holder = nodes.Element()
        self.state.nested_parse(StringList(lines, ""), self.content_offset, holder)
        return holder.children

    def _inline(self, text: str) -> list[nodes.Node]:
        found: list[nodes.Node] = self.state.inline_text(text, self.lineno)[0]
        return found


def _row(cells: Iterable[Sequence[nodes.Node]]) -> nodes.Node:
    return nodes.row("", *(nodes.entry("", *cell) for cell in cells))


class _Reader:
    """Goes through a tree from block to block."""

    def __init__(self, tree: nodes.document) -> None:
        self.layout = Layout()
        self._tree = tree
        self._anchor = ""
        self._mark = ""
        """What stands before the next paragraph: the mark of its list item,"""
        self._label = ""
        """and what it begins with: the number of a footnote, the name of a field."""
        self._begun = False
        """There was prose: a list of fields above it is about the file."""

    def read(self, node: nodes.Node, level: int = 0) -> None:
        """:param level: of the headings around."""
        match node:
            case nodes.title():
                self._head(node, level)
            case nodes.literal_block() | nodes.doctest_block():
                self.layout.code(node.astext())
            case nodes.target():
                self._anchor = "" if "refuri" in node else next(iter(node["ids"]), "")
            case nodes.definition_list_item():
                terms = [each for each in node.children[:-1] if isinstance(each, nodes.term)]
                self._entry([self._words(each) for each in terms], node.children[-1], level)
            case nodes.option_list_item():
                self._entry([", ".join(each.astext() for each in node.children[0].children)], node.children[1], level)
            case nodes.field() | nodes.footnote() | nodes.citation():
                self._labelled(node, level)
            case nodes.row():
                self.layout.row([self._words(cell) for cell in node.children])
            case nodes.enumerated_list() | nodes.bullet_list():
                self._list(node, level)
            case nodes.Invisible() | nodes.system_message():
                pass
            case nodes.TextElement():
                self._prose(node)
            case _:
                for child in node.children:
                    self.read(child, level + isinstance(node, nodes.section))

    def _head(self, title: nodes.title, level: int) -> None:
        self.layout.outline.leave(0)
        self.layout.head(min(level, LEVELS), self._words(title), self._anchor or title.parent["ids"][0])
        self._anchor = ""

    def _prose(self, node: nodes.Node) -> None:
        if text := self._words(node):
            self._begun = True
            self.layout.prose(f"{self._label}{text}", self._mark)
            self._label = self._mark = ""

    def _list(self, found: nodes.Element, level: int) -> None:
        for number, item in enumerate(found.children, found.get("start", 1)):
            self._mark = f"{number}. " if isinstance(found, nodes.enumerated_list) else BULLET
            for child in item.children:
                self.read(child, level)
        self._mark = ""

    def _labelled(self, node: nodes.Element, level: int) -> None:
        """A field or a footnote: its name, which stands first, belongs to its first paragraph."""
        name, *rest = node.children
        if isinstance(node, nodes.field):
            if not self._begun and isinstance(node.parent.parent, nodes.document | nodes.section):
                return
            self._mark, self._label = BULLET, f"{self._words(name)}: "
        elif isinstance(name, nodes.label):
            self._label = f"[{name.astext()}] "
        for child in rest:
            self.read(child, level)
        self._mark = self._label = ""

    def _entry(self, names: list[str], meaning: nodes.Node, level: int) -> None:
        """Names with what explains them."""
        depth = self.layout.outline.depth
        for count in range(1, len(names) + 1):
            self.layout.term(depth, names[:count], self._anchor)
        self._anchor = ""
        self.read(meaning, level)
        self.layout.outline.leave(depth)

    def _words(self, node: nodes.Node, depth: int = 0) -> str:
        """What is read of a paragraph or a cell."""
        match node:
            case nodes.Text():
                return node.astext()
            case nodes.literal():
                return f"`{node.astext()}`"
            case nodes.citation_reference():
                return f"[{node.astext()}]"
            case nodes.image() | nodes.footnote_reference() | nodes.system_message():
                return ""
            case nodes.reference() if "`" not in node.rawsource and node.get("refname", "") not in self._tree.nameids:
                return node.rawsource  # it names nothing: a word that ends so
            case nodes.substitution_reference() if depth < SUBSTITUTED:
                node = self._tree.substitution_defs.get(node["refname"], node)
                depth += 1
        between = "" if isinstance(node, nodes.TextElement) else " "
        return between.join(self._words(child, depth) for child in node.children)
