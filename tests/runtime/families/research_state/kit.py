"""Projects to write, scripted researches to follow, and workers that need no process."""

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from actors.research import messages as m
from actors.research.workflow import ResearchCase
from bus import Actor, Context
from runtime.families.research_state.state_file import Project
from runtime.processes.pool import WorkFailed, WorkTimedOut
from runtime.state_files.backups import name_of, valid
from tests.fakes import Says
from tests.research import a_case

CREATED, UPDATED = "2026-11-20T09:30:00.000Z", "2026-11-20T09:31:00.000Z"


def latest_valid(folder: Path, project_id: str) -> Path | None:
    """The backup that a research would be taken up from."""
    return next((path for path, _ in valid(folder, name_of(project_id))), None)


def a_project(case: ResearchCase | None = None, **more: Any) -> Project:
    known: dict[str, Any] = {
        "case": case or a_case(), "title": "Harbor and Quay", "status": "analyzing", "progress": 40,
        "message": "Round 2 of 2: analyzing", "created": CREATED, "updated": UPDATED, "run": "R-1",
    }  # fmt: skip
    return Project(**(known | more))


class AtOnce:
    """Workers that do what they are told here and now, with what passes through a line to a process."""

    def __init__(self) -> None:
        self.saved: list[Project] = []
        self.broken = ""
        """Why every call fails."""
        self.gate = asyncio.Event()
        """Calls wait until it is set."""
        self.gate.set()
        self.most_at_once = 0
        self._at_once = 0

    async def call(self, function: str, *arguments: Any, within: float, returns: Any) -> Any:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            async with asyncio.timeout(within):
                await self.gate.wait()
        except TimeoutError:
            raise WorkTimedOut(function) from None
        finally:
            self._at_once -= 1
        if self.broken:
            raise WorkFailed(self.broken)
        module, _, name = function.partition(":")
        folder, told = arguments
        if name == "save":
            told = msgspec.convert(msgspec.msgpack.decode(msgspec.msgpack.encode(told)), Project)
            self.saved.append(told)
        return getattr(importlib.import_module(module), name)(folder, told)


class Asks(Actor[Any]):
    """Answers with what an awaited function says."""

    def __init__(self, answer: Callable[[Any], Awaitable[Any]]) -> None:
        self._answer = answer

    async def receive(self, message: Any, ctx: Context) -> Any:
        return await self._answer(message)


def roles(case: ResearchCase | None = None, **replaced: Actor[Any]) -> dict[str, Callable[[], Actor[Any]]]:
    """A research of one round that finds what the given case holds."""
    case = case or a_case()
    said = {name: getattr(case, name) for name in ResearchCase.__struct_fields__}

    def event(type_: Any) -> Any:
        return type_(**{name: said[name] for name in type_.__struct_fields__ if name in said})

    usual: dict[str, Actor[Any]] = {
        "planner": Says(m.PlanMade(case.plan, "")),  # type: ignore[arg-type]
        "searcher": Says(event(m.SearchCompleted)),
        "extractor": Says(event(m.ExtractionCompleted)),
        "analyzer": Says(event(m.AnalysisCompleted)),
        "reporter": Says(m.ResearchClosed(status="suggested", report=case.report)),
    }
    return {role: lambda actor=actor: actor for role, actor in (usual | replaced).items()}  # type: ignore[misc]


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
