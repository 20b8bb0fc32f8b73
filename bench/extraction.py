"""
Main text of web pages, through the product's own extraction in its own worker processes.

    python -m bench.extraction --data DIR [--json]

DIR/pages/*.jsonl.gz holds a page a line: {"id", "url", "type", "text": its true main text, "html": in base64}.
"""

import argparse
import asyncio
import gzip
import re
import sys
import time
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bench.measure import Figures, NotMeasured, arguments, report, table
from runtime.crawl.extract.page import NoText, decode, extract, read_html
from runtime.processes.pool import WorkError, Workers

MEASURED = "bench.extraction:measured"
SHINGLES = frozenset({"scrapinghub"})
"""Sets whose own evaluation compares runs of four words; that of the others compares words."""
ARTICLE_NOISE = 0.15
ENOUGH_CHARACTERS = 200
SECONDS = 20.0
AT_ONCE = 4
TICK_SECONDS = 0.005

_WORD = re.compile(r"\w+")


class PageLine(msgspec.Struct, frozen=True):
    id: str
    url: str
    type: str
    text: str
    html: bytes


class Taken(msgspec.Struct, frozen=True):
    """What a worker made of a page."""

    text: str
    """The whole main text, before it is cut to what is kept."""
    seconds: float
    """CPU of all that extraction does."""
    cut: bool
    usable: bool
    """It is neither thin nor blocked."""


class Score(NamedTuple):
    page: PageLine
    precision: float
    recall: float
    noise: float
    taken: Taken

    @property
    def f1(self) -> float:
        return _f1(self.precision, self.recall)


def measured(body: bytes, url: str) -> Taken:
    """Extract a page as a run does, and once more for its whole text. Runs in a worker process."""
    began = time.process_time()
    kept = extract(body, "", "text/html", url, "")
    seconds = time.process_time() - began
    try:
        read = read_html(decode(body, ""), url)
    except NoText:
        read = None
    cut = kept.full_length > len(kept.text)
    return Taken(read.text if read else "", seconds, cut, not kept.thin and not kept.blocked)


def read_pages(file: Path) -> list[PageLine]:
    """The pages of a set."""
    with gzip.open(file, "rb") as lines:
        return [msgspec.json.decode(line, type=PageLine) for line in lines if line.strip()]


async def _taken(pages: Sequence[PageLine]) -> tuple[list[Taken], float]:
    """All pages through the workers, and how late a timer was at worst meanwhile, in seconds."""
    workers, places = Workers(2), asyncio.Semaphore(AT_ONCE)
    lost = Taken("", SECONDS, cut=False, usable=False)

    async def one(page: PageLine) -> Taken:
        async with places:
            try:
                return await workers.call(MEASURED, page.html, page.url, within=SECONDS, returns=Taken)
            except WorkError as error:
                print(f"{page.url}: {error}", file=sys.stderr)
                return lost

    try:
        await asyncio.gather(one(pages[0]), one(pages[0]))  # start both processes, and load what they need
        stall = _Stall()
        watch = asyncio.create_task(stall.watch())
        found = await asyncio.gather(*map(one, pages))
        watch.cancel()
        await asyncio.wait([watch])
    finally:
        workers.close()
    return list(found), stall.worst


class _Stall:
    def __init__(self) -> None:
        self.worst = 0.0

    async def watch(self) -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(TICK_SECONDS)
            self.worst = max(self.worst, time.perf_counter() - began - TICK_SECONDS)


def count_words(text: str, shingles: bool) -> Counter[Hashable]:
    """How often each word of a text stands in it, or each run of four words."""
    if not shingles:
        return Counter(_WORD.findall(text.lower()))
    words = _WORD.findall(text)
    return Counter(tuple(words[i : i + 4]) for i in range(max(1, len(words) - 3)) if words)


def compare_counts(true: Counter[Hashable], found: Counter[Hashable]) -> tuple[float, float]:
    """(precision, recall), 0 to 1"""
    both = (true & found).total()
    return (both / found.total() if found else float(not true), both / true.total() if true else float(not found))


def _score(page: PageLine, taken: Taken, shingles: bool) -> Score:
    precision, recall = compare_counts(count_words(page.text, shingles), count_words(taken.text, shingles))
    words, _ = compare_counts(count_words(page.text, False), count_words(taken.text, False))
    return Score(page, precision, recall, 1 - words, taken)


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _figures(scores: Sequence[Score], shingles: bool) -> Figures:
    """As the evaluation of each set defines them: F1 of the means for shingles, the mean of F1 for words."""
    precision, recall = _mean([s.precision for s in scores]), _mean([s.recall for s in scores])
    articles = [s.noise for s in scores if s.page.type == "article"]
    spent = sorted(s.taken.seconds for s in scores)
    return {
        "pages": len(scores),
        "f1": round(_f1(precision, recall) if shingles else _mean([s.f1 for s in scores]), 4),
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "article_noise": round(_mean(articles), 4),
        "articles_above_15_percent_noise": round(_mean([float(noise > ARTICLE_NOISE) for noise in articles]), 4),
        "coverage": round(_mean([float(len(s.taken.text) >= ENOUGH_CHARACTERS) for s in scores]), 4),
        "usable": round(_mean([float(s.taken.usable) for s in scores]), 4),
        "cut": round(_mean([float(s.taken.cut) for s in scores]), 4),
        "cpu_median_ms": round(spent[len(spent) // 2] * 1000, 1),
        "cpu_p95_ms": round(spent[int(len(spent) * 0.95)] * 1000, 1),
    }


async def _measure(options: argparse.Namespace) -> Figures:
    files = sorted((options.data / "pages").glob("*.jsonl.gz"))
    if not files:
        raise NotMeasured(f"{options.data} has no pages/*.jsonl.gz")
    found: Figures = {"sets": {}, "types": {}, "worst_stall_ms": 0.0}
    for file in files:
        pages, name = read_pages(file), file.name.removesuffix(".jsonl.gz")
        shingles = name.partition(".")[0] in SHINGLES
        taken, stall = await _taken(pages)
        scores = [_score(*each, shingles) for each in zip(pages, taken, strict=True)]
        found["sets"][name] = _figures(scores, shingles)
        found["worst_stall_ms"] = max(found["worst_stall_ms"], round(stall * 1000, 1))
        kinds = sorted({page.type for page in pages})
        if len(kinds) > 1:
            found["types"][name] = {
                kind: _figures([s for s in scores if s.page.type == kind], shingles) for kind in kinds
            }
    return found


def _shown(figures: Mapping[str, Any]) -> str:
    sets: Mapping[str, Figures] = figures["sets"]
    names = next(iter(sets.values())).keys()
    lines = [table(["", *sets], [[name, *(str(each[name]) for each in sets.values())] for name in names])]
    for name, kinds in figures["types"].items():
        rows = [[kind, str(each["pages"]), f"{each['f1']:.3f}"] for kind, each in kinds.items()]
        lines.append(table([name, "pages", "f1"], rows))
    return "\n\n".join([*lines, f"worst stall of the event loop: {figures['worst_stall_ms']} ms"])


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with pages/*.jsonl.gz")
    options = parser.parse_args()
    return report(options, lambda: _measure(options), _shown)


if __name__ == "__main__":
    sys.exit(main())
