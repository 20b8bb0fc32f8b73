"""That a run is recorded never ends it, and takes no more than it may."""

from collections.abc import Callable
from typing import Any

import pytest

from actors.evidence.passages import Passage, SearchHits
from actors.evidence.sources import FailedSource, Page
from actors.ports import Fetch, Knowledge, PortFailed, Search
from runtime.replay import recorder as module
from runtime.replay.port_call import PortCall, find_method
from runtime.replay.recorded_port import Turn
from runtime.replay.recorded_run import read_calls
from runtime.replay.recorder import CALL_BYTES, Recorder
from runtime.replay.shared_parts import take_out

pytestmark = pytest.mark.req("LG-29")
HALF = "half of a character: \ud83d"
SEARCH, READ, NAMES = find_method(Knowledge, "search"), find_method(Fetch, "read"), find_method(Search, "names")


def finding(text: str) -> SearchHits:
    return SearchHits((Passage("a#1", "a/b.md", "A", "", text, 0, len(text)),))


async def search(recorder: Recorder, answer: SearchHits | Exception, question: str = "Why?") -> SearchHits:
    async def real(_: str) -> SearchHits:
        if isinstance(answer, Exception):
            raise answer
        return answer

    found: SearchHits = await recorder.ask(Turn(recorder, "r", "worker"), SEARCH, real, (question,), {})
    return found


def taken(recorder: Recorder) -> list[PortCall]:
    return list(read_calls(recorder.take()))


async def test_an_answer_that_cannot_be_written_is_given_and_left_out() -> None:
    recorder, answer = Recorder(), finding(HALF)

    assert await search(recorder, answer) is answer
    assert recorder.look(Turn(recorder, "r", ""), NAMES, lambda: (HALF,), ()) == (HALF,)

    assert [(call.omitted, call.answer, call.digests) for call in taken(recorder)] == [(True, b"", ())] * 2
    assert recorder.parts == {}


async def test_a_question_or_failure_that_cannot_be_written_is_recorded_without() -> None:
    recorder = Recorder()

    await search(recorder, finding("Because."), HALF)
    with pytest.raises(PortFailed, match="half"):
        await search(recorder, PortFailed(HALF))

    asked, failed = taken(recorder)
    assert (asked.digest, asked.about, asked.omitted) == (b"", "", False)
    assert failed.failure == ("PortFailed", "half of a character: ?")


async def test_what_is_told_before_the_answer_is_told_though_it_cannot_be_written() -> None:
    told: list[Page | FailedSource] = []

    async def read(*, done: Callable[[Any], None]) -> None:
        done(FailedSource(HALF, "unreachable", "It broke."))

    recorder = Recorder()
    await recorder.ask(Turn(recorder, "r", ""), READ, read, (), {"done": told.append})

    assert [each.place for each in told if isinstance(each, FailedSource)] == [HALF]
    assert [(call.omitted, call.heard) for call in taken(recorder)] == [(True, ())]


async def test_calls_count_and_nothing_is_encoded_once_no_room_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SPARE_BYTES", 10 * CALL_BYTES)
    recorder = Recorder()
    recorder._left = 2 * CALL_BYTES
    encoded: list[Any] = []

    def note(value: Any, parts: dict[bytes, bytes]) -> Any:
        encoded.append(value)
        return take_out(value, parts)

    monkeypatch.setattr(module, "take_out", note)

    recorder.look(Turn(recorder, "r", ""), NAMES, lambda: (), ())
    for _ in range(20):
        await search(recorder, finding("Because."))

    calls = taken(recorder)
    assert [call.omitted for call in calls] == [False] + [True] * (len(calls) - 1)
    assert len(encoded) == 1, "the one that finds too little room"
    assert 10 <= len(calls) <= 12
    assert recorder.parts == {}
