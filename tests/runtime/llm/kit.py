"""What the tests of the model share: a task, passages, a knowledge, and a clock for which pauses are free."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, NamedTuple

from actors.evidence.passages import Passage, SearchHits
from actors.helpdesk.output_schemas import SummaryRequest
from actors.ports import Completion, Knowledge, ModelRequest, PortFailed
from runtime.llm.openai_model import OpenAIModel
from runtime.settings import ModelSettings, Settings
from runtime.tools.tool_registry import load_tools
from runtime.tools.toolbox import Toolbox
from tests.clock import Jumping
from tests.fake_openai import FakeOpenAI
from tests.patience import HANGS_SECONDS

KEY = "sk-test-0123456789abcdef"
FENCE = "0badc0de5ca1ab1e"
LONGEST_WAIT = 70.0
"""What is waited for longer than this is a deadline, not a pause."""


def passage(number: int, text: str = "", *, title: str = "") -> Passage:
    return Passage(
        id=f"handbook/{number}.md#1",
        source=f"https://intranet.example/handbook/{number}",
        title=title or f"Page {number}",
        heading=f"Part {number} > Detail",
        text=text or f"Text of passage {number}.",
        start=0,
        end=10,
    )


def task(ticket: str = "The VPN drops every hour.", *passages: Passage, tools: tuple[str, ...] = ()) -> ModelRequest:
    findings = SearchHits(passages=passages) if passages else None
    return ModelRequest(
        agent="worker", instructions="You resolve tickets.", material=SummaryRequest(ticket), findings=findings,
        tools=tools,
    )  # fmt: skip


class Skipping(Jumping):
    """A pause is over at once and leaves its length in `waits`; a deadline waits for a test to jump."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> Any:
        if delay > LONGEST_WAIT:
            return super().call_later(delay, callback, *args)
        self.waits.append(delay)
        self.now += delay
        return asyncio.get_running_loop().call_soon(callback, *args)


SILENCE = SearchHits(abstain="never said")
"""In the place of findings: the search does not come back, whatever time it was given."""


class Library:
    """A knowledge that finds what it was given, and remembers what it was asked."""

    def __init__(self, *findings: SearchHits | PortFailed) -> None:
        self._findings = list(findings)
        self.questions: list[str] = []
        self.within: list[float] = []

    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        self.questions.append(question)
        self.within.append(within)
        found = self._findings.pop(0) if len(self._findings) > 1 else self._findings[0]
        if isinstance(found, PortFailed):
            raise found
        if found is SILENCE:
            await asyncio.Event().wait()
        return found


class Ports(NamedTuple):
    """What tools use of a process."""

    knowledge: Knowledge
    settings: Settings = Settings()
    folder: Path = Path("nowhere")
    sources: Any = None
    workers: Any = None


@contextlib.asynccontextmanager
async def model_at(
    server: FakeOpenAI | str, clock: Jumping | None = None, *, knowledge: Library | None = None, **settings: Any
) -> AsyncIterator[OpenAIModel]:
    """A model that asks the server, closed afterwards."""
    url = server if isinstance(server, str) else server.url
    model = OpenAIModel(
        ModelSettings(**{"base_url": url, "api_key": KEY, "name": "fake-model", **settings}),
        tools=Toolbox(Ports(knowledge), load_tools(Settings())) if knowledge else None,
        clock=clock or Skipping(),
        fence=lambda: FENCE,
        dice=random.Random(7),
    )
    try:
        yield model
    finally:
        await model.close()


async def until(condition: Callable[[], bool]) -> None:
    """Go on when something has come about on this loop."""
    async with asyncio.timeout(HANGS_SECONDS):
        while not condition():  # noqa: ASYNC110 - what comes about here sets no event
            await asyncio.sleep(0)


class Answers:
    """A model that gives this, or raises it, after so many seconds of its clock."""

    def __init__(self, outcome: Completion | Exception, clock: Jumping | None = None, seconds: float = 0.0) -> None:
        self._outcome, self._clock, self._seconds = outcome, clock, seconds
        self.within: list[float] = []

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        self.within.append(within)
        if self._clock is not None and self._seconds:
            over = asyncio.Event()
            self._clock.call_later(self._seconds, over.set)
            await over.wait()
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome
