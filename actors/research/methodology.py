"""What a report says of itself: how it was made, why it ended early, what is still open. Pure."""

import re

from actors.reporting.citations import CitationIndex
from actors.research.messages import CloseResearch
from actors.text.truncate import shorten
from actors.workflow.outcome import SENTENCES, EndReason

SENTENCE_CHARACTERS = 400
OPEN = 10
TASK_CHARACTERS = 4000
"""So much of a task is looked at."""
AS_A_WHOLE = "The question as a whole: nobody has judged that what was found answers it."

_PRODUCT = re.compile(
    r"\bcompetit(?:ors?|ion|ive)\b|\bswot\b|\bmarket (?:analysis|research|share|position)|竞品|竞争|产品|경쟁|제품|"
    r"\bproduct (?:analysis|research|comparison|review|landscape|strategy)",
    re.IGNORECASE,
)


def is_product_question(text: str) -> bool:
    """Whether a task asks for competitors, features and a SWOT, so that their absence is worth a word."""
    return bool(_PRODUCT.search(text[:TASK_CHARACTERS]))


def ended_early(case: CloseResearch) -> str:
    """Why less was done than ordered; empty when all was."""
    reasons = [case.partial]
    if case.reason != "completed":
        known = next((SENTENCES[why] for why in EndReason if why == case.reason), "")
        reasons.insert(0, case.detail or known or "It ended before it was finished.")
    said = dict.fromkeys(_sentence(each) for each in reasons if each.strip())
    return " ".join(said)


def still_open(case: CloseResearch) -> tuple[str, ...]:
    """What is left to explore, whatever ended the search (DR-3); nothing exactly when the case is complete (DR-2)."""
    if case.is_complete:
        return ()
    answered = {each.question for each in case.sections if each.statements}
    asked = (*(each.question for each in case.sections), *(case.plan.questions if case.plan else ()))
    left = case.directions or tuple(each for each in asked if each not in answered)
    said = dict.fromkeys(shorten(each, SENTENCE_CHARACTERS) for each in left)
    return tuple(each for each in said if each)[:OPEN] or (AS_A_WHOLE,)


def notes(case: CloseResearch, register: CitationIndex) -> tuple[str, ...]:
    """How it was made."""
    rounds = f"{_count(case.rounds, 'round')} of at most {max(case.rounds, case.brief.depth)}"
    missed = len({each.place for each in case.missed if each.reason != "source_failed"})
    told = {each.place for each in case.missed}
    made = (
        "A model reworded some sentences; each was checked against its source, whose words this report quotes, too."
        if register.has_paraphrase
        else "Every sentence on the topic is quoted word for word from its source."
    )
    out = register.left_out
    lines = [
        f"{rounds}; {_count(len(case.pages), 'page')} read, {missed} not obtained.",
        made if register.citations else "",
        f"{_count(out, 'statement')} {'was' if out == 1 else 'were'} left out, because no source bears "
        f"{'it' if out == 1 else 'them'} out." if out else "",
        _sentence(f"A lesser model answered: {case.degraded}") if case.degraded else "",
        *(_sentence(f"Unavailable: {each}") for each in case.unavailable if each not in told),
    ]  # fmt: skip
    return tuple(dict.fromkeys(filter(None, lines)))


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _sentence(text: str) -> str:
    line = shorten(text, SENTENCE_CHARACTERS)
    return line if line.endswith((".", "!", "?", "…", "。")) else f"{line}."
