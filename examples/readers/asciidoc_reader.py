"""
A reader of AsciiDoc, as anybody may add one: titles, sections, lists, terms, code and tables, line by line.

Name this file in `[plugins] modules` of your config.toml, and `index` reads AsciiDoc: docs/readers.md.
"""

import re

from runtime.knowledge.readers.document_layout import BULLET, Layout
from runtime.knowledge.readers.parsed_document import Document
from runtime.knowledge.readers.reader import Reader, decode

TITLE_CHARACTERS = 200
UNDERLINE_SLACK = 2
"""An underline may be so much longer or shorter than its title."""
TERM_LEVELS = 6

_TITLE = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]{1,20}\1)?$")
_UNDERLINE = re.compile(r"(=+|-+|~+|\^+|\++)$")
_LEVELS = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_ATTRIBUTE = re.compile(r":(!?[\w-]+!?):(?:[ \t]+(.*?))?(?:[ \t]+[\\+])?$")
_DIRECTIVE = re.compile(
    r"(?:include|toc|image|video|audio|indexterm)::?[^\[\]]*\[[^\]]*\]$|toc::$|'''$|<<<$|---$|\*\*\*$"
)
_CONDITION = re.compile(r"(?:ifn?def|ifeval|endif)::[^\[]*\[(.*)\]$")
_BLOCK_ATTRIBUTES = re.compile(r"\[(?!\[)[^\]]*\]$|\[\[[^\]]+\]\]$")
_ID = re.compile(r"\[#([\w:.-]+)|\bid=\"?([\w:.-]+)")
_COLUMNS = re.compile(r"cols=(?:\"([^\"]*)\"|(\d+\*?))")
_CODE = re.compile(r"(-{4,}+|\.{4,}+|`{3,}+)[\w+-]*$")
_VERBATIM = re.compile(r"\[(?:verse|source|listing|literal|console|quote)\b")
_FRAME = re.compile(r"(?:={4,}|\*{4,}|_{4,}|--)$")
_HIDDEN = re.compile(r"(/{4,}|\+{4,})$")
_TABLE = re.compile(r"[|,:!]={3,}$")
_CELL = re.compile(r"(?<!\\)(?:(?:\d{1,4}|\d{0,4}\.\d{1,4})?[*+])?[<^>]?(?:\.[<^>])?[aehlmsvd]?\|")
_ITEM = re.compile(
    r"[ \t]*(?:[*]{1,5}|-|\.{1,5}|\d{1,4}\.|[a-zA-Z]\.|<(?:\d{1,2}|\.)>|[•])[ \t]+(?:\[[ xX*]\][ \t]+)?(?=\S)"
)
_NUMBERED = re.compile(r"[ \t]*(\d{1,4}\.|[a-zA-Z]\.)")
_TERM = re.compile(r"[ \t]*(\S.{0,400}?)(:{2,4}|;;)(?:[ \t]+(\S.*))?$")
_BLOCK_TITLE = re.compile(r"\.(?![.\s])(\S.*)$")
_SIGNS = re.compile(
    r"^(?:(?:include|ifn?def|endif|image)::[^\s\[]*\[.*\]|\[\[[\w-]+\]\]|\[(?:source|verse|NOTE|TIP|WARNING|IMPORTANT)\b[^\]\n]*\]"
    r"|:[\w-]+:(?: .*)?|\|={3,}|\S.{0,200}::|\+)[ \t]*$"
    r"|\b(?:linkgit|xref|link):[^\s\[]{1,300}\[|<<[\w-]+(?:,[^<>\n]+)?>>",
    re.MULTILINE,
)
SIGNS = 2
"""So many signs of AsciiDoc make a text file one."""
_LOOKED_AT = 30_000


def is_asciidoc(text: str) -> bool:
    """Whether a text file is written in AsciiDoc, as Git's manual is."""
    found = list(_SIGNS.finditer(text[:_LOOKED_AT]))
    kinds = {match.group()[:2].strip() or match.group() for match in found}
    return len(found) >= SIGNS and (len(kinds) > 1 or "::" in found[0].group() or "link" in found[0].group())


def read_asciidoc(text: str) -> Document:
    """Read an AsciiDoc file by its structure. Any text is valid AsciiDoc, so this does not fail."""
    reader = _Reader(text.replace("\r\n", "\n").replace("\0", "").split("\n"))
    while reader.at < len(reader.lines):
        reader.block()
    reader.flush()
    return reader.layout.document(reader.title)


