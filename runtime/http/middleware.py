"""Who may ask, and how a refusal looks: one JSON object with one sentence, never a trace."""

from collections.abc import Mapping

import structlog
from aiohttp import HttpVersion11, web
from aiohttp.typedefs import Handler, Middleware

from runtime.access.tokens import Access
from runtime.engine.actions import acting_as
from runtime.http.errors import PROBLEM, ApiError, as_api_error, make_problem
from runtime.http.gate import PRINCIPAL, Gate, is_page, split_address
from runtime.http.pages.problem_page import show_problem, wants_page
from runtime.service_error import ServiceError
from runtime.storage.damage import JournalDamaged
from runtime.user_text import as_json

log = structlog.get_logger()

PATH_CHARACTERS = 200
"""What the log keeps of a path."""
HEADERS = {
    "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY", "Server": "Terminus", "Cross-Origin-Resource-Policy": "same-origin",
}  # fmt: skip
"""No cache keeps an answer, and no browser takes it for anything else, frames it, or runs anything in it."""
SENTENCES = {
    404: "There is nothing at this address; GET /openapi.json lists what there is.",
    405: "This address does not take {method}; see the Allow header.",
}


def answer(
    value: object, status: int = 200, headers: Mapping[str, str] | None = None, kind: str = "application/json"
) -> web.Response:
    """A value as JSON."""
    return web.Response(text=as_json(value) + "\n", status=status, headers=headers, content_type=kind, charset="utf-8")


def tell_problem(refused: ApiError) -> web.Response:
    """A refusal as problem details."""
    return answer(make_problem(refused), refused.status, refused.headers, PROBLEM)


async def add_headers(_: web.Request, response: web.StreamResponse) -> None:
    """What every answer tells a browser, unless it says something else of its own."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)


def refuse_strangers(gate: Gate, needs: Mapping[web.AbstractRoute, Access]) -> Middleware:
    """
    Only those are heard who may use a route, and what they do bears who they are.

    :param needs: what each route needs; one that is not there is for administrators.
    """

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if _from_another_site(request):
            raise ApiError(403, "A page of another site may not use this interface.")
        principal = await gate.admit(request, needs.get(request.match_info.route, "admin"))
        if principal is None:
            return await handler(request)
        request[PRINCIPAL] = principal
        with acting_as(principal.by):
            return await handler(request)

    return guard


@web.middleware
async def explain(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn whatever a handler raises into a sentence, and write down what nobody expected."""
    try:
        return await handler(request)
    except ApiError as refused:
        return _refusal(request, refused)
    except ServiceError as error:
        return _refusal(request, as_api_error(error))
    except web.HTTPException as error:
        sentence = SENTENCES.get(error.status, f"{error.reason}.").format(method=request.method)
        allow = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else {}
        return _refusal(request, ApiError(error.status, sentence, headers=allow))
    except ConnectionError:
        raise
    except JournalDamaged as error:
        log.error("journal.damaged", path=request.path[:PATH_CHARACTERS], error=str(error))  # noqa: TRY400 - it says all
        return _refusal(request, as_api_error(error))
    except Exception as error:
        log.exception("request.crashed", method=request.method, path=request.path[:PATH_CHARACTERS])
        return _refusal(request, as_api_error(error))


async def expect(request: web.Request) -> web.Response | None:
    """Let a client send its body, or refuse an expectation that nobody can meet. No middleware is asked before this."""
    if request.version != HttpVersion11:
        return None
    if request.headers["Expect"].lower() != "100-continue":
        return _refusal(request, ApiError(417, "The only Expect header that is understood is 100-continue."))
    await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    request.writer.output_size = 0  # the answer itself has not begun
    return None


async def nowhere(request: web.Request) -> web.StreamResponse:
    """What stands at no address, or is not taken there."""
    allowed: set[str] = set()
    for resource in request.app.router.resources():
        allowed |= (await resource.resolve(request))[1]
    if allowed := allowed - {"*"}:
        raise web.HTTPMethodNotAllowed(request.method, sorted(allowed))
    raise web.HTTPNotFound


def _refusal(request: web.Request, refused: ApiError) -> web.Response:
    log.info(
        "request.refused", status=refused.status, method=request.method, path=request.path[:PATH_CHARACTERS],
        reason=str(refused), remote=request.remote,
    )  # fmt: skip
    return show_problem(request, refused) if wants_page(request) else tell_problem(refused)


def _from_another_site(request: web.Request) -> bool:
    """Browsers say where a request comes from; a form of another page must not file tickets with this machine."""
    if request.method == "GET" and is_page(request.path) and request.headers.get("Sec-Fetch-Mode") == "navigate":
        return False  # a link to a page of ours; who follows it sees it, and the other site does not
    origin = request.headers.get("Origin")
    if origin is not None and split_address(origin).netloc.lower() != request.headers.get("Host", "").lower():
        return True
    return request.headers.get("Sec-Fetch-Site", "none") not in {"none", "same-origin"}
