"""Reads a law from Markdown: its name, its version, its chapters and articles."""

import re
from pathlib import Path
from typing import Any, NamedTuple

from actors.statutes.articles import LawVersion
from actors.statutes.jurisdiction import Jurisdiction
from runtime.front_matter import InvalidFrontMatter, compose, plain, split

FILE_BYTES = 16 << 20
ARTICLES = 5_000
KEYS = ("law", "version", "in_force", "repealed", "category")

_TITLE = re.compile(r"^#\s+(.+?)\s*$", re.MULTILINE)
_HEADING = re.compile(r"^#{2,6}\s+(.+?)\s*$")
_HAN = "零〇一二三四五六七八九十百千两"
_ARTICLE = re.compile(rf"^(?:#{{2,6}}\s+|\*\*)?第([{_HAN}]{{1,10}}|\d{{1,4}})条(?:之([{_HAN}]{{1,3}}))?(?:\*\*)?[\s　:：]*(.*)$")
_CHAPTER = re.compile(rf"^(?:#{{1,6}}\s+)?(第[{_HAN}]{{1,6}}[编章节][\s　].{{0,60}}|第[{_HAN}]{{1,6}}[编章节])\s*$")
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
    Read one file: front matter with any of `KEYS`, or the title and the dates below it; then its articles.

    :raises NoLaw: it holds none.
    """
    from actors.evidence.han_numbers import read_han

    text = _read(path)
    head, lines = _split(text)
    title = head.get("law") or next(iter(_TITLE.findall(text)), "") or path.stem
    name = _name(title, jurisdiction)
    articles: list[ReadArticle] = []
    preamble: list[str] = []
    chapter, current, body = "", None, list[str]()

    def end() -> None:
        if current is not None and (said := "\n".join(body).strip()):
            articles.append(ReadArticle(*current, chapter, said))

    for line in lines:
        if found := _ARTICLE.match(line.strip()):
            end()
            number = found[1]
            current = (int(number) if number[0].isascii() else read_han(number), read_han(found[2]) if found[2] else 0)
            body = [found[3]]
        elif (heading := _CHAPTER.match(line.strip())) or (current is None and _HEADING.match(line)):
            end()
            current, body = None, []
            chapter = heading[1] if heading else chapter
        elif current is None:
            preamble.append(line)
        else:
            body.append(line.rstrip())
        if len(articles) >= ARTICLES:
            break
    end()
    if not articles:
        raise NoLaw("it has no article: each begins a line, such as 第一条 or ## 第一条")
    days = ["-".join((y, m.zfill(2), d.zfill(2))) for y, m, d in _DAY.findall("\n".join(preamble)[:2000])]
    version = head.get("version") or max(days, default="")
    law = LawVersion(name, _day(version), _day(head.get("in_force", "")), _day(head.get("repealed", "")),
                     head.get("category", ""))  # fmt: skip
    return ReadLaw(law, tuple(articles))


def _name(title: str, jurisdiction: Jurisdiction) -> str:
    bracket = _BRACKET.search(title)
    if bracket and any(each in bracket[1] for each in jurisdiction.editions):
        title = title[: bracket.start()]
    title = title.strip()
    if title.startswith("《") and title.endswith("》") and "《" not in title[1:]:
        title = title[1:-1]
    return jurisdiction.strip_prefix(title)


def _read(path: Path) -> str:
    try:
        content = path.read_bytes() if path.stat().st_size <= FILE_BYTES else b""
    except OSError as error:
        raise NoLaw(f"it cannot be read ({error.strerror})") from None
    if not content:
        raise NoLaw(f"it is empty, or over {FILE_BYTES >> 20} MB")
    return content.decode("utf-8-sig", "replace").replace("\r\n", "\n")


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
