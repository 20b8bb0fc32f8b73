"""
Finds researches that were interrupted and that the database does not know, such as when it is gone.

Reading the files is for worker processes; `goes_on` says what of a project the run begins with that takes it up again.
"""

import asyncio
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import msgspec
import structlog

from actors.evidence.sources import SearchResult
from actors.research.models import ResearchOptions
from actors.research.workflow import RESEARCH, ResearchCase
from actors.text.languages import guess_language
from runtime.families.research_state.state_file import OVER, Project, parse_beginning, parse_state
from runtime.processes.atomic_files import read_start, read_whole
from runtime.processes.pool import WorkError
from runtime.state_files import backups
from runtime.state_files.backups import name_of, other_name_of
from runtime.state_files.parser import Unreadable
from runtime.storage.errors import UnknownRun
from runtime.tickets import Ticket
from runtime.user_text import pluralize

if TYPE_CHECKING:  # worker processes load none of it
    from runtime.engine.runs import RunHandle
    from runtime.families.family import SharedPorts

log = structlog.get_logger()

PROJECTS = 1_000
"""How many files are looked at, the newest first."""
READ_SECONDS = 30.0
"""For one of them."""
SECONDS = 120.0
"""For all that cannot be read: whoever waits for a server to begin waits for this, too."""
MOST_BREADTH, MOST_DEPTH, MOST_URLS = 50, 5, 50
"""More cannot be ordered, whatever a file says."""
_START_BYTES = 65_536
_STATUS = re.compile(r"^status: (\w+)\r?$", re.MULTILINE)


class Restored(msgspec.Struct, frozen=True):
    """A project that can go on, or why it cannot."""

    project: Project | None
    told: str
    """What it was restored from, or what is wrong with it, for the user; empty when it need not go on."""


OVER_ALREADY = Restored(None, "")


async def restore(shared: "SharedPorts") -> "tuple[list[RunHandle], list[str]]":
    """
    Take up again what was interrupted and the database does not know.

    :returns: the runs, and a sentence for the user on each, and on each file that cannot be read.
    """
    handles: list[RunHandle] = []
    told: list[str] = []
    folder = str(shared.folder)
    if not any(shared.folder.glob("*.md")) and not (shared.folder / backups.FOLDER).exists():
        return handles, told
    clock = asyncio.get_running_loop().time
    until = clock() + SECONDS
    try:
        names = await shared.workers.call(UNFINISHED, folder, within=READ_SECONDS, returns=list[str])
    except WorkError as error:
        return handles, [_unread(folder, error)]
    for name in names:
        if await _is_known(shared, unquote(name)):
            continue
        left = min(READ_SECONDS, until - clock())
        try:
            found = await shared.workers.call(READ, folder, name, within=left, returns=Restored)
        except WorkError as error:  # the others can be read all the same
            told.append(_unread(f"{folder}, project {name}", error))
            continue
        if (project := found.project) is None:
            told += filter(None, (found.told,))
        elif not await _is_known(shared, project.id) and (handle := await _begin(shared, project)):
            log.info("project.restored", project=project.id, run=handle.run, source=found.told)
            handles.append(handle)
            told.append(f"Ticket {project.id}: restored from {found.told}, {_summarize(project)}")
    return handles, told


async def _begin(shared: "SharedPorts", project: Project) -> "RunHandle | None":
    case = goes_on(project)
    ticket = Ticket(id=case.ticket_id, text=case.text, workflow=RESEARCH.name, options=case.brief)
    return await shared.runs.restore(ticket, case, _run_of(project))


def _unread(what: str, error: WorkError) -> str:
    log.warning("project.unread", what=what, error=str(error))
    return f"The state files in {what} could not be read: {error}."


def find_unfinished(folder: str) -> list[str]:
    """Names of projects of which neither state file nor, when that is gone, backup says that they are over."""
    place = Path(folder)
    names = {path.stem: path for path in place.glob("*.md")}
    for path in (place / backups.FOLDER).glob("*"):
        names.setdefault(path.name, path)
    newest = sorted(names, key=lambda name: (-_time(names[name]), name))[:PROJECTS]
    return sorted(name for name in newest if _goes_on(place, name))


