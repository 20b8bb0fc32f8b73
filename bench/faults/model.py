"""A model server on loopback that answers what a helpdesk ticket asks of it, slowly, and lies about its usage."""

import asyncio
import json
import random
from collections.abc import Sequence
from typing import Any

from aiohttp import web

from tests.fake_openai import USAGE, FakeOpenAI, Step, completion
from tests.thinking import Asked, asked

HOSTILE: tuple[Any, ...] = (
    {"prompt_tokens": 10**30, "completion_tokens": 10**30, "total_tokens": 2 * 10**30},
    {"prompt_tokens": -(10**12), "completion_tokens": -5, "total_tokens": -(10**12)},
    {"prompt_tokens": 2**63, "completion_tokens": 2**63 - 1, "total_tokens": 2**64},
    {"prompt_tokens": float("nan"), "completion_tokens": float("inf"), "total_tokens": 1e308},
    {"prompt_tokens": "12", "completion_tokens": None, "total_tokens": [1]},
    {"prompt_tokens": True, "completion_tokens": {}},
    {},
    [],
    "all of them",
)
"""What servers may say of what an answer cost."""


def _say(it: Asked) -> Any:
    match it.shape:
        case "Analysis":
            return {
                "intent": "question",
                "urgency": "normal",
                "question": it.material.get("ticket", "")[:500],
                "language": "en",
            }
        case "Draft":
            return {"claims": it.claims(), "pass_on": None}
        case _:
            return {"summary": "The person was told what the documents say."}


def slow(seconds: tuple[float, float], usages: Sequence[Any] = (USAGE,)) -> Step:
    """Answers that take so long, and that claim each of these costs in turn."""
    dice, told = random.Random(7), 0

    async def step(_: FakeOpenAI, request: web.Request) -> web.StreamResponse:
        nonlocal told
        usage, told = usages[told % len(usages)], told + 1
        it = asked(json.loads(await request.text()))
        await asyncio.sleep(dice.uniform(*seconds))
        body = completion({"content": json.dumps(_say(it))}, usage=usage)
        return web.Response(body=body, content_type="application/json")

    return step
