"""What who watches a run hears of its answer besides what the run itself says."""

from collections.abc import Callable
from typing import Any

import pytest

from actors.workflow.outcome import AnswerReady
from actors.workflow.progress import AnswerText, DraftChecked, ProgressEvent
from runtime.engine.runs import RunHandle
from tests.fakes import RESOLUTION

READY = AnswerReady(resolution=RESOLUTION)
INVENTED, ELSE = "It costs 4711 yuan.", "Something else."


class Told:
    """A run that tells this, and then is over."""

    id, ticket = "R-1", "T-1"

    def __init__(self, *events: ProgressEvent) -> None:
        self.events = events

    def so_far(self) -> list[ProgressEvent]:
        return []

    def watch(self, hear: Callable[[Any], object], *, live: bool) -> Callable[[], None]:
        assert live
        for event in self.events:
            hear(event)
        return lambda: None

    def when_over(self, call: Callable[[], object]) -> Callable[[], None]:
        call()
        return lambda: None

    def outcome_so_far(self) -> str:
        return "the end"


async def hear(*events: ProgressEvent) -> list[Any]:
    live: Any = Told(*events)
    return [each async for each in RunHandle(live).watch(drafts=True)]


async def answer(*events: ProgressEvent) -> AnswerReady:
    (ready,) = [each for each in await hear(*events, READY) if isinstance(each, AnswerReady)]
    return ready


@pytest.mark.req("LG-16")
async def test_the_answer_names_what_of_the_last_draft_of_each_agent_was_not_kept() -> None:
    first, other = DraftChecked("worker", (INVENTED,)), DraftChecked("legal_general", (ELSE,))

    assert (await answer(first, other)).unverified == (INVENTED, ELSE)
    assert (await answer(first, other, AnswerText("worker", 0, "Anew."), DraftChecked("worker"))).unverified == (ELSE,)
    assert (await answer()).unverified == ()


@pytest.mark.req("LG-16")
async def test_the_draft_of_who_was_interrupted_is_concluded_before_the_answer_or_the_end() -> None:
    writing = [AnswerText("worker", 0, "Bring "), AnswerText("worker", 6, f"it.\n{ELSE}"), AnswerText("b", 0, "")]
    nothing_stays = DraftChecked("worker", ("Bring it.", ELSE))

    assert (await hear(*writing))[3:-1] == [nothing_stays]
    heard = await hear(*writing, READY)
    assert heard[3] == nothing_stays
    assert heard[4].unverified == nothing_stays.unverified
    assert len(heard) == 6, "once"
