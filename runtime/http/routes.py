"""A route is one record: where it is, what it does, and what it says of itself to programs."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from aiohttp.typedefs import Handler

from runtime.access.tokens import Access
from runtime.http.errors import PROBLEM, TITLES, Problem
from runtime.http.request_bodies import JSON
from runtime.tickets import ID

Document = dict[str, Any]
"""JSON, as deep as it is."""

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
        "responses": _describe_answers(answers, {*refusals, *EVERYWHERE}),
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


def _describe_answers(answers: Mapping[int, Document], refusals: set[int]) -> Document:
    """By status; where one may be an answer or a refusal, both."""
    told: Document = {str(status): as_problem(status) for status in sorted(refusals)}
    for status, answer in answers.items():
        known = told.get(str(status), {})
        told[str(status)] = {**known, **answer, "content": {**answer["content"], **known.get("content", {})}}
    return told


def as_problem(status: int) -> Document:
    """A refusal of this status."""
    told: Document = {"description": TITLES[status], "content": {PROBLEM: {"schema": refer_to(Problem)}}}
    if status in {429, 503}:
        told["headers"] = {"Retry-After": {"description": "Seconds", "schema": {"type": "integer"}}}
    return told


def refer_to(shape: type) -> Document:
    """A reference to the description of this type, which OpenAPI then has."""
    SHAPES[shape.__name__] = shape
    return {"$ref": f"#/components/schemas/{shape.__name__}"}
