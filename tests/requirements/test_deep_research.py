"""Rounds, learnings and directions, held to the source document of deep research."""

import asyncio
from typing import Any

import frontmatter
import msgspec
import pytest

from actors.evidence.claims import Claim
from actors.evidence.sources import SearchResult
from actors.ports import ModelRequest
from actors.research.models import ResearchOptions
from actors.research.output_schemas import Answer, PlanDraft, PlanRequest
from actors.research.searcher import Searcher
from actors.research.workflow import ResearchCase, State
from actors.text.keywords import keywords
from actors.text.sentences import split_sentences
from actors.workflow.outcome import EndReason, Outcome
from actors.workflow.progress import RoundBegan, StageProgress
from runtime.families.research_state.project import Project, status_of
from runtime.families.research_state.state_file import render_state
from tests.clock import settle
from tests.fakes import Hangs
from tests.inquiry import QUESTION, WEB, Finds, Inquiry, Reads, Scripted

TOPICS = [
    "amber", "basil", "cedar", "dahlia", "ember", "fennel", "garnet", "hazel", "indigo", "jasper", "kelp", "linden",
    "maple", "nettle", "ochre", "poplar", "quartz", "rowan", "sorrel", "thyme", "umber", "violet", "willow", "yarrow",
]  # fmt: skip
WIDE = {
    f"https://host{n}.example/{topic}": f"The Halyard cache has a {topic} mode, which keeps {n + 10} spare entries. "
    f"In {topic} mode the Halyard cache writes its counters every {n + 31} seconds."
    for n, topic in enumerate(TOPICS)
}
"""Invented: as many pages as anybody wants, all of them on the question."""


def quoting(*, complete: bool, directions: tuple[str, ...], most: int = 40) -> Any:
    """A model that claims each sentence that it is shown, letter by letter."""

    def answer(task: ModelRequest) -> Answer:
        passages = task.findings.passages if task.findings else ()
        claims = [Claim(s, n, s) for n, p in enumerate(passages, 1) for s in split_sentences(p.text)]
        return Answer(tuple(claims[:most]), directions, answered=complete)

    return answer


def plan(task: ModelRequest) -> PlanDraft:
    """Asks the direction, or the question, and nothing else."""
    asked: PlanRequest = task.material
    explored = asked.direction or asked.question
    return PlanDraft((f"What of the Halyard cache: {explored}",), (f"Halyard {explored}",))


def deep(
    brief: ResearchOptions, *, complete: bool = False, directions: tuple[str, ...] = ("amber mode",), **more: Any
) -> Inquiry:
    model = Scripted({PlanDraft: plan, Answer: quoting(complete=complete, directions=directions)})
    world: dict[str, Any] = {"search": Finds(WIDE), "fetch": Reads(WIDE)}
    return Inquiry(brief=brief, model=model, **(world | more))


def onward() -> Scripted:
    """A model that learns from the latest pages, and knows something new to look for after each round."""
    topics = iter(TOPICS)

    def answer(task: ModelRequest) -> Answer:
        said: Answer = quoting(complete=False, directions=(f"{next(topics)} mode",))(task)
        return msgspec.structs.replace(said, claims=said.claims[-3:])

    return Scripted({PlanDraft: plan, Answer: answer})


def pages_read(inquiry: Inquiry) -> list[int]:
    """How many pages each round has read successfully, in order."""
    read: list[int] = []
    done = 0
    for each in inquiry.heard:
        if isinstance(each, RoundBegan):
            read.append(0)
        elif isinstance(each, StageProgress) and each.stage == "extracting":
            read[-1] += max(0, each.done - done)  # asked a second time, a round counts from nothing
            done = each.done
    return read


def begun(inquiry: Inquiry) -> list[RoundBegan]:
    return [each for each in inquiry.heard if isinstance(each, RoundBegan)]


