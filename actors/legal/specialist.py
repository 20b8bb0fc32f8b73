"""Specialist: reads what bears on a legal question and answers with what its sources say, or says that they do not."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import structlog

from actors.documents.template import Document
from actors.drafting.checking import CheckedDraft, DraftChecker, say_lost
from actors.drafting.drafts import HandoverRequest
from actors.drafting.watched_draft import WatchedDraft
from actors.evidence.claims import CLAIMS, Citation, Claim, Resolution, is_verbatim, render_claims
from actors.evidence.passages import Passage, SearchHits
from actors.evidence.shortfalls import explain_shortfalls, merge_shortfalls, name_sources
from actors.evidence.trace_steps import AnswerStep
from actors.legal.answer_form import AnswerForm, Choices
from actors.legal.case_table import explain_missing
from actors.legal.classification import Classification
from actors.legal.extractive_answers import quote_sources
from actors.legal.gathering import Gathered, LegalQuery, LegalSource, gather
from actors.legal.messages import AnswerQuestion, OpinionGiven, Stated
from actors.legal.opinion import render_quotes, render_statements
from actors.legal.output_schemas import LegalDraft, LegalDraftRequest, QuotedSources, Reply, ReplyRequest
from actors.ports import Completion, Model, ModelRequest, PortFailed, Trace, Untraced
from actors.roster import AgentSpec
from actors.text.catalogue import say, say_name
from actors.workflow.progress import StatusChanged
from actors.workflow.reply_cache import ReplyCache
from actors.workflow.tables import Findings, Handover
from bus import Actor, Context

OWN_FIELD = 6.0
"""Of a specialist for one field: its articles count four times; another field's is shown only where nothing else is."""
CONTEXT_CHARACTERS = 500
SHARE = 0.5
"""Of the time that is left: what the check of citations may take; without it no statement is shown."""
CASES = "case_search"
MISCITED = "lost_miscited"
"""Why a statement is left out that cites what the statutes do not have, as the catalogue names it."""

Answer = OpinionGiven | Handover
FindMiscited = Callable[[Sequence[str], str, float], Awaitable[Sequence[Sequence[str]]]]
"""Of texts and seconds; raises `PortFailed`, and then nothing is known of them."""

PlanForm = Callable[[AnswerQuestion, Gathered, float], Awaitable[AnswerForm | None]]
"""Of a question, what was read for it and seconds; None: it is answered with statements."""

log = structlog.get_logger()


class Specialty(NamedTuple):
    """What makes one specialist another than the next."""

    spec: AgentSpec
    sources: Sequence[LegalSource]
    colleagues: Mapping[str, str]
    """To whom it may hand a question over, and what each of them handles."""
    field: str = ""
    """The field of law that it looks at, where several are asked side by side; empty: all."""
    chats: bool = False
    """It replies to talk that asks nothing of the law."""
    plan: PlanForm | None = None
    """Another form of answer than statements, where a question asks for one."""


