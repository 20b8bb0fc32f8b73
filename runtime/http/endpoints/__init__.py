"""What may be asked over HTTP: a function each, with its route, in a file for each resource."""

from runtime.http.endpoints import (
    agent_routes,
    event_routes,
    health_routes,
    intake_routes,
    knowledge_routes,
    list_routes,
    result_routes,
    share_routes,
    ticket_routes,
    trace_routes,
)

__all__ = [
    "agent_routes", "event_routes", "health_routes", "intake_routes", "knowledge_routes", "list_routes",
    "result_routes", "share_routes", "ticket_routes", "trace_routes",
]  # fmt: skip
