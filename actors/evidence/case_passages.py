"""Decided cases as passages: summary, key points and articles, which a specialist reads and cites. Pure."""

from actors.evidence.court_cases import FoundCase, FoundCases
from actors.evidence.passages import BELOW, Passage, SearchHits
from actors.text.catalogue import say


def show_cases(found: FoundCases, language: str) -> SearchHits:
    """What was found, or that no cases were read."""
    passages = tuple(_passage(each, language) for each in found.cases)
    return SearchHits(passages, abstain="" if found.total else say("cases_none", language))


def _passage(found: FoundCase, language: str) -> Passage:
    case = found.case
    text = case.summary
    for label, lines in (("case_key_points", case.key_points), ("case_articles", case.cited_articles)):
        if lines:
            text += f"\n\n{say(label, language)}\n" + "\n".join(f"- {each}" for each in lines)
    heading = BELOW.join(filter(None, (case.title, case.court, case.date, case.cause)))
    return Passage(
        id=f"case:{case.id}", source=f"case:{case.id}", title=case.id, heading=heading, text=text, start=0,
        end=len(text), score=found.score,
    )  # fmt: skip
