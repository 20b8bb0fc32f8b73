"""What `doctor` says of the model's server: whether it answers, and with `--reach` whether its model does."""

import asyncio
import http.client
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from actors.ports import ModelFailed, ModelRequest
from runtime.config import is_loopback
from runtime.llm.model_choice import chosen
from runtime.program import command
from runtime.settings import ModelSettings
from runtime.user_text import redact

Finding = tuple[Literal["ok", "warning", "problem"], str, str]
"""How it is, what was found, and what to do."""
OPENAI = "https://api.openai.com/v1"
REACH_SECONDS = 2.0
ANSWER_SECONDS = 30.0
ANSWER_TOKENS = 2000
"""What a model that thinks first may need for one word."""
INSTRUCTIONS = "You are asked whether you work. Give back the `word` that you are shown, as it is."


class WordRequest(msgspec.Struct, frozen=True):
    word: str


class Word(msgspec.Struct, frozen=True):
    """The smallest answer in form."""

    word: str


def look_at_server(settings: ModelSettings, *, reach: bool) -> Finding:
    """
    Contact the server, briefly.

    :param reach: one on another machine, too, and have the model answer: one small call, which may cost something.
    """
    if chosen(settings) == "extractive":
        return "ok", "none needed", ""
    url = settings.base_url or OPENAI
    base = redact(url)
    if not reach and not is_loopback(urlsplit(url).hostname or ""):
        return "ok", f"{base} was not contacted", f"{command('doctor --reach')} contacts it."
    state: Literal["warning", "problem"] = "warning" if settings.fallback else "problem"
    besides = "; until then the extractive model answers" if settings.fallback else ""
    try:
        status = _ask(url, settings.api_key)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return state, f"{base} does not answer ({reason})", f"Start it, or mend [model] base_url{besides}."
    if status in {401, 403}:
        return state, f"{base} refuses the key ({status})", f"Mend OPENAI_API_KEY{besides}."
    if status >= 500:
        return state, f"{base} answers with {status}", f"Look at its own log{besides}."
    if not reach:
        remedy = f"{command('doctor --reach')} asks {settings.name} for an answer, too."
        return "ok", f"{base} answers ({status})", remedy
    if problem := asyncio.run(_try_model(settings)):
        return state, f"{base} answers ({status}), but not as it must: {problem}", f"Mend [model]{besides}."
    return "ok", f"{base} answers ({status}), and {settings.name} answers in form", ""


async def _try_model(settings: ModelSettings) -> str:
    """What keeps the configured model from one small answer; empty when nothing does."""
    from runtime.llm.openai_model import OpenAIModel

    seconds = min(ANSWER_SECONDS, settings.call_seconds)
    brief = msgspec.structs.replace(settings, tries=1, call_seconds=seconds, answer_tokens=ANSWER_TOKENS)
    request = ModelRequest(agent="doctor", instructions=INSTRUCTIONS, material=WordRequest("terminus"))
    try:
        model = OpenAIModel(brief)
        try:
            await model.fill(Word, request, within=ANSWER_SECONDS)
        finally:
            await model.close()
    except ModelFailed as error:
        return str(error)
    return ""


def _ask(url: str, key: str) -> int:
    """The status with which a server lists its models; redirects and proxies are not followed."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=REACH_SECONDS)
    path = f"{parts.path.rstrip('/')}/models" + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {key}", "api-key": key} if key else {})
        return connection.getresponse().status
    except http.client.HTTPException as error:
        raise ValueError(f"not an HTTP server: {type(error).__name__}") from None
    finally:
        connection.close()
