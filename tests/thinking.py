"""
A model's part in a research, for `FakeOpenAI`: honest, unless a test has it say something else.

As a program (`python -m tests.thinking`) it prints its port and is never satisfied, until its input ends.
"""

import asyncio
import inspect
import json
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from aiohttp import web

from tests.fake_openai import USAGE, FakeOpenAI, Step, says

_FENCED = re.compile(r"<<<(\w+) ([^\n]*)\n(.*?)\n\1>>>", re.DOTALL)
_SENTENCE = re.compile(r"[A-Z][^.\n]*[a-z][^.\n]*\.")


class Asked(NamedTuple):
    """A request as a model would read it."""

    shape: str
    """The name of the answer that is wanted."""
    material: dict[str, str]
    passages: tuple[str, ...]
    """Their texts, in the order of their numbers."""
    system: str

    def claims(self, most: int = 3, said: str = "The sources say this: {}") -> list[dict[str, Any]]:
        """True ones: the first sentence of each passage in words that are not its own."""
        first = [(n, _SENTENCE.search(text)) for n, text in enumerate(self.passages, 1)]
        quotes = [(n, found[0]) for n, found in first if found]
        return [claim(said.format(quote), n, quote) for n, quote in quotes[:most]]


Says = Callable[[Asked], Any]
"""What is answered: JSON, a text as it is, or a whole step of the server."""


def claim(text: str, passage: int, quote: str) -> dict[str, Any]:
    return {"text": text, "passage": passage, "quote": quote}


def asked(body: Mapping[str, Any]) -> Asked:
    """A request taken apart."""
    system, user = (next(m["content"] for m in body["messages"] if m["role"] == role) for role in ("system", "user"))
    parts = [(label, text) for _, label, text in _FENCED.findall(user)]
    passages = tuple(text.partition("\n\n")[2] for label, text in parts if re.fullmatch(r"\[\d+\]", label))
    shape = re.search(r"Answer with the (\w+) that", user)
    assert shape is not None
    return Asked(shape[1], dict(parts), passages, system)


def plan(it: Asked) -> Any:
    question = it.material.get("direction") or it.material["question"]
    return {"questions": [question], "queries": [question], "sides": []}


def answer(it: Asked) -> Any:
    """Complete, and nothing stays open."""
    return {"claims": it.claims(), "directions": [], "answered": bool(it.passages)}


def points(it: Asked) -> Any:
    """Nothing on any product."""
    return {"claims": []}


def overview(it: Asked) -> Any:
    return {"claims": it.claims(2, "In short: {}")}


def approve(it: Asked) -> Any:
    """A second reading that finds nothing against any statement."""
    numbers = re.findall(r"^number: (\d+)$", it.material["statements"], re.MULTILINE)
    return {"verdicts": [{"number": int(each), "verdict": "entailed", "answers": True} for each in numbers]}


HONEST: Mapping[str, Says] = {
    "PlanDraft": plan, "Answer": answer, "Points": points, "Overview": overview, "SecondReading": approve,
}  # fmt: skip


def thinks(usage: dict[str, Any] | None = USAGE, /, **said: Any) -> Step:
    """
    Answer each request for a shape of this name so; others honestly. A value that is no function is said as it is.

    :param usage: what an answer is said to have cost; None: nothing is said, so it is estimated from the texts.
    """

    async def step(server: FakeOpenAI, request: web.Request) -> web.StreamResponse:
        it = asked(json.loads(await request.text()))
        value: Any = said.get(it.shape, HONEST[it.shape])
        if callable(value) and not inspect.iscoroutinefunction(value):
            value = value(it)
        say: Step = value if inspect.iscoroutinefunction(value) else says(value, usage=usage)
        return await say(server, request)

    return step


def thorough(it: Asked) -> Any:
    """Three questions a round."""
    subject = it.material.get("direction") or it.material["question"]
    questions = [subject, f"What are the limits of this: {subject}", f"How is this configured: {subject}"]
    return {"questions": questions, "queries": questions, "sides": []}


def unsatisfied(it: Asked) -> Any:
    """Five claims, and something stays open."""
    return {"claims": it.claims(5), "directions": [f"Monitoring: {it.material['task']}"], "answered": False}


async def _main() -> None:
    async with FakeOpenAI(thinks(None, PlanDraft=thorough, Answer=unsatisfied)) as server:
        print(server.port, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_main())
