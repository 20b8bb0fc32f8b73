"""Why a request is not carried out: a status and one sentence for who sent it, told as RFC 9457 has it."""

import http
import math
import re
from collections.abc import Mapping

import msgspec

from runtime.service_error import Kind, ServiceError
from runtime.storage.damage import REMEDY, JournalDamaged
from runtime.storage.errors import StorageError

AGAIN_SECONDS = 5.0
"""When what fails because of the database may be asked again."""

STATUSES: dict[Kind, int] = {
    "invalid": 400, "not_found": 404, "conflict": 409, "not_remembered": 409, "too_large": 413, "key_reused": 422,
    "busy": 429, "unavailable": 503, "failed": 500, "cancelled": 409,
}  # fmt: skip

PROBLEM = "application/problem+json"
TITLES = {
    400: "What was sent cannot be used",
    401: "The token is missing, wrong or has expired",
    403: "Who asks may not do this; or a page of another site asks, or another machine than this one",
    404: "There is no such thing here",
    405: "This address does not take this method",
    408: "The body did not arrive in time",
    409: "It does not fit to what is known of the ticket",
    410: "It is gone",
    413: "Too large",
    415: "Another media type or encoding than those listed",
    417: "An expectation that nobody can meet",
    422: "The Idempotency-Key came with another ticket before",
    429: "As many tickets as are allowed are being worked on, or too many requests came; see Retry-After",
    431: "A header is too large",
    500: "What the database holds of it cannot be read, or the server failed; the sentence says which",
    503: "Stopping, not ready, or unable to do it now; see Retry-After",
}
REMEDIES = {
    401: "Send a token as `Authorization: Bearer ...`.",
    403: "Ask as somebody who may, and not from a page of another site.",
    404: "Check the address and the id; GET /docs shows what there is.",
    429: "Ask again after the seconds of Retry-After.",
    500: "Look into the log of the server.",
    503: "Ask again after the seconds of Retry-After.",
}
"""What to do where the sentence does not say it itself."""
OTHERWISE = "Change the request; GET /docs shows what is taken."
_FIRST = re.compile(r"[.;] (?=\S)")


class Problem(msgspec.Struct, frozen=True):
    """Why a request was not carried out: problem details for HTTP APIs (RFC 9457)."""

    type: str
    """Where problems of this kind are described."""
    title: str
    """The kind of problem: the same for all of its status."""
    status: int
    detail: str
    """Why, in one or two sentences."""
    remedy: str
    """What to do next."""


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
    if isinstance(error, ApiError):
        return error
    if isinstance(error, ServiceError):
        return ApiError(STATUSES[error.kind], str(error), retry_seconds=error.retry_seconds)
    if isinstance(error, JournalDamaged):
        return ApiError(500, f"What is stored of this run is damaged: {error.what}. {REMEDY}.")
    if isinstance(error, StorageError):
        sentence = "The database cannot be read now; ask again soon, and look at the disk if that lasts."
        return ApiError(503, sentence, retry_seconds=AGAIN_SECONDS)
    return ApiError(500, "The server failed at this; its log says more.")


def make_problem(error: ApiError) -> Problem:
    """An error as it is told to programs. Its remedy is what its sentence says after the first full stop."""
    detail, status = str(error), error.status
    first = _FIRST.search(detail)
    remedy = detail[first.end() :] if first else REMEDIES.get(status, OTHERWISE)
    title = TITLES.get(status) or http.HTTPStatus(status).phrase
    return Problem(f"/docs#status-{status}", title, status, detail, remedy[:1].upper() + remedy[1:])
