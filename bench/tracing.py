"""
What tracing costs: CPU of a whole helpdesk ticket with its trace noted, redacted and kept, and without.

Two nodes in one process take turns, with their databases, a search and a model that answer at once: all else of a
ticket costs as little as it can, so the share of the trace is the largest there is. Each ticket has a search of eight
passages, three model calls and an answer of six claims.

Of `--inflight` tickets that wait for the model at the same time, which serves 64, the spans are read back afterwards:
one that is missing, or that never ended, counts as lost.
"""

import argparse
import asyncio
import collections
import contextlib
import itertools
import logging
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any, cast

import structlog

from actors.drafting.drafts import Draft
from actors.evidence.claims import Claim
from actors.evidence.passages import Passage, SearchHits
from actors.evidence.trace_steps import CallStep
from actors.helpdesk.output_schemas import Analysis, Summary
from actors.ports import Completion, ModelRequest, Trace, Untraced
from actors.workflow.outcome import Outcome, Spent
from bench.measure import Figures, NotMeasured, Work, arguments, compare, report, table
from runtime.engine.node import Node
from runtime.engine.runs import Handle
from runtime.llm.model_choice import Models
from runtime.observe.run_trace import Traces
from runtime.observe.trace_record import read_trace
from runtime.settings import MemorySettings, ModelSettings, ServerSettings, Settings, StorageSettings
from runtime.tickets import Ticket

AT_ONCE = 8
NUMBERS = itertools.count(1)
SENTENCES = tuple(
    f"The spooler on floor {floor} is restarted by the service account of that floor, which takes {floor + 2} minutes."
    for floor in range(3, 11)
)
PASSAGES = tuple(
    Passage(f"kb/spooler.md#{n}", "kb/spooler.md", "Spoolers", f"Spoolers > Floor {n + 3}", said, 0, len(said))
    for n, said in enumerate(SENTENCES)
)
HITS = SearchHits(PASSAGES)
DRAFT = Draft(tuple(Claim(said, number, said) for number, said in enumerate(SENTENCES[:6], 1)))
EXPECTED = {"run": 1, "agent": 6, "classification": 1, "routing": 1, "search": 1, "model": 3, "claims": 1}
"""How many spans of each kind a ticket has."""


class NoTraces(Traces):
    """Keeps nothing of any run."""

    def begin(self, *_: Any, **__: Any) -> Any:
        return Untraced()


class Documents:
    """Finds the same for every question, at once."""

    async def search(self, question: str, **_: Any) -> SearchHits:  # noqa: ARG002
        return HITS


class AtOnce:
    """`Models` of one that answers at once, as soon as a ticket has a seat, and notes each call as a real one does."""

    def __init__(self) -> None:
        self.seats = asyncio.Semaphore(1_000_000)

    def for_run(self, _: str, *__: Any, trace: Trace, **___: Any) -> tuple["RunModel", Callable[[], Spent]]:
        return RunModel(self, trace), Spent

    async def close(self) -> None:
        """Nothing to close."""


class RunModel:
    """`actors.ports.Model` of one run."""

    def __init__(self, shared: AtOnce, trace: Trace) -> None:
        self._shared, self._trace, self._seated = shared, trace, False

    async def fill(self, shape: type[Any], task: ModelRequest, **_: Any) -> Completion:
        if not self._seated:
            await self._shared.seats.acquire()
            self._seated = True
        step = CallStep(task.agent, shape.__name__, "at-once", "json_schema", False, 900, 120, False, 0.001, 1, 1)
        self._trace.note(step)
        if shape is Analysis:
            return Completion(Analysis("other", "normal", task.material.ticket, "en"), judged=True)
        if shape is Summary:
            return Completion(Summary("The spooler was restarted."), judged=True)
        passages = task.findings.passages if task.findings else ()
        return Completion(DRAFT, passages=passages, judged=True)


