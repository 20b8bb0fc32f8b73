"""Each scenario of the source document of deep research, from the command line, over a small web in memory."""

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from actors.evidence.claims import Claim
from actors.evidence.sources import SearchResult
from actors.ports import ModelRequest
from actors.research.output_schemas import Answer, PlanDraft, PlanRequest
from actors.text.sentences import split_sentences
from runtime.families.research_runs import ResearchPorts
from tests.inquiry import Finds, Looks, Reads, Scripted
from tests.requirements.desk import Desk

QUESTION = "Halyard cache trends 2026"
TOPICS = [
    "amber", "basil", "cedar", "dahlia", "ember", "fennel", "garnet", "hazel", "indigo", "jasper", "kelp", "linden",
    "maple", "nettle", "ochre", "poplar", "quartz", "rowan", "sorrel", "thyme", "umber", "violet", "willow", "yarrow",
]  # fmt: skip
WIDE = {
    f"https://host{n}.example/{topic}": f"The Halyard cache has a {topic} mode, which keeps {n + 10} spare entries. "
    f"In {topic} mode the Halyard cache writes its counters every {n + 31} seconds."
    for n, topic in enumerate(TOPICS)
}
"""Invented: more pages than anybody wants, all of them on the question."""


class Research:
    """A research on the command line, and what it asked of the web and of its model."""

    def __init__(
        self, web: Mapping[str, str] = WIDE, *, complete: bool = False, directions: Sequence[Sequence[str]] = (),
        missing: Sequence[str] = (), most: int = 3, search: Finds | None = None,
    ) -> None:  # fmt: skip
        """
        :param complete: whether every answer says that nothing is left to know.
        :param directions: what stays open after each round; after those a new one each.
        :param most: claims of each answer, the latest.
        """
        self.search, self.fetch = search or Finds(web), Reads(web, missing)
        self.complete, self.most = complete, most
        self.open = iter(directions)
        self.topics = iter(TOPICS)
        self.plans: list[PlanRequest] = []
        self.read_before: list[int] = []
        """Pages that had been read when each plan was made."""
        self.model = Scripted({PlanDraft: self.plan, Answer: self.answer})

    @property
    def read(self) -> int:
        return len(set(self.fetch.fetched) - self.fetch.missing)

    @property
    def rounds(self) -> list[int]:
        """How many pages each round has read."""
        ends = [*self.read_before, self.read]
        return [after - before for before, after in itertools.pairwise(ends)]

    def plan(self, task: ModelRequest) -> PlanDraft:
        asked: PlanRequest = task.material
        if not asked.shortfall:
            self.plans.append(asked)
            self.read_before.append(self.read)
        explored = asked.direction or asked.question
        return PlanDraft((f"What of the Halyard cache: {explored}",), (f"Halyard {explored}",))

    def answer(self, task: ModelRequest) -> Answer:
        """Each sentence that is shown, letter by letter."""
        passages = task.findings.passages if task.findings else ()
        claims = [Claim(s, n, s) for n, p in enumerate(passages, 1) for s in split_sentences(p.text)]
        left = () if self.complete else tuple(next(self.open, ()) or [f"{next(self.topics, 'yarrow')} mode"])
        return Answer(tuple(claims[-self.most :]), left, answered=self.complete)

    def run(self, desk: Desk, *words: str, question: str = QUESTION) -> "Research":
        desk.ports = ResearchPorts(self.search, self.fetch, Looks())
        done = desk.shell("submit", "--json", "--research", question, *words, model=self.model)
        self.outcome: Any = json.loads(done.out)
        self.told = done.err
        self.report: str = self.outcome["resolution"]["text"]
        self.explored: list[tuple[str, str, str]] = re.findall(
            r"^\[Depth (\d+/\d+)\] Exploring: (.*)\n  (\d+) learnings? so far$", done.err, re.MULTILINE
        )
        return self


@pytest.mark.req("DR-1")
def test_dr_1_two_rounds_of_three_pages_and_what_was_learnt_shapes_the_second(desk: Desk) -> None:
    it = Research().run(desk, "--depth", "2", "--breadth", "3")

    assert it.rounds == [3, 3]
    assert [depth for depth, _, _ in it.explored] == ["1/2", "2/2"]
    assert (it.outcome["why"], it.outcome["by"]) == ("completed", "reporter")
    first, second = it.plans
    assert first.learnings == ()
    said = "\n".join(WIDE[url] for url in it.fetch.fetched[:3])
    assert len(second.learnings) == 3
    assert all(each in said for each in second.learnings)


@pytest.mark.req("DR-1")
def test_dr_1_a_page_that_cannot_be_read_is_replaced_by_another(desk: Desk) -> None:
    it = Research(missing=list(WIDE)[::3]).run(desk, "--depth", "2", "--breadth", "3")

    assert it.rounds == [3, 3]


class Ranked(Finds):
    """Always finds the same, in the same order."""

    async def search(self, source: str, query: str, *, limit: int, within: float) -> tuple[SearchResult, ...]:
        self.asked.append((source, query))
        return tuple(SearchResult(source, url, url, text, query=query) for url, text in self.web.items())[:limit]


