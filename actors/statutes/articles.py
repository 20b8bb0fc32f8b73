"""
Articles, the versions of laws that they stand in, and how both are shown. Pure.

Dates are ISO 8601, so they compare as texts.
"""

from collections.abc import Sequence

import msgspec

from actors.evidence.passages import BELOW, Passage, SearchHits
from actors.text.catalogue import say


class LawVersion(msgspec.Struct, frozen=True, gc=False):
    """A law as it was passed or amended on one day. Several versions stand side by side."""

    name: str
    version: str = ""
    """The day it was passed or last amended; empty: not known."""
    in_force: str = ""
    """From which day on; empty: from its version's day."""
    repealed: str = ""
    """From which day on it is no law any more; empty: it is one."""
    category: str = ""

    @property
    def begins(self) -> str:
        return self.in_force or self.version


class Article(msgspec.Struct, frozen=True, gc=False):
    """One article of one version of a law."""

    law: LawVersion
    number: int
    sub: int
    """Of an article between two: 1 in 第十七条之一."""
    chapter: str
    text: str
    citation: str
    """Its standard form: 《劳动合同法》第三十九条."""
    changed: str = ""
    """The day from which a later version of the law holds; empty: this is the latest."""
    score: float = 0.0
    """1: it was named and looked up; else how well it fits, comparable within one search."""
    paragraph: int = 0
    """Where one was named and is there, the text is its words, and those of its item; 0: all of the article."""
    item: int = 0


class FoundArticles(msgspec.Struct, frozen=True, gc=False):
    """What was found for a question."""

    articles: tuple[Article, ...] = ()
    """Those that it names first, in its order; then the best fitting."""
    named: int = 0
    """So many of them were named and looked up."""
    missing: tuple[str, ...] = ()
    """Articles that it names, of laws that there are, that no version in force has."""
    repealed: tuple[tuple[str, str], ...] = ()
    """Of those the ones of laws that are repealed, each with the day from which on."""
    unknown: tuple[str, ...] = ()
    """Laws that it names, by the form of their names, and of which none is indexed."""
    total: int = 0
    """How many articles there are to search; 0: no statutes were read yet."""


def choose_version(versions: Sequence[LawVersion], on: str) -> int | None:
    """
    Which of a law's versions holds on a day: the latest that has begun, unless it was repealed by then.

    :returns: its place; None where none holds.
    """
    begun = [place for place, each in enumerate(versions) if each.begins <= on]
    if not begun:
        return None
    place = max(begun, key=lambda n: (versions[n].begins, versions[n].version))
    repealed = versions[place].repealed
    return None if repealed and repealed <= on else place


def find_repeal(versions: Sequence[LawVersion], on: str) -> str:
    """The day from which on a law is none any more; empty where it is one on that day, or was not yet."""
    if choose_version(versions, on) is not None:
        return ""
    return max((each.repealed for each in versions if each.repealed and each.repealed <= on), default="")


def find_change(versions: Sequence[LawVersion], place: int) -> str:
    """The day from which a later version than this one holds; empty where there is none."""
    later = [each.begins for each in versions if each.begins > versions[place].begins]
    return min(later, default="")


def show_articles(found: FoundArticles, language: str) -> SearchHits:
    """What was found, and what of the question is not there."""
    passages = tuple(_passage(each, language) for each in found.articles)
    return SearchHits(passages, abstain=_explain(found, language))


def _passage(article: Article, language: str) -> Passage:
    version = article.law.version
    label = f"{article.law.name}@{version or 'undated'}#{article.number}" + (f".{article.sub}" if article.sub else "")
    if article.paragraph or article.item:
        label += f"({article.paragraph}.{article.item})"
    return Passage(
        id=f"statute:{label}", source=f"statute:{label}", title=article.citation,
        heading=BELOW.join(filter(None, (article.chapter, _describe_version(article, language)))),
        text=article.text, start=0, end=len(article.text), score=article.score,
    )  # fmt: skip


def _describe_version(article: Article, language: str) -> str:
    """Which version of its law an article is of, and whether a later one changes it."""
    said = [say("statute_version", language, day=article.law.version)] if article.law.version else []
    if article.law.in_force and article.law.in_force != article.law.version:
        said.append(say("statute_in_force", language, day=article.law.in_force))
    if article.changed:
        said.append(say("statute_changed", language, day=article.changed))
    return ", ".join(said)


def _explain(found: FoundArticles, language: str) -> str:
    if not found.total:
        return say("statutes_none", language)
    ended = dict(found.repealed)
    said = [say("statute_repealed", language, article=article, day=day) for article, day in ended.items()]
    if absent := [each for each in found.missing if each not in ended]:
        said.insert(0, say("statute_missing", language, articles=", ".join(absent)))
    if found.unknown:
        said.append(say("statute_unknown", language, laws=", ".join(found.unknown)))
    if not said and not found.articles:
        said.append(say("statutes_no_word", language))
    return " ".join(said)
