"""A ticket that asks several things gets an answer to those that can be answered, and is told of the others."""

from collections.abc import Mapping

import msgspec
import pytest

from actors.evidence.passages import PartHits, SearchHits, Span
from actors.helpdesk.questions import PARTS, PASSAGES, merge_hits, take_apart
from actors.helpdesk.workflow import TicketCase
from runtime.families import extractive
from tests.fakes import ANSWER, PASSAGE, Stage

OTHER = msgspec.structs.replace(
    PASSAGE, id="kb/trips.md#1", source="kb/trips.md", quotes=(Span(0, 7, 40.0), Span(8, 12, 20.0))
)
NOTHING = SearchHits((), "The documents hold nothing on this.")


APART = [
    ("1) How do I print labels? 2) Where is the red stapler kept?",
     ("How do I print labels?", "Where is the red stapler kept?")),
    ("Two things:\n- What does the green lamp mean?\n- Who may open the cabinet?\nThanks",
     ("What does the green lamp mean?", "Who may open the cabinet?")),
    ("My badge does not open the gate any more. Also, could you order toner for the plotter?",
     ("My badge does not open the gate any more.", "Also, could you order toner for the plotter?")),
    ("The projector flickers all morning. While I'm at it: where do I book a parking lot?",
     ("The projector flickers all morning.", "While I'm at it: where do I book a parking lot?")),
    ("I want to archive my mailbox. Second, the fan of the laptop rattles, can somebody look at it?",
     ("I want to archive my mailbox.", "Second, the fan of the laptop rattles, can somebody look at it?")),
    ("How do I change my password and where can I find the colour printer?",
     ("How do I change my password?", "where can I find the colour printer?")),
    ("How do I renew my parking permit? Who repairs the coffee machine?",
     ("How do I renew my parking permit?", "Who repairs the coffee machine?")),
    ("Wie beantrage ich Urlaub? Außerdem möchte ich wissen, wer den Drucker repariert.",
     ("Wie beantrage ich Urlaub?", "Außerdem möchte ich wissen, wer den Drucker repariert.")),
    ("怎么申请在家办公？另外,打印机没有墨了怎么办？", ("怎么申请在家办公？", "另外,打印机没有墨了怎么办？")),
    ("Wie ändere ich das Passwort und wo finde ich den Farbdrucker?",
     ("Wie ändere ich das Passwort?", "wo finde ich den Farbdrucker?")),
    ("Wie beantrage ich Urlaub und gibt es einen Parkplatz für Gäste?",
     ("Wie beantrage ich Urlaub?", "gibt es einen Parkplatz für Gäste?")),
    ("怎么修改密码以及打印机在哪里？", ("怎么修改密码？", "打印机在哪里？")),
    ("年假怎么申请，会议室在哪里预订？", ("年假怎么申请？", "会议室在哪里预订？")),
    ("비밀번호는 어떻게 바꾸고 프린터는 어디에 있나요?", ("비밀번호는 어떻게 바꾸고?", "프린터는 어디에 있나요?")),
    ("휴가는 어떻게 신청하나요, 그리고 주차장은 어디에 있나요?",
     ("휴가는 어떻게 신청하나요?", "주차장은 어디에 있나요?")),
    ("How do I reset my password? 另外，会议室怎么预订？",
     ("How do I reset my password?", "另外，会议室怎么预订？")),
    ("Wie beantrage ich Urlaub? Where can I find the colour printer?",
     ("Wie beantrage ich Urlaub?", "Where can I find the colour printer?")),
    ("비밀번호는 어떻게 바꾸나요? How do I book a meeting room?",
     ("비밀번호는 어떻게 바꾸나요?", "How do I book a meeting room?")),
    ("노트북은 어떻게 빌리나요? 또한 주차권은 어디에서 받을 수 있나요?",
     ("노트북은 어떻게 빌리나요?", "또한 주차권은 어디에서 받을 수 있나요?")),
]  # fmt: skip
ONE = [
    "My VPN drops. How can I stop that?",
    "How can I stop that? Please? Why??",
    "The file is gone since Monday. Can I get it back? And where does it end up?",
    "The column vanished. Is that a bug, and what must I do about it?",
    "Two things changed since Monday: the lamp is red and the door is shut. How do I open it?",
    "I also tried another cable. It still does not work. What now?",
    "Apart from the lid the scanner is fine. How do I order a lid?",
    "It costs 3.12 a day. Version 2.0 too.",
    "You're welcome. By the way, nice weather here.",
    "How long does the badge last and what can I do now?",
    "Warum trennt sich mein VPN und was kann ich tun?",
    "Wie ändere ich mein Passwort und wie lange gilt es?",
    "Wie richte ich den Scanner ein und aus?",
    "VPN 为什么总是断开，怎么解决？",
    "我的电脑很慢，怎么办？",
    "年假怎么申请，找谁审批？",
    "打印机和扫描仪怎么连接？",
    "根据哪条规定，停车场应该由谁管理？",
    "VPN이 왜 끊기고 어떻게 해결하나요?",
    "노트북을 빌리고 싶은데 어떻게 하나요?",
    "예전 파일은 갖고 있어요. 두 파일이 어디가 다른지 보여 줄 수 있나요?",
    "",
]


