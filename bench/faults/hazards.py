"""A specialist with a tool of the user's that kills the daemon or holds its event loop, and a model that calls it."""

import asyncio
import json
import time
from pathlib import Path

import aiohttp
from aiohttp import web

from bench.faults.model import slow
from tests.fake_openai import FakeOpenAI, Step, calls, says
from tests.thinking import asked

POISON, FREEZE = "the press is poisoned", "the press is frozen"
FREEZE_SECONDS = 6.0
PROBE_SECONDS = 1.0
"""What Kubernetes waits for an answer unless it is told otherwise."""
PAUSE_SECONDS = 0.2
SPECIALIST = """\
---
name: pressing
description: Solves tickets about presses.
handles: presses
intents:
  pressing:
    means: presses
    words:
      en: press
tools: [squeeze]
---
You solve support tickets about presses.
"""
TOOLS = f'''\
"""A press that does harm."""
import os, re, time

async def squeeze(how: str) -> str:
    """
    Press something.

    :param how: poison or freeze.
    """
    if how == "poison":
        os._exit(9)
    length, until = 16, time.monotonic() + {FREEZE_SECONDS}
    while time.monotonic() < until:  # the longest of these calls holds the interpreter for half of the time
        re.match(r"(?:a|a)*b", "a" * length)
        length += 1
    return "It is pressed."

TOOLS = [squeeze]
'''


def equip(folder: Path) -> dict[str, str]:
    """Write the specialist and its tool; returns the variables that name them."""
    (folder / "agents").mkdir()
    (folder / "agents" / "pressing.md").write_text(SPECIALIST, encoding="utf-8")
    (folder / "my_tools.py").write_text(TOOLS, encoding="utf-8")
    return {"TERMINUS_AGENTS_FOLDER": str(folder / "agents"), "TERMINUS_AGENTS_TOOLS": str(folder / "my_tools.py")}


def presses(seconds: tuple[float, float]) -> Step:
    """A model that sends tickets about the press to its specialist, and calls the tool for it."""
    usual = slow(seconds)

    async def step(server: FakeOpenAI, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.text())
        said, called = json.dumps(body["messages"]), any(each["role"] == "tool" for each in body["messages"])
        how = "poison" if POISON in said else "freeze" if FREEZE in said else ""
        if how and asked(body).shape == "Analysis":
            analysis = {"intent": "pressing", "urgency": "normal", "question": said[:200], "language": "en"}
            return await says(analysis)(server, request)
        if how and body.get("tools") and not called:
            return await calls(("squeeze", json.dumps({"how": how})))(server, request)
        return await usual(server, request)

    return step


async def probe(address: str) -> bool:
    """Whether somebody says in time that the daemon lives."""
    timeout = aiohttp.ClientTimeout(total=PROBE_SECONDS)
    try:
        async with aiohttp.ClientSession(address, timeout=timeout) as client, client.get("/health/live") as answer:
            return answer.status == 200
    except (aiohttp.ClientError, TimeoutError, OSError):
        return False


async def count_stalls(address: str) -> tuple[int, float]:
    """How often the daemon says that its loop stood still, and the longest time."""
    async with aiohttp.ClientSession(address) as client, client.get("/metrics") as answer:
        found = dict(line.rsplit(" ", 1) for line in (await answer.text()).splitlines() if not line.startswith("#"))
    longest = round(float(found["terminus_loop_longest_stall_seconds"]), 1)
    return int(float(found["terminus_loop_stalls_total"])), longest


class Probes:
    """Those of an operator's machine, one after the other."""

    def __init__(self) -> None:
        self.made = self.silent = 0
        self.stop = False

    async def make(self, address: str) -> None:
        while not self.stop:
            began = time.monotonic()
            self.made += 1
            self.silent += not await probe(address)
            await asyncio.sleep(max(0.0, PAUSE_SECONDS - (time.monotonic() - began)))
