"""That a run is recorded never ends it, and takes no more than it may."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actors.evidence.passages import Passage, SearchHits
from actors.evidence.sources import FailedSource, Page
from actors.ports import Fetch, Knowledge, PortFailed, Search
from runtime.engine.node import Node
from runtime.observe import recording as module
from runtime.observe.recording import CALL_BYTES, Caller, PortCall, Recorder, Room, find_method, take_out
from runtime.observe.replay import load_recording, read_calls
from runtime.tickets import Ticket
from tests.runtime.observe.recorded import QUESTION, run_and_record, settings

HALF = "half of a character: \ud83d"
SEARCH, READ, NAMES = find_method(Knowledge, "search"), find_method(Fetch, "read"), find_method(Search, "names")


def finding(text: str) -> SearchHits:
    return SearchHits((Passage("a#1", "a/b.md", "A", "", text, 0, len(text)),))


async def search(recorder: Recorder, answer: SearchHits | Exception, question: str = "Why?") -> SearchHits:
    async def real(_: str) -> SearchHits:
        if isinstance(answer, Exception):
            raise answer
        return answer

    found: SearchHits = await recorder.ask(Caller(recorder, "r", "worker"), SEARCH, real, (question,), {})
    return found


def taken(recorder: Recorder) -> list[PortCall]:
    return list(read_calls(recorder.take()) or ())


async def test_an_answer_that_cannot_be_written_is_given_and_left_out() -> None:
    recorder, answer = Recorder(), finding(HALF)

    assert await search(recorder, answer) is answer
    assert recorder.look(Caller(recorder, "r", ""), NAMES, lambda: (HALF,), ()) == (HALF,)

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
    await recorder.ask(Caller(recorder, "r", ""), READ, read, (), {"done": told.append})

    assert [each.place for each in told if isinstance(each, FailedSource)] == [HALF]
    assert [(call.omitted, call.heard) for call in taken(recorder)] == [(True, ())]


async def test_runs_that_go_on_at_once_share_a_room_which_each_gives_back_at_its_end() -> None:
    room = Room(CALL_BYTES * 10)
    first, second = Recorder(room), Recorder(room)

    for each in (first, first, second):
        await search(each, finding("Because. " * 130))
    assert [call.omitted for call in taken(first)] == [False, True]
    assert [call.omitted for call in taken(second)] == [True]

    first.close()
    await search(first, finding("Too late."))
    await search(second, finding("Because. " * 130))
    assert taken(first) == []
    assert [call.omitted for call in taken(second)] == [False]
    second.close()
    assert room.left == CALL_BYTES * 10


async def test_a_run_that_finds_no_room_is_answered_and_the_next_one_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MEGABYTES_TOGETHER", 0)
    recording = await run_and_record(settings(tmp_path), tmp_path)
    assert recording.calls
    assert {call.omitted for call in recording.calls} == {True}

    monkeypatch.undo()
    async with Node.open(settings(tmp_path)) as node:
        room = node.recorders._room.left
        handle = await node.submit(Ticket(id="T-2", text=QUESTION))
        await handle.outcome()
        calls = (await load_recording(node.journal, node.recordings, await node.journal.find("T-2"))).calls
        assert any(not call.omitted for call in calls)
        assert node.recorders._room.left == room


async def test_calls_count_and_nothing_is_encoded_once_no_room_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SPARE_BYTES", 10 * CALL_BYTES)
    recorder = Recorder()
    recorder._left = 2 * CALL_BYTES
    encoded: list[Any] = []

    def note(value: Any, parts: dict[bytes, bytes]) -> Any:
        encoded.append(value)
        return take_out(value, parts)

    monkeypatch.setattr(module, "take_out", note)

    recorder.look(Caller(recorder, "r", ""), NAMES, lambda: (), ())
    for _ in range(20):
        await search(recorder, finding("Because."))

    calls = taken(recorder)
    assert [call.omitted for call in calls] == [False] + [True] * (len(calls) - 1)
    assert len(encoded) == 1, "the one that finds too little room"
    assert 10 <= len(calls) <= 12
    assert recorder.parts == {}
