"""The Analyzer: nothing invented gets through, nothing stops it, and it goes on only when a round added something."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from actors.drafting.drafts import SecondReading, StatementVerdict
from actors.evidence.claims import Claim, verify
from actors.evidence.passages import Passage, SearchHits
from actors.evidence.shortfalls import Shortfall
from actors.evidence.sources import Page, Statement
from actors.ports import BudgetSpent, ModelFailed, ModelRequest, PortFailed
from actors.research.analyzer import Analyzer
from actors.research.messages import AnalysisCompleted, AnalyzeSources, DirectionsFound
from actors.research.models import Plan, ResearchOptions, Section
from actors.research.output_schemas import Answer, AnswerRequest, Point, Points, PointsRequest
from actors.text.catalogue import say
from actors.workflow.progress import StageProgress
from runtime.families import extractive
from tests.actors.research.test_extractor import Turn
from tests.clock import settle
from tests.inquiry import Scripted
from tests.patience import promised

OPENS = "The tide mill opens its gates at 6 metres of water."
HOLDS = "The pond of the tide mill holds 40,000 litres."
TEXT = f"{OPENS} The miller closes them by hand. {HOLDS}"
PASSAGE = Passage(
    "mill#1", "mill", "Tide mill", "Mills > Gates", TEXT, 0, len(TEXT), score=1.0,
)  # fmt: skip
QUESTIONS = ("When does a tide mill open its gates?", "What does the pond of a tide mill hold?")


class Finds:
    """Finds the same passages for every question."""

    def __init__(self, *passages: Passage, abstain: str = "", error: PortFailed | None = None) -> None:
        self.findings = SearchHits(passages, abstain)
        self.error = error
        self.asked: list[str] = []

    async def passages(
        self, questions: Sequence[str], pages: Sequence[Page], *, within: float
    ) -> tuple[SearchHits, ...]:
        await asyncio.sleep(0)
        self.asked += questions
        if self.error:
            raise self.error
        return tuple(self.findings for _ in questions)


def order(**more: Any) -> AnalyzeSources:
    usual: dict[str, Any] = {
        "text": "How does a tide mill use its pond and gates?", "brief": ResearchOptions(), "pages": (), "sections": (),
        "plan": Plan(QUESTIONS, QUESTIONS, ()), "learnings": (), "passages": (), "directions": (), "partial": "",
        "degraded": "", "analysis": None,
    }  # fmt: skip
    return AnalyzeSources(**(usual | more))


async def analyze(
    model: Any, message: AnalyzeSources | None = None, reading: Finds | None = None, turn: Turn | None = None
) -> AnalysisCompleted | DirectionsFound:
    analyzer = Analyzer(model, reading or Finds(PASSAGE), "Argue.")
    return await analyzer.receive(message or order(), turn or Turn())  # type: ignore[arg-type]


def said(event: AnalysisCompleted | DirectionsFound) -> list[str]:
    return [each.text for section in event.sections for each in section.statements]


INVENTED = (
    Claim("The gates are painted green.", 1, "The gates are painted green."),
    Claim("The tide mill opens its gates at 9 metres.", 1, OPENS),
    Claim(OPENS, 7, OPENS),
    Claim("The tide mill never opens its gates.", 1, OPENS),
    Claim("See [4] and https://evil.example/x for the gates of the tide mill.", 1, OPENS),
)


@pytest.mark.req("PR-6")
async def test_no_invented_quote_number_negation_link_or_source_gets_through() -> None:
    model = Scripted({Answer: Answer((*INVENTED, Claim(OPENS, 1, OPENS)), answered=True), Points: Points()})
    event = await analyze(model)
    assert said(event) == [OPENS, OPENS]  # the second question is answered by what the first one says
    assert all(verify(Claim(s.text, 1, s.quote), event.passages) == "supported" for s in event.learnings)
    assert [each.text for each in event.learnings] == [OPENS]


async def test_a_thousand_claims_do_not_flood_the_report() -> None:
    event = await analyze(Scripted({Answer: Answer(INVENTED * 200)}))
    assert said(event) == [TEXT, TEXT], "where nothing of it is left, the places that come closest stand in"
    assert not any(each.answered for each in event.sections)


async def test_a_model_that_finds_nothing_leaves_honest_sections() -> None:
    event = await analyze(Scripted({Answer: Answer()}), reading=Finds(abstain="The documents do not speak of it."))
    assert isinstance(event, AnalysisCompleted)
    assert [(each.answered, each.note) for each in event.sections] == [(False, "The documents do not speak of it.")] * 2
    assert not event.is_complete


async def test_a_model_that_fails_for_one_question_leaves_the_others() -> None:
    def answer(task: ModelRequest) -> Answer | Exception:
        if task.material.question == QUESTIONS[0]:
            return ModelFailed("It is down.")
        return Answer((Claim(HOLDS, 1, HOLDS),))

    event = await analyze(Scripted({Answer: answer}))
    assert said(event)[:1] == [TEXT], "the words of the sources stand in for the model"
    assert event.degraded == ModelFailed.code
    assert event.partial == ""


async def test_a_spent_budget_makes_the_analysis_partial_and_says_so() -> None:
    event = await analyze(Scripted({Answer: BudgetSpent("The budget of tokens is used up.")}))
    assert event.partial == BudgetSpent.code
    assert TEXT in said(event)


async def test_passages_that_cannot_be_searched_are_said() -> None:
    event = await analyze(extractive(), reading=Finds(error=PortFailed("The index is damaged.")))
    assert [each.note for each in event.sections] == [say("port_failed", "en")] * 2


@pytest.mark.req("DR-5")
async def test_open_ends_lead_to_another_round_while_there_is_room() -> None:
    model = Scripted({Answer: Answer((Claim(OPENS, 1, OPENS),), ("silt in ponds", "eels"))})
    event = await analyze(model, order(brief=ResearchOptions(depth=2)))
    assert isinstance(event, DirectionsFound)
    assert event.directions == ("silt in ponds", "eels")
    assert isinstance(await analyze(model, order(brief=ResearchOptions(depth=1))), AnalysisCompleted)


@pytest.mark.req("DR-2")
async def test_a_complete_answer_ends_the_research_whatever_depth_is_left() -> None:
    answered = Scripted({Answer: Answer((Claim(OPENS, 1, OPENS),), (), answered=True)})
    event = await analyze(answered, order(brief=ResearchOptions(depth=5)))
    assert isinstance(event, AnalysisCompleted)
    assert event.is_complete


@pytest.mark.req("DR-6")
async def test_a_round_that_adds_nothing_is_the_last_one() -> None:
    known = Statement(OPENS, OPENS, "mill#1", "mill")
    message = order(
        brief=ResearchOptions(depth=5, round=2, direction="gates"), sections=(Section(QUESTIONS[0], (known,)),),
        learnings=(known,), passages=(PASSAGE,),
    )  # fmt: skip
    event = await analyze(Scripted({Answer: Answer((Claim(OPENS, 1, OPENS),), ("eels",))}), message)
    assert isinstance(event, AnalysisCompleted)
    assert event.learnings == (known,)
    assert len(event.sections) == 1, "what a direction only repeats is no section"


@pytest.mark.req("DR-4")
async def test_what_was_learnt_stays_through_the_rounds_and_is_told_to_the_model() -> None:
    known = Statement(HOLDS, HOLDS, "mill#1", "mill")
    message = order(
        brief=ResearchOptions(depth=2, round=2, direction="gates"), learnings=(known,), passages=(PASSAGE,),
        sections=(Section(QUESTIONS[1], (known,)),),
    )  # fmt: skip
    model = Scripted({Answer: Answer((Claim(OPENS, 1, OPENS),))})
    event = await analyze(model, message)
    assert [each.text for each in event.learnings] == [HOLDS, OPENS]
    assert [each.round for each in event.learnings] == [1, 2]
    assert all(task.material.learnings == (HOLDS,) for task in model.tasks if isinstance(task.material, AnswerRequest))


class Hangs(Scripted):
    """Answers the first question and is silent on all others."""

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Any:
        if getattr(task.material, "question", "") == QUESTIONS[1]:
            self.tasks.append(task)
            await asyncio.Event().wait()
        return await super().fill(shape, task, within=within)


@pytest.mark.req("PR-31")
async def test_asked_to_hand_in_it_returns_at_once_what_is_verified() -> None:
    model, turn = Hangs({Answer: Answer((Claim(OPENS, 1, OPENS),), ("eels",))}), Turn()
    task = asyncio.ensure_future(analyze(model, turn=turn))
    await settle()
    assert not task.done()
    turn.stop()
    event = await asyncio.wait_for(task, promised(1.0))
    assert isinstance(event, AnalysisCompleted), "nothing new starts"
    assert said(event)[0] == OPENS
    assert [each.text for each in event.sections[1].statements] == [TEXT], "what was found is quoted, at least"
    assert not event.sections[1].answered
    assert event.partial == "The research ended before all that was read had been thought about."


async def test_questions_are_answered_a_few_at_a_time_and_each_is_told() -> None:
    questions = tuple(f"What is gate number {number}?" for number in range(8))
    now = most = 0

    class Counts(Scripted):
        async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Any:
            nonlocal now, most
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            now -= 1
            return await super().fill(shape, task, within=within)

    turn = Turn()
    await analyze(Counts({Answer: Answer()}), order(plan=Plan(questions, questions, ())), turn=turn)
    assert most == 4
    told = [each for each in turn.said if isinstance(each, StageProgress)]
    assert list(dict.fromkeys(each.done for each in told)) == list(range(9))
    assert [each.item for each in told if not each.done] == ["", *questions[:4]], "who is at work is told"
    assert {each.total for each in told} == {8}


async def test_without_a_model_the_same_sources_give_the_same_analysis() -> None:
    assert await analyze(extractive()) == await analyze(extractive())
    assert any(each.startswith(OPENS) for each in said(await analyze(extractive())))


@pytest.mark.req("PR-19")
async def test_the_analysis_has_a_summary_for_the_reporter() -> None:
    event = await analyze(extractive())
    assert "## Overview" in event.analysis.summary
    assert OPENS in event.analysis.summary


@pytest.mark.req("PR-6")
async def test_a_product_is_only_looked_into_where_that_is_asked_for() -> None:
    model = Scripted({Answer: Answer((Claim(OPENS, 1, OPENS),)), Points: Points()})
    await analyze(model)
    assert not any(isinstance(task.material, PointsRequest) for task in model.tasks)
    reading = Finds(PASSAGE)
    await analyze(model, order(text="What are the weaknesses of a tide mill?"), reading)
    assert any("weaknesses" in each for each in reading.asked)
    assert [task.material.wanted for task in model.tasks if isinstance(task.material, PointsRequest)] == [("weakness",)]


async def test_without_a_model_sections_of_both_sides_on_one_point_stand_side_by_side() -> None:
    texts = {"Lumo > Limits": "Lumo rests at night.", "Glim > Limits": "Glim rests at noon."}
    found = [Passage(f"m#{n}", "m", "Lamps", h, t, 0, len(t)) for n, (h, t) in enumerate(texts.items())]
    plan = Plan(QUESTIONS[:1], QUESTIONS, (), sides=("Lumo", "Glim"))
    event = await analyze(extractive(), order(text="Compare Lumo and Glim.", plan=plan), Finds(*found))
    assert event.analysis.comparison is not None
    (row,) = event.analysis.comparison.rows
    assert (row.attribute, [cell and cell.said.text for cell in row.cells]) == ("Limits", list(texts.values()))
    assert {cell.said.passage for cell in row.cells if cell} <= {each.id for each in event.passages}
    assert event.analysis.profile is None or event.analysis.profile.swot.strengths == (), "nobody has judged it"


async def test_two_sources_that_disagree_are_both_shown() -> None:
    other_text = "The tide mill opens its gates at 8 metres of water."
    other = Passage("b#1", "b", "Mill", "Gates", other_text, 0, len(other_text), score=1.0)
    event = await analyze(extractive(), reading=Finds(PASSAGE, other))
    (pair,) = event.analysis.contradictions
    assert {pair.one.text, pair.other.text} == {OPENS, other_text}
    assert {pair.one.passage, pair.other.passage} <= {each.id for each in event.passages}


SLOW = Shortfall("no_meaning", "The sentence model took too long.")


class FindsAtLast(Finds):
    """Goes by words alone at first, and finds nothing then."""

    def __init__(self, *then: Passage, slow: int) -> None:
        super().__init__(*then)
        self.slow, self.looks = slow, 0

    async def passages(
        self, questions: Sequence[str], pages: Sequence[Page], *, within: float
    ) -> tuple[SearchHits, ...]:
        self.looks += 1
        if self.looks <= self.slow:
            return tuple(SearchHits(abstain="Nothing.", incomplete=(SLOW,)) for _ in questions)
        return await super().passages(questions, pages, within=within)


async def test_what_a_complete_search_finds_counts_and_another_one_says_what_it_lacked() -> None:
    once, twice = FindsAtLast(PASSAGE, slow=1), FindsAtLast(PASSAGE, slow=9)

    found = await analyze(extractive(), reading=once)
    nothing = await analyze(extractive(), reading=twice)

    assert (once.looks, twice.looks) == (2, 2)
    assert said(found)
    assert (found.incomplete, nothing.incomplete, said(nothing)) == ((), (SLOW,), [])


async def test_a_search_of_what_was_read_that_fails_is_what_it_lacked() -> None:
    nothing = await analyze(extractive(), reading=Finds(error=PortFailed("It took longer than 3 s.")))

    assert nothing.incomplete == (Shortfall("cut_short", "It took longer than 3 s."),)


def reads(verdict: str, *, answers: bool = True) -> Any:
    """A second reader that says this of every statement."""
    return lambda task: SecondReading(
        tuple(StatementVerdict(each.number, verdict, answers) for each in task.material.statements)  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("reader", [reads("not_said"), reads("contradicted"), reads("entailed", answers=False)])
async def test_a_claim_that_a_reader_refuses_is_dropped_and_its_question_is_not_answered(reader: Any) -> None:
    told = Claim("A tide mill opens its gates at 6 metres of water.", 1, OPENS)
    points = Points((Point("The tide mill holds 40,000 litres.", 1, HOLDS, kind="feature", feature="pond"),))
    model = Scripted({Answer: Answer((told,), answered=True), Points: points, SecondReading: reader})

    event = await analyze(model, order(text="What are the features of the tide mill?"))

    assert said(event) == [TEXT, TEXT], "the places stand in"
    assert not event.is_complete
    assert not any(each.answered for each in event.sections)
    assert event.analysis is not None
    assert event.analysis.profile is not None
    assert event.analysis.profile.features == ()


async def test_what_no_reader_has_read_is_told_and_answers_nothing_beyond_doubt() -> None:
    answer = Answer((Claim("A tide mill opens its gates at 6 metres of water.", 1, OPENS),), answered=True)

    event = await analyze(Scripted({Answer: answer, SecondReading: ModelFailed("It is down.")}))

    assert said(event)[0] == answer.claims[0].text
    assert not event.is_complete
    assert event.degraded == ""