class _Reader:
    """Goes from line to line; `at` is the one that is read next."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = [line.rstrip() for line in lines]
        self.at = 0
        self.layout = Layout()
        self.title = ""
        self._attributes: dict[str, str] = {}
        self._paragraph: list[str] = []
        self._mark = ""
        self._terms: list[str] = []
        """The signs of the lists of terms that are open, the outermost first."""
        self._names: list[str] = []
        self._anchor = ""
        self._styled = ""
        """The attributes of the block that comes."""
        self._apart = True
        """An empty line stands above."""
        self._attached = False
        """A plus stands above: what comes belongs to the item before."""

    def block(self) -> None:
        """Read one line, or all lines of a block."""
        line = self.lines[self.at]
        self.at += 1
        if not line.strip():
            self._blank()
        elif line == "+":
            self.flush()
            self._apart, self._attached = False, True
        elif not (
            self._skip_directive(line)
            or self._read_delimited_block(line)
            or self._read_title(line)
            or self._read_list_item(line)
        ):
            self._text(line)

    def flush(self) -> None:
        """End the paragraph that is open."""
        if self._paragraph:
            text = render_inline("\n".join(self._paragraph), self._attributes)
            self.layout.prose(text, self._mark)
            self._paragraph.clear()
            self._mark, self._styled = "", ""

    def _blank(self) -> None:
        self.flush()
        self._apart, self._attached = True, False

    def _skip_directive(self, line: str) -> bool:
        """What is meant for AsciiDoc's tools: comments, attributes, includes, conditions, anchors."""
        if line.startswith("//") and not _HIDDEN.match(line):
            return True
        if condition := _CONDITION.match(line):
            if condition.group(1) and not line.startswith("ifeval"):
                self._text(condition.group(1))
            return True
        if self._paragraph:
            return line.startswith("include::")
        if attribute := _ATTRIBUTE.match(line):
            self._attributes[attribute.group(1)] = substitute(attribute.group(2) or "", self._attributes)[:1000]
            return True
        if _DIRECTIVE.match(line):
            return True
        if _BLOCK_ATTRIBUTES.match(line):
            named = _ID.search(line)
            self._anchor = find_anchor(line) or ((named.group(1) or named.group(2)) if named else self._anchor)
            self._styled = self._styled if line.startswith("[[") else line
            return True
        return False

    def _read_delimited_block(self, line: str) -> bool:
        """Blocks between two lines of signs."""
        if hidden := _HIDDEN.match(line):
            self.flush()
            self._until(hidden.group(1))
        elif code := _CODE.match(line):
            self.flush()
            self._leave_unless_attached()
            self.layout.code("\n".join(self._until(code.group(1))).expandtabs(8))
            self._styled = ""
        elif _TABLE.match(line):
            self.flush()
            self._leave_unless_attached()
            self._table(self._until(line))
        elif _FRAME.match(line):
            self.flush()
        else:
            return False
        return True

    def _until(self, sign: str) -> list[str]:
        """The lines up to the next that is this sign, which is passed over."""
        start = self.at
        while self.at < len(self.lines) and self.lines[self.at] != sign:
            self.at += 1
        found = self.lines[start : self.at]
        self.at += 1
        return found

    def _read_title(self, line: str) -> bool:
        """A title in one line, or one with a line of signs below it."""
        if self._paragraph or len(line) > TITLE_CHARACTERS:
            return False
        if one := _TITLE.match(line):
            self._section(len(one.group(1)), one.group(2))
            return True
        below = self.lines[self.at] if self.at < len(self.lines) else ""
        if (
            _UNDERLINE.match(below)
            and abs(len(below) - len(line)) <= UNDERLINE_SLACK
            and len(below) > 1
            and any(c.isalnum() for c in line)
            and not line[0].isspace()
            and not _TERM.match(line)
        ):
            self.at += 1
            self._section(_LEVELS[below[0]], line)
            return True
        return False

    def _section(self, level: int, text: str) -> None:
        self._leave(0)
        anchor = find_anchor(text) or self._anchor
        title = render_inline(text, self._attributes)
        if level == 1 and not self.title:
            self.title = " ".join(title.split())
            while self.at < len(self.lines) and _is_below_title(self.lines[self.at]):
                if attribute := _ATTRIBUTE.match(self.lines[self.at]):
                    self._attributes[attribute.group(1)] = (attribute.group(2) or "")[:1000]
                self.at += 1
        self.layout.head(level, title, anchor or _slug(title))
        self._anchor = self._styled = ""

    def _read_list_item(self, line: str) -> bool:
        """A term or an item of a list."""
        if self._styled and _VERBATIM.match(self._styled):
            return False
        if (term := _TERM.match(line)) and not (self._paragraph and not self._mark and not self._terms):
            self.flush()
            self._term(term.group(1), term.group(2))
            if term.group(3):
                self._text(term.group(3))
            return True
        item = _ITEM.match(line)
        if item is None or (self._paragraph and not self._mark and _NUMBERED.match(line)):
            return False
        self.flush()
        number = _NUMBERED.match(line)
        self._mark = f"{number.group(1)} " if number else BULLET
        self._names.clear()
        self._paragraph, self._apart = [line[item.end() :]], False
        return True

    def _term(self, name: str, sign: str) -> None:
        anchor = find_anchor(name) or self._anchor
        self._anchor = ""
        if sign in self._terms:
            level = self._terms.index(sign)
        else:
            level = min(len(self._terms), TERM_LEVELS)
            self._names.clear()
        if self._terms[level:] != [sign]:
            self._names.clear()
        self._terms[level:] = [sign]
        self._names.append(" ".join(render_inline(name, self._attributes).split()))
        self.layout.term(level, self._names, anchor)

    def _text(self, line: str) -> None:
        """A line of a paragraph; one that is indented, with an empty line above, is code or what a term means."""
        if self._paragraph:
            self._paragraph.append(line)
            return
        if (self._styled and _VERBATIM.match(self._styled)) or (line[0].isspace() and not self._names):
            self._leave_unless_attached(indented=line[0].isspace())
            start = self.at - 1
            while self.at < len(self.lines) and self.lines[self.at].strip() and self.lines[self.at] != "+":
                self.at += 1
            lines = "\n".join(self.lines[start : self.at])
            self.layout.code(substitute(lines, self._attributes).expandtabs(8))
            self._styled = ""
            return
        if not self._names and not self._attached and not line[0].isspace() and self._apart:
            self._leave(0)
        if (title := _BLOCK_TITLE.match(line)) is not None:
            line = title.group(1)
        self._names.clear()
        self._paragraph, self._apart = [line.strip()], False
        if title:
            self.flush()

    def _leave_unless_attached(self, *, indented: bool = False) -> None:
        if self._names or self._attached or indented:
            self._names.clear()
        else:
            self._leave(0)

    def _leave(self, level: int) -> None:
        """The lists of terms from this level on are over."""
        self.flush()
        del self._terms[level:]
        self._names.clear()
        self.layout.outline.leave(level)

    def _table(self, lines: list[str]) -> None:
        """Rows of as many cells as the columns are, or as the first line has."""
        cells, first = list[str](), 0
        for line in lines:
            parts = _CELL.split(line)
            if len(parts) == 1 and cells:
                cells[-1] += "\n" + line
            else:
                cells += [part.replace("\\|", "|") for part in parts[1:]]
            first = first or len(parts) - 1
        named = _COLUMNS.search(self._styled)
        width = _count_columns(named.group(1) or named.group(2)) if named else first
        for start in range(0, len(cells), width or 1):
            self.layout.row([render_inline(cell, self._attributes) for cell in cells[start : start + (width or 1)]])
        self._styled = ""


