"""
What each rule for claims is worth: how many verdicts go wrong without it, on claims that it was not made on.

    python -m bench.ablation --data DATA [--json]

DATA has `claims/*.jsonl` (as for `bench.claims`) and `public/attribution.dev.jsonl` (`claim`, `references`,
`supported`; the sentence of the references that shares most words with a claim stands for its quote). A figure is how
many more verdicts are right with the rule than without it, with an interval that holds 90 % of 1,000 draws.
"""

import inspect
import json
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from actors.evidence import support
from actors.text.keywords import share, terms
from actors.text.sentences import split_sentences
from bench.claims import Item, judge, read
from bench.measure import Figures, NotMeasured, arguments, report, table

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
            gains = [a - b for a, b in zip(right, without[name], strict=True)]
            drawn = sorted(sum(draw.choices(gains, k=len(gains))) for _ in range(DRAWS))
            row[name] = [sum(gains), drawn[DRAWS // 20], drawn[-DRAWS // 20]]
        figures["rules"][rule] = row
    return figures


def show(figures: Mapping[str, Any]) -> str:
    names = list(figures["right"])
    rows = [["all rules: right", ""] + [f"{a} of {b}" for a, b in figures["right"].values()]]
    for rule, row in figures["rules"].items():
        gains = [f"{gain:+} ({low:+} to {high:+})" for gain, low, high in (row[name] for name in names)]
        rows.append([rule, str(row["tokens"]), *gains])
    return table(("rule", "tokens", *names), rows)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with claims/ and public/")
    given = parser.parse_args()

    async def work() -> Figures:
        sets = {file.stem: read(file) for file in sorted((given.data / "claims").glob("*.jsonl"))}
        sets["attribution"] = read_references(given.data / "public" / "attribution.dev.jsonl")
        return measure(sets)

    return report(given, work, show)


if __name__ == "__main__":
    sys.exit(main())
