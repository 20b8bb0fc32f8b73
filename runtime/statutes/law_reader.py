"""Reads a law from Markdown: its name, its version, its chapters and articles."""

import re
from pathlib import Path
from typing import Any, NamedTuple

from actors.evidence.han_numbers import read_number
from actors.statutes.articles import LawVersion
from actors.statutes.jurisdiction import Jurisdiction
from runtime.front_matter import InvalidFrontMatter, compose, plain, split

FILE_BYTES = 16 << 20
ARTICLES = 5_000
PREAMBLE = 2_000
"""Characters below the title in which the dates of a law stand."""
KEYS = ("law", "version", "in_force", "repealed", "category")

_TITLE = re.compile(r"^#\s+(.+?)\s*$", re.MULTILINE)
_HEADING = re.compile(r"^#{2,6}\s+(.+?)\s*$")
_HAN = "零〇一二三四五六七八九十百千两"
_ARTICLE = re.compile(
    rf"^(?:#{{2,6}}\s+|\*\*)?第([{_HAN}]{{1,10}}|\d{{1,4}})条(?:之([{_HAN}]{{1,3}}))?(?:\*\*)?[\s\u3000:：]*(.*)$"
)
_CHAPTER = re.compile(rf"^(?:#{{1,6}}\s+)?(第[{_HAN}]{{1,6}}[编章节][\s\u3000].{{0,60}}|第[{_HAN}]{{1,6}}[编章节])\s*$")
_BRACKET = re.compile(r"[（(]([^（）()]*)[)）]\s*$")
_DAY = re.compile(r"(\d{4})\s*[-年./]\s*(\d{1,2})\s*[-月./]\s*(\d{1,2})")


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


def read_law(path: Path, jurisdiction: Jurisdiction) -> ReadLaw:
    """
    Read one file, as `parse_law`.

    :raises NoLaw: it holds none.
    """
    return parse_law(read_file(path), path.stem, jurisdiction)


def parse_law(content: bytes, stem: str, jurisdiction: Jurisdiction) -> ReadLaw:
    """
    A law of its file: front matter with any of `KEYS`, or the title and the dates below it; then its articles.

    :param stem: of the file's name, which it is called by where it says no other.
    :raises NoLaw: it holds none.
    """
    text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    head, lines = _split(text)
    body = _Body()
    for line in lines:
        body.take(line)
    body.end_article()
    if not body.articles:
        raise NoLaw("it has no article: each begins a line, such as 第一条 or ## 第一条")
    days = ["-".join((y, m.zfill(2), d.zfill(2))) for y, m, d in _DAY.findall("\n".join(body.preamble)[:PREAMBLE])]
    title = head.get("law") or next(iter(_TITLE.findall(text)), "") or stem
    law = LawVersion(
        _name(title, jurisdiction), _day(head.get("version") or max(days, default="")), _day(head.get("in_force", "")),
        _day(head.get("repealed", "")), head.get("category", ""),
    )  # fmt: skip
    return ReadLaw(law, tuple(body.articles[:ARTICLES]))


class _Body:
    """The lines of a law, taken one by one."""

    def __init__(self) -> None:
        self.articles: list[ReadArticle] = []
        self.preamble: list[str] = []
        self._chapter = ""
        self._number: tuple[int, int] | None = None
        """Of the article that is being read."""
        self._lines: list[str] = []

    def take(self, line: str) -> None:
        bare = line.strip()
        if found := _ARTICLE.match(bare):
            self.end_article()
            self._number = (read_number(found[1]), read_number(found[2]))
            self._lines = [found[3]]
        elif heading := _CHAPTER.match(bare):
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
    if title.startswith("《") and title.endswith("》") and "《" not in title[1:]:
        title = title[1:-1]
    return jurisdiction.strip_prefix(title)


def read_file(path: Path) -> bytes:
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
        given: Any = plain(compose(head, "law: 劳动合同法", deepest=2))
    except InvalidFrontMatter as error:
        raise NoLaw(error.sentence) from None
    if unknown := [each for each in given if each not in KEYS]:
        raise NoLaw(f"its front matter has a key {unknown[0]}, which is none of {', '.join(KEYS)}")
    return {key: str(value) for key, value in given.items()}, lines


def _day(text: str) -> str:
    found = _DAY.search(text)
    return "-".join((found[1], found[2].zfill(2), found[3].zfill(2))) if found else ""