@pytest.mark.req("DR-1", "DR-10")
async def test_dr_1_two_rounds_of_three_pages_and_what_was_learned_shapes_the_second() -> None:
    fetch = Reads(WIDE)
    inquiry = deep(ResearchOptions(breadth=3, depth=2), fetch=fetch)

    outcome = await inquiry.end()

    assert outcome.why is EndReason.COMPLETED
    assert len(inquiry.rounds) == 1
    assert pages_read(inquiry) == [3, 3]
    assert len(fetch.fetched) == len(set(fetch.fetched)) == len(inquiry.known.pages) == 6
    second = next(t for t in inquiry.model_.tasks if t.agent == "planner" and t.material.learnings)
    assert "spare entries" in "\n".join(second.material.learnings)
    assert [each.number for each in begun(inquiry)] == [1, 2]


@pytest.mark.req("DR-1", "DR-7")
@pytest.mark.parametrize(("breadth", "depth"), [(1, 3), (3, 2), (5, 3), (4, 4)])
@pytest.mark.parametrize("failing", [0, 2, 3, 5])
async def test_dr_7_each_round_reads_its_breadth_while_unread_pages_are_there(
    breadth: int, depth: int, failing: int
) -> None:
    """Collected are pages that were read: one that fails is replaced by the next."""
    missing = list(WIDE)[::failing] if failing else []
    fetch = Reads(WIDE, missing=missing)
    inquiry = Inquiry(
        brief=ResearchOptions(breadth=breadth, depth=depth), model=onward(), search=Finds(WIDE), fetch=fetch
    )

    await inquiry.end()

    there = len(WIDE) - len(missing)
    rounds = [min(breadth, max(0, there - breadth * n)) for n in range(depth)]
    assert pages_read(inquiry) == rounds
    assert len(fetch.fetched) == len(set(fetch.fetched)), "none twice, not even those that failed"
    assert not {page.url for page in inquiry.known.pages} & set(missing)


@pytest.mark.req("DR-1", "DR-7")
async def test_dr_7_when_what_was_found_could_not_be_read_others_are_searched_for() -> None:
    # given a source whose first pages are all gone, but for one
    class Ranked(Finds):
        async def search(self, source: str, query: str, *, limit: int, within: float) -> tuple[SearchResult, ...]:
            self.asked.append((source, query))
            return tuple(SearchResult(source, url, url, text, query=query) for url, text in WIDE.items())[:limit]

    gone = list(WIDE)[1:6]
    inquiry = deep(ResearchOptions(breadth=4, depth=1), search=Ranked(WIDE), fetch=Reads(WIDE, missing=gone))

    await inquiry.end()

    assert [each.url for each in inquiry.known.pages] == [each for each in list(WIDE)[:9] if each not in gone]
    assert {each.place for each in inquiry.known.missed} == set(gone)


@pytest.mark.req("DR-1", "DR-7")
async def test_dr_7_what_an_earlier_round_found_and_did_not_read_is_there_for_a_later_one() -> None:
    class Once(Finds):
        async def search(self, source: str, query: str, *, limit: int, within: float) -> tuple[SearchResult, ...]:
            known = bool(self.asked)
            self.asked.append((source, query))
            every = tuple(SearchResult(source, url, url, text, query=query) for url, text in WIDE.items())
            return () if known else every[:limit]

    inquiry = deep(ResearchOptions(breadth=2, depth=2), search=Once(WIDE))

    await inquiry.end()

    assert pages_read(inquiry) == [2, 2]


def says_further(inquiry: Inquiry, outcome: Outcome) -> bool:
    """Whether report and state file say that further exploration is needed: both, or neither."""
    assert outcome.resolution is not None
    status = status_of(State.COMPLETED, outcome)
    project = Project(case=inquiry.known, title="Halyard", status=status, created="", updated="")
    said = {"further exploration needed" in each.lower() for each in (outcome.resolution.text, render_state(project))}
    said |= {not frontmatter.loads(render_state(project))["isComplete"], bool(inquiry.known.report.further)}  # type: ignore[union-attr]
    assert len(said) == 1
    return said.pop()


