"""Planner: says what must be answered and what to search for, before anything is searched."""

import structlog

from actors.evidence.grounding import Shown, presumes
from actors.ports import BudgetSpent, Model, ModelRequest, PortFailed
from actors.research.messages import MakePlan, PlanMade
from actors.research.models import Plan, SearchTask
from actors.research.output_schemas import PlanDraft, PlanRequest
from actors.research.planning import broader, draft_plan, limit_plan, name_product
from actors.text.keywords import terms
from actors.workflow.progress import RoundBegan, StageProgress
from bus import Actor, Context

log = structlog.get_logger()

SHARE = 0.8
"""Of the time that is left: what a model may take before the plan is made by rules."""
LEARNINGS = 20


class Planner(Actor[MakePlan]):
    """Mailbox: MakePlan. A plan that is there already is kept, unless it fell short."""

    __slots__ = ("_instructions", "_model", "_sources")

    def __init__(self, model: Model, sources: tuple[str, ...], instructions: str) -> None:
        self._model = model
        self._sources = sources
        self._instructions = instructions

    async def receive(self, message: MakePlan, ctx: Context) -> PlanMade:
        brief = message.brief
        if message.plan is not None and not message.shortfall:
            return PlanMade(plan=message.plan, degraded=None, searches=plan_searches(message.plan, message))
        explored = brief.direction or message.text
        if message.plan is None:
            ctx.publish(RoundBegan(brief.round, brief.depth, explored, len(message.learnings)))
        ctx.publish(StageProgress("planning", "Planning", 0, 1, explored))
        draft, degraded, partial = await self._draft(message, ctx)
        draft = otherwise(sound(draft, message), message)
        if message.plan is None and not brief.direction:
            draft = name_product(draft, message.text, brief.sources or self._sources)
        plan = limit_plan(draft, message.text, brief, self._sources)
        ctx.publish(StageProgress("planning", "Planned", 1, 1, explored))
        return PlanMade(
            plan=plan, degraded=degraded or None, partial=partial or None,
            searches=plan_searches(plan, message),
        )  # fmt: skip

    async def _draft(self, message: MakePlan, ctx: Context) -> tuple[PlanDraft, str, str]:
        """A model's plan; by rules when it has none, why, and which budget was used up."""
        brief, before = message.brief, message.plan or Plan((), (), ())
        learnings = tuple(" ".join(each.text.split()) for each in message.learnings[:LEARNINGS])
        asked = PlanRequest(
            question=message.text, breadth=brief.breadth, round=brief.round, direction=brief.direction,
            open=message.directions, learnings=learnings, shortfall=message.shortfall,
            questions_so_far=before.questions, searched_in_vain=before.queries, sides=before.sides,
            criteria=before.criteria,
        )  # fmt: skip
        task = ModelRequest(agent=ctx.address, instructions=self._instructions, material=asked)
        try:
            filled = await self._model.fill(PlanDraft, task, within=ctx.remaining_seconds() * SHARE)
        except PortFailed as error:
            log.warning("plan.failed", reason=str(error))
            return draft_plan(asked), error.code, error.code if isinstance(error, BudgetSpent) else ""
        draft: PlanDraft = filled.value
        return draft, filled.degraded, filled.partial


def plan_searches(plan: Plan, message: MakePlan) -> tuple[SearchTask, ...]:
    """All searches of the research: those before, and each query of this plan to each of its sources, once."""
    planned = [SearchTask(query, source, round=message.brief.round)
               for query in plan.queries for source in plan.sources if source != "urls"]  # fmt: skip
    return tuple(({(each.source, each.query): each for each in (*planned, *message.searches)}).values())


def sound(draft: PlanDraft, message: MakePlan) -> PlanDraft:
    """What of a draft takes nothing for granted that nobody said; sides and criteria are those of the task."""
    before = message.plan.questions if message.plan else ()
    known = (message.text, message.brief.direction, *message.directions, *(s.text for s in message.learnings), *before)
    shown, named = Shown((), *known), terms(message.text)
    questions = tuple(each for each in draft.questions if not presumes(each, shown))
    queries = tuple(each for each in draft.queries if not presumes(each, shown))
    of_task = [tuple(each for each in names if terms(each) <= named) for names in (draft.sides, draft.criteria)]
    return PlanDraft(questions, queries, *of_task)


def otherwise(draft: PlanDraft, message: MakePlan) -> PlanDraft:
    """After a shortfall: the questions stay what they were, and no query is asked a second time."""
    before = message.plan
    if before is None:
        return draft
    tried = {each.casefold() for each in before.queries}
    queries = tuple(each for each in draft.queries if each.casefold() not in tried) or broader(
        before.questions, before.queries, before.sides
    )
    return PlanDraft(before.questions, queries or before.queries, before.sides, before.criteria)