def _count_columns(spec: str) -> int:
    """How many columns `1,2`, `3*` or `2*,1` say."""
    return sum(int(m.group(1)) if (m := re.match(r"\s*(\d{1,3})\*", part)) else 1 for part in spec.split(","))


def _is_below_title(line: str) -> bool:
    """Whether it names the author or the version, or sets an attribute."""
    name, _, address = line.rpartition("<")
    is_author = bool(name.rstrip()) and "@" in address and address.endswith(">") and " " not in address
    return is_author or re.match(r"v\d[\d.]*,|:", line) is not None


def _slug(title: str) -> str:
    """The id that AsciiDoc gives to a section by itself."""
    return "_" + re.sub(r"[\W_]+", "_", title.lower()).strip("_")


# What stands inside of a line of AsciiDoc: attributes, macros, links and anchors as a reader sees them.

_BUILT_IN = {
    "amp": "&", "apos": "'", "asterisk": "*", "backslash": "\\", "backtick": "`", "blank": "", "brvbar": "¦",
    "caret": "^", "cpp": "C++", "deg": "°", "empty": "", "endsb": "]", "gt": ">", "ldquo": "“", "litdd": "--",
    "lsquo": "‘", "lt": "<", "nbsp": " ", "plus": "+", "pp": "++", "quot": '"', "rdquo": "”", "rsquo": "’", "sp": " ",
    "startsb": "[", "tilde": "~", "vbar": "|", "wj": "", "zwsp": "",
}  # fmt: skip
_REFERENCE = re.compile(r"(?<!\\)\{([\w-]{1,80})\}")
_ANCHOR = re.compile(r"\[\[([\w:.-]{1,200})(?:,[^\]\n]{0,200})?\]\]|anchor:([\w:.-]{1,200})\[[^\]\n]{0,200}\]")
_INDEX = re.compile(r"\(\(\(.{0,300}?\)\)\)|indexterm:\[[^\]\n]{0,300}\]")
_FLOW_INDEX = re.compile(r"\(\((?=\S)([^()\n]{1,200})\)\)")
_CROSS = re.compile(r"<<([^<>,\n]{1,200})(?:,\s*([^<>\n]{1,300}))?>>")
_PICTURE = re.compile(r"\bimage::?[^\s\[]{1,300}\[[^\]\n]{0,300}\]")
_MANUAL = re.compile(r"\blinkgit:([\w.-]{1,100})\[(\d?)\]")
_LINK = re.compile(
    r"\b(?:link:|xref:|mailto:|(?=https?://|ftp://|irc://))([^\s\[\]<>]{1,500})\[((?:[^\]\\\n]|\\.){0,500})\]"
)
_KEYS = re.compile(r"\b(?:kbd|btn):\[([^\]\n]{1,200})\]")
_MENU = re.compile(r"\bmenu:([^\[\n]{1,100})\[([^\]\n]{0,200})\]")
_NOTE = re.compile(r"\bfootnote(?:ref)?:[\w-]{0,50}\[((?:[^\]\\]|\\.){0,1000})\]")
_PASS = re.compile(r"\bpass:[\w,]{0,20}\[((?:[^\]\\\n]|\\.){0,500})\]")
_QUOTED = re.compile(r"(?<![\w`])``([^`']{1,300})''(?!\w)|\"`([^`]{1,300})`\"")
_LITERAL = re.compile(r"`\+([^`+\n]{1,300})\+`|(?<![\w+`])\+([^\s+](?:[^+\n]{0,200}[^\s+])?)\+(?![\w+`])")
_ESCAPED = re.compile(r"\\(?=--|[{\[<*_`'+#])")
_BREAK = re.compile(r" \+$", re.MULTILINE)
_LINE_CHARACTERS = 20_000
"""What is written into one line longer than this stays as it is."""


