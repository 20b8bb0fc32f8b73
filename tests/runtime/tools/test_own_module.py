"""Tools of the user's own: a file is loaded at the start, or refused with its line; its functions run in their time."""

import asyncio
import time
from pathlib import Path

import pytest

from actors.ports import Untraced
from runtime.agent_folder import load_roster
from runtime.settings import AgentsSettings, ConfigError, Settings
from runtime.tools import shipped
from runtime.tools.own_module import load_own, make_tool
from runtime.tools.tool import ToolContext, ToolResult
from runtime.tools.tool_registry import load_tools
from runtime.tools.toolbox import Toolbox
from tests.patience import HANGS_SECONDS
from tests.runtime.llm.kit import Library, Ports
from tests.runtime.test_agent_files import PRINTING, write

GOOD = '''"""Tools."""
import time


def double(number: float) -> float:
    """Double a number."""
    print("a word on standard output")
    return 2 * number


def hang(seconds: int) -> str:
    """Wait."""
    time.sleep(seconds)
    return "late"


def fail() -> str:
    """Fail."""
    raise ValueError("no")


async def greet(name: str) -> dict[str, str]:
    """
    Greet somebody.

    :param name: who it is,
        with the first name.
    :raises ValueError: never.
    """
    return {"said": f"Good day, {name}."}


TOOLS = [double, hang, fail, greet]
'''


def save(folder: Path, text: str) -> str:
    file = folder / "my_tools.py"
    file.write_text(text, encoding="utf-8")
    return str(file)


async def call(box: Toolbox, tool_name: str, /, within: float = HANGS_SECONDS, **arguments: object) -> ToolResult:
    (tool,), own = box.offer([tool_name], run="R-1", agent="worker", trace=Untraced())
    return await tool.call(tool.arguments(**arguments), own, within)


async def test_functions_are_tools_by_their_signatures(tmp_path: Path) -> None:
    tools = load_own(save(tmp_path, GOOD), shipped.names())
    box = Toolbox(Ports(Library()), tools)
    try:
        assert await call(box, "double", number=1.5) == ToolResult("3.0")
        assert await call(box, "greet", name="Ada") == ToolResult('{"said":"Good day, Ada."}')
        with pytest.raises(Exception, match="no"):
            await call(box, "fail")
    finally:
        await box.close()
    assert (tools["greet"].description, tools["double"].description) == ("Greet somebody.", "Double a number.")


async def test_a_function_that_hangs_is_killed_in_its_time(tmp_path: Path) -> None:
    box = Toolbox(Ports(Library()), load_own(save(tmp_path, GOOD), ()))
    try:
        await call(box, "double", number=1.0)  # the process stands
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            await call(box, "hang", 0.2, seconds=600)
        assert time.monotonic() - begun < 10
        assert await call(box, "double", number=2.0) == ToolResult("4.0"), "the next call has a process"
    finally:
        await box.close()


FUNCTION = 'def look_up(name: str) -> str:\n    """Look up."""\n    return name\n\n\n'


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("def look_up(:\n", 1, "this is not Python"),
        ("import sys\n\nimport nowhere_to_be_found\n", 3, "it cannot be loaded (No module named"),
        ("\nraise SystemExit\n", 2, "it cannot be loaded (SystemExit)"),
        (FUNCTION, 1, "it has no `TOOLS`"),
        (f"{FUNCTION}TOOLS = ['look_up']\n", 1, "'look_up' is no function"),
        (f"{FUNCTION}TOOLS = [look_up, look_up]\n", 1, "the tool look_up is there twice"),
        ('\ndef web_search(name: str) -> str:\n    """Look."""\n\n\nTOOLS = [web_search]\n', 2, "a tool that ships"),
        ('\ndef look(name) -> str:\n    """Look."""\n\n\nTOOLS = [look]\n', 2, "the argument `name` has no type"),
        ('\ndef look(name: str):\n    """Look."""\n\n\nTOOLS = [look]\n', 2, "what it returns has no type"),
        ("\ndef look(name: str) -> str: ...\n\n\nTOOLS = [look]\n", 2, "it has no docstring"),
        ('\ndef look(*names: str) -> str:\n    """Look."""\n\n\nTOOLS = [look]\n', 2, "cannot be given by name"),
        ('\ndef look(name: "Gone") -> str:\n    """Look."""\n\n\nTOOLS = [look]\n', 2, "cannot be read (name 'Gone'"),
        ('\ndef look(name: range) -> str:\n    """Look."""\n\n\nTOOLS = [look]\n', 2, "have no JSON schema"),
        ('\ndef Look(name: str) -> str:\n    """Look."""\n\n\nTOOLS = [Look]\n', 2, "a name has small letters"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_at_the_start_with_its_line(
    tmp_path: Path, text: str, line: int, why: str
) -> None:
    file = save(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_roster(Settings(agents=AgentsSettings(tools=file)))
    assert str(caught.value).startswith(f"{file}, line {line}: ")
    assert why in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\[agents\] tools names, .*nowhere\.py, cannot be read \(No such file"):
        load_roster(Settings(agents=AgentsSettings(tools=str(tmp_path / "nowhere.py"))))


def test_an_agent_names_it_in_its_file(tmp_path: Path) -> None:
    agents = tmp_path / "agents"
    agents.mkdir()
    write(agents, PRINTING.replace("tools: [search_knowledge]", "tools: [search_knowledge, double]"))
    settings = AgentsSettings(folder=str(agents), tools=save(tmp_path, GOOD))

    assert load_roster(Settings(agents=settings))["printing"].tools == ("search_knowledge", "double")
    with pytest.raises(ConfigError, match="line 12: there is no tool 'double'"):
        load_roster(Settings(agents=AgentsSettings(folder=str(agents))))


def test_a_file_of_a_tool_that_ships_is_called_as_the_tool_is() -> None:
    assert {name: tool.name for name, tool in load_tools(Settings()).items()} == {n: n for n in shipped.names()}


async def test_an_async_function_may_take_its_context() -> None:
    async def tell(name: str, own: ToolContext) -> str:
        """Tell who asks."""
        await asyncio.sleep(0)
        return f"{own.agent} asks {name}"

    tool = make_tool(tell, title="the porter")
    assert tool.arguments.__struct_fields__ == ("name",)
    box = Toolbox(Ports(Library()), {tool.name: tool})
    assert await call(box, "tell", name="Ada") == ToolResult("worker asks Ada")
    await box.close()
