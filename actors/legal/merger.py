"""Merger: makes one answer of what several specialists said, says who did not answer, and shows where they disagree."""

import itertools
from collections.abc import Sequence

from actors.evidence.claims import Citation, Resolution
from actors.evidence.passages import Passage
from actors.evidence.shortfalls import explain_shortfalls, merge_shortfalls
from actors.evidence.support import compare
from actors.evidence.wording import terms
from actors.legal.messages import MergeOpinions, OpinionGiven
from actors.legal.opinion import renumber
from actors.text.catalogue import say
from actors.text.normalize import sanitize_phrase, settle_code
from actors.workflow.progress import StatusChanged
from actors.workflow.tables import MemberResult
from bus import Actor, Context

Opinions = tuple[MemberResult[OpinionGiven], ...]
Given = Sequence[tuple[str, OpinionGiven]]
STATEMENTS = 20
DISAGREEMENTS = 5
ALIKE = 0.6
"""So much of the words of the shorter statement are in the longer one where both speak of the same."""


class Merger(Actor[MergeOpinions]):
    """Mailbox: MergeOpinions. It thinks by rules alone: nothing is smoothed over, nothing is added."""

    async def receive(self, message: MergeOpinions, ctx: Context) -> OpinionGiven:
        ctx.publish(StatusChanged("merging"))
        return merge(message.opinions, message.language, message.degraded)


def merge(opinions: Opinions, language: str, degraded: str = "") -> OpinionGiven:
    """
    One opinion of several: a part for each field of law, in the order of the team; then who is missing.

    It is `resolved` only where everybody answered so.
    """
    given = [(each.role, each.answer) for each in opinions if each.answer is not None]
    silent = tuple(name_field(each.role, language) for each in opinions if each.answer is None)
    parts: list[str] = []
    citations: list[Citation] = []
    for role, opinion in given:
        heading = say("legal_on", language, field=name_field(role, language))
        if opinion.resolution is None:
            parts.append(f"{heading}\n{opinion.detail or say('legal_nothing', language)}")
            continue
        own = renumber(opinion.resolution, len(citations) + 1)
        parts.append(f"{heading}\n{own.text}")
        citations += own.citations
    if apart := find_disagreements(given):
        parts.append("\n".join([say("legal_disagree", language), *(_show(*pair, language) for pair in apart)]))
    if silent:
        parts.append(say("legal_silent", language, fields=say("joined_by", language).join(silent)))
    answered = [opinion.resolution for _, opinion in given if opinion.resolution is not None]
    whole = len(answered) == len(opinions) and all(each.grade == "resolved" for each in answered)
    resolution = Resolution(settle_code("\n\n".join(parts)), tuple(citations), "resolved" if whole else "suggested")
    incomplete = merge_shortfalls(*(opinion.incomplete for _, opinion in given))
    nothing = say("legal_nothing", language)
    if incomplete:
        nothing = explain_shortfalls("nothing_found_yet", incomplete, language)
    unavailable = dict.fromkeys([*silent, *(each for _, opinion in given for each in opinion.unavailable)])
    return OpinionGiven(
        resolution=resolution if answered else None, advice=True, unavailable=tuple(unavailable),
        degraded=next((opinion.degraded for _, opinion in given if opinion.degraded), degraded),
        incomplete=incomplete,
        detail="" if answered else nothing,
    )  # fmt: skip


def find_disagreements(given: Given) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """
    Statements of two specialists that rules find contrary to each other, each with whose it is.

    Prefers missing one to reporting a false one: two statements on different things are not compared.
    """
    said = [(role, text) for role, opinion in given for text in opinion.statements[:STATEMENTS]]
    return [
        (one, other)
        for one, other in itertools.combinations(said, 2)
        if one[0] != other[0] and _speak_of_the_same(one[1], other[1]) and _contradict(one[1], other[1])
    ][:DISAGREEMENTS]


def _speak_of_the_same(one: str, other: str) -> bool:
    first, second = terms(one), terms(other)
    return len(first & second) >= ALIKE * max(1, min(len(first), len(second)))


def _contradict(one: str, other: str) -> bool:
    passage = Passage(id="", source="", title="", heading="", text=other, start=0, end=len(other))
    return compare(one, other, passage).verdict == "contradicted"


def _show(one: tuple[str, str], other: tuple[str, str], language: str) -> str:
    return "\n".join(f"- {name_field(role, language)}: {sanitize_phrase(text)}" for role, text in (one, other))


def name_field(role: str, language: str) -> str:
    """A field of law as people call it; one that the catalogue does not know by its own name."""
    try:
        return say(f"field_{role}", language)
    except KeyError:
        return role.replace("_", " ")
