"""What one research may use up: pages and search credits, reserved before they are spent."""

from collections.abc import Mapping
from typing import Literal, Protocol

from actors.ports import PortFailed

Thing = Literal["pages", "credits"]


class BudgetExceeded(PortFailed):
    """A budget of the research is used up; the report is written from what there is."""


class BudgetStore(Protocol):
    """Where what is spent stands, so that a research which is resumed does not begin anew."""

    def spent(self, thing: str) -> float: ...

    def spend(self, thing: str, amount: float) -> None: ...


class ResearchBudget:
    """One a research, shared by its rounds. 0: no limit."""

    __slots__ = ("_book", "_limits", "_spent")

    def __init__(self, limits: Mapping[Thing, float], book: BudgetStore | None = None) -> None:
        self._limits = limits
        self._book = book
        self._spent = {thing: book.spent(thing) if book is not None else 0.0 for thing in limits}

    def reserve(self, thing: Thing, amount: float = 1) -> None:
        """
        Put something aside before it is used.

        :raises BudgetExceeded: there is not that much left.
        """
        limit = self._limits[thing]
        if limit and self._spent[thing] + amount > limit:
            raise BudgetExceeded(
                f"The budget of {limit:g} {thing} for one research is used up: raise [research] {thing}."
            )
        self._add(thing, amount)

    def give_back(self, thing: Thing, amount: float = 1) -> None:
        """What was reserved was not needed."""
        self._add(thing, -min(amount, self._spent[thing]))

    def spent(self, thing: Thing) -> float:
        return self._spent[thing]

    def _add(self, thing: Thing, amount: float) -> None:
        self._spent[thing] += amount
        if self._book is not None:
            self._book.spend(thing, amount)
