"""
The state file: a project as Markdown that a person can read and edit, and that parses back without loss.

What a person sees is what is parsed. For show are only the lines above the first section, the column Crawled, and the
last section, which is the report as people read it.
"""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec

from actors.evidence.passages import Passage
from actors.evidence.sources import FailedSource, Page, SearchResult
from actors.reporting.markdown import render_markdown
from actors.research.analysis_summary import analysis_summary
from actors.research.models import Analysis, Contradiction, ResearchOptions, SearchTask
from actors.research.workflow import ResearchCase
from actors.text.catalogue import ENGLISH, say
from actors.text.truncate import shorten
from actors.text.urls import key_of
from actors.workflow.outcome import EndReason, Outcome
from runtime.processes.atomic_files import read_whole, write_whole
from runtime.state_files import backups, frontmatter
from runtime.state_files.backups import name_in
from runtime.state_files.frontmatter import is_sound
from runtime.state_files.parser import (
    Item,
    Numbered,
    Part,
    Unreadable,
    built,
    clean,
    fence,
    fields,
    from_table,
    inline,
    items,
    parts,
    record,
    render_item,
    table,
    values,
)

Status = Literal[
    "planning", "searching", "extracting", "analyzing", "deepening", "reporting", "completed", "cancelled", "failed"
]
OVER: frozenset[Status] = frozenset({"completed", "cancelled", "failed"})
STATUSES: tuple[Status, ...] = get_args(Status)
TITLE_CHARACTERS = 120


