"""Who worked on a run is read from its end, with the runs within it; of what is no end, nothing is made up."""

import itertools

import msgspec
import pytest

from actors.workflow.outcome import Handoff
from runtime.storage.records import list_agents


def make_handoffs(*names: str) -> list[Handoff]:
    return [Handoff(source, target, "") for source, target in itertools.pairwise(names)]


def test_each_agent_is_named_once_in_its_order_and_those_of_runs_within_after_it() -> None:
    child = {"handoffs": make_handoffs("orchestrator", "planner", "orchestrator", "worker")}
    ending = {
        "status": "resolved",
        "handoffs": make_handoffs("orchestrator", "memory", "orchestrator", "worker"),
        "children": [child],
    }

    assert list_agents(msgspec.msgpack.encode(ending)) == ["orchestrator", "memory", "worker", "planner"]


def test_an_end_of_an_earlier_version_names_nobody_and_what_is_none_is_refused() -> None:
    assert list_agents(msgspec.msgpack.encode({"status": "error"})) == []
    with pytest.raises(msgspec.MsgspecError):
        list_agents(b"\xc1")
