"""What who watches a run hears of its answer besides what the run itself says."""

from collections.abc import Callable
from typing import Any

import pytest

from actors.workflow.outcome import AnswerReady
from actors.workflow.progress import AnswerText, DraftChecked, ProgressEvent
from runtime.run_handle import RunHandle
from tests.fakes import RESOLUTION

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

    def outcome_so_far(self) -> None:
        return None


async def answer(*events: ProgressEvent) -> AnswerReady:
    live: Any = Told(*events, AnswerReady(resolution=RESOLUTION))
    (ready,) = [each async for each in RunHandle(live).watch(drafts=True) if isinstance(each, AnswerReady)]
    return ready


@pytest.mark.req("LG-16")
async def test_the_answer_names_what_of_the_last_draft_of_each_agent_was_not_kept() -> None:
    first, other = DraftChecked("worker", (INVENTED,)), DraftChecked("legal_general", (ELSE,))

    assert (await answer(first, other)).unverified == (INVENTED, ELSE)
    assert (await answer(first, other, AnswerText("worker", 0, "Anew."), DraftChecked("worker"))).unverified == (ELSE,)
    assert (await answer()).unverified == ()
