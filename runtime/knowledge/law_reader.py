"""Reads laws from Markdown: the name of each, its version, its chapters and articles. The index of all of them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from actors.statutes.articles import LawVersion
from actors.statutes.jurisdiction import Jurisdiction, load_jurisdictions, read_number
from runtime.front_matter import InvalidFrontMatter, compose, plain, split
from runtime.knowledge import LAWS_FILE
from runtime.knowledge.readers.parsed_document import Document, Piece
from runtime.knowledge.readers.reader import MARKDOWN
from runtime.knowledge.side_index import Entry, SideIndex

FILES = 100_000
FILE_BYTES = 16 << 20
ARTICLES = 5_000
PREAMBLE = 2_000
"""Characters below the title in which the dates of a law stand."""
KEYS = ("law", "version", "in_force", "repealed", "category")

_TITLE = re.compile(r"^#\s+(.+?)\s*$", re.MULTILINE)
_HEADING = re.compile(r"^#{2,6}\s+(.+?)\s*$")
_BRACKET = re.compile(r"[（(]([^（）()]*)[)）]\s*$")


class ReadArticle(NamedTuple):
    number: int
    sub: int
    chapter: str
    text: str


class ReadLaw(NamedTuple):
    law: LawVersion
    articles: tuple[ReadArticle, ...]


class NoLaw(Exception):
    """The file holds no law. The text says why, in a sentence."""


def read_laws(root: Path) -> Iterator[Entry]:
    """The laws of a folder and those below it, a file each."""
    jurisdiction = load_jurisdictions()[0]
    named = (each for each in root.rglob("*") if each.suffix.lower() in MARKDOWN and not each.name.startswith("."))
    files = sorted(named)[:FILES]
    for number, file in enumerate(files, 1):
        found: Document | str
        try:
            found = _make_document(parse_law(_read_file(file), file.stem, jurisdiction))
        except NoLaw as error:
            found = str(error)
        yield Entry(str(file.relative_to(root)), found, number, len(files))


STATUTES = SideIndex(LAWS_FILE, "laws", "--statutes", "folder", read_laws)
"""Of articles: the anchor of each is its number, and what is kept about a document is the version of its law."""


def _make_document(read: ReadLaw) -> Document:
    text, parts = "", list[Piece]()
    for each in read.articles:
        start, text = len(text), f"{text}{each.text}\n\n"
        path = (each.chapter,) if each.chapter else ()
        parts.append(Piece(path, f"{each.number}.{each.sub}", start, start + len(each.text)))
    return Document(read.law.name, text, parts=parts, about=msgspec.msgpack.encode(read.law))


def parse_law(content: bytes, stem: str, jurisdiction: Jurisdiction) -> ReadLaw:
    """
    A law of its file: front matter with any of `KEYS`, or the title and the dates below it; then its articles.

    :param stem: of the file's name, which it is called by where it says no other.
    :raises NoLaw: it holds none.
    """
    text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    head, lines = _split(text)
    body = _Body(jurisdiction)
    for line in lines:
        body.take(line)
    body.end_article()
    if not body.articles:
        raise NoLaw(f"it has no article: each begins a line, such as {jurisdiction.layout.example}")
    days = _days("\n".join(body.preamble)[:PREAMBLE], jurisdiction)
    title = head.get("law") or next(iter(_TITLE.findall(text)), "") or stem

    head["version"] = head.get("version") or max(days, default="")
    version, in_force, repealed = (
        next(iter(_days(head.get(key, ""), jurisdiction)), "") for key in ("version", "in_force", "repealed")
    )
    law = LawVersion(
        _name(title, jurisdiction), version, in_force, repealed, head.get("category", ""),
    )  # fmt: skip
    return ReadLaw(law, tuple(body.articles[:ARTICLES]))


class _Body:
    """The lines of a law, taken one by one."""

    def __init__(self, jurisdiction: Jurisdiction) -> None:
        self._numerals = jurisdiction.numerals
        self._begins = jurisdiction.compile(jurisdiction.layout.article)
        self._heads = jurisdiction.compile(jurisdiction.layout.chapter)
        self.articles: list[ReadArticle] = []
        self.preamble: list[str] = []
        self._chapter = ""
        self._number: tuple[int, int] | None = None
        """Of the article that is being read."""
        self._lines: list[str] = []

    def take(self, line: str) -> None:
        bare = line.strip()
        if found := self._begins.match(bare):
            self.end_article()
            said = found.groupdict()
            self._number = (
                read_number(said["number"], self._numerals), read_number(said.get("sub"), self._numerals),
            )  # fmt: skip
            self._lines = [said["text"]]
        elif heading := self._heads.match(bare):
            self.end_article()
            self._chapter = heading[1]
        elif self._number is not None:
            self._lines.append(line.rstrip())
        elif not _HEADING.match(line):
            self.preamble.append(line)

    def end_article(self) -> None:
        if self._number is not None and (said := "\n".join(self._lines).strip()):
            self.articles.append(ReadArticle(*self._number, self._chapter, said))
        self._number, self._lines = None, []


def _name(title: str, jurisdiction: Jurisdiction) -> str:
    bracket = _BRACKET.search(title)
    if bracket and any(each in bracket[1] for each in jurisdiction.editions):
        title = title[: bracket.start()]
    title = title.strip()
    if (marks := jurisdiction.layout.title_marks) and title[:1] == marks[0] and title[-1:] == marks[-1]:
        title = title[1:-1] if marks[0] not in title[1:] else title
    return jurisdiction.strip_prefix(title)


def _read_file(path: Path) -> bytes:
    """:raises NoLaw: it cannot be read, or is none in size."""
    try:
        content = path.read_bytes() if path.stat().st_size <= FILE_BYTES else b""
    except OSError as error:
        raise NoLaw(f"it cannot be read ({error.strerror})") from None
    if not content:
        raise NoLaw(f"it is empty, or over {FILE_BYTES >> 20} MB")
    return content


def _split(text: str) -> tuple[dict[str, str], list[str]]:
    if not text.startswith("---\n"):
        return {}, text.split("\n")
    try:
        head, lines = split(text)
        given: Any = plain(compose(head, "law: Civil Code", deepest=2))
    except InvalidFrontMatter as error:
        raise NoLaw(error.sentence) from None
    if unknown := [each for each in given if each not in KEYS]:
        raise NoLaw(f"its front matter has a key {unknown[0]}, which is none of {', '.join(KEYS)}")
    return {key: str(value) for key, value in given.items()}, lines


def _days(text: str, jurisdiction: Jurisdiction) -> list[str]:
    """The days that a text names, ISO 8601."""
    found = jurisdiction.compile(jurisdiction.layout.day).findall(text)
    return ["-".join((year, month.zfill(2), day.zfill(2))) for year, month, day in found]
