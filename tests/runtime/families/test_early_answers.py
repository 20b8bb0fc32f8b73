"""An answer is heard when it is there, while the note on the ticket is still being written."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

from aiohttp import web

from actors.workflow.outcome import AnswerReady, RunEnded
from actors.workflow.progress import ProgressEvent
from runtime.http.stream import block
from runtime.tickets import Ticket
from tests.fake_openai import FakeOpenAI
from tests.patience import HANGS_SECONDS
from tests.runtime.families.modelled import thinking
from tests.runtime.families.test_research_runs import QUESTION
from tests.runtime.llm.foreign import chat


async def test_the_answer_is_announced_before_the_note_is_written(tmp_path: Path) -> None:
    heard = asyncio.Event()
    honest = chat()

    async def step(server: FakeOpenAI, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.text())
        if body["response_format"]["json_schema"]["name"] == "Summary":
            await heard.wait()  # a model that takes its time, until somebody has the answer
        return await honest(server, request)

    async with FakeOpenAI(step) as server, thinking(tmp_path, server, call_seconds=HANGS_SECONDS) as node:
        handle = await node.submit(Ticket(id="T-1", text=QUESTION))
        async with asyncio.timeout(HANGS_SECONDS):
            answers = []
            async for event in handle.watch():
                if isinstance(event, AnswerReady):
                    answers.append(event)
                    late = [each async for each in _until_answer(handle.watch())]
                    heard.set()
            outcome = await handle.outcome()

    assert [each.resolution for each in answers] == [outcome.resolution], "once, and it is the one that stays"
    assert late[-1] == answers[0], "who comes later hears it, too"
    assert isinstance(event, RunEnded)
    assert outcome.status == "resolved"
    assert block(answers[0]).startswith(b'event: answered\ndata: {"type": "answer", "resolution":')


async def _until_answer(events: AsyncIterator[ProgressEvent]) -> AsyncIterator[ProgressEvent]:
    async for event in events:
        yield event
        if isinstance(event, AnswerReady):
            return
