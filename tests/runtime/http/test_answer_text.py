"""Who listens to a ticket over HTTP reads its answer while a model writes it, and hears what of that was not kept."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web as server_side

from runtime.http.openapi import document
from runtime.http.stream import OF_A_RUN
from tests.fake_openai import FakeOpenAI, Step, events, pieces, says, streams, waits
from tests.fakes import ANSWER, PASSAGE
from tests.runtime.http.kit import Interface, interface
from tests.runtime.http.test_stream import blocks, told
from tests.runtime.llm.kit import model_at

INVENTED = "The VPN has to be bought anew for 4711 dollars."
CLAIMS = [
    {"passage": 1, "quote": PASSAGE.text, "text": ANSWER},
    {"passage": 1, "quote": PASSAGE.text, "text": INVENTED},
]
DRAFT = json.dumps({"claims": CLAIMS, "pass_on": None})
DRAFTED = f"{ANSWER}\n{INVENTED}"
ANALYSIS = {"intent": "network", "urgency": "normal", "question": "The VPN drops.", "language": "en"}


class Writer:
    """A model's server that writes the answer to a ticket, and goes on with its second half when it is let."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.listener = asyncio.Event()
        """Set when somebody listens: where nobody does, an answer is not asked for in pieces."""
        self.listener.set()
        self.drafts = self.streamed = 0

    async def __call__(self, server: FakeOpenAI, request: server_side.Request) -> server_side.StreamResponse:
        shape = server.bodies[-1]["response_format"]["json_schema"]["name"]
        await self.listener.wait()
        return await self._choose(shape)(server, request)

    def _choose(self, shape: str) -> Step:
        if shape != "Draft":
            return says(ANALYSIS if shape == "Analysis" else {"summary": "Solved."})
        self.drafts += 1
        if self.drafts > 1:
            return says({"claims": [], "pass_on": None})  # it cannot put right what it invented
        return self._write

    async def _write(self, server: FakeOpenAI, request: server_side.Request) -> server_side.StreamResponse:
        if "stream" not in server.bodies[-1]:
            return await says(DRAFT)(server, request)
        self.streamed += 1
        parts = pieces(DRAFT, 4)
        first = events(*parts[:-20], done=False)
        response = await streams(first, end=waits(self.go_on))(server, request)
        await response.write(events(*parts[-20:]))
        return response


@contextlib.asynccontextmanager
async def listened(folder: Path, writer: Writer, **more: Any) -> AsyncIterator[Interface]:
    """The interface with a model that writes so; `more` is for it."""
    clock: Any = asyncio.get_running_loop()
    async with (
        FakeOpenAI(writer) as server,
        model_at(server, clock) as model,
        interface(folder, model=model.for_run("run"), **more) as web,
    ):
        yield web


@pytest.mark.req("LG-16")
async def test_a_listener_reads_the_answer_before_its_end_and_hears_what_of_it_is_not_kept(tmp_path: Path) -> None:
    writer = Writer()
    writer.listener.clear()
    async with listened(tmp_path, writer) as web:
        receipt = await web.submit()
        async with web.client.get(receipt["links"]["events"]) as response:
            writer.listener.set()
            stream, past = blocks(response), list[tuple[str, Any]]()
            while not past or past[-1][0] != "answer-text":
                past.append(await anext(stream))
            writer.go_on.set()
            rest = [each async for each in stream]

    heard = [*past, *rest]
    draft = ""
    for piece in (data for name, data in heard if name == "answer-text"):
        assert (piece["type"], piece["agent"]) == ("answer-text", "worker")
        assert piece["start"] in (0, len(draft))
        draft = draft[: piece["start"]] + piece["text"]
    assert draft == DRAFTED
    checked = next(data for name, data in heard if name == "answer-checked")
    assert checked == {"type": "answer-checked", "agent": "worker", "unverified": [INVENTED]}
    answer = next(data for name, data in heard if name == "answered")
    assert (answer["type"], answer["unverified"]) == ("answer", [INVENTED])
    assert ANSWER in answer["resolution"]["text"]
    assert INVENTED not in answer["resolution"]["text"]
    assert heard[-1][0] == "ended"


async def test_a_ticket_that_nobody_listens_to_is_not_streamed(tmp_path: Path) -> None:
    writer = Writer()
    async with listened(tmp_path, writer) as web:
        outcome = await web.submit(wait=20)
        later = await told(web, f"/tickets/{outcome['ticket']}/events")

    assert outcome["status"] == "suggested"
    assert writer.streamed == 0
    assert not [name for name, _ in later if name.startswith("answer-")]


def test_the_description_has_their_form() -> None:
    schemas = document()["components"]["schemas"]

    assert schemas["AnswerText"]["required"] == ["type", "agent", "start", "text"]
    assert schemas["AnswerReady"]["properties"]["type"]["enum"] == ["answer"]
    assert "unverified" in schemas["DraftChecked"]["properties"]
    assert all(f"`{name}`" in OF_A_RUN for name in ("answer-text", "answer-checked", "answered"))
