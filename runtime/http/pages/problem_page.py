"""A refusal as people read it; to whom is not signed in, the form to do so."""

from aiohttp import web

from runtime.http.errors import ApiError, make_problem
from runtime.http.gate import is_page
from runtime.http.pages.page_routes import accepts_page, render


def wants_page(request: web.Request) -> bool:
    """Whether a refusal is to be a page: programs get problem details, at every address."""
    return is_page(request.path) and accepts_page(request)


def show_problem(request: web.Request, refused: ApiError) -> web.Response:
    """A refusal as a page."""
    if refused.status == 401:
        to = request.path_qs if request.method == "GET" else "/"
        response = render(request, "sign_in.html", 401, to=to, failed="")
    else:
        response = render(request, "problem.html", refused.status, problem=make_problem(refused))
    response.headers.update(refused.headers)
    return response
