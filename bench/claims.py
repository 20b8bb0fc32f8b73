"""
Claims with their quotes, honest ones and altered ones: how many of each pass by rules alone.

    python -m bench.claims --data FILE [--failed] [--json]

FILE has one claim a line: `title`, `heading`, `passage`, `quote`, `claim`, `good`, `lang`, `why` (what was altered).
"""

import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from actors.evidence.claims import Claim, check
from actors.evidence.passages import Passage
from actors.evidence.support import Finding
from bench.measure import Figures, NotMeasured, arguments, report, table


class Item(msgspec.Struct, frozen=True):
    """A claim and what it rests on."""

    passage: str
    quote: str
    claim: str
    good: bool
    title: str = ""
    heading: str = ""
    lang: str = ""
    why: str = ""


def read(file: Path) -> list[Item]:
    """
    The claims of a file.

    :raises NotMeasured: it cannot be read, or has none.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        found = [msgspec.json.decode(line, type=Item) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise NotMeasured(f"{file}: {error}") from error
    if not found:
        raise NotMeasured(f"{file} has no claims.")
    return found


def judge(item: Item) -> Finding:
    """What rules say of one."""
    passage = Passage("bench#0", "bench", item.title, item.heading, item.passage, 0, len(item.passage))
    return check(Claim(item.claim, 1, item.quote), (passage,))


def measure(items: Iterable[Item]) -> Figures:
    """By group, (passed, all): honest and altered ones, each language, each kind of alteration."""
    began = time.process_time()
    judged = [(item, judge(item)) for item in items]
    seconds = time.process_time() - began
    counts: dict[str, list[int]] = {}
    for item, finding in judged:
        side = "honest" if item.good else "altered"
        groups = [side, f"{side}, {item.lang or '?'}"] + ([] if item.good else [f"altered: {item.why or '?'}"])
        for group in groups:
            count = counts.setdefault(group, [0, 0])
            count[0] += finding.verdict == "supported"
            count[1] += 1
    wrong = [
        {"good": item.good, "claim": item.claim, "quote": item.quote, "why": finding.why}
        for item, finding in judged
        if item.good != (finding.verdict == "supported")
    ]
    return {"passed": counts, "wrong": wrong, "ms": round(1000 * seconds / len(judged), 2)}


def show(figures: Mapping[str, Any], *, failed: bool) -> str:
    rows = [[group, f"{passed}", f"{every}"] for group, (passed, every) in sorted(figures["passed"].items())]
    said = [table(("claims", "pass", "of"), rows), f"{figures['ms']} ms a claim"]
    for each in figures["wrong"] if failed else ():
        mark = "honest, thrown away" if each["good"] else "altered, passes"
        said.append(f"{mark}: {each['claim']}\n    quote: {each['quote']}\n    {each['why']}".rstrip())
    return "\n".join(said)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the file of claims")
    parser.add_argument("--failed", action="store_true", help="list those that rules get wrong")
    given = parser.parse_args()

    async def work() -> Figures:
        return measure(read(given.data))

    return report(given, work, lambda figures: show(figures, failed=given.failed))


if __name__ == "__main__":
    sys.exit(main())
