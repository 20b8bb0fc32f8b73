"""How tickets are answered without a model: rules for the analysis, the best places for the answer."""

import re

from actors.drafting.drafts import Draft, Excerpts
from actors.evidence.places import PLACES, list_places
from actors.helpdesk import triage
from actors.helpdesk.output_schemas import Analysis, AnalysisRequest, Summary, SummaryRequest
from actors.ports import Completion, ModelRequest
from actors.text.languages import guess_language
from actors.text.sentences import split_sentences
from actors.text.truncate import shorten
from actors.text.word_patterns import compile_words

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
            question=triage.add_context(question, asked.said_before),
            language=guess_language(question),
        )
    )


def draft(task: ModelRequest) -> Completion:
    """The places that come closest."""
    passages = task.findings.passages if task.findings else ()
    return Completion(Excerpts(list_places(passages)), passages)


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