@pytest.mark.req("DR-2")
@pytest.mark.parametrize("brief", [ResearchOptions(breadth=3, depth=3), ResearchOptions(breadth=3, depth=1)])
async def test_dr_2_a_complete_answer_ends_the_search_whatever_depth_is_left(brief: ResearchOptions) -> None:
    inquiry = deep(brief, complete=True, directions=())

    outcome = await inquiry.end()

    assert inquiry.rounds == []
    assert inquiry.known.is_complete
    assert outcome.resolution is not None
    assert not says_further(inquiry, outcome)


@pytest.mark.req("DR-2")
async def test_dr_2_a_later_round_that_completes_the_answer_ends_the_search_too() -> None:
    def answer(task: ModelRequest) -> Answer:
        later = bool(task.material.learnings)
        said: Answer = quoting(complete=True, directions=() if later else ("amber mode",))(task)
        return msgspec.structs.replace(said, claims=said.claims[-3:])

    model = Scripted({PlanDraft: plan, Answer: answer})
    inquiry = Inquiry(brief=ResearchOptions(breadth=3, depth=4), model=model, search=Finds(WIDE), fetch=Reads(WIDE))

    outcome = await inquiry.end()

    assert len(inquiry.rounds) == 1
    assert not says_further(inquiry, outcome)


@pytest.mark.req("DR-3")
async def test_dr_3_at_full_depth_the_report_says_that_further_exploration_is_needed() -> None:
    inquiry = deep(ResearchOptions(breadth=2, depth=2), directions=("amber mode", "basil mode"))

    outcome = await inquiry.end()

    assert len(inquiry.rounds) == 1
    assert not inquiry.known.is_complete
    assert says_further(inquiry, outcome)


@pytest.mark.req("DR-2", "DR-3")
async def test_dr_3_a_round_that_added_nothing_leaves_the_mark() -> None:
    one = dict(list(WIDE.items())[:1])
    inquiry = deep(ResearchOptions(breadth=3, depth=5), search=Finds(one), fetch=Reads(one))

    outcome = await inquiry.end()

    assert len(inquiry.rounds) <= 1, "there is nothing new to go on with"
    assert says_further(inquiry, outcome)


@pytest.mark.req("DR-3")
async def test_dr_3_nothing_found_and_nothing_open_leave_the_mark() -> None:
    nothing = deep(ResearchOptions(breadth=3, depth=3), search=Finds({}), fetch=Reads({}))
    unjudged = deep(ResearchOptions(breadth=3, depth=3), directions=())

    for inquiry in (nothing, unjudged):
        outcome = await inquiry.end()
        assert outcome.why is EndReason.COMPLETED
        assert says_further(inquiry, outcome)


@pytest.mark.req("DR-3")
async def test_dr_3_a_research_that_was_cancelled_or_ran_out_of_time_leaves_the_mark() -> None:
    cancelled, late = (deep(ResearchOptions(breadth=2, depth=3), fetch=Stops(WIDE)) for _ in range(2))
    await settle()
    cancelled.live.cancel()

    for inquiry, status in ((cancelled, "cancelled"), (late, "suggested")):
        outcome = await inquiry.end()
        assert outcome.status == status
        assert says_further(inquiry, outcome)


@pytest.mark.req("DR-1", "DR-4")
async def test_dr_4_without_a_model_too_what_was_learnt_shapes_the_next_search() -> None:
    # given two webs that say other things of one subject, and one direction
    queries = []
    for place, direction in (("Marwick", "amber mode"), ("Osterby", "amber mode")):
        web = {url: text.replace("Halyard cache", f"Halyard cache of {place}") for url, text in WIDE.items()}
        model = Scripted({Answer: quoting(complete=False, directions=(direction,))})
        inquiry = Inquiry(brief=ResearchOptions(breadth=2, depth=2), model=model, search=Finds(web), fetch=Reads(web))

        # when the plans are made by rules
        await inquiry.end()

        (second,) = inquiry.rounds
        case = second.where.case
        assert isinstance(case, ResearchCase)
        assert case.plan is not None
        assert case.brief.direction == direction
        queries.append(case.plan.queries)

    # then
    assert "Marwick" in " ".join(queries[0])
    assert "Osterby" in " ".join(queries[1])
    assert [each[0] for each in queries] == [f"amber mode {keywords(QUESTION, 5)}"] * 2


