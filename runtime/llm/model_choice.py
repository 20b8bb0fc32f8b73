"""Which model thinks: the configured one with its fallback, or the extractive one, as one run sees it."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from actors.ports import Model, Trace
from actors.workflow.outcome import Spent
from runtime.observe.recording import record_port
from runtime.settings import ModelSettings

if TYPE_CHECKING:
    from runtime.storage.effects import Effects
    from runtime.tools.toolbox import Toolbox


def chosen(settings: ModelSettings) -> str:
    """`openai` or `extractive`: what `auto` comes to."""
    if settings.provider == "auto":
        return "openai" if settings.api_key or settings.base_url else "extractive"
    return settings.provider


class Account(Protocol):
    """What a run spent on models, kept where a crash does not reach it."""

    def spent(self) -> Spent: ...

    def note(self, spent: Spent) -> None:
        """Add one call."""


class Models:
    """The models of a process. The SDK of a provider is only loaded when one is configured."""

    def __init__(self, settings: ModelSettings, tools: "Toolbox", extractive: Model, names: Mapping[str, str]) -> None:
        """
        :param tools: what a model may call.
        :param extractive: the model without a model.
        :param names: of the models of agents that have one of their own, by the agent.
        """
        self._settings = settings
        self._extractive = extractive
        self._openai = None
        self._warming: asyncio.Task[None] | None = None
        if chosen(settings) == "openai":
            from runtime.llm.openai_model import OpenAIModel

            self._openai = OpenAIModel(settings, tools=tools, names=names)
            # The SDK takes half a second to load: let it, while the ticket is being stored and looked up.
            self._warming = asyncio.create_task(self._openai.warm())

    def for_run(
        self, run_id: str, account: Account, *, money: float, held_back: float, trace: Trace,
        effects: "Effects | None" = None,
    ) -> tuple[Model, Callable[[], Spent]]:  # fmt: skip
        """
        The model of one run, and what it has spent so far.

        :param account: where what it spends is written down, so that a run which is resumed does not begin anew.
        :param held_back: the share of its budget that only its last task may use.
        :param trace: hears of every answer that is asked for.
        :param effects: what the run did to the world, for tools.
        """
        if self._openai is None:
            return self._extractive, Spent
        from runtime.llm.fallback import Fallback
        from runtime.llm.usage import Budget, Ledger

        given = self._settings
        budget = Budget(given.ticket_tokens, money, given.price_in, given.price_out, held_back)
        ledger = Ledger(budget, known=account.spent(), note=account.note)
        ours = self._openai.for_run(run_id, ledger, trace, effects)
        model: Model = Fallback(ours, self._extractive, asyncio.get_running_loop()) if given.fallback else ours
        return record_port(model, Model), lambda: ledger.spent

    @property
    def mute(self) -> tuple[str, ...]:
        """Models that are not asked for a while, for they gave no answer in form."""
        return self._openai.mute if self._openai else ()

    async def close(self) -> None:
        if self._warming is not None:
            await asyncio.wait([self._warming], timeout=1.0)
        if self._openai is not None:
            await self._openai.close()
