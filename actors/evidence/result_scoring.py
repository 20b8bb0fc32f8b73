"""How good a search result looks before anybody has read it, and which results are read first. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

import msgspec

from actors.evidence.sources import SearchResult
from actors.text.keywords import terms
from actors.text.normalize import casefold
from actors.text.urls import host_of, split

HOSTS = 3
"""Different hosts that are wanted among the pages of a round (RE-8)."""

COMPARED_TERMS = 64
COMPARED_CHARACTERS = 2_000

_RECENT = re.compile(
    r"\b(?:latest|newest|recent(?:ly)?|current(?:ly)?|today|this (?:year|month|week)|news)\b|\b20[2-9]\d\b"
)
_POOR_PATH = re.compile(
    r"/(?:log-?in|sign-?(?:in|up)|register|account|cart|checkout|search|tags?|categor(?:y|ies)|author|page/\d+|share|print)"
    r"(?:/|$|\.)",
    re.IGNORECASE,
)
_POOR_QUERY = re.compile(
    r"(?:^|&)(?:q|s|query|search|redirect(?:_to|_uri)?|return(?:_?to|_?url)?|next)=", re.IGNORECASE
)
_BINARY = re.compile(
    r"\.(?:7z|apk|avi|bin|dmg|docx?|epub|exe|gif|gz|iso|jpe?g|m4a|mov|mp[34]|msi|pdf|png|pptx?|rar|svg|tar|tgz|wav|webm|webp"
    r"|xlsx?|zip)$",
    re.IGNORECASE,
)


class Scored(NamedTuple):
    """A quality from 0 to 1 and what it rests on, each reason in a few words."""

    value: float
    why: tuple[str, ...]


def score_results(results: Sequence[SearchResult], *questions: str, prior: float) -> tuple[SearchResult, ...]:
    """
    Results of one answer, each with the quality that it has for the question that it fits best.

    :param prior: how far their source is trusted to bring what was asked for, 0 to 1.
    """
    newest = max((each.published for each in results), default="")
    return tuple(
        msgspec.structs.replace(
            each, quality=max(score(each, one, prior=prior, newest=newest).value for one in questions)
        )
        for each in results
    )


def score(result: SearchResult, question: str, *, prior: float = 1.0, newest: str = "") -> Scored:
    """
    Judge a result by what is known of it without reading it.

    :param question: what is searched for.
    :param prior: how far its source is trusted.
    :param newest: the latest date of all results, against which age counts when something recent is asked for.
    """
    wanted = weights(question)
    title, whole = match(wanted, result.title), match(wanted, result.title, result.summary)
    relevance = whole if whole == title else 0.75 * whole + 0.25 * title
    why = [f"has {_share(whole)} of the words that were searched for"]
    if result.quality:
        relevance = min(1.0, result.quality)  # it knows more of the page than its title and summary
        why.append(f"rated {min(1.0, result.quality):.2f} by its source")
    details = [1.0 if result.summary else 0.0, 0.0 if result.url.startswith("http:") else 1.0]
    if not result.summary:
        why.append("no summary")
    if _RECENT.search(casefold(question)):
        details.append(_freshness(result.published, newest))
        why.append(f"published {result.published}" if result.published else "no date")
    value = relevance * (0.7 + 0.2 * prior + 0.1 * sum(details) / len(details))
    for fault in _faults(result.url):
        value /= 2
        why.append(fault)
    return Scored(round(max(0.0, min(1.0, value)), 3), tuple(why))


def reasons(result: SearchResult) -> tuple[str, ...]:
    """What the quality of a result rests on, for those who look at the page that was read."""
    if result.source == "urls":
        return ("named by the user",)
    return (f"found by {result.source}", *score(msgspec.structs.replace(result, quality=0.0), result.query).why)


def reading_order(results: Iterable[SearchResult], wanted: int) -> tuple[SearchResult, ...]:
    """
    The best of each query first, then the second best of each, with several hosts among the first `wanted`.

    A page that the user named stays in front. A result half as good as the one it displaces is not good enough.
    """
    ranked = _take_turns(results)
    chosen, others = ranked[:wanted], ranked[wanted:]
    while len({host_of(each.url) for each in chosen}) < min(HOSTS, wanted):
        known = [host_of(each.url) for each in chosen]
        spare = next(
            (n for n in range(len(chosen) - 1, -1, -1) if chosen[n].source != "urls" and known.count(known[n]) > 1),
            None,
        )
        other = next((each for each in others if host_of(each.url) not in known), None)
        if spare is None or other is None or 2 * other.quality < chosen[spare].quality:
            break
        others.remove(other)
        others.insert(0, chosen.pop(spare))
        chosen.append(other)
    others.sort(key=lambda each: -each.quality)
    return (*chosen, *others)


def _take_turns(results: Iterable[SearchResult]) -> list[SearchResult]:
    """Pages that the user named, then in turns what each query found: none of them takes all that may be read."""
    of: dict[tuple[str, str], int] = {}
    places: list[tuple[bool, int, float, SearchResult]] = []
    for each in sorted(results, key=lambda each: -each.quality):
        turn = of[each.source, each.query] = of.get((each.source, each.query), 0) + 1
        places.append((each.source != "urls", turn, -each.quality, each))
    return [each for *_, each in sorted(places, key=lambda place: place[:3])]


def weights(text: str) -> dict[str, float]:
    """The terms of a question and what each counts: names and numbers double."""
    counted: dict[str, float] = {}
    for n, word in enumerate(text[:COMPARED_CHARACTERS].split()):
        named = word != word.lower() and (n > 0 or not word.istitle())
        for term in terms(word):
            counted[term] = max(counted.get(term, 0.0), 2.0 if named or any(map(str.isdigit, word)) else 1.0)
        if len(counted) >= COMPARED_TERMS:
            break
    return counted


def match(wanted: Mapping[str, float], *texts: str) -> float:
    """The share of the wanted terms, by weight, that some texts have together: 0 to 1."""
    whole = sum(wanted.values())
    had = frozenset().union(*(terms(text[:COMPARED_CHARACTERS]) for text in texts))
    return sum(weight for term, weight in wanted.items() if term in had) / whole if whole else 0.0


def _share(share: float) -> str:
    steps: list[tuple[float, str]] = [(0.99, "all"), (0.6, "most"), (0.3, "some"), (0.01, "few")]
    return next((said for least, said in steps if share >= least), "none")


def _faults(url: str) -> Iterable[str]:
    parts = split(url)
    if parts is None or not parts.hostname:
        return
    if _BINARY.search(parts.path):
        yield "a file, not a page"
    if _POOR_PATH.search(parts.path) or _POOR_QUERY.search(parts.query):
        yield "a list, a form or a log-in page"


def _freshness(published: str, newest: str) -> float:
    """1 for the newest, falling to 0 for what is three years older; one half when nothing is known."""
    try:
        age = (date.fromisoformat((newest or published)[:10]) - date.fromisoformat(published[:10])).days
    except ValueError:
        return 0.5
    return max(0.0, min(1.0, 1.0 - age / (3 * 365)))
