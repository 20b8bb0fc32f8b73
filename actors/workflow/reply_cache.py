"""No agent does twice what it has finished: asked the same again, because its answer was lost, it says it again."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from bus import Message

Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)


class ReplyCache(Generic[Q, A]):
    """
    The last request of an agent, and its answer to it.

    A request whose answer was refused comes again with the reason (`Case.refused`), so it is another one and is
    answered anew.
    """

    __slots__ = ("_answer", "_request")

    def __init__(self) -> None:
        self._request: Q | None = None
        self._answer: A | None = None

    async def once(self, request: Q, work: Callable[[Q], Awaitable[A]]) -> A:
        """The answer to a request: known, or what `work` makes of it. What fails is not remembered."""
        if self._answer is None or self._request != request:
            answer = await work(request)
            self._request, self._answer = request, answer
        return self._answer
