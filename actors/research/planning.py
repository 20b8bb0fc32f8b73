"""A plan by rules: what to ask and what to search for, when no model says it, and within which bounds a model may."""

import re
from collections.abc import Iterable, Sequence

from actors.research.comparison import find_compared, question_on
from actors.research.models import Plan, ResearchOptions
from actors.research.output_schemas import PlanDraft, PlanRequest
from actors.research.product import find_parts, guess_names
from actors.text.catalogue import say
from actors.text.keywords import in_order, keywords, share, terms
from actors.text.languages import guess_language
from actors.text.sentences import split_requests

QUESTIONS, SIDES, CRITERIA, CELLS = 8, 6, 6, 16
BESIDES = 2
"""So many other questions stand beside those on the cells of a comparison."""
CHARACTERS = 4000
"""So much of a task is looked at."""
QUERY_CHARACTERS = 400
"""Search engines take no more."""
QUESTION_CHARACTERS = 300
CONTEXT_WORDS = 5
"""So many words of the task go with a direction that shares none with it."""
OWN = frozenset({"knowledge", "urls"})
"""Sources in which nothing is looked for but what the user has put there."""
BROADER_WORDS = 3
NAMES = 2
"""So many runs of words that may be the name of a product go into a query."""
LED = 2
"""So many queries of a deeper round take words of what was learnt,"""
LED_WORDS = 2
"""so many each: more would search for the learning itself."""

_ASKS = ("?", "？")
_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)]|#{1,6})\s+")
_LEANS = re.compile(r"\b(?:it|its|they|them|their|ones)\b|它|其中|이것|그것", re.IGNORECASE)
_NAME = re.compile(r"[^\WA-Z]*+[A-Z]\w*+|\w[^\W_]*+_\w++|[^\W\d]*+\d[^\WA-Za-z]*+[A-Za-z]\w*+")


def draft_plan(task: PlanRequest) -> PlanDraft:
    """
    The plan of a round: in the first the questions of the task, in a deeper one what stayed open.

    Of a plan that fell short the questions stay, and the queries are put otherwise. A deeper round asks with the words
    of what is known by now (DR-4).
    """
    text, direction = task.question, task.direction
    if task.questions_so_far and task.shortfall:
        anew = broader(task.questions_so_far, task.searched_in_vain, task.sides)
        return PlanDraft(task.questions_so_far, anew, task.sides, task.criteria)
    compared = find_compared(text)
    if direction:
        questions = tuple(dict.fromkeys((direction, *task.open)))[: task.breadth]
        anew = tuple(_anew(each, text) for each in questions)
        return PlanDraft(questions, (*anew, *lead(questions, text, task.learnings)), *compared)
    questions = list_questions(text)
    if compared.criteria:  # each cell of its table is a question
        questions = tuple(each for each in questions if not find_compared(each).sides)
    whole = (keywords(text),) if len(questions) > 1 else ()
    cells = tuple(question_on(*cell) for cell in compared.cells)
    return PlanDraft(questions, (*cells, *questions, *whole, *compared.sides), *compared)


def list_questions(task: str) -> tuple[str, ...]:
    """
    What a task asks, in the person's own sentences.

    What is told goes with the question behind it, which is about that; a question that leans on the one before it stays
    with that one.
    """
    parts = [part for each in split_requests(task[:CHARACTERS]) if (part := _MARK.sub("", each).strip())]
    compared = {part: find_compared(part) for part in parts}
    asked = {part for part in parts if part.endswith(_ASKS) or compared[part].criteria}
    asked = asked or {part for part in parts if compared[part].sides} or set(parts)
    found, told = list[str](), list[str]()
    for part in parts:
        if part not in asked:
            told.append(part)
        elif found and not told and (_LEANS.search(part) or not terms(part)):
            found[-1] = f"{found[-1]} {part}"
        else:
            found.append(_join_last((*told, part)))
            told.clear()
    return tuple({_fold(each): each for each in found}.values())[:QUESTIONS] or (task.strip(),)


