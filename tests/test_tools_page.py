"""docs/tools.md: its example, in a folder outside of the package, is a tool that a model calls."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from runtime.config import load
from runtime.engine.node import Node
from runtime.engine.runs import RunHandle
from runtime.observe.trace_record import read_trace
from runtime.settings import ModelSettings, StorageSettings
from runtime.tickets import Ticket
from tests import ROOT
from tests.fake_openai import FakeOpenAI, calls, says
from tests.fakes import ANSWER
from tests.runtime.test_agent_files import PRINTING, write
from tests.runtime.test_specialists import Finds
from tests.thinking import asked

PAGE = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
TONER = Ticket(id="T-1", text="The toner of the printer on the third floor is empty.")
CALL = '{"floor": 3, "wing": "west"}'


def find_block(language: str) -> str:
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(block)


async def answer(server: FakeOpenAI, request: web.Request) -> web.StreamResponse:
    """Calls the tool once, then answers."""
    body = json.loads(await request.text())
    if "tools" in body and not any(message["role"] == "tool" for message in body["messages"]):
        return await calls(("find_printer", CALL))(server, request)
    given: dict[str, Any] = {
        "Analysis": {"intent": "printing", "urgency": "low", "question": TONER.text, "language": "en"},
        "Draft": {"claims": [{"text": ANSWER, "passage": 1, "quote": ANSWER}], "pass_on": None},
        "SecondReading": {"verdicts": [{"number": 1, "verdict": "entailed"}]},
        "Summary": {"summary": "Done."},
    }
    return await says(given[asked(body).shape])(server, request)


async def test_the_example_is_called_by_a_model_and_stands_in_the_trace(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    write(tmp_path / "agents", PRINTING.replace("tools: [search_knowledge]", find_block("yaml").strip()))
    (tmp_path / "my_tools.py").write_text(find_block("python"), encoding="utf-8")
    (tmp_path / "config.toml").write_text(find_block("toml"), encoding="utf-8")
    async with FakeOpenAI(answer) as server:
        settings = msgspec.structs.replace(
            load(tmp_path / "config.toml", {}), model=ModelSettings(base_url=server.url, name="small-1"),
            storage=StorageSettings(folder=str(tmp_path / "data")),
        )  # fmt: skip
        async with Node.open(settings) as node:
            node.knowledge = Finds()
            handle = await node.submit(TONER)
            outcome = await asyncio.wait_for(handle.outcome(), 60)
            assert isinstance(handle, RunHandle)
            trace = await read_trace(node, await node.journal.find(TONER.id))

    assert outcome.status == "resolved"
    (offered,) = [body["tools"] for body in server.bodies if "tools" in body][:1]
    schema = offered[1]["function"]["parameters"]
    assert [each["function"]["name"] for each in offered] == ["search_knowledge", "find_printer"]
    assert schema["properties"]["floor"]["description"] == "the number of the floor, 0 to 9."
    assert (schema["required"], schema["additionalProperties"]) == (["floor", "wing"], False)
    (step,) = trace.tools
    assert (step.by, step.tool, step.arguments) == ("printing", "find_printer", CALL)
    assert step.result == "3-west, by the lift. Its queue is press-3w."
