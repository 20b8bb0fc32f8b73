"""Drafter: fills the template that a question is for with what the person said, and asks for what is missing."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from actors.documents.field_values import stands_in
from actors.documents.fill import ask_for, fill
from actors.documents.find_fields import find_fields
from actors.documents.find_template import find_templates
from actors.documents.template import Document, Template
from actors.evidence.claims import Resolution
from actors.legal.messages import AnswerQuestion, DocumentDrafted, FactsMissing
from actors.legal.output_schemas import FieldsDraft, FieldsRequest
from actors.ports import Model, ModelRequest
from actors.roster import AgentSpec
from actors.text.catalogue import say
from actors.workflow.outcome import Question, collect_values, join_texts
from actors.workflow.progress import StatusChanged
from actors.workflow.reply_cache import ReplyCache
from bus import Actor, Context

TEMPLATE = "document"
"""By this name it is asked which document is wanted."""
CREATE = "create_document"
SHARE = 0.5
"""Of the time that is left: what the making of a document may take."""

Answer = DocumentDrafted | FactsMissing
Create = Callable[[str, Mapping[str, str], str, float], Awaitable[Document]]
"""Of a template's name, values by field, what the person wrote and seconds; raises `PortFailed`."""


class Drafter(Actor[AnswerQuestion]):
    """Mailbox: AnswerQuestion."""

    __slots__ = ("_create", "_known", "_model", "_spec", "_templates")

    def __init__(self, model: Model, spec: AgentSpec, templates: Sequence[Template], create: Create) -> None:
        self._create = create
        self._model = model
        self._spec = spec
        self._templates = templates
        self._known: ReplyCache[AnswerQuestion, Answer] = ReplyCache()

    async def receive(self, message: AnswerQuestion, ctx: Context) -> Answer:
        return self._known.find(message) or self._known.keep(message, await self._draft(message, ctx))

    async def _draft(self, asked: AnswerQuestion, ctx: Context) -> Answer:
        text, given = join_texts(asked.text, asked.answers), collect_values(asked.answers)
        chosen, named = given.get(TEMPLATE, ""), find_templates(text, self._templates)
        fitting = [each for each in self._templates if chosen in (each.name, each.title)] or named.asked
        if len(fitting) != 1:
            return FactsMissing(questions=(self._ask_which(named.mentioned, asked.language),), advice=False)
        (template,) = fitting
        known = {name: each.value for name, each in find_fields(template, text).items()} | given
        made, degraded = fill(template, known), asked.degraded
        if not isinstance(made, Document):
            found, degraded = await self._ask_model(template, text, known, asked, ctx)
            known = found | known
            made = fill(template, known)
        if isinstance(made, Document):
            ctx.publish(StatusChanged("using_tool", ctx.address, CREATE))
            said = "\n".join((text, *known.values()))
            made = await self._create(template.name, known, said, ctx.remaining_seconds() * SHARE)
            blanks = ", ".join(each.ask for each in template.fields if each.name in made.blanks)
            note = f"\n\n{say('legal_blanks', asked.language, fields=blanks)}" if blanks else ""
            resolution = Resolution(made.markdown.strip() + note)
            return DocumentDrafted(resolution=resolution, document=made, advice=True, degraded=degraded)
        return FactsMissing(questions=ask_for(template, made, known), advice=False)

    def _ask_which(self, mentioned: Sequence[Template], language: str) -> Question:
        """The person says which template it is, of those whose names came up first."""
        fitting = [each for each in self._templates if each.language == language] or self._templates
        titles = dict.fromkeys(each.title for each in (*mentioned, *fitting))
        key = "legal_which_document" if mentioned else "legal_no_template"
        return Question(TEMPLATE, say(key, language), choices=tuple(titles))

    async def _ask_model(
        self, template: Template, text: str, known: Mapping[str, str], asked: AnswerQuestion, ctx: Context
    ) -> tuple[dict[str, str], str]:
        """What a model finds for fields that are still open; only what stands in the text word for word counts."""
        fields = {each.name: each.ask for each in template.fields if each.name not in known}
        wanted = tuple(f"{name}: {ask}" for name, ask in fields.items())
        task = ModelRequest(
            agent=ctx.address, instructions=self._spec.instructions, model=self._spec.model,
            material=FieldsRequest(text, wanted), refused=asked.refused,
        )  # fmt: skip
        filled = await self._model.fill(FieldsDraft, task, within=ctx.remaining_seconds())
        found = {
            each.name: each.value
            for each in filled.value.fields
            if each.name in fields and stands_in(each.value, each.quote, text)
        }
        return found, filled.degraded or asked.degraded
