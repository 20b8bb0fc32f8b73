"""What may be asked over HTTP: a function each, with its route, in a file for each resource."""

from runtime.http.endpoints import (
    agent_routes,
    health_routes,
    intake_routes,
    knowledge_routes,
    share_routes,
    ticket_routes,
)

__all__ = ["agent_routes", "health_routes", "intake_routes", "knowledge_routes", "share_routes", "ticket_routes"]
