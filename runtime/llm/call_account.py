"""What one answer of a model takes, from the first request to the last: tokens, tries, seconds."""

from actors.evidence.trace_steps import NAME_CHARACTERS, CallStep, clip
from bus import Clock
from runtime.llm.usage import Reservation


class CallAccount:
    """Of one answer in the making."""

    __slots__ = (
        "_agent", "_clock", "_estimated", "_model", "_requests", "_shape", "_started", "_tokens_in", "_tokens_out",
        "_tries", "form", "repaired", "tools",
    )  # fmt: skip

    def __init__(self, agent: str, shape: str, model: str, clock: Clock) -> None:
        self._agent, self._shape, self._model = agent, shape, model
        self._clock, self._started = clock, clock.time()
        self._requests = self._tries = self._tokens_in = self._tokens_out = 0
        self._estimated = False
        self.form = ""
        """In which the answer was asked for last."""
        self.tools = False
        self.repaired = ""
        """Why the first answer went back to the model."""

    def count_tries(self, charge: Reservation) -> None:
        """A request is over; what was lost on its way costs its question."""
        self._requests += 1
        self._tries += charge.tries
        if charge.losses:
            self.add(charge.losses * charge.tokens_in, 0, estimated=True)

    def add(self, tokens_in: int, tokens_out: int, *, estimated: bool) -> None:
        """Tokens of a request."""
        self._tokens_in += tokens_in
        self._tokens_out += tokens_out
        self._estimated = self._estimated or estimated

    def conclude(self, failed: str = "") -> CallStep:
        """
        All of it.

        :param failed: why there is no answer; empty when there is one.
        """
        return CallStep(
            self._agent, self._shape, clip(self._model, NAME_CHARACTERS), self.form, self.tools, self._tokens_in,
            self._tokens_out, self._estimated, round(self._clock.time() - self._started, 3), self._requests,
            self._tries, clip(self.repaired), clip(failed),
        )  # fmt: skip