class Specialist(Actor[AnswerQuestion]):
    """Mailbox: AnswerQuestion. Asked the same again, it gives the same answer without working twice."""

    __slots__ = ("_find_miscited", "_its", "_known", "_model", "_second_reading", "_trace")

    def __init__(
        self, model: Model, its: Specialty, find_miscited: FindMiscited, *, second_reading: bool = True,
        trace: Trace | None = None,
    ) -> None:  # fmt: skip
        """
        :param find_miscited: of each text the articles that it names and that are not in force, or not there; with
            the question that they answer.
        """
        self._model = model
        self._its = its
        self._find_miscited = find_miscited
        self._second_reading = second_reading
        self._trace = trace or Untraced()
        self._known: ReplyCache[AnswerQuestion, Answer] = ReplyCache()

    async def receive(self, message: AnswerQuestion, ctx: Context) -> Answer:
        return self._known.find(message) or self._known.keep(message, await self._answer(message, ctx))

    async def _answer(self, asked: AnswerQuestion, ctx: Context) -> Answer:
        known = asked.classification
        if self._its.chats and known is not None and known.intent == "general_chat":
            return await self._chat(asked, ctx)
        answer = await self._look_up(asked, ctx)
        if not (isinstance(answer, OpinionGiven) and answer.resolution is None and answer.incomplete):
            return answer
        log.info("search.repeated", agent=ctx.address, lacked=[each.code for each in answer.incomplete])
        return await self._look_up(asked, ctx)

    async def _look_up(self, asked: AnswerQuestion, ctx: Context) -> Answer:
        """What its sources say."""
        found = await self._read(asked, ctx)
        form = await self._its.plan(asked, found, ctx.remaining_seconds() * SHARE) if self._its.plan else None
        ctx.publish(StatusChanged("thinking", ctx.address))
        if form is not None:
            return await self._fill_form(form, asked, found, ctx)
        others = tuple(f"{name}: {handles}" for name, handles in self._its.colleagues.items())
        material = LegalDraftRequest(
            asked.text, self._its.field, list_key_points(asked.classification), asked.shared, others
        )
        with WatchedDraft(ctx) as watched:
            task = self._make_task(asked, found.hits, ctx, material)
            task = msgspec.structs.replace(task, on_text=watched.on_text)
            filled = await self._model.fill(LegalDraft, task, within=ctx.remaining_seconds())
            draft: LegalDraft = filled.value
            if draft.pass_on is not None and not draft.claims and draft.pass_on.to in self._its.colleagues:
                return self._pass_on(draft.pass_on, asked, found, filled, ctx)
            checked = await self._check(filled, task, asked, ctx)
            watched.conclude([each.text for each in draft.claims], [each.text for each in checked.claims])
        if draft.claims and not checked.claims:  # without a model there would be sources
            draft = quote_sources(found.hits)
            checked = CheckedDraft(draft.claims, (), checked.calls)
        language, passages = asked.language, filled.passages
        if isinstance(draft, QuotedSources):
            text, citations = render_quotes(draft.claims, passages, language, looked_up=draft.looked_up)
        else:
            text, citations = render_statements(checked.claims, passages, language)
        if not citations:
            return self._give(None, filled, asked, found)
        lost = [say_lost(checked.lost, len(checked.claims) + len(checked.lost), language)] if checked.lost else []
        text = "\n\n".join([text, *lost])
        resolution = Resolution(text, citations, "resolved" if checked.judged and not lost else "suggested")
        return self._give(resolution, filled, asked, found, number_claims(checked.claims, passages, citations), lost)

    async def _read(self, asked: AnswerQuestion, ctx: Context) -> Gathered:
        """What its sources find, behind what an agent before it read; what that one asked is not asked again."""
        sources = [each for each in self._its.sources if each.tool not in asked.handed_over.tools]
        if sources:
            ctx.publish(StatusChanged("searching", ctx.address))
        query = LegalQuery(asked.text, asked.language, self._fields_of(asked.classification))
        found = await gather(sources, query, ctx.remaining_seconds)
        if read := asked.handed_over.passages:
            passages = {each.id: each for each in (*read, *found.hits.passages)}
            found = found._replace(hits=msgspec.structs.replace(found.hits, passages=tuple(passages.values())), why="")
        if any(each.tool == CASES for each in self._its.sources):
            missing = explain_missing(asked.classification, found.hits.passages, asked.language)
            found = found._replace(why=found.why or missing)
        return found

    def _pass_on(
        self, to: HandoverRequest, asked: AnswerQuestion, found: Gathered, filled: Completion, ctx: Context
    ) -> Handover:
        """With what was read, and which tools need not be asked again."""
        answered = (
            each.tool for each in self._its.sources if say_name(each.called, asked.language) not in found.unavailable
        )
        tools = tuple(dict.fromkeys((*asked.handed_over.tools, *answered)))
        said = f"{ctx.address} passed it on: {to.reason}"[:CONTEXT_CHARACTERS]
        if tools:
            said += f"\nIt asked: {', '.join(tools)}. What they found is among the passages."
        return Handover(to=to.to, reason=to.reason, context=said, found=Findings(filled.passages, tools))

    async def _fill_form(self, form: AnswerForm, asked: AnswerQuestion, found: Gathered, ctx: Context) -> OpinionGiven:
        task = self._make_task(asked, SearchHits(form.passages), ctx, form.material, form.choices)
        filled = await self._model.fill(form.shape, task, within=ctx.remaining_seconds())
        ctx.publish(StatusChanged("checking", ctx.address))
        claims = form.list_claims(filled.value)
        texts = tuple(each.text for each in claims)
        read = msgspec.structs.replace(filled, value=LegalDraft(claims))
        checked = await self._make_checker(task, asked, ctx, repairs=False).check(read)
        miscited = await self._find_miscited(texts, asked.text, ctx.remaining_seconds() * SHARE) if texts else ()
        refused = frozenset(text for text, names in zip(texts, miscited, strict=True) if names)
        refused |= {*texts} - {each.text for each in checked.claims}  # their quotes are shown
        resolution, lost = form.render(filled.value, filled.passages, refused)
        if resolution is not None and checked.judged and not (lost or refused):
            resolution = msgspec.structs.replace(resolution, grade="resolved")
        if resolution is not None and lost:
            note = say_lost(["lost_unquoted"] * lost, len(texts), asked.language)
            resolution = msgspec.structs.replace(resolution, text=f"{resolution.text}\n\n{note}")
        return self._give(resolution, filled, asked, found)

    def _give(
        self, resolution: Resolution | None, filled: Completion, asked: AnswerQuestion, found: Gathered,
        statements: tuple[Stated, ...] = (), notes: Sequence[str] = (),
    ) -> OpinionGiven:  # fmt: skip
        """
        What it makes of the question; above it stands that it stands in for another, and what is not there.

        :param notes: what the resolution says besides.
        """
        if resolution is None and found.unavailable and not found.hits.passages:
            unread = say("legal_unread", asked.language, what=", ".join(found.unavailable))
            raise PortFailed(unread, told=unread)
        above = [say("legal_stands_in", asked.language)] if asked.detail else []
        above += [found.why] if found.why else []
        if resolution is not None and above:
            text = "\n\n".join([*above, resolution.text])
            resolution = msgspec.structs.replace(resolution, text=text, grade="suggested")
        incomplete = merge_shortfalls(found.hits.incomplete, name_sources(filled.incomplete, asked.language))
        nothing = found.why or say("legal_nothing", asked.language)
        if incomplete:
            key = "search_incomplete" if found.why else "nothing_found_yet"
            nothing = " ".join((found.why, explain_shortfalls(key, incomplete, asked.language))).strip()
        skipped = (say_name(each, asked.language) for each in filled.skipped)
        return OpinionGiven(
            resolution=resolution, advice=True,
            unavailable=tuple(dict.fromkeys((*found.unavailable, *skipped))),
            degraded=filled.degraded or asked.degraded, statements=statements, notes=(*above, *notes),
            document=filled.document if isinstance(filled.document, Document) else None,
            detail="" if resolution else nothing, incomplete=incomplete,
        )  # fmt: skip

    def _fields_of(self, known: Classification | None) -> Mapping[str, float]:
        """The fields of law to search in: its own, where it has one."""
        if self._its.field:
            return {self._its.field: OWN_FIELD}
        return {each.name: each.confidence for each in known.domains} if known else {}

    def _make_task(
        self, asked: AnswerQuestion, hits: SearchHits, ctx: Context, material: msgspec.Struct, choices: Choices = ()
    ) -> ModelRequest:
        def tell(tool: str) -> None:
            ctx.publish(StatusChanged("using_tool", ctx.address, tool))

        spec = self._its.spec
        return ModelRequest(
            agent=ctx.address, instructions=spec.instructions, model=spec.model, material=material, findings=hits,
            tools=spec.tools, on_tool=tell, refused=asked.refused, said=asked.text,
            choices=choices or (("to", tuple(sorted(self._its.colleagues))),),
        )  # fmt: skip

    def _make_checker(
        self, task: ModelRequest, asked: AnswerQuestion, ctx: Context, *, repairs: bool = True
    ) -> DraftChecker:
        return DraftChecker(
            self._model, task, known=asked.text, language=asked.language, second_reading=self._second_reading,
            seconds=ctx.remaining_seconds, repairs=repairs,
        )  # fmt: skip

    async def _check(self, filled: Completion, task: ModelRequest, asked: AnswerQuestion, ctx: Context) -> CheckedDraft:
        """The claims that may be shown: each borne out by its quote, and citing nothing that is not there."""
        draft: LegalDraft = filled.value
        if isinstance(draft, QuotedSources):
            return CheckedDraft(draft.claims, (), 0, judged=filled.judged)
        ctx.publish(StatusChanged("checking", ctx.address))
        checked = await self._make_checker(task, asked, ctx).check(filled)
        miscited = await self._find_miscited(
            [each.text for each in checked.claims], asked.text, ctx.remaining_seconds() * SHARE
        )
        for names in filter(None, miscited):
            log.warning("claim.miscited", agent=ctx.address, cited=names[:CLAIMS])
        kept = tuple(claim for claim, names in zip(checked.claims, miscited, strict=True) if not names)
        lost = (*checked.lost, *[MISCITED for names in miscited if names])
        self._trace.note(AnswerStep(ctx.address, claims=checked.checked, more=max(0, len(draft.claims) - CLAIMS)))
        return checked._replace(claims=kept, lost=lost)

    async def _chat(self, asked: AnswerQuestion, ctx: Context) -> OpinionGiven:
        """A reply to talk: it rests on no source, and says so."""
        ctx.publish(StatusChanged("thinking", ctx.address))
        spec = self._its.spec
        with WatchedDraft(ctx) as watched:
            task = ModelRequest(
                agent=ctx.address, instructions=spec.instructions, model=spec.model,
                material=ReplyRequest(asked.text), refused=asked.refused, on_text=watched.on_text,
            )  # fmt: skip
            filled = await self._model.fill(Reply, task, within=ctx.remaining_seconds())
            text = filled.value.text.strip() or _describe_services(asked)
            watched.conclude([filled.value.text.strip()], [text])
        note = f"\n\n{say('legal_unsourced', asked.language)}" if filled.judged else ""
        return OpinionGiven(
            resolution=Resolution(text + note), advice=False, unavailable=(), degraded=filled.degraded or asked.degraded
        )


def number_claims(
    claims: Sequence[Claim], passages: Sequence[Passage], citations: Sequence[Citation]
) -> tuple[Stated, ...]:
    """What an answer says, each with the number of its citation."""
    numbers = {(each.source, each.start, each.end): each.number for each in citations}
    stated = []
    for claim in claims:
        for own in render_claims([claim], passages)[1]:
            text = own.quote if is_verbatim(claim, passages) else claim.text
            stated.append(Stated(text, numbers[own.source, own.start, own.end]))
    return tuple(stated)


def _describe_services(asked: AnswerQuestion) -> str:
    """What can be asked here; where the rules only guess that it was talk, that first."""
    guessed = asked.classification is not None and not asked.classification.is_sure
    notes = [say("legal_unrecognized", asked.language)] if guessed else []
    return "\n\n".join([*notes, say("legal_what_it_does", asked.language)])


def list_key_points(found: Classification | None) -> str:
    """What a classification says of a case, for a model."""
    if found is None:
        return ""
    named = ", ".join(f"{each.text} ({each.kind})" for each in found.entities)
    fields = ", ".join(each.name for each in found.domains)
    parts = (found.intent, f"fields: {fields}" if fields else "", f"names: {named}" if named else "")
    return "; ".join(filter(None, parts))