@contextlib.asynccontextmanager
async def open_node(folder: Path, *, traced: bool) -> AsyncIterator[Node]:
    settings = Settings(
        storage=StorageSettings(str(folder)), server=ServerSettings(max_runs=100_000),
        memory=MemorySettings(learn_after=1_000_000), model=ModelSettings(second_reading=False),
    )  # fmt: skip
    async with Node.open(settings) as node:
        await node.models.close()
        node.models, node.knowledge = cast("Models", AtOnce()), cast("Any", Documents())
        if not traced:
            node.traces = NoTraces()
        yield node


def make_ticket() -> Ticket:
    """No two have the same text."""
    return Ticket(text=f"Desk {next(NUMBERS)}: how is the spooler of our floor restarted, and how long does that take?")


def work(node: Node) -> Work:
    async def run(count: int) -> None:
        left = iter(range(count))

        async def lane() -> None:
            for _ in left:
                outcome = await (await node.submit(make_ticket())).outcome()
                if outcome.status not in {"resolved", "suggested"}:
                    raise NotMeasured(f"a ticket ended as {outcome.status}: {outcome.detail}")

        await asyncio.gather(*(lane() for _ in range(AT_ONCE)))

    return run


async def count_lost(node: Node, tickets: int) -> Figures:
    """Spans of so many tickets in flight at once, and how many of them are missing or never ended."""
    seats = cast("AtOnce", node.models).seats = asyncio.Semaphore(0)
    handles = await asyncio.gather(*(node.submit(make_ticket()) for _ in range(tickets)))
    in_flight = node.live

    async def wait(handle: Handle) -> Outcome:
        outcome = await handle.outcome()
        seats.release()
        return outcome

    waiting = [asyncio.ensure_future(wait(each)) for each in handles]
    for _ in range(ModelSettings().concurrency):
        seats.release()
    outcomes = await asyncio.gather(*waiting)
    spans = lost = 0
    for outcome in outcomes:
        trace = await read_trace(node, await node.journal.run(outcome.run))
        kinds = collections.Counter[str](each.kind for each in trace.spans)
        spans += len(trace.spans)
        lost += trace.omitted + len([each for each in trace.spans if each.status == "running"])
        lost += sum(max(0, count - kinds[kind]) for kind, count in EXPECTED.items())
    return {"tickets": tickets, "in_flight": in_flight, "spans": spans, "lost": lost}


async def measure(options: argparse.Namespace) -> Figures:
    with tempfile.TemporaryDirectory(prefix="terminus-bench-", dir=options.folder) as name:
        async with (
            open_node(Path(name, "with"), traced=True) as one,
            open_node(Path(name, "without"), traced=False) as other,
        ):
            found = await compare(work(one), work(other), rounds=options.rounds, seconds=1.0, least=AT_ONCE)
            flight = await count_lost(one, options.inflight) if options.inflight else {}
    return {
        "ticket": {
            "cpu_ratio": round(found.cpu_ratio, 3), "with_ms": round(found.ours.cpu * 1e3, 3),
            "without_ms": round(found.raw.cpu * 1e3, 3),
        },
        **({"flight": flight} if flight else {}),
    }  # fmt: skip


def show(result: Mapping[str, Any]) -> str:
    row = result["ticket"]
    cells = [f"{row['with_ms']:.2f} ms", f"{row['without_ms']:.2f} ms", f"{row['cpu_ratio']:.3f}"]
    text = table(("CPU of a ticket", "traced", "not traced", "ratio"), [["durable, model of 0 ms", *cells]])
    if flight := result.get("flight"):
        text += f"\n{flight['tickets']:,} tickets, {flight['in_flight']:,} in flight: {flight['spans']:,} spans"
        text += f", {flight['lost']} lost"
    return text


def main() -> int:
    parser = arguments(__doc__, rounds=9)
    parser.add_argument("--inflight", type=int, default=2_000, help="tickets at once (default: 2,000; 0: none)")
    parser.add_argument("--folder", default=None, help="where the files are made (default: the system's)")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    return report(options, lambda: measure(options), show)


if __name__ == "__main__":
    sys.exit(main())
