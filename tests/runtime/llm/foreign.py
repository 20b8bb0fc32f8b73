"""Servers that are almost OpenAI's: what each refuses, ignores and wraps, in front of an honest helpdesk model."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from tests.fake_openai import USAGE, FakeOpenAI, Step, completion, sends
from tests.thinking import Asked, asked

Body = dict[str, Any]
Refusal = tuple[int, Any]
"""A status and a body."""


def helpdesk(it: Asked) -> Any:
    """What an honest model answers in a ticket: one true claim a passage."""
    match it.shape:
        case "Analysis":
            question = it.material["ticket"]
            return {"intent": "question", "urgency": "normal", "question": question, "language": "en"}
        case "Draft":
            return {"claims": it.claims(), "pass_on": None}
        case "SecondReading":
            numbers = re.findall(r"^number: (\d+)$", it.material["statements"], re.MULTILINE)
            return {"verdicts": [{"number": int(number), "verdict": "entailed"} for number in numbers]}
    return {"summary": "It was asked how Halyard evicts entries, and the manual says so."}


def chat(
    *refuse: Callable[[Body], Refusal | None],
    wrap: Callable[[str], str] = lambda text: text,
    needs_schema: bool = False,
    body: Callable[[bytes], bytes] = lambda body: body,
) -> Step:
    """
    A server with these refusals, the first that applies.

    :param wrap: how it writes an answer.
    :param needs_schema: it heeds no `response_format`, and its model only knows the form where the messages say it.
    """

    async def step(server: FakeOpenAI, request: web.Request) -> web.StreamResponse:
        given = json.loads(await request.text())
        for each in refuse:
            if refused := each(given):
                status, said = refused
                return await sends(json.dumps(said).encode(), status=status)(server, request)
        it = asked(with_system(given))
        value = helpdesk(it)
        text = json.dumps(value)
        if needs_schema and "JSON schema" not in json.dumps(given["messages"]):
            text = json.dumps({"answer": "Halyard evicts the entry that was used least recently."})
        return await sends(body(completion({"content": wrap(text)}, usage=USAGE)))(server, request)

    return step


def with_system(given: Body) -> Body:
    """A request whose instructions may stand before its question, as one with a message for each."""
    first, *others = given["messages"]
    if first["role"] == "system":
        return given
    system, _, user = first["content"].partition("\n\n<<<")
    parts = [{"role": "system", "content": system}, {"role": "user", "content": f"<<<{user}"}]
    return {**given, "messages": [*parts, *others]}


def without(key: str, refusal: Refusal) -> Callable[[Body], Refusal | None]:
    """Refuses requests with this key."""
    return lambda given: refusal if key in given else None


def no_format(*types: str, refusal: Refusal) -> Callable[[Body], Refusal | None]:
    """Refuses these types of `response_format`."""
    return lambda given: refusal if given.get("response_format", {}).get("type") in types else None


def no_system(refusal: Refusal) -> Callable[[Body], Refusal | None]:
    return lambda given: refusal if given["messages"][0]["role"] == "system" else None


def tools_and_format(refusal: Refusal) -> Callable[[Body], Refusal | None]:
    return lambda given: refusal if "tools" in given and "response_format" in given else None


def error(message: str, **more: Any) -> Mapping[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", **more}}


def validation(*location: str) -> Mapping[str, Any]:
    """As validators of Python say what they forbid."""
    return {
        "detail": [{"type": "extra_forbidden", "loc": ["body", *location], "msg": "Extra inputs are not permitted"}]
    }


ARRAY = [{"error": {"code": 400, "message": 'Unknown name "json_schema": Cannot find field.', "status": "INVALID"}}]
JSON_OBJECT_ONLY = error("[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type')}]")

SERVERS: Mapping[str, tuple[Step, int]] = {
    "LiteLLM that drops the format": (chat(needs_schema=True), 4),
    "llama-cpp-python": (chat(no_format("json_schema", refusal=(500, JSON_OBJECT_ONLY)), needs_schema=True), 6),
    "llama.cpp without jinja": (chat(without("tools", (500, error("tools param requires --jinja flag")))), 5),
    "Gemini": (chat(no_format("json_schema", refusal=(400, ARRAY))), 6),
    "Cerebras": (chat(tools_and_format((400, error('"tools" is incompatible with "response_format"')))), 5),
    "Mistral": (chat(without("max_completion_tokens", (422, validation("max_completion_tokens")))), 4),
    "a newer OpenAI behind a gateway": (chat(without("max_tokens", (400, error(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )))), 6),
    "a template without system role": (chat(no_system((400, error("System role not supported")))), 6),
    "o1": (chat(no_system((400, error("'messages[0].role' does not support 'system' with this model.")))), 6),
    "vLLM without auto-tool": (chat(without("tools", (400, error(
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
    )))), 5),
    "Ollama without tools": (chat(without("tools", (400, error("registry/llama does not support tools")))), 5),
    "DeepSeek": (chat(no_format("json_schema", refusal=(400, error("response_format is unavailable now")))), 6),
    "LM Studio": (chat(no_format("json_object", "json_schema", refusal=(400, error(
        "'response_format.type' must be 'text'"
    )))), 8),
    "OpenRouter without an endpoint for tools": (chat(without("tools", (404, error(
        "No endpoints found that support tool use."
    )))), 5),
    "a strict server that says nothing": (chat(no_format("json_schema", refusal=(400, "Bad Request"))), 7),
}  # fmt: skip
"""With the requests that a ticket of four calls may take at most."""

SHAPES: Mapping[str, Callable[[str], str]] = {
    "text with braces behind": lambda text: f"{text}\nI used {{the manual}} for it.",
    "thinking": lambda text: f'<thinking>maybe {{"claims": []}}?</thinking>\n{text}',
    "harmony": lambda text: (
        "<|channel|>analysis<|message|>We need {JSON}.<|end|><|start|>assistant"
        f"<|channel|>final<|message|>{text}<|return|>"
    ),
    "a trailing comma": lambda text: text[:-1] + ",}",
    "a passage in brackets": lambda text: text.replace('"passage": 1', '"passage": "[1]"'),
    "the name of the answer around it": lambda text: json.dumps({"result": json.loads(text)}),
    "a list of one without its brackets": lambda text: text.replace("[{", "{").replace("}]", "}"),
    "a code block": lambda text: f"Here it is:\n```json\n{text}\n```\nAnything else?",
}
