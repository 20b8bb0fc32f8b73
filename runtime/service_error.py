"""Why something that was asked for is not done. The command line makes an exit status of its kind, HTTP a status."""

from typing import Literal

Kind = Literal[
    "invalid", "too_large", "not_found", "not_remembered", "conflict", "key_reused", "busy", "unavailable", "failed",
    "cancelled",
]  # fmt: skip


class ServiceError(Exception):
    """The text is one sentence for the user, with what to do next; nothing of the inside is in it."""

    def __init__(self, sentence: str, kind: Kind = "invalid", *, retry_seconds: float = 0.0) -> None:
        """:param retry_seconds: when it may be asked again; 0: that will not help."""
        super().__init__(sentence)
        self.kind = kind
        self.retry_seconds = retry_seconds
