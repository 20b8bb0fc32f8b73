"""Markdown read line by line, with offsets into the file itself: headings, lists, tables, fences, front matter."""

import re

from runtime.knowledge.readers.parsed_document import Document, Outline, TextUnit, fold, heading

_LINE = re.compile(r"[^\n]*\n?")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)
_TITLE = re.compile(r"^title:[ \t]*['\"]?(.+?)['\"]?[ \t]*\r?$", re.MULTILINE)
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*\r?\n?$")
_FENCE = re.compile(r"\s{0,12}(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\r?\n?$")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_QUOTED = re.compile(r"[ \t]*>[ \t]?(?:\[![A-Z]+\][ \t]*\r?\n?$)?")
_TABLE_RULE = re.compile(r"(?:[ \t]*\|)?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?\r?\n?$")
_NOISE = re.compile(r"[ \t]*(?::::|\[[^\]]+\]:\s|!\[[^\]]*\]\([^)]*\)[ \t]*\r?\n?$|\{%|\{:)")
_MARKUP = re.compile(r"!?\[([^\]]{0,300})\]\([^)]{0,1000}\)|[*`]|<[^>]{1,200}>|\s?\{#[^{}]*\}")
_ANCHOR = re.compile(r"\{#([\w-]+)\}|<a (?:id|name)=[\"']([^\"']+)")
_COMMENT = re.compile(r"(`[^`\n]*`)|<!--.*?(?:-->|\Z)")
_HIDDEN = re.compile(
    r"(`[^`\n]*`)|<a (?:id|name)=[\"'][^\"'>]*[\"'][ \t]*(?:/>|>[ \t]*</a>)|[ \t]{0,20}\{[#:][^{}\n]*\}(?=[ \t]*\r?$)"
)
_HIDDEN_LINE = re.compile(
    r" {0,3}(?:\([\w-]+\)=|\[[^\]\^]+\]:\s.*|!\[[^\]]*\]\([^)]*\)|\{%.*%\}|\{:[^}]*\}|:::.*)[ \t]*\r?\n?$"
)
_SIGNS = re.compile(r"<!--|<a (?:id|name)|\{[#:%]|^ {0,3}(?::::|\[[^\]]+\]:|!\[|\([\w-]+\)=)", re.MULTILINE)


def without_hidden(text: str) -> str:
    """A file without what a reader of the page does not see: comments, anchors, link definitions, lone pictures."""
    if not _SIGNS.search(text):
        return text
    kept, fence, comment = list[str](), "", False
    for match in _LINE.finditer(text):
        line = match.group()
        if comment:
            _, end, rest = line.partition("-->")
            comment, line = not end, rest if end and rest.strip() else "\n"
        if comment:
            kept.append(line)
        elif opened := _FENCE.match(line):
            fence = "" if fence and opened.group(1).startswith(fence) else fence or opened.group(1)
            kept.append(line)
        elif fence or line.startswith(("    ", "\t")):
            kept.append(line)
        else:
            line, comment = _visible(line)
            kept.append(line)
    return "".join(kept)


def _visible(line: str) -> tuple[str, bool]:
    """A line as it is shown, and whether a comment goes on behind it."""
    body = line.rstrip("\r\n")
    comments = [each.group() for each in _COMMENT.finditer(body) if not each.group(1)]
    if comments:
        line = _COMMENT.sub(lambda m: m.group(1) or "", body).rstrip() + "\n"
    if _HIDDEN_LINE.match(line):
        line = "\n"
    elif not _ATX.match(line):  # a heading's anchor is where a link to it leads
        line = _HIDDEN.sub(lambda m: m.group(1) or "", line)
    return line, bool(comments) and not comments[-1].endswith("-->")


def read_markdown(text: str) -> Document:
    """Read a Markdown file by its structure. Any text is valid Markdown, so this does not fail."""
    reader = _Reader(text)
    front = _FRONT_MATTER.match(text)
    at = front.end() if front else 0
    named = _TITLE.search(front.group(1)) if front else None
    for match in _LINE.finditer(text, at):
        if match.end() > match.start():
            reader.line(match.group(), match.start(), match.end())
    reader.flush()
    title = fold(named.group(1)) if named else reader.outline.title
    return Document(title, text, reader.outline.sections)


