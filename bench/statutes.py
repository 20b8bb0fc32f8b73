"""How well articles of law are looked up and searched, and how fast: over a corpus of statutes, without a model."""

import argparse
import hashlib
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from actors.legal.classification import classify
from runtime.knowledge.law_reader import STATUTES
from runtime.knowledge.statute_search import search

TODAY = "2026-01-01"
TOP, DEEP = 10, 100
SETS = ("stard", "scene", "exact_ref")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def write_laws(data: Path, folder: Path) -> int:
    """The corpus as Markdown files, one a law."""
    laws: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for file in sorted(data.glob("corpus/statutes.*.jsonl")):
        for row in rows(file):
            laws[row["law"], row["date"], row["category"]].append(row)
    if not laws:
        raise FileNotFoundError(f"There is no {data}/corpus/statutes.*.jsonl: give --data.")
    for number, ((law, day, category), articles) in enumerate(laws.items()):
        body = "\n\n".join(f"## {each['article']}\n\n{each['text']}" for each in articles)
        head = {"law": law, "version": day, "category": category}
        keys = "\n".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items())
        (folder / f"{number:05}.md").write_text(f"---\n{keys}\n---\n# {law}\n\n{body}\n", encoding="utf-8")
    return len(laws)


def measure_set(storage: str, questions: list[dict[str, Any]], times: list[float]) -> dict[str, float]:
    first = top = whole = deep = 0.0
    for question in questions:
        text, gold = question["query"], set(question["gold"])
        began = time.perf_counter()
        fields = {each.name: each.confidence for each in classify(text, "zh").domains}
        search(storage, text, TODAY, TODAY, TOP, fields)
        times.append(time.perf_counter() - began)
        found = search(storage, text, TODAY, TODAY, DEEP, fields).articles
        cited = [each.citation for each in found]
        first += bool(cited) and cited[0] in gold
        top += len(gold & set(cited[:TOP])) / len(gold)
        whole += gold <= set(cited[:TOP])
        deep += len(gold & set(cited)) / len(gold)
    count = len(questions)
    return {
        "questions": count, "p_at_1": first / count, "r_at_10": top / count, "all_gold_at_10": whole / count,
        "r_at_100": deep / count,
    }  # fmt: skip


def is_to_judge(question: dict[str, Any]) -> bool:
    """Whether no weight may be chosen by a question, for it is one of the half that judges them."""
    return bool(hashlib.sha256(f"h{question['id']}".encode()).digest()[0] & 1)


def choose_half(questions: list[dict[str, Any]], half: str) -> list[dict[str, Any]]:
    return [each for each in questions if not half or is_to_judge(each) == (half == "judge")]


def measure(data: Path, split: str, half: str = "") -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        laws, storage = Path(place) / "laws", Path(place) / "storage"
        laws.mkdir()
        storage.mkdir()
        write_laws(data, laws)
        began = time.perf_counter()
        report = STATUTES.take(storage, laws)
        figures: dict[str, Any] = {"index_seconds": time.perf_counter() - began, "articles": report.passages}
        figures["skipped"] = len(report.skipped) + report.more_skipped
        figures["megabytes"] = (storage / STATUTES.file).stat().st_size / 1e6
        for name in SETS:
            times: list[float] = []
            questions = choose_half(rows(data / split / f"statutes_{name}.jsonl"), half)
            figures[name] = measure_set(str(storage), questions, times)
            figures[name] |= {
                "p50_ms": statistics.median(times) * 1e3, "p95_ms": sorted(times)[int(0.95 * len(times))] * 1e3,
            }  # fmt: skip
    return figures


def show(figures: dict[str, Any]) -> None:
    print(f"{'':16}" + "".join(f"{name:>12}" for name in SETS))
    for key in figures[SETS[0]]:
        print(f"{key:16}" + "".join(f"{figures[name][key]:>12.4g}" for name in SETS))
    print()
    for key, value in figures.items():
        if key not in SETS:
            print(f"{key:16}{value:>12.5g}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with corpus/ and the splits")
    parser.add_argument("--split", default="dev")
    parser.add_argument(
        "--half", choices=["fit", "judge"], default="", help="weights are chosen by one, judged by the other"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        figures = measure(options.data, options.split, options.half)
    except Exception as error:
        print(f"Could not measure: {error}", file=sys.stderr)
        return 1
    print(json.dumps(figures)) if options.json else show(figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
