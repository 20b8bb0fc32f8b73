"""The documents that answers rest on: shown, searched, indexed, uploaded and taken out."""

import re
import urllib.parse
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from aiohttp import web

from actors.ports import PortFailed
from runtime.engine.service import TicketService
from runtime.http import request_bodies
from runtime.http.endpoints.desk import DESK
from runtime.http.errors import AGAIN_SECONDS, ApiError
from runtime.http.middleware import answer
from runtime.http.request_bodies import JSON, DocumentPage, FoundPassages, IndexOrder, KnowledgeState, RemovedFolder
from runtime.http.routes import BODY, Document, as_json, refer_to, route
from runtime.knowledge import FILE, indexing
from runtime.knowledge.index import IndexedDocument
from runtime.knowledge.indexing import IndexingDesk, IndexingState
from runtime.settings import KnowledgeSettings
from runtime.user_text import display

T = TypeVar("T")

INDEXING = web.AppKey("indexing", IndexingDesk)
MOST_LISTED, MOST_FOUND = 1_000, 50
QUERY_CHARACTERS = 4_000
NAME = re.compile(r"[^\W_](?:[\w .()+&',–—-]{0,150}[\w)])?")
"""Of an uploaded document: it begins with a letter or a digit, and holds no slash."""
NAME_PARAMETER: Document = {
    "name": "name", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1, "maxLength": 152},
    "description": "Of an uploaded document, such as vpn.md",
}  # fmt: skip
FOLDER_PARAMETER: Document = {
    "name": "folder", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1},
    "description": "Its name in the index",
}  # fmt: skip


def _query(name: str, description: str, **schema: object) -> Document:
    return {"name": name, "in": "query", "schema": {"type": "string", **schema}, "description": description}


LIMIT = _query("limit", "How many at most", type="integer", minimum=1)


@route(
    "GET",
    "/knowledge",
    "The folders of the index, and how reading them stands",
    {200: as_json("They", KnowledgeState)},
    access="operate",
)
async def read_knowledge(request: web.Request) -> web.StreamResponse:
    return answer(await describe_knowledge(request))


async def describe_knowledge(request: web.Request) -> KnowledgeState:
    """
    The folders of the index, and how reading them stands.

    :raises ApiError: the index cannot be used.
    """
    node = request.app[DESK].node
    file = node.folder / FILE
    megabytes = round(file.stat().st_size / 1e6, 3) if file.exists() else 0.0
    found = await _answer_failures(indexing.list_folders(node.folder, node.workers))
    desk = request.app[INDEXING]
    meaning = await _answer_failures(indexing.measure_meaning(node.folder, node.workers, node.embedder))
    if meaning and meaning.ready < meaning.texts:
        meaning = msgspec.structs.replace(meaning, why=desk.why_no_vectors)
    return KnowledgeState(tuple(found), megabytes, desk.state, meaning)


@route(
    "GET", "/knowledge/documents", "The documents of the index by their names, page by page",
    {200: as_json("One page of them", DocumentPage)}, refusals=(400,),
    parameters=(_query("after", "The name after which the page begins"), LIMIT), access="operate",
)  # fmt: skip
async def list_documents(request: web.Request) -> web.StreamResponse:
    given = request_bodies.read_query(request, ("after", "limit"))
    most = request_bodies.read_limit(given, 100, MOST_LISTED)
    found = await find_documents(request, given.get("after", ""), most + 1)
    query = urllib.parse.urlencode({"after": found[most - 1].name, "limit": most}) if len(found) > most else ""
    return answer(DocumentPage(tuple(found[:most]), f"/knowledge/documents?{query}" if query else ""))


async def find_documents(request: web.Request, after: str, most: int) -> list[IndexedDocument]:
    """
    So many documents of the index by their names, those after one.

    :raises ApiError: the index cannot be used.
    """
    node = request.app[DESK].node
    return await _answer_failures(indexing.list_documents(after, most, node.folder, node.workers))


@route(
    "GET", "/knowledge/search", "Search the documents as an agent would",
    {200: as_json("What bears on the question, the best first", FoundPassages)}, refusals=(400,),
    parameters=({**_query("q", "The question", minLength=1, maxLength=QUERY_CHARACTERS), "required": True}, LIMIT),
    access="read",
)  # fmt: skip
async def search(request: web.Request) -> web.StreamResponse:
    given = request_bodies.read_query(request, ("q", "limit"))
    most = request_bodies.read_limit(given, 8, MOST_FOUND)
    return answer(await find_passages(request, given.get("q", "").strip(), most))


async def find_passages(request: web.Request, question: str, most: int) -> FoundPassages:
    """
    What bears on a question, the best first.

    :raises ApiError: it is empty or too long, or the index cannot be used.
    """
    node = request.app[DESK].node
    if not 0 < len(question) <= QUERY_CHARACTERS:
        raise ApiError(400, f"q must be a question of 1 to {QUERY_CHARACTERS:,} characters.")
    within = node.settings.knowledge.search_seconds
    found = await _answer_failures(node.knowledge.search(question, within=within, limit=most))
    return FoundPassages(found.passages, found.abstain, found.words_only)


@route(
    "POST", "/knowledge/index", "Read folders into the index; it goes on while this is answered",
    {202: as_json("How it stands", IndexingState)}, refusals=BODY, body={JSON: {"schema": refer_to(IndexOrder)}},
)  # fmt: skip
async def index(request: web.Request) -> web.StreamResponse:
    order = await request_bodies.read_index_order(request)
    return answer(await start_indexing(request, order.folders), 202)


