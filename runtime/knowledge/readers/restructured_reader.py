"""reStructuredText read block by block: sections, lists, tables and what directives hold, as Sphinx would show it."""

import csv
import re

from actors.text.stop_words import word_set
from runtime.knowledge.readers.document_layout import BULLET, Layout
from runtime.knowledge.readers.parsed_document import Document

DEPTH_LIMIT = 40
"""What is nested deeper is read as one paragraph."""
SIGNS = 2
"""So many directives, roles or labels make a text file reStructuredText."""

_SIGNS = re.compile(r"^[ \t]*\.\. (?:_[\w -]+:|[\w:-]+::)|(?<!\w):[a-z][\w:]{0,60}:`[^`\n]+`", re.MULTILINE)
_LOOKED_AT = 30_000
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*$")
_TARGET = re.compile(r"\.\. _(`[^`]+`|(?:\\.|[^:\\])+|__):(?:\s+(\S.*))?$")
_TARGETS = re.compile(r"^[ \t]*\.\. _(`[^`\n]+`|[^:\n]+):", re.MULTILINE)
_REPLACED = re.compile(r"^[ \t]*\.\. \|([^|\n]+)\| replace::[ \t]*(.*)$", re.MULTILINE)
_DIRECTIVE = re.compile(r"\.\. (?:\|[^|]+\| )?([\w:+.-]+?)::(?:[ \t]+(.*))?$")
_NOTE = re.compile(r"\.\. (\[[^\]]+\])[ \t]+(.*)$")
_OPTION_LINE = re.compile(r":[\w-]+:(?:\s|$)")
_FIELD = re.compile(r":([^:\n`][^:\n]{0,100}):(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"([-*+•‣⁃]|\(?(?:\d{1,4}|#|[a-zA-Z]|[ivx]{2,5})[.)])([ \t]+|$)")
_OPTION = re.compile(r"((?:--?|/)[A-Za-z0-9?][^\n]{0,80}?)(?:  +(\S.*))?$")
_SIMPLE = re.compile(r"=+(?: +=+)+$")

_CODE = word_set("code code-block sourcecode parsed-literal highlight-block prompt console doctest testcode ipython")
_DROPPED = word_set(
    """
    toctree contents image include literalinclude raw index meta highlight default-domain default-role module
    py:module currentmodule py:currentmodule math graphviz digraph graph inheritance-diagram mermaid uml plantuml
    testsetup testcleanup sectionauthor codeauthor tabularcolumns role target-notes sectnum header footer title date
    automodule autoclass autofunction automethod autodata autoexception autosummary bibliography
    """
)
_ADMONITIONS = word_set("attention caution danger error hint important note tip warning seealso todo")
_CHANGES = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
}
_ENTRIES = re.compile(
    r"(?:\w+:)?(?:function|class|method|classmethod|staticmethod|attribute|property|data|exception|decorator|option|"
    r"envvar|program|cmdoption|confval|describe|object|macro|type|member|enum|enumerator|struct|setting|signal|"
    r"opcode|rst:directive|directive|var|c?macro)$"
)
_TITLED = frozenset(("topic", "sidebar", "admonition", "rubric", "table", "list-table", "csv-table", "figure", "tab"))


def is_restructured(text: str) -> bool:
    """Whether a text file is written in reStructuredText."""
    return len(_SIGNS.findall(text[:_LOOKED_AT])) >= SIGNS


def read_restructured(text: str) -> Document:
    """Read a reStructuredText file by its structure. What is no valid markup is prose, so this does not fail."""
    text = text.replace("\r\n", "\n").replace("\0", "").expandtabs(8)
    reader = _Reader(text)
    reader.body([line.rstrip() for line in text.split("\n")], 0)
    return reader.layout.document()


class _Reader:
    def __init__(self, text: str) -> None:
        self.layout = Layout()
        self._substitutions = {m.group(1): m.group(2) for m in _REPLACED.finditer(text)}
        self._targets = frozenset(m.group(1).strip("`").lower() for m in _TARGETS.finditer(text))
        self._ranks: dict[str, int] = {}
        self._anchor = ""
        self._begun = False
        """There was prose: a list of fields above it is about the file."""

    def body(self, lines: list[str], depth: int, mark: str = "") -> None:
        """Read some lines without their common indentation; `mark` is that of the list item which they are."""
        if depth > DEPTH_LIMIT:
            self._prose(" ".join(lines), mark)
            return
        at = 0
        while at < len(lines):
            line = lines[at]
            if not line:
                at += 1
            elif line[0] == " ":
                block, at = _indented(lines, at)
                self.body(block, depth + 1)
            else:
                at = self._block(lines, at, depth, mark)
                mark = ""

    def _block(self, lines: list[str], at: int, depth: int, mark: str) -> int:
        """Read the block that begins at a line; returns where the next may begin."""
        line = lines[at]
        if depth == 0 and (end := self._section(lines, at)):
            return end
        if line == ".." or line.startswith((".. ", "__ ")):
            return self._explicit(lines, at, depth)
        if line.startswith("+-") or _SIMPLE.match(line):
            return self._table(lines, at)
        if line.startswith(">>> "):
            end = _blank_after(lines, at)
            self.layout.code("\n".join(lines[at:end]))
            return end
        if item := _ITEM.match(line):
            return self._item(lines, at, depth, item)
        if end := self._field(lines, at, depth) or self._option(lines, at, depth):
            return end
        if line.startswith("| ") or line == "|":
            self._prose(line[2:], mark)
            return at + 1
        if _ADORNMENT.match(line) and len(line) > 3:
            return at + 1
        return self._paragraph(lines, at, depth, mark)

    def _table(self, lines: list[str], at: int) -> int:
        rows, end = (read_grid if lines[at][0] == "+" else read_simple)(lines, at)
        for row in rows:
            self.layout.row([self._inline(cell) for cell in row])
        return end

    def _field(self, lines: list[str], at: int, depth: int) -> int:
        """A field with its text, which above all prose is about the file; 0 when there is none."""
        field = _FIELD.match(lines[at])
        if field is None:
            return 0
        block, end = _indented(lines, at + 1)
        if self._begun or depth:
            self.body([f"{field.group(1)}: {field.group(2) or ''}".strip(), *block], depth + 1, BULLET)
        return end

    def _option(self, lines: list[str], at: int, depth: int) -> int:
        """An option of a command with what it does; 0 when there is none."""
        option = _OPTION.match(lines[at])
        if option is None:
            return 0
        block, end = _indented(lines, at + 1)
        if not block and not option.group(2):
            return 0
        self._entry([option.group(1)], [option.group(2) or "", *block], depth)
        return end

    def _section(self, lines: list[str], at: int) -> int:
        """A title with a line of signs below it, or one above, too; 0 when there is none."""
        line, below = lines[at], lines[at + 1] if at + 1 < len(lines) else ""
        over = _ADORNMENT.match(line)
        if over and below.strip() and at + 2 < len(lines) and lines[at + 2] == line and not _ADORNMENT.match(below):
            sign, title, end = "over" + line[0], below, at + 3
        elif not over and _ADORNMENT.match(below) and len(below) >= min(4, len(line)) and len(line) < 200:
            sign, title, end = below[0], line, at + 2
        else:
            return 0
        level = self._ranks.setdefault(sign, len(self._ranks) + 1)
        title = self._inline(title)
        self.layout.outline.leave(0)
        self.layout.head(min(level, 9), title, self._anchor or re.sub(r"[\W_]+", "-", title.lower()).strip("-"))
        self._anchor = ""
        return end

    def _explicit(self, lines: list[str], at: int, depth: int) -> int:
        """What begins with two dots: a label, a footnote, a directive, else a comment."""
        line = lines[at]
        block, end = _indented(lines, at + 1)
        if target := _TARGET.match(line):
            if not target.group(2) and not block:
                self._anchor = re.sub(r"[\W_]+", "-", target.group(1).strip("`").lower()).strip("-")
            return at + 1 if not block else end
        if note := _NOTE.match(line):
            self.body([f"{note.group(1)} {note.group(2)}", *block], depth + 1)
        elif directive := _DIRECTIVE.match(line):
            if not any(lines[at + 1 : at + 2]):
                block.insert(0, "")
            self._directive(directive.group(1), directive.group(2) or "", block, depth)
        return end

    def _directive(self, name: str, argument: str, block: list[str], depth: int) -> None:
        content = block
        while content and _OPTION_LINE.match(content[0]):
            content = content[1:]
            while content and content[0].startswith(" "):
                content = content[1:]
        if name in _DROPPED or name == "replace":
            return
        if name in _CODE:
            self.layout.code("\n".join(content or [argument]))
        elif name in _CHANGES:
            self.body([f"{_CHANGES[name]} {argument}".rstrip(), *content], depth + 1)
        elif name == "csv-table":
            for row in csv.reader(line for line in content if line):
                self.layout.row([self._inline(cell) for cell in row])
        elif name == "list-table":
            self._list_table(content)
        elif name == "glossary":
            self.body(content, depth + 1)
        elif _ENTRIES.match(name):
            names = [argument]
            while content and content[0]:  # more signatures stand right below the first
                names, content = [*names, content[0].strip()], content[1:]
            self._entry([each for each in names if each], content, depth)
        else:
            named = argument if name in _ADMONITIONS or name in _TITLED else ""
            named = "" if name in ("figure", "tab") else named
            self.body([named, *([""] if name in _TITLED else []), *content], depth + 1)

    def _entry(self, names: list[str], content: list[str], depth: int) -> None:
        """Names with what explains them."""
        level = self.layout.outline.depth
        said: list[str] = []
        for name in names:
            said.append(self._inline(name))
            self.layout.term(level, said, self._anchor)
        self._anchor = ""
        self.body(content, depth + 1)
        self.layout.outline.leave(level)

    def _item(self, lines: list[str], at: int, depth: int, item: re.Match[str]) -> int:
        """A list's item with all that is indented as its words are."""
        width = item.end()
        block, end = [lines[at][width:]], at + 1
        while end < len(lines) and (not lines[end] or lines[end].startswith(" " * min(width, 2))):
            block.append(lines[end][min(width, len(lines[end]) - len(lines[end].lstrip())) :])
            end += 1
        mark = item.group(1)
        self.body(block, depth + 1, BULLET if len(mark) == 1 else f"{mark} ")
        return end

    def _list_table(self, content: list[str]) -> None:
        """A table that is a list of rows, each a list of cells."""
        row: list[str] = []
        for line in [*content, "* - "]:
            if line.startswith("* "):
                self.layout.row([self._inline(cell) for cell in row])
                row, line = [], "  " + line[2:]
            if line.startswith(("  - ", "  -")):
                row.append(line[4:])
            elif row:
                row[-1] += " " + line.strip()

    def _paragraph(self, lines: list[str], at: int, depth: int, mark: str) -> int:
        """A paragraph, a term with its meaning indented right below it, or words that announce code."""
        if at + 1 < len(lines) and lines[at + 1].startswith(" ") and not lines[at].endswith("::"):
            block, end = _indented(lines, at + 1)
            self._entry([lines[at].split(" : ")[0]], block, depth)
            return end
        end = at
        while end < len(lines) and lines[end] and not lines[end].startswith(" "):
            end += 1
        text = "\n".join(lines[at:end])
        if text.endswith("::"):
            self._prose(text[:-2].rstrip() + ("" if text[-3:-2].isspace() or len(text) == 2 else ":"), mark)
            code, end = _indented(lines, end)
            self.layout.code("\n".join(code))
            return end
        self._prose(text, mark)
        return end

    def _prose(self, text: str, mark: str = "") -> None:
        self._begun = self._begun or bool(text.strip())
        self.layout.prose(self._inline(text), mark)

    def _inline(self, text: str) -> str:
        return render_inline(text, self._substitutions, self._targets)


def _indented(lines: list[str], at: int) -> tuple[list[str], int]:
    """The indented lines from here on, without their common indentation, and where they end."""
    end = at
    while end < len(lines) and (not lines[end] or lines[end][0] == " "):
        end += 1
    block = lines[at:end]
    width = min((len(line) - len(line.lstrip()) for line in block if line), default=0)
    block = [line[width:] for line in block]
    while block and not block[0]:
        del block[0]
    return block, end


def _blank_after(lines: list[str], at: int) -> int:
    while at < len(lines) and lines[at]:
        at += 1
    return at


# What stands inside of a paragraph of reStructuredText: roles, links and substitutions as a reader sees them.

_LITERAL = re.compile(r"(``(?:[^`]|`(?!`)){1,2000}``)")
_ROLE = re.compile(r":[a-zA-Z][\w:+.-]{0,60}:`([^`]{1,500})`|`([^`]{1,500})`:[a-zA-Z][\w:+.-]{0,60}:")
_QUOTED = re.compile(r"(?<![\w`])_?`([^`]{1,500})`(?:__?(?!\w))?")
_SUBSTITUTION = re.compile(r"\|(\S(?:[^|\n]{0,80}\S)?)\|(?:__?(?!\w))?")
_FOOTNOTE = re.compile(r"\s?\[(?:#[\w-]*|\*|\d{1,3})\]_(?!\w)")
_CITED = re.compile(r"\[([\w.-]{1,60})\]_(?!\w)")
_REFERENCE = re.compile(r"(?<![\w`])([A-Za-z0-9](?:[\w.-]{0,80}[A-Za-z0-9])?)__?(?![\w`])")
_ESCAPE = re.compile(r"\\(?:\s|(.))", re.DOTALL)


def render_inline(text: str, substitutions: dict[str, str], targets: frozenset[str]) -> str:
    """
    A paragraph as it is read.

    :param targets: names that a word with an underscore behind it may link to, in lower case.
    """
    parts = _LITERAL.split(text)
    for number, part in enumerate(parts):
        if number % 2:
            parts[number] = f"`{part.strip('`')}`"
        elif part:
            parts[number] = _words(part, substitutions, targets)
    return "".join(parts)


def _words(text: str, substitutions: dict[str, str], targets: frozenset[str]) -> str:
    text = _ROLE.sub(lambda m: _label(m.group(1) or m.group(2)), text)
    text = _QUOTED.sub(lambda m: _label(m.group(1)), text)
    text = _SUBSTITUTION.sub(lambda m: substitutions.get(m.group(1), m.group(1)), text)
    text = _CITED.sub(r"[\1]", _FOOTNOTE.sub("", text))
    text = _REFERENCE.sub(lambda m: m.group(1) if m.group(1).lower() in targets else m.group(), text)
    return _ESCAPE.sub(r"\1", text)


def _label(text: str) -> str:
    """`words <target>` as its words, `~module.name` as its name."""
    words, opens, target = text.removesuffix("\n").rpartition("<")
    if words and opens and target.find(">") == len(target) - 1:
        return words.rstrip() or words[:1]
    return text.rpartition(".")[2] if text.startswith("~") else text.lstrip("!")


# The two kinds of tables that are drawn in reStructuredText, as rows of cells.

_BORDER = re.compile(r"\+[-=+]+\+$")
_RULE = re.compile(r"[=-]+(?: +[=-]+)*$")


def read_grid(lines: list[str], at: int) -> tuple[list[list[str]], int]:
    """The rows of a table with borders that begins at a line, and where it ends."""
    rows: list[list[str]] = []
    row: list[str] = []
    while at < len(lines) and lines[at].startswith(("+", "|")):
        line = lines[at]
        if _BORDER.match(line):
            rows.append(row)
            row = []
        else:
            cells = line.strip("|+").split("|")
            if len(cells) == len(row):
                row = [f"{cell} {more.strip()}" for cell, more in zip(row, cells, strict=True)]
            elif not row:
                row = [cell.strip() for cell in cells]
            else:
                row[-1] += f" {' '.join(cells).strip()}"
        at += 1
    rows.append(row)
    return [row for row in rows if any(cell.strip() for cell in row)], at


def read_simple(lines: list[str], at: int) -> tuple[list[list[str]], int]:
    """The rows of a table whose columns stand below a line of equals signs, and where it ends."""
    columns = [match.start() for match in re.finditer(r"=+", lines[at])]
    rows: list[list[str]] = []
    border, rules = lines[at], 1
    at += 1
    while at < len(lines):
        line = lines[at]
        at += 1
        if line == border:
            rules += 1
            if rules == 3 or at >= len(lines) or not lines[at]:
                break
        elif line and not _RULE.match(line):
            ends = [*columns[1:], len(line)]
            cells = [line[a:b].strip() for a, b in zip(columns, ends, strict=True)]
            if cells[0] or not rows:
                rows.append(cells)
            else:
                rows[-1] = [f"{cell} {more}".rstrip() for cell, more in zip(rows[-1], cells, strict=True)]
    return rows, at
