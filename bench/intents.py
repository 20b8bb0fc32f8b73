"""
How well the rules tell what a legal question asks for and which fields of law it touches, without a model.

    python -m bench.intents --data DIR [--split dev] [--wrong] [--json]

DIR/SPLIT/intents_zh.jsonl has a text a line with its `intent` and its `origin`; DIR/SPLIT/domains_multi_zh.jsonl a text
with its `domains`. Judge by origin: an intent often comes from one data set only, and a classifier that knows the style
of the set looks perfect. The rules are written, not learnt, so no origin has to be left out; with `--wrong` the texts
are printed that the rules were sure of and wrong about.
"""

import argparse
import itertools
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from actors.legal.classification import SURE, Classification, classify
from actors.legal.intent_rules import INTENTS
from bench.measure import Figures, table

T = TypeVar("T", bound=msgspec.Struct)

BINS = (0.0, 0.4, 0.6, 0.75, SURE, 0.95, 1.01)
"""Bounds of the confidences whose honesty is shown."""
ENOUGH = 20
"""Of an origin with fewer firings nothing is said."""
WARM_UP = 20


class Asked(msgspec.Struct, frozen=True):
    """A text and what it asks for."""

    text: str
    intent: str
    origin: str = ""


class Touching(msgspec.Struct, frozen=True):
    """A text and its fields of law."""

    text: str
    domains: list[str]


class Judged(NamedTuple):
    """What the rules said of a text."""

    asked: Asked
    found: Classification

    @property
    def is_right(self) -> bool:
        """Whether the best guess is the intent."""
        return self.found.intent == self.asked.intent


def read(file: Path, kind: type[T]) -> list[T]:
    """A struct a line."""
    decoder = msgspec.json.Decoder(kind)
    return [decoder.decode(line) for line in file.read_bytes().splitlines() if line.strip()]


def judge(asked: Iterable[Asked]) -> list[Judged]:
    """Each text with what the rules say of it."""
    return [Judged(each, classify(each.text)) for each in asked]


def count_intents(judged: Sequence[Judged]) -> Figures:
    """Coverage and precision where the rules are sure, accuracy of the best guess, whether confidence is honest."""
    by_origin = defaultdict[str, list[Judged]](list)
    for each in judged:
        by_origin[each.asked.origin].append(each)
    origins = {origin: _count(its) for origin, its in sorted(by_origin.items())}
    firing = [each["precision"] for each in origins.values() if each["fires"] >= ENOUGH]
    confusion = Counter((each.asked.intent, each.found.intent) for each in judged)
    return {
        "all": _count(judged),
        "worst_origin": min(firing, default=None),
        "origins": origins,
        "confidence": [_count_bin(judged, low, high) for low, high in itertools.pairwise(BINS)],
        "confusion": {gold: {found: confusion[gold, found] for found in INTENTS} for gold in INTENTS},
    }


def _count(judged: Sequence[Judged]) -> Figures:
    sure = [each for each in judged if each.found.is_sure]
    right = sum(each.is_right for each in sure)
    return {
        "texts": len(judged),
        "fires": len(sure),
        "coverage": _share(len(sure), len(judged)),
        "precision": _share(right, len(sure)),
        "accuracy": _share(sum(each.is_right for each in judged), len(judged)),
    }


def _count_bin(judged: Sequence[Judged], low: float, high: float) -> Figures:
    its = [each for each in judged if low <= each.found.confidence < high]
    return {
        "from": low,
        "texts": len(its),
        "confidence": _share(sum(each.found.confidence for each in its), len(its)),
        "right": _share(sum(each.is_right for each in its), len(its)),
    }


def count_domains(asked: Sequence[Touching]) -> Figures:
    """Precision and recall of all domains together, and of the finding that there are two or more."""
    hits = found = gold = both = found_several = gold_several = same = 0
    for each in asked:
        its, right = {domain.name for domain in classify(each.text).domains}, set(each.domains)
        hits, found, gold = hits + len(its & right), found + len(its), gold + len(right)
        found_several, gold_several = found_several + (len(its) > 1), gold_several + (len(right) > 1)
        both, same = both + (len(its) > 1 and len(right) > 1), same + (its == right)
    return {
        "texts": len(asked),
        "precision": _share(hits, found),
        "recall": _share(hits, gold),
        "exact": _share(same, len(asked)),
        "several": gold_several,
        "several_found": found_several,
        "several_precision": _share(both, found_several),
        "several_recall": _share(both, gold_several),
    }


def time_texts(texts: Sequence[str]) -> Figures:
    """Microseconds of CPU that a text takes, once the rules are compiled."""
    for text in texts[:WARM_UP]:
        classify(text)
    spent = []
    for text in texts:
        begin = time.thread_time()
        classify(text)
        spent.append((time.thread_time() - begin) * 1e6)
    spent.sort()
    return {"median": round(spent[len(spent) // 2]), "p95": round(spent[int(len(spent) * 0.95)])}


def show(figures: Figures) -> str:
    """The figures as tables."""
    intents, domains = figures["intents"], figures["domains"]
    columns = ("texts", "fires", "coverage", "precision", "accuracy")
    rows = [("all", intents["all"]), *intents["origins"].items()]
    confusion = intents["confusion"]
    micros = figures["microseconds"]
    return "\n\n".join(
        [
            table(["origin", *columns], [[name, *(_write(its[each]) for each in columns)] for name, its in rows]),
            f"worst origin with {ENOUGH} firings or more: {_write(intents['worst_origin'])}",
            table(
                ["confidence from", "texts", "mean", "right"],
                [
                    [_write(each[key]) for key in ("from", "texts", "confidence", "right")]
                    for each in intents["confidence"]
                ],
            ),
            table(
                ["is / found", *INTENTS],
                [[gold, *(str(confusion[gold][each]) for each in INTENTS)] for gold in INTENTS],
            ),
            table(["domains", ""], [[name.replace("_", " "), _write(value)] for name, value in domains.items()]),
            f"microseconds a text: median {micros['median']}, p95 {micros['p95']}",
        ]
    )


def _share(part: float, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


def _write(value: object) -> str:
    return "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with a folder for each split")
    parser.add_argument("--split", default="dev", help="folder below --data (default: dev)")
    parser.add_argument("--wrong", action="store_true", help="print what the rules were sure of and wrong about")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    files = [options.data / options.split / f"{name}.jsonl" for name in ("intents_zh", "domains_multi_zh")]
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        sys.exit(f"Nothing to measure: {options.data / options.split} holds no {missing[0]}.")
    judged = judge(read(files[0], Asked))
    figures = {
        "intents": count_intents(judged),
        "domains": count_domains(read(files[1], Touching)),
        "microseconds": time_texts([each.asked.text for each in judged]),
    }
    print(json.dumps(figures) if options.json else show(figures))
    for each in judged:
        if options.wrong and each.found.is_sure and not each.is_right:
            print(each.asked.origin, each.asked.intent, each.found.intent, each.found.confidence, each.asked.text[:120])


if __name__ == "__main__":
    main()
