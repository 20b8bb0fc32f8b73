"""How tickets are answered without a model: rules for the analysis, verbatim quotes for the answer."""

import re

from actors.evidence.claims import Claim
from actors.evidence.passages import Passage, SearchHits, Span
from actors.helpdesk import triage
from actors.helpdesk.output_schemas import Analysis, AnalysisRequest, Draft, Summary, SummaryRequest
from actors.ports import Completion, ModelRequest
from actors.text.sentences import split_sentences
from actors.text.truncate import shorten

WELL_ABOVE_NOISE = 0.85
"""
From this confidence of the search on, quotes are taken for an answer (`Completion.judged`).

Measured over two manuals: all five answers above it are full ones, partial ones reach 0.66, wrong ones 0.24.
"""

QUOTES = 4
PAGES = 3
QUOTES_OF_THE_BEST_PAGE = 2
CLEAR = 0.6
"""A page with less than this share of the best one's score is not quoted beside it."""
CUT = 0.6
"""A quote with less than this share of the best one's score is left out."""
SAME = 0.8
"""A quote that shares more of its words than this with one before it says nothing new."""
SUMMARY_CHARACTERS = 200

_WORD = re.compile(r"\w+")
_CITED = re.compile(r"\s*\[\d+\]")
_MARK = re.compile(r"^[ \t]*(?:\d{1,2}[.)]|[-*•])[ \t]+", re.MULTILINE)
_ROW = re.compile(r"\S \| \S")


def analyze(task: ModelRequest) -> Completion:
    """What a ticket is about, by the words in it."""
    asked: AnalysisRequest = task.material
    question = triage.question(asked.ticket)
    return Completion(
        Analysis(
            intent=triage.intent(question, asked.intents),
            urgency=triage.urgency(question),
            question=question,
            language=triage.language(question),
        )
    )


def draft(task: ModelRequest) -> Completion:
    """Quotes for an answer, judged where the search stands well above the noise."""
    findings = task.findings or SearchHits()
    judged = findings.confidence >= WELL_ABOVE_NOISE and not findings.abstain
    return Completion(_draft(findings), findings.passages, judged=judged)


def _draft(findings: SearchHits) -> Draft:
    """Quotes of the best pages: one of each in the order of the pages, then what else the best page says."""
    if findings.abstain:
        return Draft()
    chosen = _choose(findings.passages)
    ranks = {source: rank for rank, source in enumerate(dict.fromkeys(each.source for each in findings.passages))}
    firsts = {quote[1].source: quote for quote in reversed(chosen)}
    order = sorted(firsts.values(), key=lambda quote: ranks[quote[1].source])
    order += [quote for quote in chosen if quote not in order]
    return Draft(tuple(_claim(*quote) for quote in order))


Quote = tuple[int, Passage, Span]


def _choose(passages: tuple[Passage, ...]) -> list[Quote]:
    """The quotes to show, best first: of the best page two, of two more pages one, none that repeats another."""
    near = CLEAR * max((each.score for each in passages), default=0.0)
    shown = [(n, p) for n, p in enumerate(passages, 1) if p.score >= near]
    every = [(n, p, s) for n, p in shown for s in p.quotes if 0 <= s.start < s.end <= len(p.text)]
    every.sort(key=lambda quote: (-quote[2].score, quote[0], quote[2].start))
    chosen: list[Quote] = []
    said: list[frozenset[str]] = []
    for number, passage, place in every:
        if len(chosen) == QUOTES or place.score < CUT * every[0][2].score:
            break
        words = frozenset(_WORD.findall(place.of(passage).casefold()))
        of_page = sum(each.source == passage.source for _, each, _ in chosen)
        pages = {each.source for _, each, _ in chosen}
        room = QUOTES_OF_THE_BEST_PAGE if passage.source == passages[0].source else 1
        new = passage.source in pages or len(pages) < PAGES
        if (
            of_page < room
            and new
            and not any(len(words & other) > SAME * min(len(words), len(other)) for other in said)
        ):
            chosen.append((number, passage, place))
            said.append(words)
    return chosen


def _claim(number: int, passage: Passage, place: Span) -> Claim:
    text = place.of(passage)
    return Claim(text, number, text)


def summarize(task: ModelRequest) -> Completion:
    """What was asked and what was found, each in its own first words."""
    given: SummaryRequest = task.material
    asked = _first(triage.question(given.ticket))
    found = _first(_CITED.sub("", given.resolution))
    return Completion(Summary(" — ".join(part for part in (asked, found) if part)))


def _first(text: str) -> str:
    """The first sentence that is neither heading nor mark, shortened at a word if it is long."""
    parts = split_sentences(_MARK.sub("", text), lines=True)
    said = [part for part in parts if not part.endswith((":", "："))] or parts
    if len(said) > 1 and _ROW.search(said[0]) and _ROW.search(said[1]):
        said = said[1:]  # a table's first row names its columns
    return shorten(said[0], SUMMARY_CHARACTERS) if said else ""


ANSWERS = {Analysis: analyze, Draft: draft, Summary: summarize}
