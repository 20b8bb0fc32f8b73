"""A ticket that asks several things gets an answer to those that can be answered, and is told of the others."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from actors.evidence.passages import SearchHits, Span
from actors.helpdesk.questions import PASSAGES, QUESTIONS, merge_hits, questions
from actors.helpdesk.workflow import TicketCase
from actors.ports import Completion, ModelRequest
from tests.fakes import ANSWER, PASSAGE, Stage, Thinks

OTHER = msgspec.structs.replace(
    PASSAGE, id="kb/trips.md#1", source="kb/trips.md", quotes=(Span(0, 7, 40.0), Span(8, 12, 20.0))
)
NOTHING = SearchHits((), "The documents hold nothing on this.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How long is it valid? Where do I hand it in?", ("How long is it valid?", "Where do I hand it in?")),
        ("1) How long is it valid? 2) Can I get one?", ("How long is it valid?", "Can I get one?")),
        ("Two things:\n- What does it mean?\n- Who may do it?\nThanks", ("What does it mean?", "Who may do it?")),
        ("怎么申请在家办公？没有权限怎么办？", ("怎么申请在家办公？", "没有权限怎么办？")),
        ("노트북은 어떻게 빌리나요? 반납은 어디에서 하나요?", ("노트북은 어떻게 빌리나요?", "반납은 어디에서 하나요?")),
        ("My VPN drops. How can I stop that?", ()),
        ("How can I stop that? Please? Why??", ()),
        ("How can I stop that? How can I stop that?", ()),
        ("It costs 3.12 a day. Version 2.0 too.", ()),
        ("", ()),
    ],
)
def test_questions_are_found_where_there_are_several(text: str, expected: tuple[str, ...]) -> None:
    assert questions(text) == expected


def test_no_ticket_makes_many_searches() -> None:
    assert len(questions(" ".join(f"What is number {n}?" for n in range(10_000)))) == QUESTIONS


def test_the_best_of_each_comes_first_and_counts_the_same() -> None:
    second = msgspec.structs.replace(PASSAGE, id="kb/vpn.md#2")
    findings, unanswered = merge_hits(
        [("a", SearchHits((PASSAGE, second), "", 0.9)), ("b", SearchHits((OTHER,), "", 0.4)), ("c", NOTHING)]
    )

    assert [each.id for each in findings.passages] == [PASSAGE.id, OTHER.id, second.id]
    assert [quote.score for each in findings.passages[:2] for quote in each.quotes] == [1.0, 1.0, 0.5]
    assert (findings.abstain, findings.confidence, unanswered) == ("", 0.0, ("c",))


def test_it_is_as_sure_as_of_the_least_sure_and_one_passage_keeps_the_quotes_for_both() -> None:
    findings, unanswered = merge_hits([("a", SearchHits((OTHER,), "", 0.9)), ("b", SearchHits((OTHER,), "", 0.4))])

    assert (findings.confidence, unanswered) == (0.4, ())
    assert [len(each.quotes) for each in findings.passages] == [4]


def test_passages_are_bounded() -> None:
    many = tuple(msgspec.structs.replace(PASSAGE, id=str(n)) for n in range(100))

    assert len(merge_hits([("a", SearchHits(many)), ("b", SearchHits(many))])[0].passages) == PASSAGES


class Answers:
    """A search that knows these questions, and nothing of any other."""

    def __init__(self, known: Mapping[str, SearchHits]) -> None:
        self._known = known
        self.asked: list[str] = []

    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        self.asked.append(question)
        return self._known.get(question, NOTHING)


class Quotes(Thinks):
    """A model that quotes and judges nothing."""

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        return msgspec.structs.replace(await super().fill(shape, task, within=within), judged=False)


async def test_each_question_is_searched_by_itself_when_all_together_found_nothing() -> None:
    knowledge = Answers({"Why does my VPN drop?": SearchHits((PASSAGE,), "", 0.9)})
    case = TicketCase(ticket_id="T-1", text="Why does my VPN drop? Who won the cup in 1954?")

    outcome = await Stage(case=case, knowledge=knowledge, model=Quotes()).end()

    assert knowledge.asked == [case.text, "Why does my VPN drop?", "Who won the cup in 1954?"]
    assert outcome.resolution is not None
    assert outcome.resolution.text == f"VPN > Drops:\n{ANSWER} [1]\n\nNothing was found on: “Who won the cup in 1954?”"
    assert outcome.status == "suggested"


async def test_what_all_together_found_is_not_searched_again() -> None:
    text = "Why does my VPN drop? Who can help me with that?"
    knowledge = Answers({text: SearchHits((PASSAGE,), "", 0.9)})

    outcome = await Stage(case=TicketCase(ticket_id="T-1", text=text), knowledge=knowledge).end()

    assert knowledge.asked == [text]
    assert outcome.resolution is not None
    assert "Nothing was found" not in outcome.resolution.text