def find_anchor(text: str) -> str:
    """The first anchor that a text sets, or nothing."""
    found = _ANCHOR.search(text)
    return (found.group(1) or found.group(2)) if found else ""


def substitute(text: str, attributes: dict[str, str]) -> str:
    """References to attributes as their values; one that nobody defines stays."""
    return _REFERENCE.sub(lambda m: attributes.get(m.group(1), _BUILT_IN.get(m.group(1), m.group())), text)


def render_inline(text: str, attributes: dict[str, str]) -> str:
    """A paragraph as it is read: without anchors, index terms and pictures, links and references by their words."""
    if len(text) > _LINE_CHARACTERS and "\n" not in text:
        return text
    text = substitute(text, attributes)
    text = _BREAK.sub("", _INDEX.sub("", _ANCHOR.sub("", text)))
    text = _MANUAL.sub(lambda m: f"{m.group(1)}({m.group(2)})" if m.group(2) else m.group(1), text)
    text = _PICTURE.sub("", text)
    text = _LINK.sub(lambda m: _first(m.group(2)) or m.group(1), text)
    text = _CROSS.sub(lambda m: m.group(2) or m.group(1).lstrip("#").replace("_", " ").strip(), text)
    text = _FLOW_INDEX.sub(r"\1", text)
    text = _KEYS.sub(r"\1", text)
    text = _MENU.sub(lambda m: f"{m.group(1)} > {m.group(2)}" if m.group(2) else m.group(1), text)
    text = _NOTE.sub(r" (\1)", text)
    text = _PASS.sub(r"\1", text)
    text = _QUOTED.sub(lambda m: f"“{m.group(1) or m.group(2)}”", text)
    text = _ESCAPED.sub("", text)
    return _LITERAL.sub(lambda m: f"`{m.group(1) or m.group(2)}`", text)


def _first(label: str) -> str:
    """A link's words, without what says how it opens."""
    label = label.split(",window=")[0].split(",role=")[0].strip().removesuffix("^").strip('"')
    return "" if "=" in label and " " not in label else label.replace("\\]", "]")


READER = Reader(
    format="AsciiDoc",
    suffixes=(".adoc", ".asciidoc"),
    read=lambda data: read_asciidoc(decode(data)),
    recognizes=is_asciidoc,
)
