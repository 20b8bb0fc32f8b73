"""Decided cases side by side: a row a criterion, a column a case, each cell with its quote of that case. Pure."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from actors.evidence.claims import Claim, Resolution
from actors.evidence.passages import BELOW, CASE, LOOKED_UP, Passage
from actors.legal.answer_form import AnswerForm, CitedClaims, mark
from actors.legal.case_criteria import Criteria, Criterion, load_criteria
from actors.legal.classification import Classification
from actors.legal.output_schemas import CaseCell, CaseTableDraft, ComparisonRequest
from actors.reporting.markdown import render_table
from actors.reporting.report import ReportSentence, Table
from actors.text.catalogue import say
from actors.text.keywords import terms
from actors.text.normalize import casefold
from actors.text.sentences import split_sentences
from actors.text.truncate import shorten

CASES = 5
"""As many columns as can be read beside each other."""
NEAREST = 3
"""So many are compared where the question names none."""
ALIKE = 0.5
"""A case that says less than this of what the best one says of the question is not compared with it."""
PAIR = 0.1
"""The second case may say so much less: who asks for a comparison gets one, if anything can be compared."""
CELL_CHARACTERS = 240
CELLS, DIFFERENCES = 60, 8


class Sentence(NamedTuple):
    """A sentence of a case, and the heading above it."""

    text: str
    heading: str


def plan_comparison(question: str, passages: Sequence[Passage], language: str, context: str) -> AnswerForm | None:
    """The comparison that a question asks for; None: it asks for none, or there is only one case."""
    cases = choose_cases(question, passages, language)
    if len(cases) < 2:
        return None
    rows = load_criteria(language).rows
    wanted = tuple(f"{each.name}: {each.title}" for each in rows)

    def render(
        draft: CaseTableDraft, shown: Sequence[Passage], refused: Collection[str]
    ) -> tuple[Resolution | None, int]:
        cited = CitedClaims(shown[: len(cases)], question, refused)
        return CaseTable(draft, question, cases, cited, language).render(), cited.lost

    return AnswerForm(
        CaseTableDraft, ComparisonRequest(question, language, wanted, context), cases,
        (("criterion", tuple(each.name for each in rows)),), list_claims, render,
    )  # fmt: skip


def choose_cases(question: str, passages: Sequence[Passage], language: str) -> tuple[Passage, ...]:
    """The cases that a question names where these are several; else, if it asks for a comparison, the nearest."""
    cases = [each for each in passages if each.source.startswith(CASE)]
    named = [each for each in cases if each.score >= LOOKED_UP]
    if len(named) > 1:
        return tuple(named[:CASES])
    if not load_criteria(language).compare.search(question):
        return ()
    least = (0.0, PAIR, *[ALIKE] * NEAREST)
    return tuple(
        each for each, share in zip(cases[:NEAREST], least, strict=False) if each.score >= share * cases[0].score
    )


def explain_missing(known: Classification | None, passages: Sequence[Passage], language: str) -> str:
    """Which cases a question names by their numbers that are not there; empty: they all are."""
    there = {squeeze(each.title) for each in passages}
    named = [each.text for each in known.entities if each.kind == "case"] if known else []
    missing = [each for each in dict.fromkeys(named) if squeeze(each) not in there]
    return say("cases_missing", language, cases=say("joined_by", language).join(missing)) if missing else ""


def squeeze(number: str) -> str:
    """A court's number as it is compared."""
    return "".join(casefold(number).split())


def list_claims(draft: CaseTableDraft) -> tuple[Claim, ...]:
    sides = (side for each in draft.differences[:DIFFERENCES] for side in (each.one, each.other))
    cells = (each for each in draft.cells[:CELLS] if each.text != each.quote)
    return (*cells, *sides)


def fill_by_rules(question: str, cases: Sequence[Passage], language: str) -> CaseTableDraft:
    """What sentences of each case say on each criterion, quoted; where none does, the cell is not there."""
    criteria, asked = load_criteria(language), terms(question)
    said = [list(split_case(each.text, criteria)) for each in cases]
    return CaseTableDraft(
        tuple(
            CaseCell(quote, number, quote, criterion=row.name)
            for number, sentences in enumerate(said, 1)
            for row in criteria.rows
            if (quote := _choose(row, criteria.rows, sentences, asked, cases[number - 1].text))
        )
    )


def _by_place(draft: CaseTableDraft) -> dict[tuple[str, int], CaseCell]:
    return {(each.criterion, each.passage): each for each in reversed(draft.cells[:CELLS])}


