"""The daemon's benchmark with a few tickets: it measures what it says, and its trials lose nothing."""

import argparse
from pathlib import Path
from typing import Any

import pytest

from bench.daemon.__main__ import ALL, main, show
from bench.daemon.load import PARTS
from bench.daemon.trials import TRIALS

FEW = argparse.Namespace(
    rounds=1,
    tickets=8,
    at_once=4,
    open=8,
    ended=50,
    crowd=12,
    listeners=20,
    streamed=4,
    kills=1,
    wave=4,
    seed=1,
    soaked=60,
)


async def take(name: str, folder: Path) -> Any:
    return await ALL[name](folder, FEW)


async def test_tickets_are_accepted_beside_a_bare_handler(tmp_path: Path) -> None:
    found = await take("accept", tmp_path)

    assert 0 < found["ours"]["finished"] <= found["ours"]["per_second"]
    assert 0 < found["ratio"] == pytest.approx(found["ours"]["per_second"] / found["bare"]["per_second"], abs=0.01)
    assert "accepted a second" in show({"accept": found})


async def test_delays_are_those_of_every_ticket(tmp_path: Path) -> None:
    found = await take("delays", tmp_path)

    assert set(found) == {"answer", "ticket_stream", "stream_of_all"}
    assert all(0 <= each["p50"] <= each["p99"] <= each["max"] for each in found.values())


async def test_a_start_is_measured_on_a_folder_with_tickets_that_can_be_read(tmp_path: Path) -> None:
    found = await take("ready", tmp_path)

    assert found["ended"] == 50
    assert min(found["empty"], found["full"]) > 0


async def test_all_of_a_crowd_end(tmp_path: Path) -> None:
    found = await take("crowd", tmp_path)

    assert found["ended"] == found["accepted"] == 12
    assert sum(found["statuses"].values()) == 12
    assert found["end_to_answer_ms"]["p99"] < 2000


async def test_good_listeners_hear_each_event_once_beside_bad_ones(tmp_path: Path) -> None:
    found = await take("listeners", tmp_path)

    assert found["events"] > 4 * 10
    assert found["connections"] > found["listeners"] == 20
    assert (found["lost"], found["doubled"], found["out of order"]) == (0, 0, 0)


async def test_kills_lose_no_ticket_and_end_none_twice(tmp_path: Path) -> None:
    found = await take("kills", tmp_path)

    assert 0 < found["accepted"] == found["ended"]
    assert (found["heard otherwise"], found["extra runs"]) == (0, 0)


async def test_a_soak_finds_no_file_and_no_thread_that_stays(tmp_path: Path) -> None:
    found = await take("soak", tmp_path)

    assert found["tickets"] == 60
    assert found["open_files"][-1] <= found["open_files"][1]
    assert found["threads"][-1] <= found["threads"][1]
    assert all(each > 10 for each in found["resident_mib"])


def test_what_it_does_not_know_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["bench.daemon", "--only", "accept,nothing"])
    with pytest.raises(SystemExit):
        main()
    assert "there is no nothing" in capsys.readouterr().err
    assert not set(PARTS) & set(TRIALS)
