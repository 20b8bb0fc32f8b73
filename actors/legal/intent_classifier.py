"""Classifier: says what a legal question asks for and who answers it. Rules first, then a model."""

from collections.abc import Awaitable, Callable, Sequence

from actors.legal.classification import Classification, add_model_reading, classify
from actors.legal.messages import ClassifyQuestion, QuestionClassified, SeveralFieldsFound
from actors.legal.output_schemas import IntentDraft, IntentRequest
from actors.legal.workflow import GENERAL, SEATS
from actors.ports import Model, ModelRequest
from actors.roster import Intent, Roster
from actors.text.languages import guess_language
from actors.workflow.progress import AgentSelected, StatusChanged
from actors.workflow.reply_cache import ReplyCache
from bus import Actor, Context

SIDE_BY_SIDE = frozenset({"legal_consultation", "regulation_query"})
"""What is asked of several fields of law at once; a document, a contract or a case has one who works on it."""

Answer = QuestionClassified | SeveralFieldsFound


class Classifier(Actor[ClassifyQuestion]):
    """Mailbox: ClassifyQuestion."""

    __slots__ = ("_fields", "_known", "_model", "_own", "_prepare", "_roster", "_rules")

    def __init__(
        self, model: Model, roster: Roster, fields: tuple[str, ...],
        rules: Callable[[str, str, Sequence[Intent]], Classification] = classify,
        prepare: Callable[[str], Awaitable[object]] | None = None,
    ) -> None:  # fmt: skip
        """
        :param roster: the agents of this family.
        :param fields: the fields of law that have a specialist of their own where several are asked.
        :param rules: what they make of a text in a language, with the intents of agents that a user has added.
        :param prepare: loads the rules of a language where that would take the loop too long.
        """
        self._prepare = prepare
        self._rules = rules
        self._model = model
        self._roster = roster
        self._own = [each for each in roster.intents if each.words]
        self._fields = fields
        self._known: ReplyCache[ClassifyQuestion, Answer] = ReplyCache()

    async def receive(self, message: ClassifyQuestion, ctx: Context) -> Answer:
        return self._known.find(message) or self._known.keep(message, await self._classify(message, ctx))

    async def _classify(self, message: ClassifyQuestion, ctx: Context) -> Answer:
        ctx.publish(StatusChanged("classifying"))
        language = guess_language(message.text)
        if self._prepare is not None:
            await self._prepare(language)
        found, degraded = self._rules(message.text, language, self._own), ""
        if not found.is_sure:
            found, degraded = await self._ask_model(found, message, language, ctx)
        team = tuple(each.name for each in found.domains if each.name in self._fields)[:SEATS]
        if len(team) > 1 and found.intent in SIDE_BY_SIDE:
            sure = {each.name: each.confidence for each in found.domains}
            for name in team:
                ctx.publish(AgentSelected(name, sure[name]))
            return SeveralFieldsFound(classification=found, team=team, language=language, degraded=degraded)
        intent = self._roster.find_intent(found.intent)
        assigned = intent.agent if intent else GENERAL
        ctx.publish(AgentSelected(assigned, found.confidence))
        return QuestionClassified(classification=found, assigned=assigned, language=language, degraded=degraded)

    async def _ask_model(
        self, guess: Classification, message: ClassifyQuestion, language: str, ctx: Context
    ) -> tuple[Classification, str]:
        """What a model makes of it, and why none did: without one the rules' guess stands, as sure as it is."""
        spec, intents = self._roster[ctx.address], self._roster.intents
        task = ModelRequest(
            agent=ctx.address, instructions=spec.instructions, model=spec.model, refused=message.refused,
            material=IntentRequest(
                message.text, intents, self._fields, f"{guess.intent}, {guess.confidence:.0%} sure",
                str(message.background),
            ),
            choices=(("intent", tuple(each.name for each in intents)),),
        )  # fmt: skip
        filled = await self._model.fill(IntentDraft, task, within=ctx.remaining_seconds())
        draft: IntentDraft = filled.value
        intent = self._roster.find_intent(draft.intent)
        if not filled.judged or intent is None:
            return guess, filled.degraded
        fields = [each for each in draft.fields if each in self._fields]
        said = add_model_reading(guess, message.text, language, intent.name, draft.confidence, fields, draft.entities)
        return said, filled.degraded
