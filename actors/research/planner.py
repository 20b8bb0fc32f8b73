"""Planner: says what must be answered and what to search for, before anything is searched."""

from collections.abc import Iterable

from actors.ports import Model, Task
from actors.progress import RoundBegan, Worked
from actors.research.drafts import PlanDraft
from actors.research.messages import MakePlan, PlanMade
from actors.research.records import Plan
from bus import Actor, Context

QUERY_CHARACTERS = 400
"""Search engines take no more."""


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
            return PlanMade(plan=message.plan, degraded="")
        explored = brief.direction or message.text
        ctx.publish(RoundBegan(brief.round, brief.depth, explored, len(message.learnings)))
        ctx.publish(Worked("planning", "Planning", 0, 1, explored))
        filled = await self._model.fill(PlanDraft, self._task(message, ctx), within=ctx.time_left())
        draft: PlanDraft = filled.value
        plan = planned(draft, message, self._sources)
        ctx.publish(Worked("planning", "Planned", 1, 1, explored))
        return PlanMade(plan=plan, degraded=filled.degraded)

    def _task(self, message: MakePlan, ctx: Context) -> Task:
        material = [("question", message.text), ("breadth", str(message.brief.breadth))]
        if message.brief.direction:
            material.append(("direction", message.brief.direction))
        if message.directions:
            material.append(("open", "\n".join(message.directions)))
        if message.learnings:
            material.append(("learnings", "\n".join(each.text for each in message.learnings)))
        if message.shortfall:
            material.append(("shortfall", message.shortfall))
        return Task(agent=ctx.address, instructions=self._instructions, material=tuple(material))


def planned(draft: PlanDraft, message: MakePlan, known: tuple[str, ...]) -> Plan:
    """The plan within its bounds, whatever the draft says."""
    explored = message.brief.direction or message.text
    questions = _few(draft.questions, message.brief.breadth) or (explored,)
    queries = _few((each[:QUERY_CHARACTERS] for each in draft.queries), 2 * message.brief.breadth) or questions
    wanted = message.brief.sources or known
    sources = tuple(each for each in wanted if each in known)
    return Plan(questions=questions, queries=queries, sources=sources, sides=_few(draft.sides, 4))


def _few(texts: Iterable[str], most: int) -> tuple[str, ...]:
    folded = (" ".join(each.split()) for each in texts)
    return tuple(dict.fromkeys(each for each in folded if each))[:most]
