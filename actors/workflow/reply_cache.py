"""No agent does twice what it has finished: asked the same again, because its answer was lost, it says it again."""

from typing import Generic, TypeVar

from bus import Message

Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)


class ReplyCache(Generic[Q, A]):
    """
    The last request of an agent, and its answer to it. What fails is not remembered.

    A request whose answer was refused comes again with the reason, so it is another one and is answered anew.
    """

    __slots__ = ("_answer", "_request")

    def __init__(self) -> None:
        self._request: Q | None = None
        self._answer: A | None = None

    def find(self, request: Q) -> A | None:
        return self._answer if self._request == request else None

    def keep(self, request: Q, answer: A) -> A:
        self._request, self._answer = request, answer
        return answer
