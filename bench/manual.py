"""
Answers over a manual without a model, through the product's own classes.

    python -m bench.manual --manual FOLDER --questions FILE.jsonl... [--show] [--json]
    python -m bench.manual --manual FOLDER --data DATA --split dev2

A question is a line `{"id": ..., "question": ..., "pages": [file names]}`; no pages: it has no answer in the manual.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

from actors.evidence.claims import Citation, Resolution, cite
from actors.evidence.passages import SearchHits
from actors.extractive.model import Extractive
from actors.helpdesk.output_schemas import Analysis, AnalysisRequest, Draft, DraftRequest
from actors.ports import ModelRequest
from runtime.families import extractive
from runtime.knowledge.index.indexing import IndexReport, index
from runtime.knowledge.knowledge_index import KnowledgeIndex
from runtime.processes.pool import Workers
from runtime.settings import KnowledgeSettings

FIRST = 3
"""Citations among which a right page must be."""
SECONDS = 30.0


class Question(msgspec.Struct, frozen=True):
    id: str
    question: str
    pages: list[str]


class Answer(NamedTuple):
    question: Question
    resolution: Resolution
    findings: SearchHits
    judged: bool
    seconds: float

    @property
    def pages(self) -> list[str]:
        """The pages of the citations, by file name, in order."""
        return [Path(each.source).name for each in self.resolution.citations]

    @property
    def hit(self) -> bool:
        return any(page in self.question.pages for page in self.pages[:FIRST])


class Set(NamedTuple):
    name: str
    answers: list[Answer]

    def figures(self) -> dict[str, float]:
        asked = [each for each in self.answers if each.question.pages]
        idle = [each for each in self.answers if not each.question.pages]
        return {
            "answerable": len(asked),
            "hits": sum(each.hit for each in asked),
            "hits_first": sum(each.pages[:1] != [] and each.pages[0] in each.question.pages for each in asked),
            "not_found_but_answerable": sum(not each.resolution.citations for each in asked),
            "unanswerable": len(idle),
            "not_found": sum(not each.resolution.citations for each in idle),
            "resolved": sum(each.judged for each in self.answers),
            "resolved_wrong_page": sum(each.judged and not each.hit for each in self.answers),
        }


async def _answer(question: Question, knowledge: KnowledgeIndex, model: Extractive) -> Answer:
    began = time.perf_counter()
    ticket = ModelRequest(agent="ticketing", instructions="", material=AnalysisRequest(question.question))
    analysis: Analysis = (await model.fill(Analysis, ticket, within=SECONDS)).value
    findings = await knowledge.search(analysis.question, within=SECONDS)
    task = ModelRequest(agent="worker", instructions="", material=DraftRequest(question.question), findings=findings)
    filled = await model.fill(Draft, task, within=SECONDS)
    text, citations = cite(filled.value.claims, filled.passages)
    judged = filled.judged and bool(citations)
    resolution = Resolution(text, citations, "resolved" if judged else "suggested")
    return Answer(question, resolution, findings, judged, time.perf_counter() - began)


async def _measure(manual: Path, files: list[Path]) -> tuple[IndexReport, list[Set]]:
    with tempfile.TemporaryDirectory() as storage:
        workers = Workers(2)
        try:
            report = await index([manual], storage, workers, KnowledgeSettings())
            knowledge, model, sets = KnowledgeIndex(storage, workers), extractive(), []
            for file in files:
                lines = file.read_text().splitlines()
                questions = [msgspec.json.decode(line, type=Question) for line in lines if line.strip()]
                sets.append(Set(file.stem, [await _answer(each, knowledge, model) for each in questions]))
        finally:
            workers.close()
    return report, sets


def _figures(report: IndexReport, sets: list[Set]) -> dict[str, object]:
    seconds = sorted(each.seconds for one in sets for each in one.answers)
    return {
        "build_seconds": round(report.seconds, 2),
        "index_megabytes": round(report.megabytes, 1),
        "documents": report.files,
        "skipped": len(report.skipped),
        "passages": report.passages,
        "answer_p50_ms": round(seconds[len(seconds) // 2] * 1000, 1),
        "answer_p95_ms": round(seconds[int(len(seconds) * 0.95)] * 1000, 1),
        "sets": {one.name: one.figures() for one in sets},
    }


def _table(figures: dict[str, object], sets: list[Set]) -> None:
    print("".join(f"{name:18}{value}\n" for name, value in figures.items() if name != "sets"))
    columns = ("answerable", "hits", "hits_first", "not_found_but_answerable", "unanswerable", "not_found", "resolved")
    print(f"{'set':34}" + "".join(f"{name[:14]:>16}" for name in columns))
    for one in sets:
        row = one.figures()
        print(f"{one.name:34}" + "".join(f"{row[name]:>16}" for name in columns))


def _show(sets: list[Set]) -> None:
    for one in sets:
        for each in one.answers:
            verdict = "-" if not each.question.pages else "page" if each.hit else "MISS"
            print(f"\n=== {each.question.id} [{verdict}] {each.findings.confidence:.2f} {each.question.question}")
            print(each.resolution.text or f"Not found. {each.findings.abstain}")
            for citation in each.resolution.citations:
                _source(citation)


def _source(citation: Citation) -> None:
    print(f"    [{citation.number}] {citation.source}#{citation.anchor}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Answers over a manual without a model.")
    parser.add_argument("--data", type=Path, default=None, help="folder with questions/*.jsonl")
    parser.add_argument("--split", default="dev", help="which questions of --data: DATA/questions/*.SPLIT.jsonl")
    parser.add_argument("--manual", type=Path, required=True, help="folder to index")
    parser.add_argument("--questions", type=Path, nargs="+", default=[], help="JSONL files")
    parser.add_argument("--show", action="store_true", help="print each question with its answer")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    files = options.questions
    if options.data and not files:
        files = [*sorted((options.data / "questions").glob(f"*.{options.split}.jsonl"))]
        files += sorted((options.data / "questions").glob("*.unanswerable.jsonl"))
    if not files or not options.manual.is_dir():
        sys.exit("Nothing to measure: give --manual FOLDER, and --questions FILE or --data FOLDER.")
    report, sets = asyncio.run(_measure(options.manual, files))
    if not report.passages:
        sys.exit(f"Nothing to measure: {options.manual} holds no document that could be read.")
    figures = _figures(report, sets)
    if options.json:
        print(json.dumps(figures))
        return
    if options.show:
        _show(sets)
    _table(figures, sets)


if __name__ == "__main__":
    main()
