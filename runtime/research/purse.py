"""What one research may use up: pages, credits and money, reserved before they are spent."""

from collections.abc import Mapping
from typing import Literal

from actors.ports import PortFailed

Thing = Literal["pages", "credits", "money"]


class PurseEmpty(PortFailed):
    """A budget of the research is used up; the report is written from what there is."""


class Purse:
    """One a research, shared by its rounds. 0: no limit."""

    __slots__ = ("_limits", "_spent")

    def __init__(self, limits: Mapping[Thing, float]) -> None:
        self._limits = limits
        self._spent: dict[Thing, float] = dict.fromkeys(limits, 0.0)

    def reserve(self, thing: Thing, amount: float = 1) -> None:
        """
        Put something aside before it is used.

        :raises PurseEmpty: there is not that much left.
        """
        limit = self._limits[thing]
        if limit and self._spent[thing] + amount > limit:
            raise PurseEmpty(f"The research's budget of {limit:g} {thing} is used up: raise [research] {thing}.")
        self._spent[thing] += amount

    def give_back(self, thing: Thing, amount: float = 1) -> None:
        """What was reserved was not needed."""
        self._spent[thing] = max(0.0, self._spent[thing] - amount)

    def spent(self, thing: Thing) -> float:
        return self._spent[thing]
