"""Decided cases as passages: summary and key points, which a specialist reads and cites. Pure."""

from actors.evidence.court_cases import FoundCase, FoundCases
from actors.evidence.passages import Passage, SearchHits
from actors.text.catalogue import say

LOOKED_UP = 1.0


def show_cases(found: FoundCases, language: str) -> SearchHits:
    """What was found; sure of itself where the question named a case."""
    passages = tuple(_passage(each, language) for each in found.cases)
    named = any(each.score >= LOOKED_UP for each in found.cases)
    best = max((each.score for each in found.cases), default=0.0) / 2
    return SearchHits(
        passages, confidence=LOOKED_UP if named else best, abstain="" if found.total else say("cases_none", language)
    )


def _passage(found: FoundCase, language: str) -> Passage:
    case = found.case
    text = case.summary
    if case.key_points:
        points = "\n".join(f"- {each}" for each in case.key_points)
        text += f"\n\n{say('case_key_points', language)}\n{points}"
    heading = " > ".join(filter(None, (case.title, case.court, case.date, case.cause)))
    return Passage(
        id=f"case:{case.id}", source=f"case:{case.id}", title=case.id, heading=heading, text=text, start=0,
        end=len(text), score=found.score,
    )  # fmt: skip
