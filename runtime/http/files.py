"""A report as a file for whoever asks: made in a process that can be killed, and harmless in a browser."""

import msgspec
from aiohttp import web

from actors.documents.template import Document
from actors.reporting.report import Report
from runtime.http.errors import ApiError
from runtime.processes.pool import WorkError, Workers
from runtime.reports import DOCUMENT_FORMATS, missing, render
from runtime.user_text import display, nearest, safe

FORMATS = {
    "md": "text/markdown",
    "html": "text/html",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pdf": "application/pdf",
}
RENDER = "runtime.reports:render_packed"
RENDER_FRAGMENT = "runtime.reports:render_packed_fragment"
RENDER_DOCUMENT = "runtime.reports:render_packed_document"
MAKE_SECONDS = 30.0
"""How long the making of a file may take."""
COMPLAINT_CHARACTERS = 200
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""A report runs nothing, loads nothing and sends nothing, whatever stands in it."""
DOWNLOADED = frozenset({"docx", "pdf"})


def requested_format(request: web.Request) -> str:
    """The format that a request asks for, by its query, or by what it accepts."""
    given = request.query.get("format", "")
    if not given:
        accepted = request.headers.get("Accept", "")
        return "html" if "text/html" in accepted and "text/markdown" not in accepted else "md"
    if given not in FORMATS:
        raise ApiError(400, f"There is no format {display(given)}. {nearest(given, FORMATS)}")
    if said := missing(f".{given}"):
        raise ApiError(503, said)
    return given


def document_format(request: web.Request) -> str:
    """The format in which a document is answered: one that is worked on is no page."""
    given = requested_format(request)
    if f".{given}" in DOCUMENT_FORMATS:
        return given
    if "format" in request.query:
        raise ApiError(400, f"A document comes as md or docx, not as {given}.")
    return "md"


async def as_file(report: Report | Document, suffix: str, name: str, workers: Workers) -> web.Response:
    """
    A report as the answer to a request.

    :param name: what the file is called where it is saved, without its suffix; an id, thus harmless.
    """
    body = render(report, ".md") if suffix == "md" else await _render(report, suffix, workers)
    place = "attachment" if suffix in DOWNLOADED else "inline"
    headers = {
        "Content-Security-Policy": POLICY, "Content-Disposition": f'{place}; filename="{name}.{suffix}"',
    }  # fmt: skip
    charset = None if suffix in DOWNLOADED else "utf-8"
    return web.Response(body=body, headers=headers, content_type=FORMATS[suffix], charset=charset)


async def as_fragment(report: Report, workers: Workers) -> str:
    """
    A report as HTML for a page that shows more than it, with every word of a source escaped.

    :raises ApiError: it could not be made now.
    """
    return (await _call(workers, RENDER_FRAGMENT, "html", msgspec.msgpack.encode(report))).decode("utf-8")


async def _render(report: Report | Document, suffix: str, workers: Workers) -> bytes:
    make = RENDER_DOCUMENT if isinstance(report, Document) else RENDER
    return await _call(workers, make, suffix, msgspec.msgpack.encode(report), f".{suffix}")


async def _call(workers: Workers, make: str, suffix: str, *given: object) -> bytes:
    try:
        return await workers.call(make, *given, within=MAKE_SECONDS, returns=bytes)
    except WorkError as error:
        complaint = safe(str(error).partition("\n")[0].rstrip(".")[:COMPLAINT_CHARACTERS])
        raise ApiError(
            503, f"The report could not be made as {suffix}: {complaint}. Ask for Markdown, or try again.",
            retry_seconds=MAKE_SECONDS,
        ) from error  # fmt: skip
