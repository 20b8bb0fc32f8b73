"""Why a request is not carried out: a status and one sentence for who sent it."""

import math
from collections.abc import Mapping


class Refused(Exception):
    """The request is refused. The text is one sentence with what to do next; nothing of the inside is in it."""

    def __init__(
        self, status: int, sentence: str, *, retry_seconds: float = 0.0, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = dict(headers or {})
        if retry_seconds:
            self.headers["Retry-After"] = str(math.ceil(retry_seconds))
