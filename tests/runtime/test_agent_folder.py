"""Which limits hold for an agent, and who may hand a ticket over to whom."""

import pytest

from actors.workflow.tables import Limits
from runtime.agent_folder import load_roster
from runtime.config import ConfigError
from runtime.families import FAMILIES
from runtime.families.limits import configure_all
from runtime.settings import AgentSettings, AgentsSettings, RunSettings, Settings

ROSTER = load_roster(Settings()).of("helpdesk")


def limits(**agents: AgentSettings) -> dict[str, Limits]:
    run = RunSettings(agent_seconds=50.0, retries=1)
    flows = configure_all(FAMILIES, Settings(agents=AgentsSettings(limits=agents), run=run), ROSTER)
    return {role: its for flow in flows.values() for role, its in flow.limits.items()}


def test_what_is_set_for_an_agent_goes_before_its_file_and_that_before_what_is_set_for_all() -> None:
    one, none, three = AgentSettings(seconds=7.0), AgentSettings(retries=0), AgentSettings(retries=3)
    of = limits(planner=one, searcher=none, analyzer=three)

    assert of["planner"] == Limits(7.0, 2), "twice, says its file"
    assert (of["searcher"], of["analyzer"], of["reporter"]) == (Limits(50, 0), Limits(50, 3), Limits(50, 1))


def test_what_is_set_for_the_worker_holds_for_specialists_without_limits_of_their_own() -> None:
    of = limits(worker=AgentSettings(seconds=9.0, retries=4), billing=AgentSettings(retries=0))

    assert (of["worker"], of["network"], of["billing"]) == (Limits(9, 4), Limits(9, 4), Limits(9, 0))
    assert of["memory"] == Limits(50, 1)


@pytest.mark.parametrize(("name", "near"), [("wroker", "'worker'"), ("sercher", "'searcher'")])
def test_settings_for_an_agent_that_there_is_not_are_refused(name: str, near: str) -> None:
    with pytest.raises(ConfigError) as caught:
        limits(**{name: AgentSettings(seconds=9.0)})

    assert str(caught.value) == f"[agents.{name}] is for an agent that there is not. Did you mean {near}?"


def test_a_role_that_a_whole_run_plays_has_the_time_of_one() -> None:
    assert limits()["round"] == limits()["researcher"] == Limits(600.0, 0)
    with pytest.raises(ConfigError, match=r"\[agents.round\] is for an agent that there is not"):
        limits(round=AgentSettings(seconds=9.0))


def test_who_may_hand_over_to_whom_follows_from_the_files() -> None:
    handles = {name: ROSTER[name].handles for name in ("network", "accounts", "billing")}

    assert ROSTER.colleagues_of("worker") == {**handles, "researcher": ""}
    assert list(ROSTER.colleagues_of("network")) == ["worker"]
    assert ROSTER.takers == {"worker", "network", "accounts", "billing", "researcher"}
    assert {name: intent.agent for name in ("billing", "Access ", "incident", "research", "gone")
            if (intent := ROSTER.find_intent(name))} == {
        "billing": "billing", "Access ": "accounts", "incident": "worker", "research": "researcher",
    }  # fmt: skip
