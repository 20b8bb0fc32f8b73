"""When the configured model fails, a lesser one answers in the time that is left and says so; the log says why."""

from typing import TypeVar

import msgspec
import structlog

from actors.ports import BudgetSpent, Completion, Model, ModelFailed, ModelRequest
from bus import Clock
from runtime.resilience.limiters import Deadline

log = structlog.get_logger()

T = TypeVar("T", bound=msgspec.Struct)

SHARE = 0.25
SHARE_SECONDS = 5.0
"""The fallback is left a quarter of the time, at most this much."""
TOO_SLOW = "model_slow"
"""Why a lesser model answers, where the other one was silent; else what failed has a code."""
GRACE = 0.2
"""The share of that in which a model may still say itself that its time is up, and why."""


class Fallback:
    """A model that asks `primary` and, where that fails or is silent, `lesser`. Light: one can be made per run."""

    __slots__ = ("_clock", "_lesser", "_primary")

    def __init__(self, primary: Model, lesser: Model, clock: Clock) -> None:
        self._primary = primary
        self._lesser = lesser
        self._clock = clock

    async def fill(self, shape: type[T], task: ModelRequest, *, within: float) -> Completion:
        """As `ports.Model`. A spent budget is answered by the lesser model too: it costs nothing."""
        if task.quotes_only:
            filled = await self._lesser.fill(shape, task, within=within)
            return msgspec.structs.replace(filled, degraded=ModelFailed.code)
        until = self._clock.time() + within
        left = min(SHARE_SECONDS, within * SHARE)
        share = within - left
        deadline = Deadline(self._clock, share + GRACE * left)
        try:
            async with deadline:
                return await self._primary.fill(shape, task, within=share)
        except TimeoutError:
            if not deadline.has_expired:
                raise
            code, why = TOO_SLOW, "The model did not answer in time."
        except ModelFailed as error:
            code, why = error.code, str(error)
        log.warning("model.degraded", agent=task.agent, reason=why)
        filled = await self._lesser.fill(shape, task, within=max(0.0, until - self._clock.time()))
        return msgspec.structs.replace(filled, degraded=code, partial=code if code == BudgetSpent.code else "")