def _join_last(parts: Sequence[str]) -> str:
    """The last of some sentences, and as many of those before it as a question may hold."""
    text = parts[-1]
    for part in reversed(parts[:-1]):
        if len(part) + 1 + len(text) > QUESTION_CHARACTERS:
            break
        text = f"{part} {text}"
    return text


def in_task(question: str, task: str) -> str:
    """A question as it is looked up: with the words of its task where it says nothing by itself."""
    return question if len(terms(question)) > 1 else f"{question} {keywords(task)}".strip()


def _anew(direction: str, task: str) -> str:
    """The query of a direction; a question that stayed open is searched for by what it is about."""
    if direction.endswith(_ASKS):
        return keywords(direction)
    return in_context(direction, task)


def in_context(direction: str, task: str) -> str:
    """A direction as a query: a heading such as "Monitoring" alone asks nothing, so the task's words go with it."""
    if share(terms(task), terms(direction)) > 0:
        return direction
    return f"{direction} {keywords(task, CONTEXT_WORDS)}".strip()


def lead(directions: Sequence[str], task: str, learnings: Sequence[str]) -> tuple[str, ...]:
    """Queries that ask each direction with words of the learning that is nearest to it."""
    found: list[str] = []
    for direction in directions:
        wanted = terms(direction)
        ranked = ((share(wanted, terms(each)), place, each) for place, each in enumerate(learnings))
        if words := _new_words(max(ranked, default=(0.0, 0, ""))[2], f"{task} {direction}"):
            found.append(f"{keywords(direction) or direction} {' '.join(words)}")
    return tuple(dict.fromkeys(found))[:LED]


def _new_words(said: str, known: str) -> tuple[str, ...]:
    """Words of weight of a sentence that are not known yet, as they are written: its names first."""
    words = keywords(said, len(in_order(said))).split()
    fresh = [each for each in words if not terms(each) & terms(known) and not each.isdigit()]
    names = [each for place, each in enumerate(fresh) if _NAME.fullmatch(each) and (place or each != words[0])]
    return tuple(dict.fromkeys((*names, *fresh)))[:LED_WORDS]


def broader(questions: Sequence[str], tried: Sequence[str], sides: Sequence[str]) -> tuple[str, ...]:
    """Other words for a search that found nothing: without filler, then only a few words of weight, then each side."""
    found: list[str] = []
    for question in questions:
        words = keywords(question).split()
        found += [" ".join(words), " ".join(words[:BROADER_WORDS]), " ".join(words[-BROADER_WORDS:])]
    known = {_fold(each) for each in tried}
    return tuple(dict.fromkeys(each for each in (*found, *sides) if each and _fold(each) not in known))


def limit_plan(draft: PlanDraft, text: str, brief: ResearchOptions, sources: tuple[str, ...]) -> Plan:
    """The plan within its bounds, whatever the draft says; a comparison asks for each of its cells."""
    explored = brief.direction or text
    questions = _cut(draft.questions, QUESTION_CHARACTERS)
    sides = _sides(draft.sides)
    criteria = _cut(draft.criteria, QUESTION_CHARACTERS)[: min(CRITERIA, CELLS // len(sides))] if sides else ()
    if criteria and not brief.direction:
        cells = (question_on(side, criterion) for criterion in criteria for side in sides)
        questions = _cut((*questions[:BESIDES], *cells), 2 * QUESTION_CHARACTERS)
    else:
        questions = questions[: brief.breadth if brief.direction else QUESTIONS]
    questions = questions or _cut([explored], QUESTION_CHARACTERS)
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


def name_product(draft: PlanDraft, task: str, sources: Sequence[str]) -> PlanDraft:
    """
    A draft that looks for a product by its name, however its task is worded; any other draft as it is.

    Own documents are read whole, so the name finds what they say; elsewhere it is asked for with each part, too.
    """
    parts = find_parts(task)
    name = " ".join(guess_names(task)[:NAMES]) if parts and not draft.criteria else ""
    if not name:
        return draft
    language = guess_language(task)
    more = (*(f"{name} {say(part, language)}" for part in parts), *draft.queries) if {*sources} - OWN else ()
    return PlanDraft(draft.questions, (name, *more), draft.sides, draft.criteria)


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