@pytest.mark.req("DR-4", "DR-6")
async def test_dr_6_learnings_are_linked_to_what_was_read_none_twice_and_twenty_at_most() -> None:
    inquiry = deep(ResearchOptions(breadth=20, depth=1))

    await inquiry.end()

    known = inquiry.known
    texts = [each.text for each in known.learnings]
    assert len(texts) == len(set(texts)) == 20
    pages = {page.key: page for page in known.pages}
    passages = {each.id for each in known.passages}
    assert all(each.quote in pages[each.page].text for each in known.learnings)
    assert {each.passage for each in known.learnings} <= passages


@pytest.mark.req("DR-5")
async def test_dr_5_an_open_question_is_explored_first_in_the_next_round() -> None:
    inquiry = deep(ResearchOptions(breadth=2, depth=2), directions=("fennel mode", "amber mode"))

    await inquiry.end()

    assert begun(inquiry)[1].direction == "fennel mode"
    assert any("fennel" in query for _, query in inquiry.search.asked)


@pytest.mark.req("DR-1", "DR-5")
async def test_dr_5_no_round_explores_what_another_has_explored_however_its_plan_words_it() -> None:
    inquiry = deep(ResearchOptions(breadth=2, depth=4), directions=("fennel mode", "amber mode"))

    await inquiry.end()

    assert [each.direction for each in begun(inquiry)] == [QUESTION, "fennel mode", "amber mode"]


@pytest.mark.req("DR-5")
async def test_dr_5_a_direction_was_explored_though_the_plan_asked_for_it_in_other_words() -> None:
    def answer(task: ModelRequest) -> Answer:
        first = not task.material.learnings
        said: Answer = quoting(complete=False, directions=("fennel mode", "amber mode") if first else ())(task)
        return msgspec.structs.replace(said, claims=said.claims[-3:])

    def reworded(task: ModelRequest) -> PlanDraft:
        number = task.material.round
        return PlanDraft((f"What else does the Halyard cache do, part {number}?",), (f"Halyard mode {number}",))

    model = Scripted({PlanDraft: reworded, Answer: answer})
    inquiry = Inquiry(brief=ResearchOptions(breadth=2, depth=4), model=model, search=Finds(WIDE), fetch=Reads(WIDE))

    await inquiry.end()

    assert [each.direction for each in begun(inquiry)] == [QUESTION, "fennel mode", "amber mode"]


@pytest.mark.req("DR-7")
async def test_dr_7_breadth_five_and_depth_three_are_five_pages_a_round_and_three_rounds() -> None:
    fetch = Reads(WIDE)
    inquiry = Inquiry(brief=ResearchOptions(breadth=5, depth=3), model=onward(), search=Finds(WIDE), fetch=fetch)

    await inquiry.end()

    assert [each.number for each in begun(inquiry)] == [1, 2, 3]
    assert {each.of for each in begun(inquiry)} == {3}
    assert pages_read(inquiry) == [5, 5, 5]
    assert inquiry.known.rounds == 3


@pytest.mark.req("DR-8")
async def test_dr_8_a_single_pass_reads_ten_pages_and_reports_at_once() -> None:
    fetch = Reads(WIDE)
    inquiry = deep(ResearchOptions(breadth=10, depth=1), search=Finds(WIDE), fetch=fetch)

    outcome = await inquiry.end()

    assert pages_read(inquiry) == [len(fetch.fetched)] == [10]
    assert inquiry.rounds == []
    assert outcome.why is EndReason.COMPLETED


