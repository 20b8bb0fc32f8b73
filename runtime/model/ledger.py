"""What a run spent on models: tokens reserved before a call, settled after it, never beyond the ticket's budget."""

from actors.outcome import Spent
from actors.ports import BudgetSpent

SMALLEST_ANSWER = 256
"""Tokens of answer below which asking makes no sense."""
UNLIMITED = 0


class Ledger:
    """The account of one run; a total over all runs is a ledger without budget that others report to."""

    __slots__ = ("_calls", "_estimated", "_in", "_out", "_reserved", "_total", "budget")

    def __init__(self, budget: int = UNLIMITED, total: "Ledger | None" = None) -> None:
        self.budget = budget
        """Tokens in and out together; 0 is no limit."""
        self._total = total
        self._calls = self._in = self._out = self._reserved = 0
        self._estimated = False

    @property
    def spent(self) -> Spent:
        return Spent(self._calls, self._in, self._out, self._estimated)

    def reserve(self, tokens_in: int, tokens_out: int) -> "Charge":
        """
        Put tokens aside for a call. Its answer may have fewer than asked for, when no more are left.

        :raises BudgetSpent: the question and a useful answer do not fit into what is left.
        """
        if self.budget:
            left = self.budget - self._in - self._out - self._reserved
            tokens_out = min(tokens_out, left - tokens_in)
            if tokens_out < SMALLEST_ANSWER:
                raise self._used_up()
        self._reserved += tokens_in + tokens_out
        return Charge(self, tokens_in, tokens_out)

    def check(self) -> None:
        """:raises BudgetSpent: what is spent and put aside is more than there is."""
        if self.budget and self._in + self._out + self._reserved > self.budget:
            raise self._used_up()

    def _used_up(self) -> BudgetSpent:
        return BudgetSpent(f"The ticket's budget of {self.budget} tokens is used up: raise [model] ticket_tokens.")

    def give_back(self, tokens: int) -> None:
        self._reserved -= tokens

    def count(self, tokens_in: int, tokens_out: int, *, estimated: bool) -> None:
        self._calls += 1
        self._in += tokens_in
        self._out += tokens_out
        self._estimated = self._estimated or estimated
        if self._total is not None:
            self._total.count(tokens_in, tokens_out, estimated=estimated)


class Charge:
    """What one call holds of a ledger, until it is settled or released."""

    __slots__ = ("_held", "_ledger", "losses", "tokens_in", "tokens_out")

    def __init__(self, ledger: Ledger, tokens_in: int, tokens_out: int) -> None:
        self._ledger = ledger
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out
        self._held = tokens_in + tokens_out
        self.losses = 0
        """Tries whose answer was never seen."""

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    def lost(self) -> None:
        """A try was sent and its answer never seen: the server may well charge for the question."""
        self.losses += 1
        self._ledger.count(self.tokens_in, 0, estimated=True)

    def check(self) -> None:
        """:raises BudgetSpent: lost tries have eaten up what another one needs."""
        self._ledger.check()

    def release(self) -> None:
        """Give back what is held: the call came to nothing."""
        self._ledger.give_back(self._held)
        self._held = 0

    def settle(self, tokens_in: int, tokens_out: int, *, estimated: bool = False) -> None:
        """Count what the call really took in the place of what was held."""
        self.release()
        self._ledger.count(tokens_in, tokens_out, estimated=estimated)


def estimate(data: bytes) -> int:
    """About how many tokens a text has: four characters each for Latin script, one a character for others."""
    if data.isascii():
        return len(data) // 4 + 1
    plain = len(data.decode("ascii", "ignore"))
    return plain // 4 + (len(data) - plain) // 3 + 1
