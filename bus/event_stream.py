"""What goes to everybody at once: progress, to those who watch a bus, and the request to stop, to its actors."""

from collections.abc import Callable

import structlog

from bus.actor import Message
from bus.supervision import describe

log = structlog.get_logger()

Watcher = Callable[[str, Message], None]
"""Takes who said it, as the bus stamped it, and what."""


class EventStream:
    """The part of a bus that has no addresses."""

    __slots__ = ("_at_stop", "live_watchers", "stopping", "watchers")

    def __init__(self) -> None:
        self.watchers: tuple[Watcher, ...] = ()
        self.live_watchers = 0
        """How many of them show what is said while it is being said."""
        self.stopping = False
        self._at_stop: tuple[Callable[[], object], ...] = ()

    def request_stop(self) -> None:
        """Tell all actors, by `stopping`, to hand in what they have."""
        self.stopping = True
        calls, self._at_stop = self._at_stop, ()
        for call in calls:
            try:
                call()
            except Exception as error:
                log.warning("stopping.unheard", error=describe(error))

    def on_stop(self, call: Callable[[], object]) -> None:
        if self.stopping:
            call()
        else:
            self._at_stop = (*self._at_stop, call)

    def subscribe(self, watcher: Watcher, *, live: bool = False) -> Callable[[], None]:
        """
        Hear all that is published, in order; call the result to stop. A watcher must not block.

        :param live: it shows things half done; what only serves that is not made for others.
        """
        self.watchers = (*self.watchers, watcher)
        self.live_watchers += live

        def unsubscribe() -> None:
            if watcher in self.watchers:
                self.live_watchers -= live
            self.watchers = tuple(each for each in self.watchers if each is not watcher)

        return unsubscribe

    def publish(self, sender: str, message: Message) -> None:
        for watcher in self.watchers:
            try:
                watcher(sender, message)
            except Exception as error:
                log.warning("watcher.failed", message=type(message).__name__, error=describe(error))
