"""Articles of law as passages: what a specialist reads, with the standard form of each as its title. Pure."""

from actors.evidence.passages import BELOW, LOOKED_UP, Passage, SearchHits
from actors.statutes.articles import Article, FoundArticles
from actors.text.catalogue import say


def show_articles(found: FoundArticles, language: str) -> SearchHits:
    """What was found; sure of itself where the question named all that was looked for."""
    passages = tuple(_passage(each, language) for each in found.articles)
    sure = LOOKED_UP if found.named else max((each.score for each in passages), default=0.0) / 2
    return SearchHits(passages, confidence=sure, abstain=_explain(found, language))


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
    return " ".join(said)
