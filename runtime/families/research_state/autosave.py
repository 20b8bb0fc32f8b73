"""
Writes the state file of each research, and backups of it: at every finished stage, every 30 s, and at the end.

The loop only takes a snapshot; worker processes render and write it. A disk that fails harms no run.
"""

import asyncio
import contextlib
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import structlog

from actors.research.messages import RoundCompleted
from actors.research.workflow import ResearchCase, State
from actors.workflow.outcome import HandoffMade, RunBegan
from actors.workflow.progress import Progress, fold
from bus import Message
from runtime.engine.run import LiveRun
from runtime.families.research_state.state_file import Project, Saved, Status, status_of, title_of
from runtime.processes.pool import WorkError, Workers

log = structlog.get_logger()

SAVE_SECONDS = 10.0
CLOSE_SECONDS = 5.0
"""How long the last states may take to be written when the process ends."""
SAVE = "runtime.families.research_state.state_file:save"
KNOWN = tuple(name for name in RoundCompleted.__struct_fields__ if name in ResearchCase.__struct_fields__)
"""What a round tells the one above it."""


class Autosave:
    """One a process."""

    def __init__(self, folder: Path, workers: Workers, backup_seconds: float) -> None:
        self._folder = str(folder)
        self._workers = workers
        self._backup_seconds = backup_seconds
        self._kept: dict[str, _Kept] = {}
        """By the id of the outermost run."""
        self._tasks: set[asyncio.Task[None]] = set()

    def follow(self, live: LiveRun) -> None:
        """From now on the file of this outermost run is kept."""
        kept = self._kept[live.id] = _Kept(live)
        task = asyncio.create_task(self._keep(kept))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def deeper(self, live: LiveRun) -> None:
        """A round below began: until it ends it knows most. Its id begins with that of its outermost run."""
        if kept := self._kept.get(live.id.partition(".")[0]):
            kept.deeper(live)

    async def close(self) -> None:
        """Write what is not written yet, for so long as is allowed."""
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=CLOSE_SECONDS)
        for task in late:
            log.error("project.unsaved", error=f"not written within {CLOSE_SECONDS:g} s")
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _keep(self, kept: "_Kept") -> None:
        try:
            over = False
            while not over:
                over = kept.live.is_over
                for project in kept.take():
                    await self._save(kept, project)
                if not over:
                    await kept.wait(self._backup_seconds)
        finally:
            del self._kept[kept.live.id]

    async def _save(self, kept: "_Kept", project: Project) -> None:
        try:
            saved = await self._workers.call(SAVE, self._folder, project, within=SAVE_SECONDS, returns=Saved)
        except WorkError as error:
            if not kept.failing:
                log.warning("project.unsaved", project=project.id, error=str(error))
            kept.failing = True
            return
        if kept.failing:
            log.info("project.saved_again", project=project.id)
        kept.failing = False
        if saved.edited:
            log.warning("project.edited", project=project.id, kept=saved.edited)


class _Kept:
    """One research, its rounds, and the snapshots of it that are not written yet."""

    def __init__(self, live: LiveRun) -> None:
        self.live = live
        self.failing = False
        self._rounds: list[LiveRun] = []
        self._began = asyncio.get_running_loop().time()
        self._created = _now()
        self._board = Progress()
        self._waiting: dict[Status, Project] = {}
        """One a stage, the newest: when the disk is slow, stages are not lost, but steps within them are."""
        self._news = asyncio.Event()
        for event in live.so_far():
            self._hear(event)
        live.watch(self._hear)
        live.when_over(self._news.set)

    def deeper(self, live: LiveRun) -> None:
        self._rounds.append(live)
        live.watch(self._hear_below)

    def take(self) -> list[Project]:
        """What is to be written, the newest last."""
        newest = self._snapshot()
        self._waiting.pop(newest.status, None)
        projects = [*self._waiting.values(), newest]
        self._waiting.clear()
        self._news.clear()
        return projects

    async def wait(self, seconds: float) -> None:
        """Until a stage has ended, the run has, or the time is up."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()

    def _hear(self, event: Message) -> None:
        at = asyncio.get_running_loop().time() - self._began
        self._board = fold(self._board, event, at)  # type: ignore[arg-type]  # what it does not know changes nothing
        self._hear_below(event)

    def _hear_below(self, event: Message) -> None:
        if isinstance(event, HandoffMade | RunBegan):
            project = self._snapshot()
            self._waiting.pop(project.status, None)
            self._waiting[project.status] = project
            self._news.set()

    def _snapshot(self) -> Project:
        where, outcome = self.live.where, self.live.outcome_so_far()
        case, state = where.case, where.state
        deepest = self._rounds[-1] if self._rounds else None
        if deepest and deepest.where.case.rounds > case.rounds:
            below = deepest.where.case
            known = {name: getattr(below, name) for name in (*KNOWN, "brief", "plan")}
            case = msgspec.structs.replace(case, **known)
            state = State.DEEPENING if deepest.is_over else deepest.where.state
        status = status_of(state, outcome)
        return Project(
            case=case, title=title_of(case.text), status=status, created=self._created, updated=_now(),
            progress=100 if status == "completed" else self._board.percent, run=self.live.id,
            message=outcome.detail or "Done" if outcome else _describe(self._board, case),
        )  # fmt: skip


def _describe(board: Progress, case: ResearchCase) -> str:
    """What is being done, for a person."""
    where = f"Round {case.brief.round} of {case.brief.depth}"
    stage = board.running
    if stage is None:
        return where
    count = f", {stage.done} of {stage.total}" if stage.total else ""
    item = f": {stage.item}" if stage.item else ""
    return f"{where}: {stage.step or stage.name}{count}{item}"[:200]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
