"""Who plays which role, shared by many runs."""

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from bus.actor import Actor

T = TypeVar("T")


class ActorFactories(Mapping[str, Callable[[], Actor[Any]]], Generic[T]):
    """
    The cast of one run, from factories that all runs share: each is called with what belongs to this run.

    A dictionary of factories for every run would be a tenth of what a run takes, in time and in memory.
    """

    __slots__ = ("_given", "_roles")

    def __init__(self, roles: Mapping[str, Callable[[T], Actor[Any]]], given: T) -> None:
        self._roles = roles
        self._given = given

    def __getitem__(self, role: str) -> Callable[[], Actor[Any]]:
        return functools.partial(self._roles[role], self._given)

    def __contains__(self, role: object) -> bool:
        return role in self._roles

    def __iter__(self) -> Iterator[str]:
        return iter(self._roles)

    def __len__(self) -> int:
        return len(self._roles)
