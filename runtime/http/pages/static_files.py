"""The style sheet and the script of the pages, which every browser may have."""

from pathlib import Path

from aiohttp import web

from runtime.http.pages.page_routes import page

_FOLDER = Path(__file__).parent / "static"
_KINDS = {"terminus.css": "text/css", "terminus.js": "text/javascript"}


@page("GET", "/ui/static/{name}", access="open")
async def read_static(request: web.Request) -> web.StreamResponse:
    name = request.match_info["name"]
    if name not in _KINDS:
        raise web.HTTPNotFound
    body = (_FOLDER / name).read_bytes()
    return web.Response(body=body, content_type=_KINDS[name], charset="utf-8", headers={"Cache-Control": "no-cache"})