@pytest.mark.req("DR-9")
def test_dr_9_without_parameters_a_research_has_breadth_five_and_depth_two() -> None:
    assert (ResearchOptions().breadth, ResearchOptions().depth) == (5, 2)


@pytest.mark.req("DR-10")
async def test_dr_10_a_page_of_an_earlier_round_is_not_read_again() -> None:
    few = dict(list(WIDE.items())[:3])
    fetch = Reads(few)
    inquiry = deep(ResearchOptions(breadth=2, depth=2), search=Finds(few), fetch=fetch)

    await inquiry.end()

    assert len(inquiry.rounds) == 1
    assert sorted(fetch.fetched) == sorted(few)


@pytest.mark.req("DR-11")
async def test_dr_11_each_round_says_what_it_explores_and_how_much_is_known() -> None:
    inquiry = deep(ResearchOptions(breadth=3, depth=2), directions=("amber mode",))

    await inquiry.end()

    first, second = begun(inquiry)
    assert first == RoundBegan(1, 2, QUESTION, 0)
    assert (second.number, second.of, second.direction) == (2, 2, "amber mode")
    assert second.learnings > 0


async def test_a_round_that_added_nothing_ends_the_rounds() -> None:
    one = dict(list(WIDE.items())[:1])
    inquiry = deep(ResearchOptions(breadth=3, depth=5), search=Finds(one), fetch=Reads(one))

    outcome = await inquiry.end()

    assert len(inquiry.rounds) <= 1
    assert outcome.why is EndReason.COMPLETED


async def test_every_round_has_handoffs_of_its_own_and_no_more_time_than_the_one_above() -> None:
    inquiry = Inquiry(brief=ResearchOptions(breadth=3, depth=4), model=onward(), search=Finds(WIDE), fetch=Reads(WIDE))

    outcome = await inquiry.end()

    assert len(inquiry.rounds) == 3
    assert [live.id for live in inquiry.rounds] == ["R-1.9", "R-1.9.9", "R-1.9.9.9"]
    times = [live.where.case.max_seconds for live in inquiry.rounds]
    assert times == [570.0, 540.0, 510.0]
    assert len(outcome.handoffs) <= 20
    assert all(len(live.where.handoffs) <= 20 for live in inquiry.rounds)


async def test_a_round_that_never_ends_is_cut_off_and_the_report_has_what_was_known_before() -> None:
    search = Finds(WIDE)
    searchers = iter([Searcher(search)])
    inquiry = deep(ResearchOptions(breadth=3, depth=2), search=search, searcher=lambda: next(searchers, Hangs()))

    outcome = await inquiry.end()

    assert outcome.resolution is not None
    assert outcome.seconds <= 602.0
    assert len(inquiry.known.pages) == 3


async def test_cancelling_a_research_ends_its_deeper_rounds_too() -> None:
    # given
    fetch = Stops(WIDE)
    inquiry = deep(ResearchOptions(breadth=2, depth=3), fetch=fetch)
    await settle()
    assert inquiry.where.state == State.DEEPENING
    assert len(inquiry.rounds) == 1

    # when
    inquiry.live.cancel()
    await settle()

    # then
    outcome = await inquiry.end()
    assert (outcome.status, outcome.seconds) == ("cancelled", 0.0)
    assert all(live.is_over for live in inquiry.rounds)
    assert len(inquiry.known.pages) == 3, "two of the first round, one of the second"


class Stops(Reads):
    """Of the second round it reads one page and no more."""

    async def read(self, results: Any, *, wanted: int, query: str, within: float, done: Any, **_: Any) -> None:
        first = not self.fetched
        await super().read(results, wanted=wanted if first else 1, query=query, within=within, done=done)
        if not first:
            await asyncio.Event().wait()


def test_the_pages_of_this_file_share_no_sentence() -> None:
    sentences = [part for text in (*WIDE.values(), *WEB.values()) for part in text.split(". ")]
    assert len(sentences) == len(set(sentences))
