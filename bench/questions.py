"""Questions over a manual, as the benchmarks read them from a file: one JSON object a line."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import msgspec

from runtime.knowledge.indexing import list_folders
from runtime.processes.pool import Workers


class Part(msgspec.Struct, frozen=True):
    """One of several things that a ticket asks."""

    question: str
    pages: list[str]


class Question(msgspec.Struct, frozen=True):
    id: str
    question: str
    pages: list[str]
    """Paths below the manual that answer it; none: it has no answer there."""
    parts: list[Part] = []


def read_questions(file: Path) -> list[Question]:
    """:raises msgspec.ValidationError: a line is no question."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=Question) for line in lines if line.strip()]


async def find_name(manual: Path, storage: str | Path, workers: Workers) -> str:
    """What stands before the paths of a manual's documents in an index."""
    path = str(await asyncio.to_thread(manual.resolve))
    return next(each.name for each in await list_folders(storage, workers) if each.path == path)


def list_pages(sources: Iterable[str], name: str) -> list[str]:
    """Documents as paths below their manual, each once, in order."""
    return list(dict.fromkeys(source.removeprefix(f"{name}/") for source in sources))