@pytest.mark.parametrize(("text", "expected"), APART)
def test_a_ticket_that_asks_several_things_is_taken_apart(text: str, expected: tuple[str, ...]) -> None:
    assert tuple(part.headline for part in take_apart(text)) == expected


@pytest.mark.parametrize("text", ONE)
def test_a_story_with_one_question_stays_whole(text: str) -> None:
    assert take_apart(text) == ()


def test_each_part_has_its_story_and_nothing_is_lost() -> None:
    first = "The lamp over my desk flickers since the storm.\nCan you fix it?"
    second = "Another thing: I need a second monitor.\nMine is too small for plans."

    parts = take_apart(f"Some things today.\n{first}\n{second}")

    assert [part.text for part in parts] == [f"Some things today.\n{first}", second]
    assert [part.headline for part in parts] == [first.splitlines()[0], second.splitlines()[0]]


def test_no_ticket_makes_many_searches_and_the_last_part_has_the_rest() -> None:
    asked = [f"- Where do I find the {name} cupboard?" for name in ("linen", "tool", "paper", "spice", "brush")]

    parts = take_apart("\n".join(asked))

    assert len(parts) == PARTS
    assert parts[-1].text.splitlines() == asked[PARTS - 1 :]


def test_the_best_of_each_comes_first_and_counts_the_same() -> None:
    second = msgspec.structs.replace(PASSAGE, id="kb/vpn.md#2")
    parts = [
        PartHits("a", SearchHits((PASSAGE, second), "", 0.9)), PartHits("b", SearchHits((OTHER,), "", 0.4)),
        PartHits("c", NOTHING),
    ]  # fmt: skip

    found = merge_hits(parts)

    assert [each.id for each in found.passages] == [PASSAGE.id, OTHER.id, second.id]
    assert [quote.score for each in found.passages[:2] for quote in each.quotes] == [1.0, 1.0, 0.5]
    assert (found.abstain, found.confidence, found.parts) == ("", 0.0, tuple(parts))


def test_one_passage_keeps_the_quotes_for_both_and_passages_are_bounded() -> None:
    many = SearchHits(tuple(msgspec.structs.replace(PASSAGE, id=str(n)) for n in range(100)))

    assert [len(each.quotes) for each in merge_hits([PartHits("a", SearchHits((OTHER,)))] * 2).passages] == [4]
    assert len(merge_hits([PartHits("a", many), PartHits("b", many)]).passages) == PASSAGES


def test_what_answers_no_part_answers_nothing() -> None:
    refused = SearchHits((PASSAGE,), "No passage covers this.")

    found = merge_hits([PartHits("a", refused), PartHits("b", NOTHING)])

    assert (found.abstain, [each.id for each in found.passages]) == (refused.abstain, [PASSAGE.id])


class Answers:
    """A search that knows these questions, and nothing of any other."""

    def __init__(self, known: Mapping[str, SearchHits]) -> None:
        self._known = known
        self.asked: list[str] = []

    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        self.asked.append(question)
        return self._known.get(question, NOTHING)


async def test_each_part_is_searched_by_itself_and_has_its_own_places_or_its_own_nothing() -> None:
    asked = "Why does my VPN drop?"
    knowledge = Answers({asked: SearchHits((PASSAGE,), "", 0.5, covered=0.9)})
    case = TicketCase(ticket_id="T-1", text=f"{asked} Who won the football cup in 1954?")

    outcome = await Stage(case=case, knowledge=knowledge, model=extractive()).end()

    assert knowledge.asked == [asked, "Who won the football cup in 1954?"]
    assert outcome.resolution is not None
    assert outcome.resolution.text.split("\n\n") == [
        f"On “{asked}”:\nThe answer most likely stands here:", f"[1] VPN › Drops\n{ANSWER}",
        "Nothing was found on “Who won the football cup in 1954?”.",
    ]  # fmt: skip
    assert outcome.status == "suggested"


async def test_a_model_is_shown_what_was_found_for_each_part() -> None:
    known = {"Why does my VPN drop?": SearchHits((PASSAGE,)), "Who repairs the scanner?": SearchHits((OTHER,))}
    stage = Stage(case=TicketCase(ticket_id="T-1", text=" ".join(known)), knowledge=Answers(known))

    await stage.end()

    shown = next(task.findings for task in stage.model.tasks if task.agent == "worker")
    assert shown is not None
    assert [each.id for each in shown.passages] == [PASSAGE.id, OTHER.id]
