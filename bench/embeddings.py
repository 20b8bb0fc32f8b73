"""
What meaning costs: CPU of a passage of 128 tokens and of a question, beside its matrix multiplications alone.

The built-in model must be installed (`python -m runtime model install`). Two worker processes then embed `--passages`
side by side, as an indexing has them do; their memory is what they have more than before the model was loaded.
"""

import asyncio
import itertools
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.measure import Figures, NotMeasured, arguments, compare, report, table
from runtime.embeddings import weights
from runtime.embeddings.embedder import Embedder
from runtime.embeddings.model_file import find_model_file
from runtime.embeddings.providers import open_embedder
from runtime.embeddings.sentence_model import MOST_TOKENS, SentenceModel
from runtime.processes.pool import Workers
from runtime.settings import EmbeddingsSettings, Settings

WIDTH, WIDER, LAYERS, GROUP = 384, 1536, 6, 4
QUESTION = "How do I print the address on an envelope?"
SENTENCES = (
    "The printer is out of paper, so the page was not printed.", "Open the settings and choose another language.",
    "A table may have a header row that is repeated on each page.", "Ask the owner of the folder for it.",
)  # fmt: skip
EXPECTED_MS = 36.0
"""CPU of a passage with which two processes embed 10,000 in three minutes."""


def make_passages(count: int) -> list[str]:
    """Texts of more than 128 tokens, none like another."""
    words = itertools.cycle(SENTENCES)
    return [f"Chapter {n}. " + " ".join(next(words) for _ in range(14 + n % 3)) for n in range(count)]


async def compare_with_limit(model: SentenceModel, rounds: int) -> Figures:
    """Encoding against the multiplications that no implementation in numpy can do without."""
    import numpy as np  # not before runtime.embeddings, which keeps it at one thread

    passages, rows = make_passages(GROUP), np.ones((GROUP * MOST_TOKENS, WIDTH), np.float32)
    wide = np.ones((GROUP * MOST_TOKENS, WIDER), np.float32)
    square, up, down = (np.ones(shape, np.float32) for shape in ((WIDTH, 4 * WIDTH), (WIDTH, WIDER), (WIDER, WIDTH)))

    async def ours(count: int) -> None:
        for _ in range(count):
            model.encode(passages)

    async def raw(count: int) -> None:
        for _ in range(count * LAYERS):
            _ = (rows @ square, rows @ up, wide @ down)

    async def ask(count: int) -> None:
        for _ in range(count):
            model.encode([QUESTION])

    passage, question = await compare(ours, raw, rounds=rounds), await compare(ask, raw, rounds=rounds)
    return {
        "passage_cpu_ms": round(passage.ours.cpu / GROUP * 1e3, 1),
        "limit_cpu_ms": round(passage.raw.cpu / GROUP * 1e3, 1),
        "ratio": round(passage.cpu_ratio, 2),
        "question_cpu_ms": round(question.ours.cpu * 1e3, 1),
    }


async def embed_side_by_side(embedder: Embedder, workers: Workers, count: int) -> Figures:
    """As an indexing does it, in two processes."""
    calls = [workers.call("bench.embeddings:own_memory", within=60.0, returns=float) for _ in range(workers.size)]
    before = max(await asyncio.gather(*calls))
    began = time.perf_counter()
    await embedder.embed([QUESTION], kind="query", within=60.0)
    loaded = time.perf_counter() - began
    passages = make_passages(count)
    await embedder.embed(passages[: 16 * workers.size], kind="passage", within=600.0)  # all have it loaded
    began = time.perf_counter()
    await embedder.embed(passages, kind="passage", within=3600.0)
    seconds = time.perf_counter() - began
    calls = [workers.call("bench.embeddings:own_memory", within=60.0, returns=float) for _ in range(workers.size)]
    return {
        "first_question_ms": round(loaded * 1e3),
        "seconds_for_10000": round(seconds / count * 10_000),
        "worker_mib_more": round(max(await asyncio.gather(*calls)) - before, 1),
    }


def own_memory() -> float:
    """MiB of this process, its part of what it shares with others."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


async def measure(rounds: int, count: int) -> Figures:
    file = find_model_file(EmbeddingsSettings())
    if not file.is_file():
        raise NotMeasured("the sentence model is not installed: python -m runtime model install")
    workers = Workers(2)
    embedder = open_embedder(Settings(), workers)
    assert embedder is not None
    try:
        alone = await compare_with_limit(weights.read(file), rounds)
        return alone | await embed_side_by_side(embedder, workers, count)
    finally:
        await embedder.close()
        workers.close()


def show(result: Mapping[str, Any]) -> str:
    rows = [
        ["CPU of a passage of 128 tokens", f"{result['passage_cpu_ms']} ms", f"{EXPECTED_MS:g} ms"],
        ["its matrix multiplications alone", f"{result['limit_cpu_ms']} ms, ratio {result['ratio']}", ""],
        ["CPU of a question", f"{result['question_cpu_ms']} ms", ""],
        ["the first question, model loaded", f"{result['first_question_ms']} ms", ""],
        ["10,000 passages in two processes", f"{result['seconds_for_10000']} s", "180 s"],
        ["a worker process has more with the model", f"{result['worker_mib_more']} MiB", "75 MiB"],
    ]
    return table(("meaning", "measured", "should be below"), rows)


def main() -> int:
    parser = arguments(__doc__, rounds=5)
    parser.add_argument("--passages", type=int, default=256, help="how many two processes embed (default: %(default)s)")
    options = parser.parse_args()
    return report(options, lambda: measure(options.rounds, options.passages), show)


if __name__ == "__main__":
    sys.exit(main())
