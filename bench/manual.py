"""
Answers over a manual without a model, through the product's own classes.

    python -m bench.manual --manual FOLDER --questions FILE.jsonl... [--show] [--json]
    python -m bench.manual --manual FOLDER --data DATA --split dev2

A question is a line `{"id": ..., "question": ..., "pages": [paths below FOLDER]}`; no pages: it has no answer in the
manual. `parts`, of one that asks several things, are questions of their own, in the order in which they are asked.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from actors.drafting.checking import CheckedDraft
from actors.drafting.drafts import Draft
from actors.evidence.claims import Resolution
from actors.evidence.passages import PartHits, SearchHits
from actors.evidence.places import PartPlaces
from actors.extractive.model import Extractive
from actors.helpdesk.output_schemas import Analysis, AnalysisRequest, DraftRequest
from actors.helpdesk.worker import make_resolution, search_parts
from actors.ports import ModelRequest
from bench.questions import Question, find_name, list_pages, read_questions
from runtime.embeddings.embedder import open_embedder
from runtime.families import extractive
from runtime.knowledge.index.indexing import IndexReport, index
from runtime.knowledge.knowledge_index import KnowledgeIndex
from runtime.processes.pool import Workers
from runtime.settings import KnowledgeSettings, Settings

FIRST = 3
"""Places among which a right page must be."""
CLOSENESSES = ("sure", "perhaps", "far")
SECONDS = 30.0


class Answer(NamedTuple):
    question: Question
    resolution: Resolution
    findings: SearchHits
    parts: tuple[PartPlaces, ...]
    pages: tuple[list[str], ...]
    """Of each part: the pages of its places, in order, as paths below the manual."""
    seconds: float

    @property
    def hit(self) -> bool:
        return any(page in self.question.pages for pages in self.pages for page in pages[:FIRST])

    @property
    def closeness(self) -> str:
        """Of its best part."""
        return min((each.closeness for each in self.parts), key=CLOSENESSES.index)

    @property
    def parts_hit(self) -> int:
        """How many parts of a question that has several have a right page among their own places."""
        pairs = zip(self.question.parts, self.pages, strict=False) if len(self.parts) > 1 else ()
        return sum(any(page in part.pages for page in pages[:FIRST]) for part, pages in pairs)


class Set(NamedTuple):
    name: str
    answers: list[Answer]

    def figures(self) -> dict[str, int]:
        asked = [each for each in self.answers if each.question.pages]
        idle = [each for each in self.answers if not each.question.pages]
        split = [each for each in self.answers if each.question.parts]
        bands = {
            f"{name}, {kind}": sum(each.closeness == name for each in answers)
            for kind, answers in (("answer", asked), ("none", idle))
            for name in CLOSENESSES
        }
        return {
            "answerable": len(asked),
            "hits": sum(each.hit for each in asked),
            "hits_first": sum(any(page in each.question.pages for page in each.pages[0][:1]) for each in asked),
            "unanswerable": len(idle),
            **bands,
            "resolved": sum(each.resolution.grade == "resolved" for each in self.answers),
            "resolved_wrong_page": sum(each.resolution.grade == "resolved" and not each.hit for each in self.answers),
            "several": len(split),
            "taken_apart": sum(len(each.parts) > 1 for each in split),
            "parts": sum(bool(part.pages) for each in split for part in each.question.parts),
            "parts_hit": sum(each.parts_hit for each in split),
            "wrongly_taken_apart": sum(len(each.parts) > 1 for each in self.answers if not each.question.parts),
        }


async def _answer(question: Question, knowledge: KnowledgeIndex, model: Extractive, manual: str) -> Answer:
    began = time.perf_counter()
    ticket = ModelRequest(agent="ticketing", instructions="", material=AnalysisRequest(question.question))
    analysis: Analysis = (await model.fill(Analysis, ticket, within=SECONDS)).value
    findings = await search_parts(knowledge, analysis.question, lambda: SECONDS)
    task = ModelRequest(agent="worker", instructions="", material=DraftRequest(question.question), findings=findings)
    filled = await model.fill(Draft, task, within=SECONDS)
    seconds = time.perf_counter() - began
    parts: tuple[PartPlaces, ...] = filled.value.parts
    sources = ((filled.passages[each.passage - 1].source for each in part.places) for part in parts)
    pages = tuple(list_pages(each, manual) for each in sources)
    resolution = make_resolution(filled, CheckedDraft(filled.value.claims, (), 0), analysis.language) or Resolution("")
    return Answer(question, resolution, findings, parts, pages, seconds)


async def measure_sets(
    manual: Path, files: list[Path], storage: Path, *, meaning: bool
) -> tuple[IndexReport, list[Set]]:  # fmt: skip
    """Index a folder and ask it the questions of each file."""
    workers, settings = Workers(2), KnowledgeSettings(search_seconds=SECONDS)
    embedder = open_embedder(Settings(), workers) if meaning else None
    try:
        report = await index([manual], storage, workers, settings, embedder=embedder)
        knowledge, model, sets = KnowledgeIndex(storage, workers, settings, embedder), extractive(), []
        name = await find_name(manual, storage, workers)
        for file in files:
            answers = [await _answer(each, knowledge, model, name) for each in read_questions(file)]
            sets.append(Set(file.stem, answers))
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
    rows = {one.name: one.figures() for one in sets}
    print(f"{'':22}" + "".join(f"{name:>32}" for name in rows))
    for name in next(iter(rows.values())):
        print(f"{name:22}" + "".join(f"{row[name]:>32}" for row in rows.values()))


def show_answers(sets: list[Set]) -> None:
    """Print each question with its verdict, what is known of its places, and the answer."""
    for one in sets:
        for each in one.answers:
            verdict = "-" if not each.question.pages else "page" if each.hit else "MISS"
            print(f"\n=== {each.question.id} [{verdict}, {each.closeness}] {each.question.question}")
            print(*map(_evidence, each.findings.parts or (PartHits("", each.findings),)), sep="\n")
            print(each.resolution.text or f"Not found. {each.findings.abstain}")
            print(*(f"    [{said.number}] {said.source}#{said.anchor}" for said in each.resolution.citations), sep="\n")


def _evidence(part: PartHits) -> str:
    """What is known of how near a part's places are."""
    hits, said = part.hits, f"    {part.hits.covered:.2f} of {part.hits.weight:.0f} nats"
    if hits.meaning is not None:
        sentence = max((each.place.score for each in hits.meaning.sentences), default=0.0)
        said += f", passage {hits.meaning.best:.2f}, sentence {sentence:.2f}"
    return f"{said} {hits.abstain}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Answers over a manual without a model.")
    parser.add_argument("--data", type=Path, default=None, help="folder with questions/*.jsonl")
    parser.add_argument("--split", default="dev", help="which questions of --data: DATA/questions/*.SPLIT.jsonl")
    parser.add_argument("--manual", type=Path, required=True, help="folder to index")
    parser.add_argument("--questions", type=Path, nargs="+", default=[], help="JSONL files")
    parser.add_argument("--words", action="store_true", help="leave meaning out, in the index too")
    parser.add_argument("--storage", type=Path, help="folder in which the index is kept, to be used again")
    parser.add_argument("--show", action="store_true", help="print each question with its answer")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    files = options.questions
    if options.data and not files:
        files = [*sorted((options.data / "questions").glob(f"*.{options.split}.jsonl"))]
        files += sorted((options.data / "questions").glob("*.unanswerable.jsonl"))
    if not files or not options.manual.is_dir():
        sys.exit("Nothing to measure: give --manual FOLDER, and --questions FILE or --data FOLDER.")
    with tempfile.TemporaryDirectory() as folder:
        storage = options.storage or Path(folder)
        report, sets = asyncio.run(measure_sets(options.manual, files, storage, meaning=not options.words))
    if not report.passages + report.unchanged:
        sys.exit(f"Nothing to measure: {options.manual} holds no document that could be read.")
    figures = _figures(report, sets)
    if options.json:
        print(json.dumps(figures))
        return
    if options.show:
        show_answers(sets)
    _table(figures, sets)


if __name__ == "__main__":
    main()
