"""Who may ask, and how a refusal looks: one JSON object with one sentence, never a trace."""

import hmac
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

import structlog
from aiohttp import HttpVersion11, web
from aiohttp.typedefs import Handler, Middleware

from runtime.config import is_loopback
from runtime.http.errors import ApiError, as_api_error
from runtime.http.schemas import Problem
from runtime.service_error import ServiceError
from runtime.storage.damage import JournalDamaged
from runtime.user_text import as_json

log = structlog.get_logger()

PATH_CHARACTERS = 200
"""What the log keeps of a path."""
SENTENCES = {
    404: "There is nothing at this address; GET /openapi.json lists what there is.",
    405: "This address does not take {method}; see the Allow header.",
}


def answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """A value as JSON that no cache keeps and no browser takes for anything else."""
    usual = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", **(headers or {})}
    return web.Response(
        text=as_json(value) + "\n", status=status, headers=usual, content_type="application/json", charset="utf-8"
    )


def authorise(request: web.Request, token: str) -> bool:
    """Whether the request carries the token, when there is one; compared in a time that tells nothing."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    same = hmac.compare_digest(_bytes(given.strip()), _bytes(token))
    return not token or (same and scheme.lower() == "bearer")


def refuse_strangers(token: str) -> Middleware:
    """Everything but `open_to_all` needs the token; without one, only this machine's own programs are heard."""

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not token and not is_loopback(_split(f"//{request.headers.get('Host', '')}").hostname or ""):
            raise ApiError(403, "Without a token only this machine is served: ask for http://127.0.0.1 or localhost.")
        if _from_another_site(request):
            raise ApiError(403, "A page of another site may not use this interface.")
        if not authorise(request, token) and request.path != "/health":
            raise ApiError(
                401,
                "Send the token of this server as `Authorization: Bearer ...`.",
                headers={"WWW-Authenticate": "Bearer"},
            )
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
    return answer(Problem(str(refused)), refused.status, refused.headers)


def _from_another_site(request: web.Request) -> bool:
    """Browsers say where a request comes from; a form of another page must not file tickets with this machine."""
    origin = request.headers.get("Origin")
    if origin is not None and _split(origin).netloc.lower() != request.headers.get("Host", "").lower():
        return True
    return request.headers.get("Sec-Fetch-Site", "none") not in {"none", "same-origin"}


def _split(address: str) -> SplitResult:
    """What an Origin or a Host header names; nothing where that cannot be read."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
