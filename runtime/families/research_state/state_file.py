"""
The state file: a project as Markdown that a person can read and edit, and that parses back without loss.

What a person sees is what is parsed. For show are only the lines above the first section, the column Crawled, and the
last section, which is the report as people read it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, get_args, get_origin

import msgspec

from actors.evidence.passages import Passage
from actors.evidence.sources import FailedSource, Page, SearchResult
from actors.reporting.markdown import render_markdown
from actors.research.models import Analysis, Contradiction
from actors.research.workflow import ResearchCase
from actors.text.catalogue import ENGLISH, say
from actors.text.urls import key_of
from runtime.families.research_state.head import Head, head_of, options_of, split
from runtime.families.research_state.project import Project
from runtime.state_files import frontmatter
from runtime.state_files.markdown_escape import fence, inline
from runtime.state_files.parser import Item, Numbered, Part, Unreadable, items, parts
from runtime.state_files.record_lists import built, fields, record, render_item, values
from runtime.state_files.record_tables import from_table, table

SECTIONS = {
    "Plan": "plan",
    "Search results": "results",
    "Extracted content": "pages",
    "Learnings": "learnings",
    "Answers": "sections",
    "Analysis": "analysis",
    "Contradictions": "",
    "Citations": "passages",
    "Not obtained": "missed",
    "Directions": "directions",
    "Parts of the report": "report",
}
"""Heading to field of the case. Contradictions are the analysis's."""
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
MISSED = {"Place": "place", "Reason": "reason", "Detail": "detail"}
TABLES: dict[str, Any] = {"results": (SearchResult, RESULTS), "missed": (FailedSource, MISSED)}
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
    contradictions: tuple[Contradiction, ...] = ()
    for part in found:
        if part.title == REPORT:
            break
        if part.title == "Contradictions":
            contradictions = _listed_in(part, tuple[Contradiction, ...])
        elif part.title == REMARKS:
            known |= values(_only_items(part.lines), _REMARKED)
        elif name := SECTIONS.get(part.title):
            known[name] = _section(part, name)
        else:
            raise Unreadable(part.line, f"there is no section {part.title!r}; these are: {', '.join(SECTIONS)}.")
    if contradictions:
        known["analysis"] = msgspec.structs.replace(known.get("analysis", Analysis()), contradictions=contradictions)
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
        lines = list(_contradictions(case) if not name else _render_field(case, name))
        if lines or (name and getattr(case, name) != _FIELDS[name].default):
            yield from ("", f"## {title}", "", *lines)
    if remarks := list(fields(case, but=_OWN)):
        yield from ("", f"## {REMARKS}", "", *remarks)
    if report:
        yield from ("", f"## {REPORT}", *_below_title(report))


def _below_title(report: str) -> Iterator[str]:
    """A report as a section: without its title, which stands at the top, and its headings a level deeper."""
    for line in report.rstrip("\n").split("\n")[1:]:
        yield f"#{line}" if line.startswith("#") else line


def _contradictions(case: ResearchCase) -> Iterator[str]:
    for each in case.analysis.contradictions if case.analysis else ():
        yield from render_item(each)


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
        yield from fields(value, but=("contradictions",) if name == "analysis" else ())


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
