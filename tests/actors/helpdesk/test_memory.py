"""What memory's suggestion becomes when a worker has nothing better, and what of that is remembered."""

import msgspec

from actors.drafting.drafts import Draft
from actors.evidence.passages import SearchHits
from actors.ports import Completion, ModelRequest, Recall
from runtime.families import extractive
from tests.fakes import ANSWER, PASSAGE, RESOLUTION, Knows, Remembers, Stage, Thinks

STALE = "“30 seconds” does not stand in kb/vpn.md any more."


class Suggests(Remembers):
    """Suggests an earlier answer to every ticket."""

    def __init__(self, stale: str = "", *, answered: str = "", rejected: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._recall = Recall("suggestion", RESOLUTION, "T-0", stale=stale, answered=answered, rejected=rejected)

    async def recall(self, text: str, *, within: float) -> Recall:
        return self._recall


class Finds(Knows):
    """A search that finds the same for every question."""

    def __init__(self, found: SearchHits) -> None:
        self._found = found

    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        return self._found


class FindsNothing(Thinks):
    async def fill(self, shape: type[object], task: ModelRequest, *, within: float) -> Completion:
        filled = await super().fill(shape, task, within=within)
        return Completion(Draft()) if shape is Draft else filled


async def test_a_suggestion_says_where_it_is_from_and_is_not_remembered_again() -> None:
    memory = Suggests()

    outcome = await Stage(model=FindsNothing(), memory=memory).end()

    assert outcome.status == "suggested"
    assert outcome.resolution is not None
    assert outcome.resolution.text == f"{RESOLUTION.text} [2]"
    assert outcome.resolution.citations[-1].source == "ticket T-0"
    assert memory.stored == {}


async def test_a_stale_suggestion_says_when_it_was_given_and_why_it_may_not_hold_and_cites_nothing_that_is_gone() -> (
    None
):
    memory = Suggests(STALE, answered="2026-03-01")

    outcome = await Stage(model=FindsNothing(), memory=memory).end()

    assert outcome.status == "suggested"
    assert outcome.resolution is not None
    assert outcome.resolution.text == (
        f"This was the answer to an earlier ticket. {STALE} The answer was given on 2026-03-01. [1]\n\n"
        f"{ANSWER}\n\nIt rested on: VPN › Drops."
    )
    assert [(each.number, each.source) for each in outcome.resolution.citations] == [(1, "ticket T-0")]
    assert memory.stored == {}


async def test_a_stale_suggestion_stands_below_the_places_that_are_close_now_unless_they_were_called_wrong() -> None:
    elsewhere = msgspec.structs.replace(PASSAGE, id="kb/tunnel.md#0", source="kb/tunnel.md")
    knowledge = Finds(SearchHits((elsewhere,)))
    close = f"[1] VPN › Drops\n{ANSWER}"

    shown = await Stage(knowledge=knowledge, model=extractive(), memory=Suggests(STALE)).end()
    wrong = await Stage(knowledge=knowledge, model=extractive(), memory=Suggests(STALE, rejected=(close,))).end()

    assert shown.resolution is not None
    assert wrong.resolution is not None
    assert shown.resolution.text.index(close) < shown.resolution.text.index(f"{STALE} [2]\n\n{ANSWER}")
    assert [each.source for each in shown.resolution.citations] == ["kb/tunnel.md", "ticket T-0"]
    assert wrong.resolution.text.startswith(f"This was the answer to an earlier ticket. {STALE} [1]")


async def test_where_the_document_that_it_quoted_says_something_now_a_stale_answer_is_not_shown() -> None:
    found = SearchHits((PASSAGE,))

    outcome = await Stage(knowledge=Finds(found), model=extractive(), memory=Suggests(STALE)).end()

    assert outcome.resolution is not None
    assert STALE not in outcome.resolution.text
    assert [each.source for each in outcome.resolution.citations] == ["kb/vpn.md"]


async def test_an_earlier_answer_is_better_than_places_that_are_only_close() -> None:
    outcome = await Stage(knowledge=Finds(SearchHits((PASSAGE,))), model=extractive(), memory=Suggests()).end()

    assert outcome.resolution is not None
    assert outcome.resolution.text.startswith(RESOLUTION.text)


async def test_a_model_that_is_shown_an_earlier_answer_is_told_why_it_may_not_hold() -> None:
    model = Thinks()

    await Stage(model=model, memory=Suggests(STALE)).end()

    drafted, _ = [each.material for each in model.tasks if each.agent == "worker"]
    assert STALE in str(drafted)


async def test_what_a_worker_found_is_remembered_with_whether_a_model_failed() -> None:
    memory, degraded = Remembers(), []

    class Notes(Remembers):
        async def store(self, key: str, ticket_id: str, text: str, resolution: object, why: str = "") -> None:
            degraded.append(why)
            await memory.store(key, ticket_id, text, RESOLUTION, why)

    class Falls(Thinks):
        async def fill(self, shape: type[object], task: ModelRequest, *, within: float) -> Completion:
            filled = await super().fill(shape, task, within=within)
            return Completion(filled.value, filled.passages, filled.judged, "The model is down.")

    for model in (Thinks(), Falls()):
        await Stage(model=model, memory=Notes()).end()

    assert degraded == ["", "The model is down."]
    assert len(memory.stored) == 1