@pytest.mark.req("DR-1", "DR-7")
def test_dr_1_others_are_searched_for_when_what_was_found_could_not_be_read(desk: Desk) -> None:
    """Of the first pages of the only source all but one are gone."""
    it = Research(missing=list(WIDE)[1:6], search=Ranked(WIDE)).run(desk, "--depth", "1", "--breadth", "4")

    assert it.rounds == [4]


@pytest.mark.req("DR-2")
@pytest.mark.parametrize("depth", ["1", "2", "3"])
def test_dr_2_a_complete_answer_ends_the_search_whatever_depth_is_left(desk: Desk, depth: str) -> None:
    it = Research(complete=True).run(desk, "--depth", depth, "--breadth", "3")

    assert it.rounds == [3]
    assert [each for each, _, _ in it.explored] == [f"1/{depth}"]
    assert (it.outcome["why"], it.outcome["by"]) == ("completed", "reporter")
    assert "spare entries" in it.report
    assert "Further exploration needed" not in it.report


@pytest.mark.req("DR-2")
def test_dr_2_so_does_one_of_a_later_round(desk: Desk) -> None:
    it = Research(directions=[["fennel mode"]])
    it.complete = False
    known = it.answer

    def answer(task: ModelRequest) -> Answer:
        it.complete = len(it.plans) == 2
        return msgspec.structs.replace(known(task), answered=True)

    it.model.answers = {**it.model.answers, Answer: answer}
    it.run(desk, "--depth", "4", "--breadth", "3")

    assert [each for each, _, _ in it.explored] == ["1/4", "2/4"]
    assert "Further exploration needed" not in it.report


@pytest.mark.req("DR-3")
@pytest.mark.parametrize(
    ("question", "mark"),
    [(QUESTION, "Further exploration needed"), ("Halyard cache 2026년 동향은 무엇입니까?", "추가 탐색 필요")],
)
def test_dr_3_at_full_depth_the_best_report_is_marked(desk: Desk, question: str, mark: str) -> None:
    it = Research().run(desk, "--depth", "3", "--breadth", "2", question=question)

    assert it.rounds == [2, 2, 2]
    assert mark in it.report
    assert "spare entries" in it.report, "what is there is reported"
    assert it.outcome["status"] == "suggested"
    (file,) = desk.folder.glob("task-data/T-*.md")
    assert "Further exploration needed" in file.read_text(encoding="utf-8")


@pytest.mark.req("DR-3")
def test_dr_3_so_is_one_of_a_search_that_found_nothing_more(desk: Desk) -> None:
    one = dict(list(WIDE.items())[:1])

    it = Research(one).run(desk, "--depth", "3", "--breadth", "2")

    assert "Further exploration needed" in it.report


REGULATION = "AI regulation is tightened for every provider from 2026 on."


@pytest.mark.req("DR-4")
def test_dr_4_a_learning_is_extracted_and_handed_to_the_next_plan(desk: Desk) -> None:
    pages = {"https://one.example/": f"{REGULATION} The Halyard cache is not concerned."}

    it = Research({**pages, **dict(list(WIDE.items())[:3])}, most=9).run(desk, "--depth", "2", "--breadth", "4")

    first, second, *_ = it.plans
    assert REGULATION not in first.learnings
    assert REGULATION in second.learnings


@pytest.mark.req("DR-4")
def test_dr_4_without_a_model_it_shapes_the_next_search(desk: Desk) -> None:
    """Two webs say other things of one subject; the plans are made by rules."""
    queries = []
    for place in ("Marwick", "Osterby"):
        web = {url: text.replace("Halyard cache", f"Halyard cache of {place}") for url, text in WIDE.items()}
        it = Research(web, directions=[["amber mode"]])
        del it.model.answers[PlanDraft]  # type: ignore[attr-defined]
        it.run(desk, "--depth", "2", "--breadth", "2")
        queries.append(" ".join(query for _, query in it.search.asked))

    assert "Marwick" in queries[0]
    assert "Osterby" in queries[1]


@pytest.mark.req("DR-5")
def test_dr_5_an_open_question_becomes_a_direction_and_is_explored_first(desk: Desk) -> None:
    opened = ["details of the regulation", "amber mode"]

    it = Research(directions=[opened, ["kelp mode"]]).run(desk, "--depth", "4", "--breadth", "2")

    assert [direction for _, direction, _ in it.explored] == [QUESTION, *opened, "kelp mode"]
    assert it.plans[1].direction == "details of the regulation"
    second = next(n for n, (_, query) in enumerate(it.search.asked) if "regulation" in query)
    assert all(QUESTION in query for _, query in it.search.asked[:second]), "nothing else was searched for before it"


@pytest.mark.req("DR-5")
def test_dr_5_nothing_is_explored_twice(desk: Desk) -> None:
    it = Research(directions=[["fennel mode", "amber mode"]] * 4).run(desk, "--depth", "4", "--breadth", "2")

    assert [direction for _, direction, _ in it.explored] == [QUESTION, "fennel mode", "amber mode"]


