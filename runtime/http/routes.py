"""A route is one record: where it is, what it does, and what it says of itself to programs."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from aiohttp.typedefs import Handler

from runtime.access.roles import Access
from runtime.http.schemas import JSON, Problem
from runtime.tickets import ID

Document = dict[str, Any]
"""JSON, as deep as it is."""

REFUSALS = {
    400: "What was sent cannot be used",
    401: "The token is missing, wrong or has expired",
    403: "Who asks may not do this; or a page of another site asks, or another machine than this one",
    404: "There is no such ticket or run",
    408: "The body did not arrive in time",
    409: "It does not fit to what is known of the ticket",
    413: "Too large",
    415: "Another media type or encoding than those listed",
    422: "The Idempotency-Key came with another ticket before",
    429: "As many tickets as are allowed are being worked on, or too many requests came; see Retry-After",
    500: "What the database holds of it cannot be read, or the server failed; the sentence says which",
    503: "Stopping, not ready, or unable to do it now; see Retry-After",
}
BODY = (400, 408, 413, 415)
"""How a route may refuse that takes a body."""
EVERYWHERE = (400, 401, 403, 429, 500, 503)
ID_PARAMETER = {
    "name": "id", "in": "path", "required": True, "schema": {"type": "string", "pattern": f"^{ID.pattern}$"},
}  # fmt: skip


class Route(NamedTuple):
    """One method at one path."""

    method: str
    path: str
    handler: Handler
    operation: Document
    """As OpenAPI describes it."""
    access: Access = "admin"
    """The least that who asks must be allowed to do."""


ROUTES: list[Route] = []
SHAPES: dict[str, type] = {Problem.__name__: Problem}
"""What routes take and answer, by name."""


def route(
    method: str, path: str, summary: str, answers: Mapping[int, Document], *, refusals: tuple[int, ...] = (),
    parameters: tuple[Document, ...] = (), body: Document | None = None, access: Access = "admin",
) -> Callable[[Handler], Handler]:  # fmt: skip
    """
    Register a handler as a route; `{id}` in its path is one of a ticket or a run.

    :param access: what it needs. A route that does not say is for administrators, so that none is open by oversight.
    """
    ids = (ID_PARAMETER,) if "{id}" in path else ()
    operation: Document = {
        "summary": summary,
        "parameters": [*ids, *parameters],
        "responses": {str(status): as_json(REFUSALS[status], Problem) for status in sorted({*refusals, *EVERYWHERE})}
        | {str(status): answer for status, answer in answers.items()},
        "security": describe_security(access),
    }
    if body is not None:
        operation["requestBody"] = {"required": True, "content": body}

    def register(handler: Handler) -> Handler:
        ROUTES.append(Route(method, path, handler, operation, access))
        return handler

    return register


def describe_security(access: Access) -> list[Document]:
    """Who may, for OpenAPI: nothing at all on a machine where nobody has to say who they are."""
    return [{}] if access == "open" else [{}, {"token": [access]}, {"proxy": [access]}]


def as_json(description: str, shape: type) -> Document:
    """An answer that is JSON of this shape."""
    return {"description": description, "content": {JSON: {"schema": refer_to(shape)}}}


def refer_to(shape: type) -> Document:
    """A reference to the description of this type, which OpenAPI then has."""
    SHAPES[shape.__name__] = shape
    return {"$ref": f"#/components/schemas/{shape.__name__}"}
