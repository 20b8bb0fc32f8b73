"""What a report says of itself: how it was made, why it ended early, what is still open. Pure."""

from actors.evidence.shortfalls import explain_shortfalls
from actors.reporting.citations import CitationIndex
from actors.research.messages import CloseResearch
from actors.text.catalogue import say, say_count, say_name
from actors.text.truncate import shorten
from actors.workflow.outcome import EndReason, explain_end
from actors.workflow.tables import MAX_HANDOFFS

SENTENCE_CHARACTERS = 400
OPEN = 10


def ended_early(case: CloseResearch) -> str:
    """Why less was done than ordered; empty when all was."""
    reasons = [say_name(case.partial, case.language)]
    if case.reason != "completed":
        known = (explain_end(each, case.language, MAX_HANDOFFS) for each in EndReason if each == case.reason)
        reasons.insert(0, case.detail or next(known, "") or say("ended_early", case.language))
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
    return tuple(each for each in said if each)[:OPEN] or (say("as_a_whole", case.language),)


def notes(case: CloseResearch, register: CitationIndex) -> tuple[str, ...]:
    """How it was made."""
    language, most = case.language, max(case.rounds, case.brief.depth)
    rounds, pages = say_count("rounds", language, case.rounds), say_count("pages", language, len(case.pages))
    missed = len({each.place for each in case.missed if each.reason != "source_failed"})
    told = {each.place for each in case.missed}
    made = say("reworded" if register.has_paraphrase else "word_for_word", language)
    out = register.left_out
    lacks = [each for each in case.incomplete if each.code != "source_failed"]
    lines = [
        say("work_done", language, rounds=rounds, most=most, pages=pages, missed=missed),
        made if register.citations else "",
        say("read_twice" if case.is_complete else "not_read_twice", language) if register.has_paraphrase else "",
        say_count("left_out", language, out) if out else "",
        say_name(case.degraded, language),
        explain_shortfalls("search_incomplete", lacks, language) if lacks else "",
        *(_sentence(say("unavailable", language, what=each)) for each in case.unavailable if each not in told),
    ]  # fmt: skip
    return tuple(dict.fromkeys(filter(None, lines)))


def _sentence(text: str) -> str:
    line = shorten(text, SENTENCE_CHARACTERS)
    return line if line.endswith((".", "!", "?", "…", "。")) else f"{line}."
