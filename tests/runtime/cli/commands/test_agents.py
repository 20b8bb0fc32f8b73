"""`agents`: all agents of all workflows, and what is wrong in the file of one; nothing starts with such a file."""

from pathlib import Path

import pytest

from runtime.agent_folder import FOLDER
from runtime.cli.commands import agents
from runtime.families.limits import AgentRecord
from tests.runtime.cli.commands.program import Place
from tests.runtime.test_agent_files import PRINTING, write


@pytest.fixture
def own(place: Place) -> Path:
    """The file of a specialist, where the configuration says that there are some."""
    (place.folder / "config.toml").write_text(
        '[agents]\nfolder = "agents"\n[agents.printing]\nretries = 3\n', encoding="utf-8"
    )
    folder = place.folder / "agents"
    folder.mkdir()
    return write(folder, PRINTING)


@pytest.mark.usefixtures("own")
def test_it_lists_the_agents_of_all_workflows_with_tools_limits_and_files(place: Place) -> None:
    done = place.run("agents")

    assert (done.status, done.err) == (0, "")
    lines = [line.strip() for line in done.out.splitlines()]
    assert [each for each in ("helpdesk", "research") if each not in lines] == []
    for name in ("memory", "ticketing", "network", "researcher", "summarization", "planner", "searcher", "round"):
        assert any(line.startswith(f"{name}: ") for line in lines), name
    text = " ".join(done.out.split())
    assert "printing: Solves tickets about printers. 40 s a step, asked again 3 times · tickets on printing" in text
    assert "tools: search_knowledge · hands over to worker · agents/printing.md" in text
    assert "web_search (set TAVILY_API_KEY, or [duckduckgo] enabled)" in text, "no search of the web is configured"
    assert "hands over to accounts, billing, network, printing, researcher" in text


@pytest.mark.usefixtures("own")
def test_programs_get_the_same(place: Place) -> None:
    agents = {each["name"]: each for each in place.run("agents", "--json").json["agents"]}

    assert agents["printing"] == {
        "name": "printing", "workflow": "helpdesk", "description": "Solves tickets about printers.",
        "intents": ["printing"], "tools": ["search_knowledge"], "seconds": 40.0, "retries": 3,
        "hands_over_to": ["worker"], "file": "agents/printing.md",
    }  # fmt: skip
    assert (agents["analyzer"]["workflow"], agents["analyzer"]["retries"]) == ("research", 2)
    assert agents["memory"]["file"] == str(FOLDER / "memory.md")


def test_an_agent_without_a_file_is_its_name_and_its_limits() -> None:
    clerk = AgentRecord(
        name="clerk", workflow="letters", description="", intents=(), tools=(), seconds=60.0, retries=1,
        hands_over_to=(), file="",
    )  # fmt: skip

    lines = [line.text for line in agents._lines([clerk], {})]

    assert lines == ["letters", "clerk", "60 s a step, asked again 1 time"]


def test_a_file_can_be_checked_before_it_is_used(place: Place, own: Path) -> None:
    other = write(place.folder, PRINTING.replace("printing", "paper"), "paper.md")
    poor = write(place.folder, PRINTING.replace("printing", "paper").replace("handles:", "handels:"), "poor.md")

    good, bad = place.run("agents", "check", str(other)), place.run("agents", "check", str(poor))

    assert (good.status, "paper: Solves tickets about printers." in good.out) == (0, True)
    assert "worker" not in good.out.partition("hands over to worker")[0], "no other agent is listed"
    assert (bad.status, bad.out) == (2, "")
    assert bad.err == f"{poor}, line 4: there is no key 'handels'. Did you mean 'handles'?\n"
    assert place.run("agents", "check", str(own)).status == 0, "one that is in use is not in its own way"
    assert place.run("agents", "check", str(FOLDER / "billing.md")).status == 0
    assert "cannot be read (No such file" in place.run("agents", "check", "nowhere.md").err
    assert "needs the Markdown file" in place.run("agents", "check").err


def test_a_ticket_goes_to_a_specialist_of_the_users_and_nothing_starts_with_a_poor_file(
    place: Place, own: Path
) -> None:
    place.article()
    done = place.run("submit", "--json", "When do I change the toner?").json
    assert "printing" in {each["target"] for each in done["handoffs"]}

    write(own.parent, PRINTING.replace("[worker]", "[wroker]"))
    sentence = "agents/printing.md, line 16: 'wroker' takes no tickets from it. Did you mean 'worker'?"
    for words in (("submit", "x"), ("agents",), ("status",)):
        done_ = place.run(*words)
        assert (done_.status, done_.err) == (2, f"{sentence}\n"), words
    doctor = place.run("doctor")
    assert (doctor.status, sentence in " ".join(doctor.out.split())) == (1, True)