async def start_indexing(request: web.Request, named: Sequence[str]) -> IndexingState:
    """
    Begin to read folders, those of the settings where none is named.

    :raises ApiError: one of them is not known.
    """
    node = request.app[DESK].node
    known = {each.name: each.path for each in await indexing.list_folders(node.folder, node.workers)}
    chosen = find_folders(named, node.settings.knowledge, known)
    return request.app[INDEXING].start(chosen)


@route(
    "DELETE", "/knowledge/folders/{folder}", "Take a folder out of the index; its files stay where they are",
    {200: as_json("It is out", RemovedFolder)}, refusals=(404,), parameters=(FOLDER_PARAMETER,),
)  # fmt: skip
async def remove_folder(request: web.Request) -> web.StreamResponse:
    named = request.match_info["folder"]
    return answer(RemovedFolder(named, await drop_folder(request, named)))


async def drop_folder(request: web.Request, named: str) -> int:
    """
    Take a folder out of the index; how many documents it held there.

    :raises ApiError: the index holds none of this name, or cannot be written.
    """
    node = request.app[DESK].node
    work = indexing.remove_folder(named, node.folder, node.workers, node.settings.knowledge)
    removed = await _answer_failures(work)
    if removed is None:
        raise ApiError(404, f"The index holds no folder {display(named)}. GET /knowledge names those of the index.")
    return removed


@route(
    "PUT", "/knowledge/documents/{name}", "Upload a document, or replace it; then the folder of uploads is read",
    {202: as_json("It is stored, and is read now", IndexingState)}, refusals=(*BODY, 404, 409),
    parameters=(NAME_PARAMETER,), body={"*/*": {"schema": {"type": "string", "format": "binary"}}},
)  # fmt: skip
async def upload(request: web.Request) -> web.StreamResponse:
    desk, name = request.app[DESK], _check_name(request.match_info["name"], 400)
    find_uploads(desk)  # before a body is read that nobody takes
    body = await request_bodies.read_document(request, desk.node.settings.knowledge.file_megabytes)
    return answer(await store_document(request, name, body), 202)


async def store_document(request: web.Request, name: str, body: bytes) -> IndexingState:
    """
    Keep an uploaded document, and begin to read it.

    :param name: what it is to be called, as somebody sent it.
    :raises ApiError: no document is called so, it is of no kind that is read, or it cannot be kept.
    """
    desk = request.app[DESK]
    place = find_uploads(desk)
    refused = await _answer_failures(indexing.store_upload(place, _check_name(name, 400), body, desk.node.workers))
    if refused:
        raise ApiError(415, refused)
    return request.app[INDEXING].start([place])


@route(
    "DELETE", "/knowledge/documents/{name}", "Delete an uploaded document, and take it out of the index",
    {204: {"description": "It is gone", "content": {}}}, refusals=(404, 409), parameters=(NAME_PARAMETER,),
)  # fmt: skip
async def delete_document(request: web.Request) -> web.StreamResponse:
    await drop_document(request, request.match_info["name"])
    return web.Response(status=204)


async def drop_document(request: web.Request, name: str) -> None:
    """
    Delete an uploaded document, and take it out of the index.

    :raises ApiError: there is none, or the index cannot be written.
    """
    desk = request.app[DESK]
    node, place = desk.node, find_uploads(desk)
    work = indexing.remove_upload(place, _check_name(name), node.folder, node.workers, node.settings.knowledge)
    if not await _answer_failures(work):
        raise ApiError(404, f"No document {display(name)} was uploaded. GET /knowledge/documents names all.")


def find_folders(named: Sequence[str], settings: KnowledgeSettings, known: Mapping[str, str]) -> list[str]:
    """
    The folders that are to be read.

    :param named: by names in the index, or by paths; none: those of the settings.
    :param known: paths of the index, by name.
    :raises ApiError: it is none of the settings or of the index, or there is none.
    """
    configured = [*settings.folders, *(each for each in [settings.uploads] if each and Path(each).is_dir())]
    if not named and not configured:
        raise ApiError(400, "No folder is configured. Set [knowledge] folders in config.toml and start again.")
    allowed = {str(Path(each).resolve()) for each in (*configured, *known.values())}
    found = []
    for name in named or configured:
        path = str(Path(known.get(name, name)).resolve()) if "\0" not in name else ""
        if path not in allowed:
            said = f"{display(name)} is no folder of the settings or of the index"
            raise ApiError(400, f"{said}. Choose one of those: GET /knowledge names them.")
        found.append(path)
    return found


def _check_name(name: str, status: int = 404) -> str:
    """A name as it is, once an uploaded document may have it."""
    if not NAME.fullmatch(name):
        said = "at most 152 letters, digits, spaces and . , ( ) + - _ & ', beginning with a letter or digit"
        raise ApiError(status, f"No document may be called {display(name)}. Rename the file: {said}.")
    return name


def find_uploads(desk: TicketService) -> str:
    """
    The folder of uploaded documents.

    :raises ApiError: there is none.
    """
    if not desk.node.settings.knowledge.uploads:
        raise ApiError(409, "No folder takes uploads. Set [knowledge] uploads in config.toml and start again.")
    return str(Path(desk.node.settings.knowledge.uploads).resolve())


async def _answer_failures(work: Awaitable[T]) -> T:
    """What comes of some work; where the index cannot do it now, a sentence."""
    try:
        return await work
    except PortFailed as error:
        raise ApiError(503, f"{error}", retry_seconds=AGAIN_SECONDS) from error


async def open_indexing(app: web.Application) -> AsyncIterator[None]:
    """Read folders while the interface is up."""
    app[INDEXING] = desk = IndexingDesk(app[DESK].node)
    yield
    await desk.close()
