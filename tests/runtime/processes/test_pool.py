"""Blocking work in processes that can be killed: at its time's end, with its caller, with its parent."""

import asyncio
import contextlib
import os
import select
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from actors.evidence.passages import SearchHits
from actors.workflow.outcome import EndReason
from runtime.processes.pool import ROOT, Workers, WorkFailed, WorkTimedOut
from tests.clock import settle
from tests.fakes import Knows, Stage
from tests.patience import HANGS_SECONDS

SLEEP = "tests.runtime.jobs:sleep"
DOUBLE = "tests.runtime.jobs:double"


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    made = Workers(2)
    yield made
    made.close()
    await settle()


async def busy(workers: Workers, count: int) -> None:
    """Wait until so many processes have a call."""
    async with asyncio.timeout(HANGS_SECONDS):
        while len(workers._busy) < count:  # noqa: ASYNC110 - nobody tells when
            await asyncio.sleep(0)


async def killed(workers: Workers, count: int) -> None:
    """Wait until so many processes were killed."""
    async with asyncio.timeout(HANGS_SECONDS):
        while workers.killed < count:  # noqa: ASYNC110 - nobody tells when
            await asyncio.sleep(0)


async def test_a_function_is_called_in_another_process(workers: Workers) -> None:
    assert await workers.call(DOUBLE, 21, within=20, returns=int) == 42
    assert await workers.call("os:getpid", within=20, returns=int) != os.getpid()


async def test_a_process_is_kept_for_the_next_call(workers: Workers) -> None:
    first = await workers.call("os:getpid", within=20, returns=int)

    assert await workers.call("os:getpid", within=20, returns=int) == first


async def test_what_a_function_raises_is_told_and_the_process_lives_on(workers: Workers) -> None:
    pid = await workers.call("os:getpid", within=20, returns=int)

    with pytest.raises(WorkFailed, match="ValueError: no such thing"):
        await workers.call("tests.runtime.jobs:fail", "no such thing", within=20, returns=int)
    with pytest.raises(WorkFailed, match="AttributeError"):
        await workers.call("tests.runtime.jobs:nowhere", within=20, returns=int)
    with pytest.raises(WorkFailed, match="ModuleNotFoundError"):
        await workers.call("nowhere:at_all", within=20, returns=int)
    with pytest.raises(WorkFailed, match="ValidationError"):
        await workers.call(DOUBLE, "not a number", within=20, returns=int)

    assert await workers.call("os:getpid", within=20, returns=int) == pid
    assert workers.killed == 0


async def test_a_call_that_takes_too_long_is_killed_and_the_next_gets_a_new_process(workers: Workers) -> None:
    pid = await workers.call("os:getpid", within=20, returns=int)

    with pytest.raises(WorkTimedOut, match=r"longer than 0\.05 s"):
        await workers.call(SLEEP, 1000.0, within=0.05, returns=int)

    assert not alive(pid)
    assert workers.killed == 1
    assert await workers.call(DOUBLE, 1, within=20, returns=int) == 2


async def test_a_caller_that_is_cancelled_takes_the_process_with_it(workers: Workers) -> None:
    calling = asyncio.ensure_future(workers.call(SLEEP, 1000.0, within=600, returns=int))
    await busy(workers, 1)

    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    assert workers._busy == set()
    await killed(workers, 1)
    assert await workers.call(DOUBLE, 1, within=20, returns=int) == 2


async def test_a_process_that_finishes_what_was_cancelled_is_kept_for_the_next_call() -> None:
    workers = Workers(1)
    pid = await workers.call("os:getpid", within=20, returns=int)
    calling = asyncio.ensure_future(workers.call(SLEEP, 0.1, within=600, returns=int))
    await busy(workers, 1)

    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    assert await workers.call("os:getpid", within=20, returns=int) == pid, "and its answer is not taken for another"
    assert workers.killed == 0
    workers.close()


async def test_a_call_that_is_killed_after_it_was_cancelled_holds_nobody_up_for_long() -> None:
    workers = Workers(1)
    calling = asyncio.ensure_future(workers.call(SLEEP, 1000.0, within=600, returns=int))
    await busy(workers, 1)
    calling.cancel()

    assert await workers.call(DOUBLE, 1, within=20, returns=int) == 2

    assert workers.killed == 1
    workers.close()


async def test_closing_ends_what_finishes_a_cancelled_call(workers: Workers) -> None:
    pid = await workers.call("os:getpid", within=20, returns=int)
    calling = asyncio.ensure_future(workers.call(SLEEP, 1000.0, within=600, returns=int))
    await busy(workers, 1)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    workers.close()

    assert not alive(pid)


async def test_processes_that_were_warmed_serve_the_first_calls(workers: Workers) -> None:
    workers.warm("tests.runtime.jobs", "nowhere.at_all")
    started = list(workers._idle)
    workers.warm("tests.runtime.jobs")

    assert await workers.call(DOUBLE, 1, within=20, returns=int) == 2
    assert len(started) == 2
    assert set(workers._idle) == set(started)