@pytest.mark.req("DR-6")
def test_dr_6_at_most_twenty_learnings_are_kept(desk: Desk) -> None:
    it = Research(most=99).run(desk, "--depth", "2", "--breadth", "20")

    assert [known for _, _, known in it.explored] == ["0", "20"]


@pytest.mark.req("DR-6")
def test_dr_6_what_is_known_is_not_learnt_again(desk: Desk) -> None:
    """All pages say the same, the later ones in other words around it."""
    said = "The Halyard cache evicts the entry that was used least recently."
    pages = {f"https://host{n}.example/": f"{said} It is {topic} number {n + 5}." for n, topic in enumerate(TOPICS)}
    it = Research(pages, directions=[["Halyard cache eviction"], ["Halyard cache entries"]], most=99)
    known = it.answer

    def first_sentences(task: ModelRequest) -> Answer:
        answered = known(task)
        return msgspec.structs.replace(answered, claims=tuple(each for each in answered.claims if each.text == said))

    it.model.answers = {**it.model.answers, Answer: first_sentences}
    it.run(desk, "--depth", "3", "--breadth", "3")

    assert [known for _, _, known in it.explored] == ["0", "1"], "the second round added nothing, so it is the last"
    assert it.plans[1].learnings == (said,)
    assert it.report.count(said) >= 1


@pytest.mark.req("DR-7")
def test_dr_7_breadth_five_and_depth_three_are_five_pages_a_round_and_three_rounds(desk: Desk) -> None:
    it = Research().run(desk, "--breadth", "5", "--depth", "3")

    assert it.rounds == [5, 5, 5]
    assert [depth for depth, _, _ in it.explored] == ["1/3", "2/3", "3/3"]


@pytest.mark.req("DR-7")
@pytest.mark.parametrize(("breadth", "depth"), [(1, 3), (4, 4)])
def test_dr_7_each_is_set_for_itself(desk: Desk, breadth: int, depth: int) -> None:
    it = Research().run(desk, "--breadth", str(breadth), "--depth", str(depth))

    assert it.rounds == [breadth] * depth


@pytest.mark.req("DR-8")
def test_dr_8_a_depth_of_ten_alone_is_one_pass_over_ten_pages(desk: Desk) -> None:
    it = Research().run(desk, "--depth", "10")

    assert it.rounds == [10]
    assert [depth for depth, _, _ in it.explored] == ["1/1"]
    assert it.outcome["children"] == [], "it goes no deeper"
    assert it.outcome["handoffs"][-1]["target"] == "reporter"


@pytest.mark.req("DR-9")
def test_dr_9_without_parameters_it_is_breadth_five_and_depth_two(desk: Desk) -> None:
    it = Research().run(desk)

    assert it.rounds == [5, 5]
    assert [depth for depth, _, _ in it.explored] == ["1/2", "2/2"]


class Tracked(Finds):
    """Finds the same pages again and again, from the second time on under addresses that only look new."""

    async def search(self, source: str, query: str, *, limit: int, within: float) -> tuple[SearchResult, ...]:
        tail = f"?utm_source={len(self.asked)}#top" if self.asked else ""
        self.asked.append((source, query))
        return tuple(
            SearchResult(source, url, f"{url}{tail}", f"{text} {tail}", query=query) for url, text in self.web.items()
        )


@pytest.mark.req("DR-10")
def test_dr_10_a_page_of_an_earlier_round_is_not_read_again(desk: Desk) -> None:
    few = dict(list(WIDE.items())[:5])

    it = Research(few, search=Ranked(few)).run(desk, "--breadth", "3", "--depth", "2")

    assert it.rounds == [3, 2], "only the new ones"
    assert sorted(it.fetch.fetched) == sorted(few)


@pytest.mark.req("DR-10")
def test_dr_10_nor_is_it_under_an_address_that_only_looks_new(desk: Desk) -> None:
    few = dict(list(WIDE.items())[:3])

    it = Research(few, search=Tracked(few)).run(desk, "--breadth", "3", "--depth", "2")

    assert sorted(it.fetch.fetched) == sorted(few)


@pytest.mark.req("DR-11")
def test_dr_11_each_round_says_what_it_explores_and_how_much_is_known(desk: Desk) -> None:
    it = Research(directions=[["fennel mode"], ["amber mode"]]).run(desk, "--breadth", "3", "--depth", "3")

    assert f"[Depth 1/3] Exploring: {QUESTION}\n  0 learnings so far\n" in it.told
    assert "[Depth 2/3] Exploring: fennel mode\n  3 learnings so far\n" in it.told
    assert "[Depth 3/3] Exploring: amber mode\n  6 learnings so far\n" in it.told
    assert len(it.explored) == 3


def test_the_pages_of_this_file_share_no_sentence() -> None:
    sentences = [part for text in WIDE.values() for part in text.split(". ")]
    assert len(sentences) == len(set(sentences))