class Project(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One research at one moment. Its id is its ticket's."""

    case: ResearchCase
    title: str
    status: Status = "planning"
    progress: int = 0
    """Percent."""
    message: str = ""
    """What is being done, for a person."""
    created: str
    """ISO time in UTC, as `updated`."""
    updated: str
    run: str = ""
    edited: bool = False
    """Somebody changed the file after Terminus wrote it."""

    @property
    def id(self) -> str:
        return self.case.ticket_id

    @property
    def over(self) -> bool:
        return self.status in OVER


def title_of(question: str) -> str:
    """The first line of a question that says anything, shortened."""
    return shorten(next((each for each in question.splitlines() if each.strip()), ""), TITLE_CHARACTERS)


def status_of(state: str, outcome: Outcome | None) -> Status:
    """Where a project stands, by its run's state and end."""
    if outcome is None:  # its last event may have come, but it is the end of the run that is durable
        return next((each for each in STATUSES if each == state and each not in OVER), "reporting")
    if outcome.why is EndReason.CANCELLED:
        return "cancelled"
    # A report that was written before time ran out may be good, but the research did not come to its end.
    well = outcome.why is EndReason.COMPLETED and outcome.status not in {"error", "cancelled"}
    return "completed" if well else "failed"


class Head(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The keys of the frontmatter, in their order."""

    project_id: str
    title: str
    status: Status
    progress: int = 0
    progress_message: str = ""
    created_at: str
    updated_at: str
    workflow: str = "research"
    run: str = ""
    question: str
    breadth: int = ResearchOptions().breadth
    depth: int = ResearchOptions().depth
    round: int = 1
    rounds: int = 1
    """The deepest that was begun."""
    direction: str = ""
    """What this round explores."""
    sources: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    is_complete: bool = False


def head_of(project: Project) -> Head:
    """What the frontmatter of a project says."""
    case, brief = project.case, project.case.brief
    return Head(
        project_id=project.id, title=project.title, status=project.status, progress=project.progress,
        progress_message=project.message, created_at=project.created, updated_at=project.updated, run=project.run,
        question=case.text, rounds=case.rounds, is_complete=case.is_complete, **msgspec.structs.asdict(brief),
    )  # fmt: skip


def options_of(head: Head) -> ResearchOptions:
    """What is ordered."""
    return ResearchOptions(**{name: getattr(head, name) for name in ResearchOptions.__struct_fields__})


def split(text: str) -> tuple[Head, list[str], bool]:
    """
    The frontmatter, all lines of the file, those of the frontmatter blank, and whether the checksum fits.

    :raises Unreadable: the frontmatter is not what Terminus writes.
    """
    values, lines, sound = frontmatter.split(text)
    try:
        return msgspec.convert(values, Head, strict=False), lines, sound
    except msgspec.ValidationError as error:
        raise Unreadable(2, f"the frontmatter says something else than it should: {error}.") from None


SECTIONS = {
    "Plan": "plan",
    "Searches": "searches",
    "Search results": "results",
    "Extracted content": "pages",
    "Learnings": "learnings",
    "Answers": "sections",
    "Analysis": "analysis",
    "Summary": "",
    "Contradictions": "",
    "Citations": "passages",
    "Not obtained": "missed",
    "Directions": "directions",
    "Parts of the report": "report",
}
"""Heading to field of the case. Summary and contradictions are the analysis's."""
REMARKS = "Remarks"
"""The section of all fields that have none of their own."""
REPORT = "Report"
"""The last section. Whatever it quotes, nothing below its heading is parsed."""
AS_REPORT = "(as the report at the end of this file)"
"""What stands for the text of a resolution that is the report."""
IN_HEAD = frozenset({"ticket_id", "text", "brief", "rounds", "is_complete"})
RESULTS = {
    "Source": "source", "Title": "title", "URL": "url", "Quality": "quality", "Crawled": "", "Summary": "summary",
    "Key points": "key_points", "Query": "query", "Published": "published",
}  # fmt: skip
"""Column of the table to field. One without a field is for show."""
SEARCHES = {
    "Query": "query", "Source": "source", "Status": "status", "Results": "found", "Round": "round", "Why": "detail",
}  # fmt: skip
MISSED = {"Place": "place", "Reason": "reason", "Detail": "detail"}
TABLES: dict[str, Any] = {
    "searches": (SearchTask, SEARCHES),
    "results": (SearchResult, RESULTS),
    "missed": (FailedSource, MISSED),
}
TEXTS: dict[str, type[Page | Passage]] = {"pages": Page, "passages": Passage}
"""Records with a heading and a block of their own."""
_FIELDS = {field.name: field for field in msgspec.structs.fields(ResearchCase)}
_OWN = (*IN_HEAD, *SECTIONS.values())
_REMARKED = {name: field.type for name, field in _FIELDS.items() if name not in _OWN}


def render_state(project: Project) -> str:
    """The whole state file."""
    return frontmatter.join(head_of(project), "\n".join(_body(project)) + "\n")


def parse_state(text: str) -> Project:
    """
    The project that a state file tells.

    :raises Unreadable: with the line, and what is wrong there.
    """
    head, lines, sound = split(text)
    _, found = parts(list(enumerate(lines, 1)), "## ")
    known: dict[str, Any] = {}
    analysis: dict[str, Any] = {}
    for part in found:
        if part.title == REPORT:
            break
        if part.title == "Contradictions":
            analysis["contradictions"] = _listed_in(part, tuple[Contradiction, ...])
        elif part.title == "Summary":
            analysis["summary"] = _read_summary(part)
        elif part.title == REMARKS:
            known |= values(_only_items(part.lines), _REMARKED)
        elif name := SECTIONS.get(part.title):
            known[name] = _section(part, name)
        else:
            raise Unreadable(part.line, f"there is no section {part.title!r}; these are: {', '.join(SECTIONS)}.")
    if analysis:
        known["analysis"] = msgspec.structs.replace(known.get("analysis", Analysis()), **analysis)
    if (report := known.get("report")) and (said := known.get("resolution")) and said.text == AS_REPORT:
        known["resolution"] = msgspec.structs.replace(said, text=render_markdown(report))
    case = ResearchCase(
        ticket_id=head.project_id, text=head.question, brief=options_of(head), rounds=head.rounds,
        is_complete=head.is_complete, **known,
    )  # fmt: skip
    return _project(head, case, edited=not sound)


def parse_beginning(text: str) -> Project:
    """
    The project that the frontmatter tells, with nothing done yet: for a file whose sections cannot be read.

    :raises Unreadable: neither can the frontmatter.
    """
    head, _, sound = split(text)
    brief = msgspec.structs.replace(options_of(head), round=1, direction="")
    return _project(head, ResearchCase(ticket_id=head.project_id, text=head.question, brief=brief), edited=not sound)


def _project(head: Head, case: ResearchCase, *, edited: bool) -> Project:
    return Project(
        case=case, title=head.title, status=head.status, progress=head.progress, message=head.progress_message,
        created=head.created_at, updated=head.updated_at, run=head.run, edited=edited,
    )  # fmt: skip


def _body(project: Project) -> Iterator[str]:
    case, report = project.case, ""
    yield f"# {inline(project.title)}"
    yield ""
    said = f": {inline(project.message)}" if project.message else ""
    yield f"{project.status.capitalize()}, {project.progress} %{said}"
    if project.over and not case.is_complete:
        yield from ("", f"{say('further', ENGLISH)}.")
    if case.report is not None:
        yield from ("", f"The [report](#{REPORT.lower()}) stands at the end.")
        report = render_markdown(case.report)
        if case.resolution is not None and case.resolution.text == report:
            as_report = msgspec.structs.replace(case.resolution, text=AS_REPORT)
            case = msgspec.structs.replace(case, resolution=as_report)
    for title, name in SECTIONS.items():
        lines = list(_render_field(case, name) if name else _render_part(title, case.analysis or Analysis()))
        if lines or (name and getattr(case, name) != _FIELDS[name].default):
            yield from ("", f"## {title}", "", *lines)
    if remarks := list(fields(case, but=_OWN)):
        yield from ("", f"## {REMARKS}", "", *remarks)
    if report:
        yield from ("", f"## {REPORT}", *_below_title(report))


def _below_title(report: str) -> Iterator[str]:
    """A report as a section: without its title, which stands at the top, and its headings a level deeper."""
    yield from _deepen(report.rstrip("\n").split("\n")[1:])


def _deepen(lines: Iterable[str]) -> Iterator[str]:
    """Markdown with its headings a level deeper."""
    return (f"#{line}" if line.startswith("#") else line for line in lines)


def _render_part(title: str, analysis: Analysis) -> Iterator[str]:
    """What of the analysis stands in a section of its own."""
    if title == "Contradictions":
        for each in analysis.contradictions:
            yield from render_item(each)
    elif _is_ours(analysis):
        yield from _deepen(clean(analysis.summary).rstrip("\n").split("\n"))


def _is_ours(analysis: Analysis) -> bool:
    """Whether the summary is Markdown that Terminus made, in which no page can say anything but words."""
    return bool(analysis.summary) and analysis.summary == analysis_summary(analysis)


def _read_summary(part: Part) -> str:
    """The summary, whose headings stand a level deeper in the file."""
    return "\n".join(line.removeprefix("#") for _, line in part.lines).strip("\n") + "\n"


def _render_field(case: ResearchCase, name: str) -> Iterator[str]:
    """One field of the case, as its section shows it."""
    value = getattr(case, name)
    if name in TABLES:
        held = {page.key for page in case.pages}
        extra = {"Crawled": lambda each: "yes" if key_of(each.url) in held else "no"}
        yield from table(value, TABLES[name][1], extra)
    elif name in TEXTS:
        for number, each in enumerate(value):
            yield from ("",) if number else ()
            yield from (f"### {inline(each.title)}".rstrip(" "), "", *fields(each, but=("title", "text")))
            yield from ("", *fence(each.text))
    elif isinstance(value, tuple):
        for number, each in enumerate(value, 1):
            yield from render_item(each, place=number)
    elif value is not None:
        own = ("contradictions", *(("summary",) if _is_ours(value) else ())) if name == "analysis" else ()
        yield from fields(value, but=own)


def _section(part: Part, name: str) -> Any:
    type_ = _FIELDS[name].type
    if name in TABLES:
        return from_table(part, *TABLES[name])
    if name in TEXTS:
        return tuple(_texts(part, TEXTS[name]))
    if get_origin(type_) is tuple:
        return _listed_in(part, type_)
    (type_,) = (each for each in get_args(type_) if each is not type(None))
    return record(_only_items(part.lines), type_, part.line)


def _texts(part: Part, type_: type[Page | Passage]) -> Iterator[Page | Passage]:
    before, found = parts(part.lines, "### ")
    for number, line in before:
        if line.strip():
            raise Unreadable(number, "a heading (###) must stand above this.")
    for each in found:
        its, text = items(each.lines)
        if text is None:
            raise Unreadable(each.line, "the text that was read is missing: it stands in a block below the list.")
        yield record(its, type_, each.line, title=each.title, text=text)


def _listed_in(part: Part, type_: Any) -> Any:
    return built(Item(part.line, "", "", items=_only_items(part.lines)), type_)


def _only_items(lines: Sequence[Numbered]) -> list[Item]:
    its, block = items(lines)
    if block is not None:
        raise Unreadable(lines[0][0], "a block stands in this section that belongs to no item of its list.")
    return its


EDITED = 20
"""Versions that people edited, of one project, that are kept beside its file; then the last is written over."""


class Saved(msgspec.Struct, frozen=True):
    """What was put where."""

    backup: str
    edited: str = ""
    """The name under which the file is kept that a person had changed."""


def save(folder: str, project: Project) -> Saved:
    """
    Write the state file, and keep a copy of it as the latest backup.

    What a person changed in it is kept beside it first. When the project began is what its file says.

    :raises OSError: the disk did not take it; what was there is whole.
    """
    name = name_in(Path(folder), project.id)
    path = Path(folder, f"{name}.md")
    before, edited = read_whole(path), ""
    if before is not None:
        with contextlib.suppress(Unreadable):
            head, _, _ = split(before)
            project = msgspec.structs.replace(project, created=head.created_at)
    if os.path.lexists(path) and not (before and is_sound(before)):
        edited = _put_aside(path, project.updated)
    text = render_state(project)
    write_whole(path, text)
    return Saved(backups.add(Path(folder), name, project.status, text).name, edited)


def _put_aside(path: Path, at: str) -> str:
    stem = f"{path.stem}.edited-{re.sub('[^0-9TZ]', '', at)}"
    names = [f"{stem}.md", *(f"{stem}-{number}.md" for number in range(2, EDITED + 1))]
    name = next((name for name in names if not path.with_name(name).exists()), names[-1])
    path.replace(path.with_name(name))
    return name
