"""
The model behind any OpenAI-compatible server: one for a process, with a view of it for each run.

The process shares the client, the limits and what was learned of the server; a run has its own account and budget.
"""

import contextlib
import random
import secrets
from collections.abc import Callable
from typing import TypeVar

import msgspec

from actors.ports import Completion, Knowledge, ModelFailed, ModelRequest
from bus import Clock
from runtime.llm.capabilities import FIRST
from runtime.llm.client import ChatClient, HttpClient
from runtime.llm.conversation import Conversation
from runtime.llm.output_schema import schema_of
from runtime.llm.usage import Ledger
from runtime.settings import ModelSettings

T = TypeVar("T", bound=msgspec.Struct)


class OpenAIModel:
    """Shared by all runs of a process."""

    def __init__(
        self,
        settings: ModelSettings,
        *,
        knowledge: Knowledge | None = None,
        http_client: Callable[[], HttpClient] | None = None,
        clock: Clock | None = None,
        fence: Callable[[], str] = lambda: secrets.token_hex(8),
        dice: random.Random | None = None,
    ) -> None:
        """
        :param knowledge: what the model may search itself, where a task allows it.
        :param http_client: makes what the SDK sends through; None is the SDK's own client over aiohttp.
        :param fence: a fresh mark, for each answer, that nobody outside can guess.
        :param dice: spreads retries in time.
        """
        self.settings = settings
        self.knowledge = knowledge
        self.server = ChatClient(settings, http_client=http_client, clock=clock, dice=dice)
        self.fence = fence
        self.capabilities = FIRST
        self.total = Ledger()
        """What was spent outside of any run."""

    def for_run(self, run_id: str, ledger: Ledger | None = None) -> "RunModel":
        """The model as one run sees it, with the run's own account and budget."""
        return RunModel(self, run_id, ledger or Ledger(self.settings.ticket_tokens))

    async def fill(self, shape: type[T], task: ModelRequest, *, within: float) -> Completion:
        """As `ports.Model`, outside of any run."""
        return await RunModel(self, "", self.total).fill(shape, task, within=within)

    async def warm(self) -> None:
        """Load the SDK before the first call needs it; if that fails, the first call says so."""
        with contextlib.suppress(ModelFailed):
            await self.server.load()

    async def close(self) -> None:
        """Close the connections."""
        await self.server.close()


class RunModel:
    """The model of one run: made per ticket, in less than a microsecond."""

    __slots__ = ("ledger", "run_id", "shared")

    def __init__(self, shared: OpenAIModel, run_id: str, ledger: Ledger) -> None:
        self.shared = shared
        self.run_id = run_id
        self.ledger = ledger

    async def fill(self, shape: type[T], task: ModelRequest, *, within: float) -> Completion:
        """As `ports.Model`."""
        return await Conversation(self.shared, self.ledger, schema_of(shape), task, within).run_to_answer(self.run_id)
