"""Why a request is not carried out: a status and one sentence for who sent it."""

import math
from collections.abc import Mapping

from runtime.service_error import Kind, ServiceError
from runtime.storage.damage import REMEDY, JournalDamaged
from runtime.storage.errors import StorageError

AGAIN_SECONDS = 5.0
"""When what fails because of the database may be asked again."""

STATUSES: dict[Kind, int] = {
    "invalid": 400, "not_found": 404, "conflict": 409, "not_remembered": 409, "too_large": 413, "key_reused": 422,
    "busy": 429, "unavailable": 503, "failed": 500, "cancelled": 409,
}  # fmt: skip


class ApiError(Exception):
    """The request is refused. The text is one sentence with what to do next; nothing of the inside is in it."""

    def __init__(
        self, status: int, sentence: str, *, retry_seconds: float = 0.0, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = dict(headers or {})
        if retry_seconds:
            self.headers["Retry-After"] = str(math.ceil(retry_seconds))


def as_api_error(error: Exception) -> ApiError:
    """What whoever asked hears of an error. Of one that nobody expects the log has the rest."""
    if isinstance(error, ServiceError):
        return ApiError(STATUSES[error.kind], str(error), retry_seconds=error.retry_seconds)
    if isinstance(error, JournalDamaged):
        return ApiError(500, f"What is stored of this run is damaged: {error.what}. {REMEDY}.")
    if isinstance(error, StorageError):
        sentence = "The database cannot be read now; ask again soon, and look at the disk if that lasts."
        return ApiError(503, sentence, retry_seconds=AGAIN_SECONDS)
    return ApiError(500, "The server failed at this; its log says more.")
