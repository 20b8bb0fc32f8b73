"""All pages: each registers itself as it is imported. Their order is that of the navigation."""

from runtime.http.pages import (
    home_page,
    knowledge_page,
    memory_page,
    operation_page,
    shared_page,
    sign_in_page,
    static_files,
    ticket_actions,
    ticket_page,
)

__all__ = [
    "home_page", "knowledge_page", "memory_page", "operation_page", "shared_page", "sign_in_page", "static_files",
    "ticket_actions", "ticket_page",
]  # fmt: skip
