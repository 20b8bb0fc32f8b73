"""What a run spent on models: tokens reserved before a call, settled after it, never beyond the ticket's budget."""

from collections.abc import Callable
from typing import NamedTuple

from actors.ports import BudgetSpent
from actors.workflow.outcome import Spent

SMALLEST_ANSWER = 256
"""Tokens of answer below which asking makes no sense."""
UNLIMITED = 0
MILLION = 1_000_000
ENDLESS = 1 << 62


class Budget(NamedTuple):
    """What one run may spend on models. 0 is no limit, or no price."""

    tokens: int = UNLIMITED
    """In and out together."""
    money: float = 0.0
    price_in: float = 0.0
    """Of a million tokens."""
    price_out: float = 0.0
    held_back: float = 0.0
    """The share of it that only the run's last task may use."""

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.price_in + tokens_out * self.price_out) / MILLION


class Ledger:
    """The account of one run."""

    __slots__ = ("_note", "_reserved_in", "_reserved_out", "budget", "spent")

    def __init__(
        self, budget: Budget | int = UNLIMITED, *,
        known: Spent = Spent(), note: Callable[[Spent], None] | None = None,  # noqa: B008 - it is frozen
    ) -> None:  # fmt: skip
        """
        :param budget: an integer is a number of tokens.
        :param known: what the run had spent before the process died.
        :param note: hears of every call that was paid for.
        """
        self.budget = Budget(budget) if isinstance(budget, int) else budget
        self._note = note
        self.spent = known
        self._reserved_in = self._reserved_out = 0

    def reserve(self, tokens_in: int, tokens_out: int, *, last: bool = False) -> "Reservation":
        """
        Put tokens aside for a call. Its answer may have fewer than asked for, when no more are left.

        :param last: it is the run's last task, which may use what was held back for it.
        :raises BudgetSpent: the question and a useful answer do not fit into what is left.
        """
        share = 1.0 if last else 1.0 - self.budget.held_back
        if (room := self._room(tokens_in, share)) < tokens_out:
            tokens_out = room
            if tokens_out < SMALLEST_ANSWER:
                raise self._used_up(tokens_in, share)
        self._reserved_in += tokens_in
        self._reserved_out += tokens_out
        return Reservation(self, tokens_in, tokens_out)

    def _room(self, tokens_in: int, share: float) -> int:
        """Tokens that an answer to such a question may have; negative when not even the question fits."""
        return min(self._room_of_tokens(tokens_in, share), self._room_of_money(tokens_in, share))

    def _room_of_tokens(self, tokens_in: int, share: float) -> int:
        if not self.budget.tokens:
            return ENDLESS
        spent = self.spent.tokens_in + self.spent.tokens_out
        taken = spent + self._reserved_in + self._reserved_out + tokens_in
        return int(self.budget.tokens * share) - taken

    def _room_of_money(self, tokens_in: int, share: float) -> int:
        budget = self.budget
        if not budget.money:
            return ENDLESS
        spent = self.spent
        taken = budget.cost(spent.tokens_in + self._reserved_in + tokens_in, spent.tokens_out + self._reserved_out)
        left = budget.money * share - taken
        return -1 if left < 0 else int(left * MILLION / budget.price_out) if budget.price_out else ENDLESS

    def check(self) -> None:
        """:raises BudgetSpent: what is spent and put aside is more than there is."""
        if self._room(0, 1.0) < 0:
            raise self._used_up(0, 1.0)

    def _used_up(self, tokens_in: int, share: float) -> BudgetSpent:
        """The budget that leaves less room is named."""
        if self._room_of_tokens(tokens_in, share) <= self._room_of_money(tokens_in, share):
            return BudgetSpent(f"The budget of {self.budget.tokens} tokens is used up: raise [model] ticket_tokens.")
        return BudgetSpent(f"The budget of {self.budget.money:g} for the model is used up: raise [research] money.")

    def give_back(self, tokens_in: int, tokens_out: int) -> None:
        self._reserved_in -= tokens_in
        self._reserved_out -= tokens_out

    def count(self, tokens_in: int, tokens_out: int, *, estimated: bool) -> None:
        old = self.spent
        known = old.estimated or estimated
        self.spent = Spent(old.calls + 1, old.tokens_in + tokens_in, old.tokens_out + tokens_out, known)
        if self._note is not None:
            self._note(Spent(1, tokens_in, tokens_out, estimated))


class Reservation:
    """What one call holds of a ledger, until it is settled or released."""

    __slots__ = ("_held", "_ledger", "losses", "tokens_in", "tokens_out", "tries")

    def __init__(self, ledger: Ledger, tokens_in: int, tokens_out: int) -> None:
        self._ledger = ledger
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out
        self._held = (tokens_in, tokens_out)
        self.losses = 0
        """Tries whose answer was never seen."""
        self.tries = 0
        """How often it was sent."""

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
        self._ledger.give_back(*self._held)
        self._held = (0, 0)

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