async def test_a_process_that_dies_is_a_failure(workers: Workers) -> None:
    with pytest.raises(WorkFailed, match="died"):
        await workers.call("tests.runtime.jobs:die", 3, within=20, returns=int)

    assert await workers.call(DOUBLE, 1, within=20, returns=int) == 2


async def test_waiting_for_a_free_process_counts(workers: Workers) -> None:
    calling = [asyncio.ensure_future(workers.call(SLEEP, 1000.0, within=600, returns=int)) for _ in range(2)]
    await busy(workers, 2)

    with pytest.raises(WorkTimedOut):
        await workers.call(DOUBLE, 1, within=0.02, returns=int)

    assert workers.killed == 0
    for each in calling:
        each.cancel()
    await asyncio.wait(calling)


async def test_who_has_time_waits_for_a_turn_but_does_not_run_for_longer(workers: Workers) -> None:
    calling = [asyncio.ensure_future(workers.call(SLEEP, 0.5, within=600, returns=int)) for _ in range(2)]
    await busy(workers, 2)

    assert await workers.call(DOUBLE, 4, within=0.4, returns=int, waiting=20) == 8, "it waited longer than it may run"
    assert await asyncio.gather(*calling) == [0, 0]
    with pytest.raises(WorkTimedOut):
        await workers.call(SLEEP, 1000.0, within=0.05, returns=int, waiting=600)


async def test_a_process_that_was_long_waited_for_may_finish_what_nobody_waits_for_any_more() -> None:
    workers = Workers(1)
    pid = await workers.call("os:getpid", within=20, returns=int)
    first = asyncio.ensure_future(workers.call(SLEEP, 0.4, within=20, returns=int))
    await busy(workers, 1)

    with pytest.raises(WorkTimedOut):  # 0.4 s of them go by while it waits
        await workers.call(SLEEP, 0.3, within=0.5, returns=int)

    assert await first == 0
    assert await workers.call("os:getpid", within=20, returns=int) == pid
    assert workers.killed == 0, "to start another one takes longer than what was left to do"
    workers.close()


async def test_closing_ends_busy_processes_and_their_callers_hear_of_it() -> None:
    workers = Workers(2)
    calling = [asyncio.ensure_future(workers.call(SLEEP, 1000.0, within=600, returns=int)) for _ in range(3)]
    await busy(workers, 2)

    workers.close()

    for each in calling:
        with pytest.raises(WorkFailed):
            await asyncio.wait_for(each, HANGS_SECONDS)
    with pytest.raises(WorkFailed, match="closed"):
        await workers.call(DOUBLE, 1, within=5, returns=int)
    workers.close()


async def test_where_no_process_can_be_started_a_call_fails(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    workers.warm("tests.runtime.jobs")
    with pytest.raises(WorkFailed, match="no worker process could be started"):
        await workers.call(DOUBLE, 1, within=5, returns=int)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


PARENT = """
import asyncio, sys
from runtime.processes.pool import Workers

async def main():
    workers = Workers(1)
    print(await workers.call("os:getpid", within=20, returns=int), flush=True)
    call = asyncio.ensure_future(workers.call("tests.runtime.jobs:sleep", 1000.0, within=600, returns=int))
    while not workers._busy:
        await asyncio.sleep(0)
    print("busy", flush=True)
    await call

asyncio.run(main())
"""


def test_a_worker_dies_with_its_parent_however_that_dies() -> None:
    with subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", PARENT], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        watched = os.pidfd_open(pid)
        assert parent.stdout.readline() == "busy\n"

        parent.kill()

        ended, _, _ = select.select([watched], [], [], 10)
    os.close(watched)
    assert ended, "it lives on as nobody's child"


async def test_an_agent_that_blocks_a_worker_process_holds_no_run_and_the_process_is_killed(workers: Workers) -> None:
    class Blocks(Knows):
        async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
            return SearchHits(abstain=str(await workers.call(SLEEP, 1000.0, within=600, returns=int)))

    stage = Stage(knowledge=Blocks())
    await busy(workers, 1)

    outcome = await stage.end()

    assert (outcome.why, outcome.by, outcome.status) == (EndReason.TIMED_OUT, "ticketing", "error")
    await killed(workers, 2)  # one for each try
    assert workers._busy == set()


def test_a_worker_that_prints_spoils_no_answer(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "def speak(n: int) -> int:\n    print('noise' * n)\n    return n\n", encoding="utf-8"
    )
    program = f"""
import asyncio, os
os.environ["PYTHONPATH"] = {str(tmp_path)!r}
from runtime.processes.pool import Workers

async def main():
    workers = Workers(1)
    print(await workers.call("loud:speak", 1000, within=20, returns=int))
    workers.close()

asyncio.run(main())
"""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "1000\n"


async def test_closing_twice_and_cancelling_while_closing_is_quiet(workers: Workers) -> None:
    calling = asyncio.ensure_future(workers.call(SLEEP, 1000.0, within=600, returns=int))
    await busy(workers, 1)

    calling.cancel()
    workers.close()
    workers.close()
    with contextlib.suppress(asyncio.CancelledError, WorkFailed):
        await calling

    assert workers._busy == set()
