"""
A research without a model over a folder of documents: how soon the first round has argued, and the report is there.

    python -m bench.research --manual FOLDER [--questions FILE...] [--json]

The folder is indexed once. A FILE holds questions, one a line; those here fit PostgreSQL's manual. In a FILE.jsonl each
has the names of its right pages, as for `bench.truth`: then it is counted which of them are cited. The first
research of a process, which starts its workers, is told apart (`cold`). Citations say that it was no empty report.
"""

import argparse
import asyncio
import os
import resource
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, NamedTuple, Self

import structlog

from actors.research.models import ResearchOptions
from actors.workflow.outcome import HandoffMade
from bench.measure import Figures, NotMeasured, arguments, median, report, table
from bench.questions import Question, read_questions
from runtime.engine.node import Node
from runtime.settings import Settings, StorageSettings
from runtime.tickets import Ticket

QUESTIONS = (
    "How does vacuum work, and when should it be run?",
    "Which kinds of indexes are there, and when is which one the right one?",
    "Compare logical replication and streaming replication.",
    "How is a database backed up and restored to a point in time?",
    "What are the isolation levels of transactions, and what do they cost?",
    "How is access of users and roles controlled?",
    "What can be done about slow queries?",
    "Advantages and limitations of table partitioning",
    "How does full text search rank its results?",
    "What is the write-ahead log, and how is it tuned?",
)
TICK = 0.005
CALM = 0.3
"""Seconds before each research, in which the one before it is written down."""
HZ = os.sysconf("SC_CLK_TCK")


class Taken(NamedTuple):
    """One research. In seconds, if nothing else is said."""

    analysis: float
    """Until the first round had argued,"""
    report: float
    """and until the report was there."""
    cpu: float
    cpu_workers: float
    stall: float
    """How late the event loop was at worst."""
    kib: float
    """What it leaves in the database, in KiB: ticket, run and journal."""
    effects: float
    """What its effects hold at most, in KiB: a resumed run needs them, its end deletes them."""
    citations: float


class Research(NamedTuple):
    question: Question
    taken: Taken
    cited: tuple[str, ...]
    """The pages of its citations, by file name."""


class Stall:
    """How late the event loop is at worst, in a `with` block."""

    def __init__(self) -> None:
        self.worst = 0.0

    def __enter__(self) -> Self:
        self._task = asyncio.create_task(self._watch())
        return self

    def __exit__(self, *_: object) -> None:
        self._task.cancel()

    async def _watch(self) -> None:
        while True:
            due = time.perf_counter() + TICK
            await asyncio.sleep(TICK)
            self.worst = max(self.worst, time.perf_counter() - due)