def restore_case(folder: str, name: str) -> Restored:
    """
    A project from its latest valid backup, else from its state file, else from the beginning.

    Neither, when what there is says that it is over, or is not a project of this name.
    """
    place, wrong = Path(folder), ""
    for project, told in _from_backups(place, name):
        return OVER_ALREADY if project.over else Restored(project, told)
    text = read_whole(place / f"{name}.md")
    if text is None:
        return Restored(None, f"The backups of {name} are damaged, and it has no state file. Submit it again.")
    for read, told in ((parse_state, "its state file"), (parse_beginning, "the beginning")):
        try:
            project = read(text)
        except Unreadable as error:
            wrong = wrong or f"{name}.md, {error}"
            continue
        if not _is_of(name, project) or project.over:
            return OVER_ALREADY
        return Restored(project, f"{told} ({wrong})" if wrong else told)
    return Restored(None, f"The state file {wrong} Mend that line, or submit it again.")


def goes_on(project: Project) -> ResearchCase:
    """
    What the next run of a project begins with: all that was found and read, and the plan.

    What an interrupted stage or an end had said of itself is left out, as are answers that this round gives once more.
    """
    case, brief = project.case, project.case.brief
    depth = min(max(brief.depth, 1), MOST_DEPTH)
    brief = ResearchOptions(
        breadth=min(max(brief.breadth, 1), MOST_BREADTH), depth=depth, round=min(max(brief.round, 1), depth),
        sources=brief.sources, urls=brief.urls[:MOST_URLS], direction=brief.direction,
    )  # fmt: skip
    return ResearchCase(
        ticket_id=case.ticket_id, text=case.text, language=guess_language(case.text), brief=brief, plan=case.plan,
        searches=case.searches,
        results=tuple(map(_bound_quality, case.results)), pages=case.pages,
        read_before=min(max(case.read_before, 0), len(case.pages)), missed=case.missed,
        learnings=case.learnings, passages=case.passages,
        sections=tuple(each for each in case.sections if each.round < brief.round), directions=case.directions,
        rounds=min(max(case.rounds, brief.round), depth), unavailable=case.unavailable, degraded=case.degraded,
        incomplete=case.incomplete,
    )  # fmt: skip


def _bound_quality(result: SearchResult) -> SearchResult:
    """A result with a quality that is one, whatever a file says."""
    return msgspec.structs.replace(result, quality=min(1.0, max(0.0, result.quality)))


def _from_backups(place: Path, name: str) -> Iterator[tuple[Project, str]]:
    for path, text in backups.valid(place, name):
        try:
            project = parse_state(text)
        except Unreadable:  # written by another version
            continue
        if _is_of(name, project):
            yield project, f"the backup {path.name}"


def _is_of(name: str, project: Project) -> bool:
    """Whether a project is kept under this name, or this is the copy of another."""
    return name in (name_of(project.id), other_name_of(project.id))


def _goes_on(place: Path, name: str) -> bool:
    for text in _starts(place, name):
        if found := _STATUS.search(text):
            return found[1] not in OVER
    return False


def _starts(place: Path, name: str) -> Iterator[str]:
    """How the state file begins, and how its latest backups do."""
    yield read_start(place / f"{name}.md", _START_BYTES) or ""
    for _, text in backups.valid(place, name):
        yield text[:_START_BYTES]


def _time(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


async def _is_known(shared: "SharedPorts", project_id: str) -> bool:
    try:
        await shared.journal.find(project_id)
    except UnknownRun:
        return False
    return True


def _run_of(project: Project) -> str:
    """The same for the same state, so that of two processes only one takes it up."""
    moment = "\n".join((project.id, project.run, project.updated))
    return f"R-{hashlib.sha256(moment.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _summarize(project: Project) -> str:
    case = project.case
    return f"with {pluralize(len(case.pages), 'page')} and {pluralize(len(case.learnings), 'learning')}"


UNFINISHED = f"{__name__}:{find_unfinished.__name__}"
READ = f"{__name__}:{restore_case.__name__}"
