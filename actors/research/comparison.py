"""A comparison: of what a task compares, and what stands of its sides beside each other. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from actors.evidence.passages import Passage, last_heading
from actors.evidence.sources import Statement
from actors.research.models import Cell, Comparison, Row, Section
from actors.text.keywords import share, terms
from actors.text.truncate import cut_at_paragraph
from actors.text.word_patterns import compile_words

CELL_CHARACTERS = 350
ROWS = 6
THINGS = 6
THING_WORDS = 6
TASK_CHARACTERS = 2000

SENTENCE_CHARACTERS = 300

_SENTENCE = re.compile(r"(?<=[?!;？。；！\n])|(?<=\.)(?=\s)(?<!vs\.)")
_LEADS = compile_words(
    r"\b(?:compar(?:e|ing)|differences?\s+between|comparison\s+(?:of|between))\s|比较|对比", re.IGNORECASE
)
_ASKS_HOW = compile_words(r"\bhow\s+do(?:es)?\s", re.IGNORECASE)
_DIFFER = compile_words(r"\s(?:differ|compare)\b(?:\s+(?:in|on|by)\s)?", re.IGNORECASE)
_VERSUS = compile_words(r"\s(?:vs\.?|versus)\s", re.IGNORECASE)
_ON = compile_words(r",?\s(?:in\s+terms\s+of|with\s+regard\s+to|regarding|on|by)\s|的", re.IGNORECASE)
_DIFFERENCE = re.compile(r"(?:的|有什么|之间的)?(?:区别|差异|不同)|(?:을|를|의)?\s(?:차이|비교)")
_BETWEEN = compile_words(
    r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|with|to|vs\.?|versus)\s+|[、和与]|(?:와|과)\s+", re.IGNORECASE
)
_ARTICLE = compile_words(r"^(?:the|an?|their)\s+", re.IGNORECASE)
_NO_NAME = compile_words(r"\bof\b|^(?:two|these|those|this|that|them|it|how|what|which|when)\b", re.IGNORECASE)


class Compared(NamedTuple):
    """Nothing, or at least two sides; the criteria may be none."""

    sides: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()

    @property
    def cells(self) -> tuple[tuple[str, str], ...]:
        """Each criterion of each side, criterion by criterion."""
        return tuple((side, criterion) for criterion in self.criteria for side in self.sides)


def find_compared(task: str) -> Compared:
    """What a task compares, and on what, where it says so in so many words."""
    for sentence in _SENTENCE.split(task[:TASK_CHARACTERS]):
        things, on = _take_apart(" ".join(sentence.split())[:SENTENCE_CHARACTERS].rstrip(" .?!;？。；！"))
        sides = _list(things)
        names = len({terms(each) or each for each in sides}) == len(sides) > 1
        if names and not any(map(_NO_NAME.search, sides)):
            return Compared(sides, _list(on))
    return Compared()


def _take_apart(sentence: str) -> tuple[str, str]:
    """The things that a sentence compares, and what it compares them on, each as a list in words; empty: none."""
    if found := _LEADS.search(sentence):
        things, _, on = _split(_ON, sentence[found.end() :])
        return things, on
    if (found := _ASKS_HOW.search(sentence)) and _DIFFER.search(sentence, found.end()):
        things, _, on = _split(_DIFFER, sentence[found.end() :])
        return things, on
    if _VERSUS.search(sentence):
        things, _, on = sentence.partition(":")
        return things, on
    things, sign, _ = _split(_DIFFERENCE, sentence)
    return (things, "") if sign else ("", "")


def _split(at: re.Pattern[str], text: str) -> tuple[str, str, str]:
    """As `str.partition`, at the first match."""
    found = at.search(text)
    return (text[: found.start()], found.group(), text[found.end() :]) if found else (text, "", "")


def _list(text: str) -> tuple[str, ...]:
    """The items of a list; nothing where one is more than a name."""
    items = [_ARTICLE.sub("", each.strip(" \"'“”‘’()")) for each in _BETWEEN.split(text)]
    found = tuple(each for each in items if each)[:THINGS]
    return found if all(len(each.split()) <= THING_WORDS for each in found) else ()


def question_on(side: str, criterion: str) -> str:
    """What is asked of one cell of a comparison."""
    return f"{side}: {criterion}"


def choose_for_cell(
    compared: Compared, question: str, found: Sequence[Statement], headings: Mapping[str, str]
) -> tuple[Statement, ...]:
    """
    What of an answer may stand in the cell that its question is on; all of it where that is no cell.

    Of what only quotes, that which names the side and the criterion, by its words or by those above it.

    :param headings: above each passage, by its id.
    """
    cells = {question_on(*cell): cell for cell in compared.cells}
    if question not in cells:
        return tuple(found)
    side, criterion = cells[question]

    def speaks(said: Statement) -> bool:
        whole = f"{headings.get(said.passage, '')} {said.text}"
        return side in _sides_in(compared.sides, whole) and share(terms(criterion), terms(whole)) == 1.0

    return tuple(each for each in found if each.text != each.quote or speaks(each))


def tabulate(compared: Compared, sections: Iterable[Section]) -> Comparison | None:
    """What was answered to the question on each cell; None where nothing was."""
    answers = {each.question: Cell(_shorten(each.statements[0])) for each in sections if each.statements}
    rows = [
        Row(each, tuple(answers.get(question_on(side, each)) for side in compared.sides)) for each in compared.criteria
    ]
    return Comparison(compared.sides, tuple(rows)) if any(cell for row in rows for cell in row.cells) else None


def _shorten(said: Statement) -> Statement:
    if said.text != said.quote:
        return said
    begin = cut_at_paragraph(said.text, CELL_CHARACTERS)
    return msgspec.structs.replace(said, text=begin, quote=begin)


def set_side_by_side(sides: Sequence[str], passages: Iterable[Passage], number: int) -> Comparison | None:
    """
    Sections of both sides under the same heading, each by how it begins; None where there are none.

    :param number: of the round.
    """
    found: dict[frozenset[str], tuple[str, dict[str, Cell]]] = {}
    for each in passages:
        named = _sides_in(sides, f"{each.title} {each.heading}")
        point = last_heading(each)
        if len(named) == 1 and terms(point) and not _sides_in(sides, point):
            begin = cut_at_paragraph(each.text, CELL_CHARACTERS).strip()
            if begin:
                cells = found.setdefault(terms(point), (point, {}))[1]
                cells.setdefault(named[0], Cell(Statement(begin, begin, each.id, each.source, number)))
    rows = [Row(point, tuple(map(cells.get, sides))) for point, cells in found.values() if len(cells) > 1]
    return Comparison(tuple(sides), tuple(rows[:ROWS])) if rows else None


def _sides_in(sides: Sequence[str], text: str) -> list[str]:
    """Which sides a text names: by the terms that the others do not share, or, like `C`, by nothing but the name."""
    wanted, said = {side: terms(side) for side in sides}, terms(text)
    shared = frozenset.intersection(*wanted.values()) if wanted else frozenset()

    def names(side: str) -> bool:
        if own := (wanted[side] - shared) or wanted[side]:
            return share(own, said) == 1.0
        return bool(re.search(rf"(?<![\w-]){re.escape(side)}(?![\w+#-])", text))

    return [side for side in sides if names(side)]
