"""
A model's part in a ticket, for `FakeOpenAI`, by rules over the prompt: honest, or altering what it says.

As a program (`python -m tests.solving`) it prints its port and answers honestly until its input ends.
"""

import asyncio
import itertools
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

from actors.evidence.passages import Passage, SearchHits
from tests.fake_openai import USAGE, FakeOpenAI, Step, says
from tests.fakes import Knows
from tests.thinking import Asked, asked, claim

SENTENCE = re.compile(r"[A-Z][^.\n]+\.")
TEXTS = (
    "The press needs 45 minutes to warm up. It must not be moved while the red lamp burns.",
    "Empty the tray when it holds 300 sheets. The tray cannot be opened during a run.",
    "Order new ink 9 days ahead. Ink of other makers is never accepted by the press.",
)
PASSAGES = tuple(
    Passage(f"kb/press.md#{n}", "kb/press.md", "Press", f"Press > Part {n}", text, 0, len(text))
    for n, text in enumerate(TEXTS, 1)
)
SENTENCES = [sentence for text in TEXTS for sentence in SENTENCE.findall(text)]
Claims = list[dict[str, Any]]
Alters = Callable[[Claims], Claims]
LEAD = "In short: "


class Finds(Knows):
    """The passages on the press, whatever is asked."""

    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        return SearchHits(PASSAGES)


def retell(sentence: str) -> str:
    return f"{LEAD}{sentence[0].lower()}{sentence[1:]}"


def draft(it: Asked) -> Claims:
    """Each sentence of each passage, retold."""
    return retell_all(it.passages)


def retell_all(texts: Sequence[str]) -> Claims:
    return [claim(retell(each), n, each) for n, text in enumerate(texts, 1) for each in SENTENCE.findall(text)]


def alter_numbers(claims: Claims) -> Claims:
    return [{**each, "text": re.sub(r"\d+", lambda n: str(int(n[0]) + 7), each["text"])} for each in claims]


def drop_negations(claims: Claims) -> Claims:
    changes = ((" must not ", " must "), (" cannot ", " can "), (" never ", " "))
    found = []
    for each in claims:
        text = each["text"]
        for old, new in changes:
            text = text.replace(old, new)
        found.append({**each, "text": text})
    return found


def merge_quotes(claims: Claims) -> Claims:
    """The beginning of one sentence with the end of the next: nobody wrote that."""
    merged = []
    for each, other in zip(claims, [*claims[1:], claims[0]], strict=True):
        quote = " ".join([*each["quote"].split()[:4], *other["quote"].split()[-4:]])
        merged.append({**each, "quote": quote, "text": retell(quote)})
    return merged


def swap_texts(claims: Claims) -> Claims:
    """Each says what the next one's quote says."""
    others = [*claims[1:], claims[0]]
    return [{**each, "text": other["text"]} for each, other in zip(claims, others, strict=True)]


def add_sentences(claims: Claims) -> Claims:
    return [{**each, "text": f"{each['text']} After that it is safe to touch the roller."} for each in claims]


def quote_alone(claims: Claims) -> Claims:
    """Word for word, whatever was asked."""
    return [{**each, "text": each["quote"]} for each in claims]


def speak_german(claims: Claims) -> Claims:
    return [{**each, "text": "Das ist so, wie es in der Anleitung für die Presse steht."} for each in claims]


def say_nothing(_: Claims) -> Claims:
    return []


def wrap_quotes(claims: Claims) -> Claims:
    wraps = ('"{}"', "> {}", "[{n}] {}", "**{}**", "- `{}`", "“{}” [{n}]")
    quotes = [wraps[i % len(wraps)].format(each["quote"], n=each["passage"]) for i, each in enumerate(claims)]
    return [
        {**each, "quote": quote, "passage": f"[{each['passage']}]"} for each, quote in zip(claims, quotes, strict=True)
    ]  # fmt: skip


def mislabel_passages(claims: Claims) -> Claims:
    return [{**each, "passage": each["passage"] % 3 + 1} for each in claims]


def keep(claims: Claims) -> Claims:
    return claims


def read_strictly(it: Asked) -> Any:
    """Whether each statement is its quote retold, and the ticket asks of the press: as one reads who understands."""
    verdicts = []
    for number, statement, quote in re.findall(
        r"number: (\d+)\nstatement: (.*)\nquote: (.*)\n", it.material["statements"]
    ):
        same = " ".join(statement.removeprefix(LEAD).casefold().split()) == " ".join(quote.casefold().split())
        verdict = "entailed" if same else "contradicted"
        verdicts.append({"number": int(number), "verdict": verdict, "answers": "press" in it.material["ticket"]})
    return {"verdicts": verdicts}


def draft_shortly(it: Asked) -> Claims:
    """The first sentence of each passage, five at most."""
    first = [(n, SENTENCE.search(text)) for n, text in enumerate(it.passages, 1)]
    return [claim(retell(found[0]), n, found[0]) for n, found in first if found][:5]


def solves(
    first: Alters = keep, again: Alters | None = None, *, reads: Callable[[Asked], Any] = read_strictly,
    drafts: Callable[[Asked], Claims] = draft, reading: Step | None = None, usage: dict[str, Any] | None = USAGE,
) -> Step:  # fmt: skip
    """
    A server that answers each request of a ticket.

    :param first: what becomes of its honest claims.
    :param again: the same when claims are sent back; None: as at first.
    :param reading: a step in the place of its second reading.
    :param usage: what an answer is said to have cost; None: nothing is said, so it is estimated from the texts.
    """

    async def step(server: Any, request: Any) -> Any:
        it = asked(await request.json())
        match it.shape:
            case "Analysis":
                answer: Any = {
                    "intent": "question",
                    "urgency": "normal",
                    "question": it.material["ticket"],
                    "language": "en",
                }
            case "Draft":
                answer = {"claims": first(drafts(it)), "pass_on": None}
                if "thrown away" in it.material:
                    answer["claims"] = (again or first)(_put_right(it))
            case "SecondReading" if reading is not None:
                return await reading(server, request)
            case "SecondReading":
                answer = reads(it)
            case _:
                answer = {"summary": "The press was asked about, and the handbook answers."}
        return await says(answer, usage=usage)(server, request)

    return step


def _put_right(it: Asked) -> Claims:
    """The claims that came back, honestly: those that begin as what was thrown away does."""
    thrown = re.findall(r"^text: (.*)$", it.material["thrown away"], re.MULTILINE)
    return [max(draft(it), key=lambda each: _count_alike(text, each["text"])) for text in thrown]


def _count_alike(text: str, other: str) -> int:
    """With so many words both begin."""
    pairs = zip(text.split(), other.split(), strict=False)
    return len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)))


async def _main() -> None:
    async with FakeOpenAI(solves(drafts=draft_shortly, usage=None)) as server:
        print(server.port, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_main())