class _Reader:
    """Gathers lines into paragraphs; a line that begins something else ends the paragraph before it."""

    def __init__(self, text: str) -> None:
        self.outline = Outline()
        self._text = text
        self._start = -1
        """Where the open paragraph begins; -1 when none is open."""
        self._end = 0
        self._fence = ""
        self._comment = False
        self._code_start = -1
        self._in_list = False

    def line(self, line: str, start: int, end: int) -> None:
        if line[0].isalpha() and not self._fence and not self._comment:
            self._prose(line, start, plain=True)  # most lines by far: no structure begins with a letter
        elif self._fence or self._begin_fence(line, start, end):
            self._inside_fence(line, start)
        elif self._comment or line.lstrip().startswith("<!--"):
            self.flush()
            self._comment = "-->" not in line
        elif not line.strip():
            self._blank()
        elif not self._structure(line, start):
            self._prose(line, start)

    def flush(self) -> None:
        """End the open paragraph or piece of code."""
        if self._code_start >= 0:
            self.outline.code(self._text, self._code_start, self._end)
            self._code_start = -1
        if self._start >= 0:
            self.outline.prose(self._text, self._start, self._end)
            self._start = -1

    def _blank(self) -> None:
        if self._code_start < 0:
            self.flush()

    def _begin_fence(self, line: str, start: int, end: int) -> bool:
        match = _FENCE.match(line)
        if match is None or (match.group(1)[0] == "`" and "`" in line[match.end() :]):
            return False
        self.flush()
        self._fence, self._code_start, self._end = match.group(1), start, end
        return True

    def _inside_fence(self, line: str, start: int) -> None:
        self._end = start + len(line.rstrip())
        if start > self._code_start and line.strip().startswith(self._fence) and not line.strip().strip(self._fence[0]):
            self._fence = ""
            self.flush()

    def _structure(self, line: str, start: int) -> bool:
        """A line that is a heading, a rule, a table's row, code or noise; true if it was one."""
        if atx := _ATX.match(line):
            self.flush()
            self._head(len(atx.group(1)), atx.group(2).rstrip().rstrip("#").rstrip())
        elif self._start >= 0 and (under := _SETEXT.match(line)) and not self._in_list:
            text = self._text[self._start : self._end]
            self._start = -1
            self._head(1 if under.group(1)[0] == "=" else 2, text)
        elif _RULE.match(line) or _TABLE_RULE.match(line) or _NOISE.match(line):
            self.flush()
        elif line.lstrip().startswith("|") and line.count("|") > 1:
            self.flush()
            self._row(line, start)
        elif self._start < 0 and not self._in_list and line.startswith(("    ", "\t")):
            self._code_start = start if self._code_start < 0 else self._code_start
            self._end = start + len(line.rstrip())
        else:
            return False
        return True

    def _head(self, level: int, text: str) -> None:
        named = _ANCHOR.search(text)
        clean = heading(_MARKUP.sub(r"\1", text))
        self._in_list = False
        if clean:
            slug = re.sub(r"[^\w\- ]", "", clean.lower()).replace(" ", "-")
            self.outline.head(level, clean, (named.group(1) or named.group(2)) if named else slug)

    def _row(self, line: str, start: int) -> None:
        body = line.strip().strip("|").strip()
        if not body:
            return
        a = start + line.index(body)
        self.outline.add(TextUnit(a, a + min(len(body), 1200), opens=True))

    def _prose(self, line: str, start: int, *, plain: bool = False) -> None:
        skip = 0
        if not plain and (quoted := _QUOTED.match(line)):
            skip = quoted.end()
        if self._code_start >= 0:
            self.flush()
        if not plain and (item := _ITEM.match(line, skip)):
            self.flush()
            skip, self._in_list = item.end(), True
        elif self._start < 0 and not line.startswith((" ", "\t")):
            self._in_list = False
        body = line.rstrip()
        if len(body) <= skip:
            self.flush()
            return
        if self._start < 0:
            self._start = start + skip + (len(body) - skip - len(body[skip:].lstrip()))
        self._end = start + len(body)
