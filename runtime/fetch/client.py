"""A client for addresses that strangers name: safe by construction, for pages, feeds and robots.txt alike."""

import msgspec

from actors.research.ports import Reason
from runtime.settings import FetchSettings


class Got(msgspec.Struct, frozen=True):
    """What a server sent, or why nothing of it can be used."""

    url: str
    """The last address, redirects followed."""
    status: int = 0
    content_type: str = ""
    charset: str = ""
    body: bytes = b""
    truncated: bool = False
    reason: Reason | None = None
    """Why it cannot be used."""
    detail: str = ""
    """One sentence on that, for the user."""
    retry_after: float = 0.0
    """Seconds that the server asked for."""


class Client:
    """One a process. Opens no connection before it is needed."""

    def __init__(self, settings: FetchSettings) -> None:
        self.settings = settings

    async def get(self, url: str, *, within: float, types: str = "text") -> Got:
        """
        Fetch one URL, redirects followed, each hop checked. Never raises for what a server does.

        :param types: "text" for pages, "feed" for RSS and Atom, "robots" for robots.txt.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Close all connections."""
