"""How tickets are answered without a model: rules for the analysis, the best places for the answer."""

import re

from actors.drafting.drafts import Draft, Excerpts
from actors.evidence.claims import Claim
from actors.evidence.passages import PartHits, SearchHits
from actors.evidence.places import PartPlaces
from actors.extractive.closeness import judge_closeness
from actors.extractive.place_excerpts import take_excerpt
from actors.helpdesk import triage
from actors.helpdesk.output_schemas import Analysis, AnalysisRequest, Summary, SummaryRequest
from actors.helpdesk.questions import add_context
from actors.ports import Completion, ModelRequest
from actors.text.languages import guess_language
from actors.text.sentences import split_sentences
from actors.text.truncate import shorten
from actors.text.word_patterns import compile_words

WELL_ABOVE_NOISE = 0.85
"""
From this confidence of the search on, quotes are taken for an answer (`Completion.judged`).

Measured over two manuals: all five answers above it are full ones, partial ones reach 0.66, wrong ones 0.24.
"""

PLACES = 3
"""So many are shown of what was found for one question."""
CLEAR = 0.4
"""A page with less than this share of the best one's score is not shown beside it."""
NOISE = 0.3
"""A cosine below which a place without a word of the question is only what a small index has beside the best one."""
THIN_CHARACTERS, THIN_LOSS = 160, 0.1
"""A passage of fewer characters says hardly more than its heading: one that is a little farther is better."""
SUMMARY_CHARACTERS = 200

_CITED = compile_words(r"\s*\[\d+\]")
_PLACE = re.compile(r"^\[\d+\] (.+)$", re.MULTILINE)
_MARK = re.compile(r"^[ \t]*(?:\d{1,2}[.)]|[-*•])[ \t]+", re.MULTILINE)


def analyze(task: ModelRequest) -> Completion:
    """What a ticket is about, by the words in it."""
    asked: AnalysisRequest = task.material
    question = triage.question(asked.ticket)
    return Completion(
        Analysis(
            intent=triage.intent(question, asked.intents),
            urgency=triage.urgency(question),
            question=add_context(question, asked.said_before),
            language=guess_language(question),
        )
    )


def draft(task: ModelRequest) -> Completion:
    """The best places, quoted, for each thing asked; judged where the search stands well above the noise on all."""
    findings = task.findings or SearchHits()
    asked = findings.parts or (PartHits("", findings),)
    passages = tuple(passage for each in asked for passage in each.hits.passages)
    parts, before = list[PartPlaces](), 0
    for each in asked:
        parts.append(_find_places(each, before))
        before += len(each.hits.passages)
    judged = all(each.hits.confidence >= WELL_ABOVE_NOISE and not each.hits.abstain for each in asked)
    claims = tuple(claim for part in parts for claim in part.places)
    return Completion(Excerpts(claims, parts=tuple(parts)), passages, judged=judged)


def _find_places(part: PartHits, before: int) -> PartPlaces:
    """
    The best page's place first, one of each page; what is far behind the best one, or says nothing on it, is left out.

    :param before: so many passages are numbered before those of this part.
    """
    found, closeness = part.hits, judge_closeness(part.hits)
    if closeness == "far":
        return PartPlaces(part.asked, closeness)
    near = CLEAR * max(each.score for each in found.passages)
    of_page: dict[str, list[int]] = {}
    for number, passage in enumerate(found.passages, 1):
        if passage.score >= near:
            of_page.setdefault(passage.source, []).append(number)
    best = [max(numbers, key=lambda n: _measure(n, found)) for numbers in of_page.values()]
    best = [n for n in best if n == best[0] or not _is_noise(n, found)][:PLACES]
    quotes = ((n, take_excerpt(n, found).of(found.passages[n - 1])) for n in best)
    return PartPlaces(part.asked, closeness, tuple(Claim(text, n + before, text) for n, text in quotes if text))


def _is_noise(number: int, found: SearchHits) -> bool:
    """Whether a passage is known to have neither a word nor the meaning of the question."""
    if found.meaning is None or not found.words or found.words[number - 1]:
        return False
    cosine = found.meaning.passages[number - 1]
    return cosine is not None and cosine < NOISE


def _measure(number: int, found: SearchHits) -> tuple[float, int]:
    """How near a passage is in meaning, where that is known, else how early it was found; a mere heading comes last."""
    if not found.meaning:
        return 0.0, -number
    cosine = found.meaning.passages[number - 1] or 0.0
    return cosine - THIN_LOSS * (len(found.passages[number - 1].text) < THIN_CHARACTERS), -number


def summarize(task: ModelRequest) -> Completion:
    """What was asked, and the places that were named; of another answer its first words."""
    given: SummaryRequest = task.material
    asked = _first(triage.question(given.ticket))
    places = dict.fromkeys(_PLACE.findall(given.resolution))
    found = list(places)[:PLACES] or [_first(_CITED.sub("", given.resolution))]
    return Completion(Summary(" — ".join(part for part in (asked, *found) if part)))


def _first(text: str) -> str:
    """The first sentence that is neither heading nor mark, shortened at a word if it is long."""
    parts = split_sentences(_MARK.sub("", text), lines=True)
    said = [part for part in parts if not part.endswith((":", "："))] or parts
    return shorten(said[0], SUMMARY_CHARACTERS) if said else ""


ANSWERS = {Analysis: analyze, Draft: draft, Summary: summarize}
