"""
What answers rest on: the folders of the index, what a search of them finds, what was uploaded, and
what memory would say.

A form with a file in it is read as browsers send it without a script: in bounded pieces.
"""

import asyncio
import unicodedata
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from aiohttp import BodyPartReader, web
from aiohttp.http_exceptions import HttpProcessingError

from runtime.http.endpoints.agent_routes import recall_text
from runtime.http.endpoints.desk import DESK
from runtime.http.endpoints.knowledge_routes import (
    describe_knowledge,
    drop_document,
    drop_folder,
    find_documents,
    find_passages,
    find_uploads,
    start_indexing,
    store_document,
)
from runtime.http.errors import ApiError
from runtime.http.pages.page_routes import Form, form_action, go_to, page, read_field, refuse_strange_form, render
from runtime.http.request_bodies import BODY_SECONDS, FoundPassages, KnowledgeState, Recalled, find_kind, say_too_large
from runtime.knowledge.index import IndexedDocument
from runtime.knowledge.readers.reader import suffixes

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


PATH = "/ui/knowledge"
MOST_SHOWN = 8
DOCUMENTS_ON_A_PAGE = 50


class Uploads(msgspec.Struct, frozen=True):
    """What was uploaded, page by page."""

    documents: tuple[IndexedDocument, ...]
    """Each called as its file is."""
    after: str = ""
    """The name after which the next page begins; empty: there is none."""


@page("GET", PATH, access="operate", nav="knowledge")
async def show_knowledge(request: web.Request) -> web.StreamResponse:
    question, failed = request.query.get("q", "").strip(), ""
    found: FoundPassages | None = None
    if question:
        try:
            found = await find_passages(request, question, MOST_SHOWN)
        except ApiError as refused:
            failed = str(refused)
    return await _show(request, question=question, found=found, failed=failed)


async def _show(
    request: web.Request, status: int = 200, *, question: str = "", found: FoundPassages | None = None,
    failed: str = "", refused: str = "",
) -> web.Response:  # fmt: skip
    """:param refused: why what was asked for on this page was not done."""
    state = await describe_knowledge(request)
    knowledge = request.app[DESK].node.settings.knowledge
    return render(
        request, "knowledge.html", status, question=question, found=found, failed=failed, state=state, refused=refused,
        unread=_find_unread(knowledge.folders, state), configured=bool(knowledge.folders),
        takes_uploads=bool(knowledge.uploads), uploads=await _list_uploads(request, state),
        megabytes=knowledge.file_megabytes, suffixes=",".join(sorted(suffixes())),
    )  # fmt: skip


def _find_unread(configured: Sequence[str], state: KnowledgeState) -> list[str]:
    """Folders of the settings that the index does not have."""
    known = {each.path for each in state.folders}
    return [each for each in configured if str(Path(each).resolve()) not in known]


async def _list_uploads(request: web.Request, state: KnowledgeState) -> Uploads:
    desk = request.app[DESK]
    place = find_uploads(desk) if desk.node.settings.knowledge.uploads else ""
    start = next((f"{each.name}/" for each in state.folders if each.path == place), "")
    if not start:
        return Uploads(())
    after, most = start + request.query.get("after", ""), DOCUMENTS_ON_A_PAGE
    listed = await find_documents(request, after, most + 1)
    ours = [
        msgspec.structs.replace(each, name=each.name[len(start) :]) for each in listed if each.name.startswith(start)
    ]
    return Uploads(tuple(ours[:most]), ours[most - 1].name if len(ours) > most else "")


@form_action(f"{PATH}/index", access="admin")
async def read_folders(request: web.Request, form: Form) -> web.StreamResponse:
    folder = read_field(form, "folder")
    try:
        await start_indexing(request, (folder,) if folder else ())
    except ApiError as refused:
        return await _show(request, refused.status, refused=str(refused))
    return go_to(PATH)


@form_action(f"{PATH}/remove", access="admin")
async def remove(request: web.Request, form: Form) -> web.StreamResponse:
    """Take a folder out of the index, or delete an uploaded document."""
    folder = read_field(form, "folder")
    try:
        if folder:
            await drop_folder(request, folder)
        else:
            await drop_document(request, read_field(form, "document"))
    except ApiError as refused:
        return await _show(request, refused.status, refused=str(refused))
    return go_to(PATH)


@page("POST", f"{PATH}/documents", access="admin")
async def upload(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    try:
        find_uploads(desk)  # before a file is read that nobody takes
        sent = await read_file_form(request, desk.node.settings.knowledge.file_megabytes)
        refuse_strange_form(request, sent.fields)
        name = unicodedata.normalize("NFC", sent.name)  # some systems send letters and their accents apart
        await store_document(request, name, sent.body)
    except ApiError as refused:
        return await _show(request, refused.status, refused=str(refused))
    return go_to(PATH)


@page("GET", "/ui/memory", access="operate", nav="memory")
async def show_memory(request: web.Request) -> web.StreamResponse:
    text, failed = request.query.get("text", "").strip(), ""
    found: Recalled | None = None
    if text:
        try:
            found = await recall_text(request.app[DESK].node, text)
        except ApiError as refused:
            failed = str(refused)
    return render(request, "memory.html", text=text, found=found, failed=failed)