def split_case(text: str, criteria: Criteria) -> Iterator[Sentence]:
    """The sentences of a case, each with the heading above it or before it on its line."""
    heading = ""
    for line in map(str.strip, text.splitlines()):
        if found := criteria.find_heading(line):
            heading, line = found[1], line[found.end() :]
        said = (each.strip() for each in split_sentences(line.removeprefix("- ")))
        yield from (Sentence(each, heading) for each in said if each)


def _choose(
    row: Criterion, rows: Sequence[Criterion], said: Sequence[Sentence], asked: frozenset[str], case: str
) -> str:
    """The sentence that says most of a criterion: of the part of the case that is headed so, else by its words."""
    headed = [each for each in said if row.under and row.under.search(each.heading)]
    if headed and row.rest:
        return _join([each.text for each in headed], case)
    if headed:
        return max(headed, key=lambda each: (row.count(each.text), len(asked & terms(each.text)))).text
    free = [each for each in said if not any(one.under and one.under.search(each.heading) for one in rows)]
    if row.rest:
        return _join([each.text for each in free if not any(one.count(each.text) for one in rows)], case)
    best = max(free, key=lambda each: row.count(each.text), default=None)
    return best.text if best and row.count(best.text) else ""


def _join(texts: Sequence[str], case: str) -> str:
    """The first of some sentences and those that stand right behind it, as one piece."""
    start = case.find(texts[0]) if texts else 0
    end = start + len(texts[0]) if texts else 0
    for each in texts[1:]:
        gap = case.find(each, end)
        if case[end:gap].strip() or gap < 0 or gap + len(each) - start > CELL_CHARACTERS:
            break
        end = gap + len(each)
    return case[start:end]


class CaseTable:
    """A table in the making."""

    def __init__(
        self, draft: CaseTableDraft, question: str, cases: Sequence[Passage], cited: CitedClaims, language: str
    ) -> None:
        self._quoted = _by_place(fill_by_rules(question, cases, language))
        self._draft, self._cases, self._cited, self._language = draft, cases, cited, language
        self._rows = load_criteria(language).rows
        self._shown: dict[tuple[str, int], CaseCell] = {}

    def render(self) -> Resolution | None:
        """The table, what differs, and the words behind what is retold; None: no cell stands."""
        cells = _by_place(self._draft)
        head = (say("comparison_criterion", self._language), *(each.title for each in self._cases))
        about = (ReportSentence(each.heading.replace(BELOW, " · ")) for each in self._cases)
        rows = [(ReportSentence(say("comparison_case", self._language)), *about)]
        for row in self._rows:
            places = ((row.name, number) for number in range(1, len(self._cases) + 1))
            its = (self._make_cell(cells.get(place), self._quoted.get(place)) for place in places)
            rows.append((ReportSentence(row.title), *its))
        if not self._shown:
            return None
        parts = [say("comparison_lead", self._language), render_table(Table(head, tuple(rows)))]
        if differences := list(self._describe_differences()):
            parts.append("\n".join([say("comparison_differences", self._language), *differences]))
        return Resolution("\n\n".join([*parts, *self._cited.render_retold_sources()]), self._cited.citations)

    def _make_cell(self, *cells: CaseCell | None) -> ReportSentence:
        """The first of some cells that stands in its case; only where none does its case is called silent."""
        for cell in filter(None, cells):
            if (shown := self._cited.show(cell)) is not None:
                self._shown[cell.criterion, cell.passage] = cell
                return ReportSentence(shorten(shown[0], CELL_CHARACTERS), (shown[1],))
        return ReportSentence(say("comparison_unsaid", self._language))

    def _describe_differences(self) -> Iterator[str]:
        """What the draft says of them, each side with its own quote; and where its cells take another stance."""
        titles = {row.name: row.title for row in self._rows}
        for each in self._draft.differences[:DIFFERENCES]:
            sides = (each.one, each.other)
            if each.one.passage == each.other.passage or each.criterion not in titles:
                continue
            if shown := self._cited.show_together(*sides):
                said = (f"{self._name(side)}: {mark(text)}" for side, text in zip(sides, shown, strict=True))
                yield f"- {titles[each.criterion]}: {'; '.join(said)}"
        for row in self._rows:
            cells = [cell for (name, _), cell in self._shown.items() if name == row.name]
            stances = [(stance, cell) for cell in cells if (stance := row.find_stance(cell.quote))]
            if len({stance for stance, _ in stances}) > 1:
                said = (f"{self._name(cell)}: {stance} [{self._cited.cite(cell)}]" for stance, cell in stances)
                yield f"- {row.title}: {'; '.join(said)}"

    def _name(self, claim: Claim) -> str:
        return self._cases[claim.passage - 1].title
