"""What is no HTTP, or too much of it, is refused as everything else: with problem details, in one sentence."""

import structlog
from aiohttp import http_exceptions, web

from runtime.http.errors import ApiError
from runtime.http.middleware import HEADERS, tell_problem

log = structlog.get_logger()

LINE_BYTES = 8190
"""The longest line of a request's head."""


class ProblemProtocol(web.RequestHandler):
    """A connection. aiohttp answers what its parser refuses by itself, before any middleware is asked."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002
    ) -> web.StreamResponse:
        """
        Refuse what could not be parsed, and close the connection; nothing of what was sent is repeated.

        :raises ConnectionError: the answer has begun, so that no other can be given.
        """
        if request.writer.output_size > 0:
            raise ConnectionError("The answer was cut off.")
        refused = _explain(status, exc)
        if refused.status == 500:
            log.error("request.crashed", remote=request.remote, error=repr(exc), exc_info=exc)
        else:
            kind = type(exc).__name__
            log.info("request.refused", status=refused.status, reason=str(refused), kind=kind, remote=request.remote)
        response = tell_problem(refused)
        response.headers.update(HEADERS)  # no application is asked that would add them
        response.force_close()
        return response


def _explain(status: int, error: BaseException | None) -> ApiError:
    match error:
        case http_exceptions.LineTooLong():
            return ApiError(431, f"A line of the request is over {LINE_BYTES:,} bytes. Shorten the address or header.")
        case http_exceptions.BadHttpMethod():
            return ApiError(400, "This is no HTTP request, or not one in plain HTTP. Ask for http://, not https://.")
        case http_exceptions.HttpProcessingError():
            return ApiError(400, "The request is not as HTTP has it. Look at its first line, headers and lengths.")
        case _ if status == 500:
            return ApiError(500, "The server failed at this; its log says more.")
        case _:
            return ApiError(status, "The request cannot be read. Look at its first line and its headers.")
