"""Merger: makes one answer of what several specialists said, weighs it, and shows where they disagree and why."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from actors.drafting.checking import DraftChecker
from actors.evidence.claims import Citation, Resolution
from actors.evidence.passages import Passage, SearchHits
from actors.evidence.shortfalls import explain_shortfalls, merge_shortfalls
from actors.evidence.support import Finding, compare
from actors.legal.answer_form import CitedClaims, mark
from actors.legal.messages import MergeOpinions, OpinionGiven
from actors.legal.opinion import render_source, render_sources
from actors.legal.output_schemas import LegalDraft, MergedDraft, MergeRequest
from actors.ports import Model, ModelRequest, PortFailed
from actors.roster import AgentSpec
from actors.text.catalogue import say
from actors.text.keywords import terms
from actors.text.normalize import sanitize_phrase, settle_code
from actors.workflow.progress import StatusChanged
from actors.workflow.tables import MemberResult
from bus import Actor, Context

Opinions = tuple[MemberResult[OpinionGiven], ...]
STATEMENTS = 20
DISAGREEMENTS = 5
ALIKE = 0.6
"""So much of the words of the shorter statement are in the longer one where both speak of the same."""
SHARE = 0.8
"""Of the time: what a model may take; without its answer the rules merge."""


class Said(NamedTuple):
    """Something that a specialist says, and where it stands."""

    role: str
    text: str
    citation: Citation

    @property
    def is_quote(self) -> bool:
        return self.citation.quote == self.text

    @property
    def place(self) -> str:
        return f"{self.citation.source}#{self.citation.start}-{self.citation.end}"


class Merger(Actor[MergeOpinions]):
    """Mailbox: MergeOpinions. Nothing is added: what a model writes is borne out by what the specialists cite."""

    __slots__ = ("_model", "_second_reading", "_spec")

    def __init__(self, model: Model, spec: AgentSpec, *, second_reading: bool = True) -> None:
        self._model, self._spec, self._second_reading = model, spec, second_reading

    async def receive(self, message: MergeOpinions, ctx: Context) -> OpinionGiven:
        ctx.publish(StatusChanged("merging"))
        merged, said = merge(message.opinions, message.language, message.degraded), list_said(message.opinions)
        if len({each.role for each in said}) < 2 or all(each.is_quote for each in said):
            return merged
        try:
            answer = await self._ask_model(message, said, ctx)
        except PortFailed:
            return merged
        if answer is None or merged.resolution is None:
            return merged
        parts = [answer.text, *list_gaps(message.opinions, message.language)]
        grade = answer.grade if merged.resolution.grade == "resolved" else "suggested"
        whole = msgspec.structs.replace(answer, text="\n\n".join(parts), grade=grade)
        return msgspec.structs.replace(merged, resolution=whole)

    async def _ask_model(self, message: MergeOpinions, said: Sequence[Said], ctx: Context) -> Resolution | None:
        """One answer of a model; None: it has none that rests on what each of the specialists cites."""
        passages = {each.place: _show(each.place, each.citation) for each in said}
        numbers = {place: number for number, place in enumerate(passages, 1)}
        apart = (f"{one.role}: {one.text} / {other.role}: {other.text}" for one, other, _ in find_disagreements(said))
        opinions = tuple(f"{each.role}: {each.text} [{numbers[each.place]}]" for each in said)
        task = ModelRequest(
            agent=ctx.address, instructions=self._spec.instructions, model=self._spec.model, refused=message.refused,
            material=MergeRequest(message.text, opinions, tuple(apart), str(message.background)),
            findings=SearchHits(tuple(passages.values())),
        )  # fmt: skip
        filled = await self._model.fill(MergedDraft, task, within=ctx.remaining_seconds() * SHARE)
        draft: MergedDraft = filled.value
        differences = draft.disagreements[:DISAGREEMENTS]
        sides = [claim for each in differences for claim in (each.one, each.other, each.why)]
        checker = DraftChecker(
            self._model, task, known=message.text, language=message.language, second_reading=self._second_reading,
            seconds=ctx.remaining_seconds, repairs=False,
        )  # fmt: skip
        checked = await checker.check(msgspec.structs.replace(filled, value=LegalDraft((*draft.claims, *sides))))
        cited, kept = CitedClaims(filled.passages, message.text), {*checked.claims}
        shown = [found for each in draft.claims if each in kept and (found := cited.show(each))]
        rests_on = {each.source for each in cited.citations}
        if any(rests_on.isdisjoint(its) for its in _list_sources(said).values()):
            return None
        parts = ["\n".join(map(mark, shown))]
        if differ := [each for each in differences if {each.one, each.other, each.why} <= kept]:
            lines = ("; ".join(map(mark, cited.show_together(each.one, each.other, each.why))) for each in differ)
            parts.append("\n".join([say("legal_disagree", message.language), *(f"- {each}" for each in lines)]))
        parts.append(render_sources(cited.citations, message.language))
        grade: Literal["resolved", "suggested"] = "resolved" if checked.judged and not checked.lost else "suggested"
        return Resolution(settle_code("\n\n".join(parts)), cited.citations, grade)


def merge(opinions: Opinions, language: str, degraded: str = "") -> OpinionGiven:
    """
    One opinion of several by rules: by fields of law, each statement and each article once; then what is missing.

    It is `resolved` only where everybody answered so.
    """
    given = [each.answer for each in opinions if each.answer is not None]
    answered = [each.resolution for each in given if each.resolution is not None]
    whole = len(answered) == len(opinions) and all(each.grade == "resolved" for each in answered)
    said = list_said(opinions)
    parts = [*dict.fromkeys(note for each in given for note in each.notes)]
    citations: dict[str, Citation] = {}
    if quotes := all(each.is_quote for each in said):
        parts.append(say("legal_sure" if whole else "legal_perhaps", language))
    lines: dict[str, list[str]] = {}
    for each in said:
        numbered = msgspec.structs.replace(each.citation, number=len(citations) + 1)
        numbered = citations.setdefault(each.citation.source if quotes else each.place, numbered)
        line = render_source(numbered) if quotes else mark((each.text, numbered.number))
        lines.setdefault(line, []).append(name_field(each.role, language))
    fields: dict[str, list[str]] = {}
    for line, its in lines.items():
        fields.setdefault(say("joined_by", language).join(dict.fromkeys(its)), []).append(line)
    for field, its in fields.items():
        parts.append("\n".join([say("legal_on", language, field=field), ("\n\n" if quotes else "\n").join(its)]))
    if apart := find_disagreements(said):
        shown = (line for each in apart for line in _show_disagreement(*each, language))
        parts.append("\n".join([say("legal_disagree", language), *shown]))
    if not quotes:
        parts.append(render_sources(tuple(citations.values()), language))
    resolution = Resolution(
        settle_code("\n\n".join([*parts, *list_gaps(opinions, language)])),
        tuple(citations.values()),
        "resolved" if whole else "suggested",
    )
    incomplete = merge_shortfalls(*(each.incomplete for each in given))
    nothing = explain_shortfalls("nothing_found_yet", incomplete, language) if incomplete else ""
    silent = [name_field(each.role, language) for each in opinions if each.answer is None]
    unavailable = dict.fromkeys([*silent, *(each for opinion in given for each in opinion.unavailable)])
    return OpinionGiven(
        resolution=resolution if answered else None, advice=True, unavailable=tuple(unavailable),
        degraded=next((each.degraded for each in given if each.degraded), degraded), incomplete=incomplete,
        detail="" if answered else nothing or say("legal_nothing", language),
    )  # fmt: skip


def list_said(opinions: Opinions) -> list[Said]:
    """What the specialists say, in the order of the team."""
    found = []
    for each in opinions:
        if each.answer is not None and each.answer.resolution is not None:
            places = {citation.number: citation for citation in each.answer.resolution.citations}
            found += [Said(each.role, one.text, places[one.number]) for one in each.answer.statements]
    return found


def list_gaps(opinions: Opinions, language: str) -> Iterator[str]:
    """Of which fields the sources say nothing, and who could not be asked."""
    nothing: dict[str, list[str]] = {}
    for each in opinions:
        if each.answer is not None and each.answer.resolution is None:
            why = each.answer.detail or say("legal_nothing", language)
            nothing.setdefault(why, []).append(name_field(each.role, language))
    for why, fields in nothing.items():
        yield f"{say('legal_on', language, field=say('joined_by', language).join(fields))}\n{why}"
    if silent := [name_field(each.role, language) for each in opinions if each.answer is None]:
        yield say("legal_silent", language, fields=say("joined_by", language).join(silent))


def find_disagreements(said: Sequence[Said]) -> list[tuple[Said, Said, Finding]]:
    """
    Statements of two specialists that rules find contrary to each other, and what is contrary about them.

    Prefers missing one to reporting a false one: two statements on different things are not compared.
    """
    own = [
        each
        for _, its in itertools.groupby((each for each in said if not each.is_quote), lambda each: each.role)
        for each in itertools.islice(its, STATEMENTS)
    ]
    pairs = (
        (one, other, _contrast(one.text, other.text))
        for one, other in itertools.combinations(own, 2)
        if one.role != other.role and _speak_of_the_same(one.text, other.text)
    )
    return [each for each in pairs if each[2].verdict == "contradicted"][:DISAGREEMENTS]


def _speak_of_the_same(one: str, other: str) -> bool:
    first, second = terms(one), terms(other)
    return len(first & second) >= ALIKE * max(1, min(len(first), len(second)))


def _contrast(one: str, other: str) -> Finding:
    passage = Passage(id="", source="", title="", heading="", text=other, start=0, end=len(other))
    return compare(one, other, passage)


def _show_disagreement(one: Said, other: Said, found: Finding, language: str) -> Iterator[str]:
    yield from (f"- {name_field(each.role, language)}: {sanitize_phrase(each.text)}" for each in (one, other))
    yield f"  {say(found.kind, language)}"


def _show(place: str, citation: Citation) -> Passage:
    start, end = citation.start, citation.end
    return Passage(place, citation.source, citation.title, citation.heading, citation.quote, start, end)


def _list_sources(said: Sequence[Said]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for each in said:
        found.setdefault(each.role, set()).add(each.citation.source)
    return found


def name_field(role: str, language: str) -> str:
    """A field of law as people call it; one that the catalogue does not know by its own name."""
    try:
        return say(f"field_{role}", language)
    except KeyError:
        return role.replace("_", " ")
