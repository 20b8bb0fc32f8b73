"""A plan by rules: what to ask and what to search for, when no model says it, and within which bounds a model may."""

from collections.abc import Iterable, Sequence

from actors.extractive.decompose import BESIDES, QUESTIONS, decompose, deduplicate, in_task, keywords
from actors.research.leads import build_queries, open_topics
from actors.research.models import Plan, ResearchOptions
from actors.research.output_schemas import PlanDraft, PlanRequest
from actors.text.comparison_targets import CELLS, CRITERIA, SIDES
from actors.text.keywords import in_order, share, terms

QUERY_CHARACTERS = 400
"""Search engines take no more."""
QUESTION_CHARACTERS = 300
CONTEXT_WORDS = 5
"""So many words of the task go with a direction that shares none with it."""
BROADER_WORDS = 3


def draft_plan(task: PlanRequest) -> PlanDraft:
    """
    The plan of a round: in the first the questions of the task, in a deeper one what stayed open.

    Of a plan that fell short the questions stay, and the queries are put otherwise. A deeper round asks with the words
    of what is known by now, and not for what it says (DR-4).
    """
    text, direction = task.question, task.direction
    if task.questions_so_far and task.shortfall:
        anew = broader(task.questions_so_far, task.searched_in_vain, task.sides)
        return PlanDraft(task.questions_so_far, anew, task.sides, task.criteria)
    if direction:
        others = open_topics([each for each in task.open if each != direction], task.learnings)
        questions = deduplicate((direction, *others))[: task.breadth]
        anew = tuple(_anew(each, text) for each in questions)
        return PlanDraft(questions, (*anew, *build_queries(questions, text, task.learnings)), *decompose(text)[1:])
    asked = decompose(text)
    queries = [in_task(each, text) for each in asked.questions]
    queries += (keywords(text), *asked.sides) if asked.criteria else ()
    if len(asked.questions) > 1 and not asked.sides:
        queries.append(keywords(text))
    return PlanDraft(asked.questions, tuple(queries), asked.sides, asked.criteria)


def _anew(direction: str, task: str) -> str:
    """The query of a direction; a question that stayed open is searched for by what it is about."""
    if direction.endswith(("?", "？")):
        return keywords(direction)
    return in_context(direction, task)


def in_context(direction: str, task: str) -> str:
    """A direction as a query: a heading such as "Monitoring" alone asks nothing, so the task's words go with it."""
    if share(terms(task), terms(direction)) > 0:
        return direction
    return f"{direction} {keywords(task, CONTEXT_WORDS)}".strip()


def broader(questions: Sequence[str], tried: Sequence[str], sides: Sequence[str]) -> tuple[str, ...]:
    """Other words for a search that found nothing: without filler, then only a few words of weight, then each side."""
    found: list[str] = []
    for question in questions:
        words = keywords(question).split()
        found += [" ".join(words), " ".join(words[:BROADER_WORDS]), " ".join(words[-BROADER_WORDS:])]
    known = {_fold(each) for each in tried}
    return tuple(dict.fromkeys(each for each in (*found, *sides) if each and _fold(each) not in known))


def limit_plan(draft: PlanDraft, text: str, brief: ResearchOptions, sources: tuple[str, ...]) -> Plan:
    """The plan within its bounds, whatever the draft says."""
    explored = brief.direction or text
    questions = deduplicate(_cut(draft.questions, QUESTION_CHARACTERS))
    sides = _sides(draft.sides)
    criteria = _cut(draft.criteria, QUESTION_CHARACTERS)[:CRITERIA] if sides else ()
    most = brief.breadth if brief.direction else BESIDES + CELLS if criteria else QUESTIONS
    questions = questions[:most] or _cut([explored], QUESTION_CHARACTERS)
    queries = _cut(draft.queries, QUERY_CHARACTERS)[: max(2 * brief.breadth, len(questions))]
    deeper = brief.round > 1  # what was read before may answer a direction, so that nothing new need be found
    return Plan(
        questions=questions,
        queries=queries or _cut(questions, QUERY_CHARACTERS),
        sources=brief.sources or sources,
        sides=sides,
        criteria=criteria,
        least_results=0 if deeper else -(-brief.breadth // 2),
        least_pages=0 if deeper else -(-brief.breadth // 3),
        least_quality=0.1 if brief.breadth > 10 else 0.2,
    )


def _sides(sides: Iterable[str]) -> tuple[str, ...]:
    """At least two different ones, or none."""
    found = _cut(sides, QUESTION_CHARACTERS)[:SIDES]
    return found if len({in_order(each) for each in found}) > 1 else ()


def _cut(texts: Iterable[str], most: int) -> tuple[str, ...]:
    """One line each, cut at a word, none twice, none empty."""
    found: dict[str, str] = {}
    for text in texts:
        line = " ".join(text.split())
        if len(line) > most:
            line = line[:most].rpartition(" ")[0] or line[:most]
        if line:
            found.setdefault(_fold(line), line)
    return tuple(found.values())


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
