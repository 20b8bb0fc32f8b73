"""
The model behind any OpenAI-compatible server: one for a process, with a view of it for each run.

The process shares the client, the limits and what was learned of the server; a run has its own account and budget.
"""

import contextlib
import random
import secrets
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
import structlog

from actors.ports import Completion, ModelFailed, ModelRequest, Trace, Untraced
from bus import Clock
from runtime.llm.call_account import CallAccount
from runtime.llm.capabilities import ELSEWHERE, FIRST, ServerForms
from runtime.llm.client import ChatClient, is_openai
from runtime.llm.conversation import Conversation
from runtime.llm.errors import OutOfService
from runtime.llm.output_schema import schema_of
from runtime.llm.sdk import HttpClient
from runtime.llm.usage import Ledger
from runtime.settings import ModelSettings
from runtime.storage.effects import Effects
from runtime.tools.toolbox import OfferedTools, Toolbox

T = TypeVar("T", bound=msgspec.Struct)

NO_JSON = (
    "{name} gave no answer as JSON, whatever it was asked, and is left alone for a while: try another [model] name."
)
GARBLED = 3
"""After so many answers in a row that are no JSON a run asks its model no more."""
LEFT_ALONE_SECONDS = 600.0
"""So long no other run asks a model that has never written any: a hostile ticket makes nobody else's model mute."""


log = structlog.get_logger()


class OpenAIModel:
    """Shared by all runs of a process."""

    def __init__(
        self,
        settings: ModelSettings,
        *,
        tools: Toolbox | None = None,
        names: Mapping[str, str] | None = None,
        http_client: Callable[[], HttpClient] | None = None,
        clock: Clock | None = None,
        fence: Callable[[], str] = lambda: secrets.token_hex(8),
        dice: random.Random | None = None,
    ) -> None:
        """
        :param tools: what the model may call, where a task names it.
        :param names: of the models of agents that have one of their own, by the agent.
        :param http_client: makes what the SDK sends through; None is the SDK's own client over aiohttp.
        :param fence: a fresh mark, for each answer, that nobody outside can guess.
        :param dice: spreads retries in time.
        """
        self.settings = settings
        self.tools = tools
        self.names = names or {}
        self.extra: dict[str, Any] = msgspec.json.decode(settings.extra or "{}")
        self.server = ChatClient(settings, http_client=http_client, clock=clock, dice=dice)
        self.fence = fence
        self.enforces_schema = is_openai(settings)
        """Others may take a schema and not heed it, so they are shown it as well."""
        self.forms = ServerForms(self.server.clock, FIRST if self.enforces_schema else ELSEWHERE)
        self._fluent, self._mute = set[str](), dict[str, float]()
        self.total = Ledger()
        """What was spent outside of any run."""

    def for_run(
        self, run_id: str, ledger: Ledger | None = None, trace: Trace | None = None, effects: Effects | None = None
    ) -> "RunModel":
        """The model as one run sees it, with the run's own account and budget."""
        return RunModel(self, run_id, ledger or Ledger(self.settings.ticket_tokens), trace, effects)

    def name_for(self, task: ModelRequest) -> str:
        """The model that is to think about a task."""
        return self.names.get(task.agent) or task.model or self.settings.name

    @property
    def mute(self) -> tuple[str, ...]:
        """The models that are left alone for a while: none of their answers was in form."""
        now = self.server.clock.time()
        return tuple(name for name, until in self._mute.items() if now < until)

    def note_form(self, name: str, *, garbled: int) -> None:
        """:param garbled: how many answers in a row could not be used by now; 0: the last one could."""
        if not garbled:
            self._fluent.add(name)
            self._mute.pop(name, None)
        elif garbled >= GARBLED and name not in self._fluent:
            log.warning("model.left_alone", model=name, seconds=LEFT_ALONE_SECONDS)
            self._mute[name] = self.server.clock.time() + LEFT_ALONE_SECONDS

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

    __slots__ = ("_effects", "_garbled", "_out", "_trace", "ledger", "run_id", "shared")

    def __init__(
        self, shared: OpenAIModel, run_id: str, ledger: Ledger, trace: Trace | None = None,
        effects: Effects | None = None,
    ) -> None:  # fmt: skip
        self._trace = trace or Untraced()
        self._effects = effects
        self.shared = shared
        self.run_id = run_id
        self.ledger = ledger
        self._out = ""
        self._garbled = 0
        """Answers in a row that were not in form."""

    async def fill(self, shape: type[T], task: ModelRequest, *, within: float) -> Completion:
        """
        As `ports.Model`.

        A server that hangs, or asks to be left alone, costs its time once: the run's later questions fail at once.
        """
        wanted, shared = schema_of(shape, task.choices), self.shared
        name = shared.name_for(task)
        account = CallAccount(task.agent, wanted.name, name, shared.server.clock)
        if out := self._out or (NO_JSON.format(name=name) if name in shared.mute else ""):
            self._trace.note(account.conclude(f"It was not asked. {out}"))
            raise ModelFailed(out)
        talk = Conversation(
            shared, self.ledger, wanted, task, within, tools=self._offer_tools(task), account=account,
            repairs=self._garbled + 1 < GARBLED,
        )  # fmt: skip
        failed = "Its time was up."
        try:
            filled = await talk.run_to_answer(self.run_id)
            failed = ""
            self._garbled = talk.malformed = 0
            shared.note_form(name, garbled=0)
        except ModelFailed as error:
            failed = str(error)
            self._garbled += talk.malformed
            shared.note_form(name, garbled=self._garbled) if talk.malformed else None
            if isinstance(error, OutOfService) or self._garbled >= GARBLED:
                self._out = failed
            raise
        else:
            return filled
        finally:
            self._trace.note(account.conclude(failed))

    def _offer_tools(self, task: ModelRequest) -> OfferedTools | None:
        if not task.tools or self.shared.tools is None:
            return None
        return self.shared.tools.offer(
            task.tools, run=self.run_id, agent=task.agent, trace=self._trace, effects=self._effects,
            said=task.said,
        )  # fmt: skip