def _children() -> float:
    """Seconds of CPU of the child processes, those that run and those that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = 0
    for listed in Path("/proc/self/task").glob("*/children"):
        for child in listed.read_text().split():
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / HZ + ended.ru_utime + ended.ru_stime


async def _left(node: Node) -> float:
    """KiB in the database, effects left out, when all that waits to be written is."""
    await node.database.run()
    return _kib(node, "SELECT sum(payload) FROM dbstat WHERE name != 'effect'")


def _effects(node: Node) -> float:
    return _kib(node, "SELECT coalesce(sum(length(value)), 0) FROM effect")


def _kib(node: Node, sql: str) -> float:
    return float(node.database.rows(sql, ())[0][0]) / 1024


async def _research(node: Node, question: Question) -> Research:
    settings = node.settings.research
    kib = await _left(node)  # also deletes the effects of the research before
    cpu, workers, began = time.process_time(), _children(), time.perf_counter()
    analysis = effects = 0.0
    with Stall() as stall:
        handle = await node.submit(
            Ticket(
                text=question.question, workflow="research", options=ResearchOptions(settings.breadth, settings.depth)
            )
        )
        async with aclosing(handle.watch()) as news:
            async for each in news:
                if not isinstance(each, HandoffMade):
                    continue
                if each.source == "analyzer" and not analysis:
                    analysis = time.perf_counter() - began
                effects = max(effects, _effects(node))
        outcome = await handle.outcome()
        done = time.perf_counter() - began
    if outcome.why != "completed":
        raise NotMeasured(f"{question.question!r} ended as {outcome.why}: {outcome.detail}")
    cited = [Path(each.source).name for each in outcome.resolution.citations] if outcome.resolution else []
    ours, theirs = time.process_time() - cpu, _children() - workers
    taken = Taken(analysis, done, ours, theirs, stall.worst, await _left(node) - kib, effects, len(cited))
    return Research(question, taken, tuple(cited))


async def measure(manual: Path, questions: Sequence[Question]) -> Figures:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(storage=StorageSettings(folder=folder))
        async with Node.open(settings) as node:
            indexed = await node.index([str(manual)], lambda _: None)
        async with Node.open(settings) as node:
            found = []
            for question in questions:
                await asyncio.sleep(CALM)
                found.append(await _research(node, question))
    taken = [each.taken for each in found]
    warm = taken[1:] or taken
    figures: Figures = {"documents": indexed.files, "questions": len(questions), "cold": _rounded(taken[0])}
    figures["median"] = _rounded(Taken(*(median(column) for column in zip(*warm, strict=True))))
    figures["worst"] = _rounded(Taken(*map(max, zip(*warm, strict=True))))
    figures["cited"] = sum(each.citations > 0 for each in taken)
    return figures | _pages(found)


def _pages(found: Sequence[Research]) -> Figures:
    """Whether the right pages are cited, where the questions name them; none is right where there is no answer."""
    asked = [each for each in found if each.question.pages]
    idle = [each for each in found if not each.question.pages]
    if not asked:
        return {}
    right = [sum(page in each.question.pages for page in each.cited) for each in asked]
    return {
        "with_answer": len(asked),
        "right_page_cited": sum(map(bool, right)),
        "citations_right": round(sum(right) / (sum(len(each.cited) for each in asked) or 1), 3),
        "without_answer": len(idle),
        "without_answer_cited": sum(bool(each.cited) for each in idle),
    }


def _rounded(taken: Taken) -> dict[str, float]:
    return {name: round(value, 3) for name, value in taken._asdict().items()}


def show(figures: Mapping[str, Any]) -> str:
    titles = {
        "analysis": "first round argued, s", "report": "report, s", "cpu": "CPU, s", "cpu_workers": "CPU of workers, s",
        "stall": "worst stall of the loop, s", "kib": "left in the database, KiB",
        "effects": "effects until its end, KiB", "citations": "citations",
    }  # fmt: skip
    kinds = ("cold", "median", "worst")
    rows = [[title, *(f"{figures[kind][name]:g}" for kind in kinds)] for name, title in titles.items()]
    head = f"{figures['questions']} researches over {figures['documents']} documents"
    pages = (
        f"\nright page cited: {figures['right_page_cited']} of {figures['with_answer']}; "
        f"citations that are right pages: {figures['citations_right']:.1%}; "
        f"without an answer, yet cited: {figures['without_answer_cited']} of {figures['without_answer']}"
        if "with_answer" in figures
        else ""
    )
    return table((head, "first", "median", "worst"), rows) + f"\n{figures['cited']} reports cite{pages}"


def _read(file: Path) -> list[Question]:
    if file.suffix == ".jsonl":
        return read_questions(file)
    return [Question("", line, []) for line in file.read_text().splitlines() if line.strip()]


def main() -> int:
    parser: argparse.ArgumentParser = arguments(__doc__)
    parser.add_argument("--manual", type=Path, required=True, help="folder of documents")
    parser.add_argument("--questions", type=Path, nargs="+", help="files with questions, one a line, or JSONL")
    options = parser.parse_args()
    asked = [each for file in options.questions or () for each in _read(file)] or [
        Question("", each, []) for each in QUESTIONS
    ]
    return report(options, lambda: measure(options.manual, asked), show)


if __name__ == "__main__":
    sys.exit(main())
