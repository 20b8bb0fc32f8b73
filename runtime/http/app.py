"""The HTTP interface of one node, of the routes that there are."""

from aiohttp import web

from runtime.http import openapi  # noqa: F401 - a route of its own
from runtime.http.endpoints import DESK
from runtime.http.middleware import expect, explain, nowhere, refuse_strangers
from runtime.http.routes import ROUTES
from runtime.service import TicketService


def application(desk: TicketService) -> web.Application:
    """The interface of one node."""
    server = desk.node.settings.server
    app = web.Application(
        middlewares=[explain, refuse_strangers(server.token)], client_max_size=server.body_kilobytes * 1024
    )
    app[DESK] = desk
    for each in ROUTES:
        app.router.add_route(each.method, each.path, each.handler, expect_handler=expect)
        if each.method == "GET" and not each.path.endswith("/events"):
            app.router.add_route("HEAD", each.path, each.handler, expect_handler=expect)
    app.router.add_route("*", "/{nowhere:.*}", nowhere, expect_handler=expect)
    return app
