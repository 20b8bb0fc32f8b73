"""A form with a file in it, as browsers send it without a script: read in bounded pieces, which nobody decodes."""

import asyncio
from collections.abc import AsyncIterator
from typing import NamedTuple

from aiohttp import BodyPartReader, web
from aiohttp.http_exceptions import HttpProcessingError

from runtime.http.errors import ApiError
from runtime.http.request_bodies import BODY_SECONDS, find_kind, say_too_large

FILE_FORM = "multipart/form-data"
FIELDS = 20
FIELD_BYTES = 4_000
UNREADABLE = "The form is cut off or not made as its headers say. Send it again."


class FileForm(NamedTuple):
    """What came in."""

    fields: dict[str, list[str]]
    name: str
    """What the browser calls the file: whatever its user liked."""
    body: bytes


async def read_file_form(request: web.Request, megabytes: float) -> FileForm:
    """
    The fields of a form and its one file.

    :raises ApiError: it is none, too large, too slow or cut off.
    """
    if find_kind(request) != FILE_FORM:
        raise ApiError(415, f"Send {FILE_FORM}.")
    most, too_large = int(megabytes * 1_000_000), ApiError(413, say_too_large(megabytes))
    if (request.content_length or 0) > most + FIELDS * FIELD_BYTES:
        raise too_large
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _read_parts(request, most, too_large)
    except TimeoutError:
        raise ApiError(408, f"The form did not arrive within {BODY_SECONDS:g} s. Send it again.") from None
    except (ValueError, RuntimeError, HttpProcessingError, web.RequestPayloadError, web.HTTPRequestEntityTooLarge):
        raise ApiError(400, UNREADABLE) from None


async def _read_parts(request: web.Request, most: int, too_large: ApiError) -> FileForm:
    fields, name, body, count = dict[str, list[str]](), "", b"", 0
    async for part in _list_parts(request):
        count += 1
        if count > FIELDS:
            raise ApiError(400, f"The form has more than {FIELDS} fields.")
        if part.filename is None:
            text = await _read(part, FIELD_BYTES, ApiError(413, f"A field is over {FIELD_BYTES:,} bytes."))
            fields.setdefault(part.name or "", []).append(text.decode("utf-8"))
        elif body or name:
            raise ApiError(400, "Send one file at a time.")
        else:
            name, body = part.filename, await _read(part, most, too_large)
    if not name:
        raise ApiError(400, "No file was chosen. Choose one, and send the form again.")
    return FileForm(fields, name, body)


async def _list_parts(request: web.Request) -> AsyncIterator[BodyPartReader]:
    reader = await request.multipart()
    while (part := await reader.next()) is not None:
        if not isinstance(part, BodyPartReader):
            raise ApiError(400, UNREADABLE)  # a form within the form: no browser does that
        yield part


async def _read(part: BodyPartReader, most: int, too_large: ApiError) -> bytes:
    pieces, length = list[bytes](), 0
    while piece := await part.read_chunk():
        length += len(piece)
        if length > most:
            raise too_large
        pieces.append(piece)
    return b"".join(pieces)
