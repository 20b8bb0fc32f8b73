"""
What each rule for claims, and each part of the search, is worth: how much goes wrong without it.

    python -m bench.ablation --data DATA [--indexes FOLDER] [--json]

DATA has `claims/*.jsonl` (as for `bench.claims`) and `public/attribution.dev.jsonl` (`claim`, `references`,
`supported`; the sentence of the references that shares most words with a claim stands for its quote). A figure is how
many more verdicts are right with the rule than without it, with an interval that holds 90 % of 1,000 draws.

FOLDER has the indexes that `bench.truth --keep FOLDER` left: for the parts of the search a figure is how many more
questions of a set have a right page among the first three, or among the first that --shown says.
"""

import contextlib
import inspect
import json
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from actors.evidence import support
from actors.evidence.passages import Passage
from actors.text.keywords import share, terms
from actors.text.sentences import split_sentences
from actors.text.tokenizer import tokens
from bench.claims import Item, judge, read
from bench.measure import Figures, NotMeasured, arguments, report, table
from bench.questions import list_pages
from bench.truth import SETS, Asked, read_set
from runtime.embeddings.embedder import FLOOR
from runtime.embeddings.providers import open_embedder
from runtime.knowledge import FILE, QuestionVector
from runtime.knowledge import find_passages as search
from runtime.knowledge.find_passages import CANDIDATES, Ranked, find_passages
from runtime.knowledge.index import Index
from runtime.knowledge.indexing import list_folders
from runtime.processes.pool import Workers
from runtime.settings import KnowledgeSettings, Settings

DRAWS = 1000
CHARACTERS_A_TOKEN = 3.6


def read_references(file: Path) -> list[Item]:
    """
    Claims without a quote, each with the sentence that stands for it.

    :raises NotMeasured: the file cannot be read.
    """
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise NotMeasured(f"{file}: {error}") from error
    items = []
    for row in rows:
        wanted = terms(row["claim"])
        said = [(each, text) for text in row["references"] for each in split_sentences(text, lines=True)]
        quote, text = max(said, key=lambda pair: share(wanted, terms(pair[0])), default=("", ""))
        items.append(Item(passage=text, quote=quote, claim=row["claim"], good=row["supported"]))
    return items


def count_right(items: Sequence[Item]) -> list[bool]:
    """Of each claim, whether rules pass it exactly when it is honest."""
    return [(judge(each).verdict == "supported") == each.good for each in items]


def measure(sets: Mapping[str, Sequence[Item]]) -> Figures:
    """By set how many verdicts are right; by rule its tokens and, by set, its gain with the interval."""
    draw = random.Random(0)
    whole = {name: count_right(items) for name, items in sets.items()}
    figures: dict[str, Any] = {"right": {name: [sum(each), len(each)] for name, each in whole.items()}, "rules": {}}
    for rule, object_ in list(support.OBJECTIONS.items()):
        support.OBJECTIONS[rule] = lambda _: support.SUPPORTED
        without = {name: count_right(items) for name, items in sets.items()}
        support.OBJECTIONS[rule] = object_
        row: dict[str, Any] = {"tokens": round(len(inspect.getsource(object_)) / CHARACTERS_A_TOKEN)}
        for name, right in whole.items():
            row[name] = draw_gains(draw, right, without[name])
        figures["rules"][rule] = row
    return figures


def count_found(
    shelf: Index, folder: str, asked: Sequence[Asked], vectors: Sequence[bytes], most: int, shown: int
) -> list[bool]:
    """Of each question about an indexed folder, whether a right page is among the first that are shown."""
    found = []
    for each, vector in zip(asked, vectors, strict=True):
        means = QuestionVector("", vector, floor=FLOOR)
        hits = find_passages(shelf, each.text, KnowledgeSettings().passages, asked=means, most=most)
        pages = list_pages((passage.source for passage in hits.passages), folder)[:shown]
        found.append(bool(each.pages.intersection(pages)))
    return found


def list_once(text: str) -> list[str]:
    return list(dict.fromkeys(tokens(text)))


