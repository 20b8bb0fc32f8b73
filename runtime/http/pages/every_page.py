"""All pages: each registers itself as it is imported. Their order is that of the navigation."""

from runtime.http.pages import home_page, knowledge_page, operation_page, shared_page, ticket_actions, ticket_page
from runtime.http.pages import home_page as sign_in_page
from runtime.http.pages import knowledge_page as memory_page
from runtime.http.pages import page_routes as static_files

__all__ = [
    "home_page", "knowledge_page", "memory_page", "operation_page", "shared_page", "sign_in_page", "static_files",
    "ticket_actions", "ticket_page",
]  # fmt: skip