def choose_all(shelf: Index, ranked: Sequence[Ranked], limit: int) -> list[tuple[int, Passage]]:
    places = ((each, shelf.find_place(each.id)) for each in ranked[:limit])
    return [
        (each.id, Passage(str(each.id), place.source, place.title, place.heading, "", place.start, place.end))
        for each, place in places
    ]


MEANING = "meaning beside words"
PARTS: Mapping[str, tuple[dict[str, Any], int]] = {
    MEANING: ({}, CANDIDATES),
    "words beside meaning": ({"WORDS": 0.0, "WORDS_OF_LONG": 0.0}, CANDIDATES),
    "words count more in a long mail": ({"WORDS_OF_LONG": search.WORDS}, CANDIDATES),
    "a word as often as it is said": ({"tokens": list_once}, CANDIDATES),
    "200 candidates instead of 50": ({}, 50),
    "no text twice": ({"_choose": choose_all}, CANDIDATES),
}
"""Without which names of `find_passages`, and with how many candidates, a part is taken out."""


async def measure_search(data: Path, indexes: Path, shown: int) -> Figures:
    """As `measure`, of the sets that have an index."""
    draw, workers = random.Random(0), Workers(1)
    figures: dict[str, Any] = {"right": {}, "parts": {name: {} for name in PARTS}}
    try:
        embedder = open_embedder(Settings(), workers)
        for name in (each for each in SETS if (indexes / each / FILE).is_file()):
            asked = [each for each in read_set(data, name) if each.pages]
            vectors = await embedder.embed([each.text for each in asked], kind="query", within=600) if embedder else []
            (folder,) = (each.name for each in await list_folders(indexes / name, workers))
            shelf = Index.at((indexes / name / FILE).absolute())
            with contextlib.closing(shelf), shelf.reading():
                whole = count_found(shelf, folder, asked, vectors, CANDIDATES, shown)
                figures["right"][name] = [sum(whole), len(whole)]
                for part, (names, most) in PARTS.items():
                    known = [b""] * len(asked) if part == MEANING else vectors
                    with mock.patch.multiple(search, **names) if names else contextlib.nullcontext():
                        found = count_found(shelf, folder, asked, known, most, shown)
                    figures["parts"][part][name] = draw_gains(draw, whole, found)
    finally:
        workers.close()
    return figures


def draw_gains(draw: random.Random, whole: Sequence[bool], without: Sequence[bool]) -> list[int]:
    """How many more are right, and between which bounds 90 % of the draws lie."""
    gains = [a - b for a, b in zip(whole, without, strict=True)]
    drawn = sorted(sum(draw.choices(gains, k=len(gains))) for _ in range(DRAWS))
    return [sum(gains), drawn[DRAWS // 20], drawn[-DRAWS // 20]]


def show(figures: Mapping[str, Any]) -> str:
    names = list(figures["right"])
    rows = [["all rules: right", ""] + [f"{a} of {b}" for a, b in figures["right"].values()]]
    rows += [[rule, str(row["tokens"]), *map(say_gain, map(row.get, names))] for rule, row in figures["rules"].items()]
    told = table(("rule", "tokens", *names), rows)
    if found := figures.get("search"):
        names = list(found["right"])
        rows = [["all parts: a right page"] + [f"{a} of {b}" for a, b in found["right"].values()]]
        rows += [[part, *map(say_gain, map(row.get, names))] for part, row in found["parts"].items()]
        told += "\n\n" + table(("part of the search", *names), rows)
    return told


def say_gain(gain: Sequence[int]) -> str:
    return "{:+} ({:+} to {:+})".format(*gain)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with claims/ and public/")
    parser.add_argument("--indexes", type=Path, help="folder of the indexes that bench.truth has kept")
    parser.add_argument("--shown", type=int, default=3, help="pages of which one is to be right (default: %(default)s)")
    given = parser.parse_args()

    async def work() -> Figures:
        sets = {file.stem: read(file) for file in sorted((given.data / "claims").glob("*.jsonl"))}
        sets["attribution"] = read_references(given.data / "public" / "attribution.dev.jsonl")
        figures = measure(sets)
        return (
            {**figures, "search": await measure_search(given.data, given.indexes, given.shown)}
            if given.indexes
            else figures
        )

    return report(given, work, show)


if __name__ == "__main__":
    sys.exit(main())
