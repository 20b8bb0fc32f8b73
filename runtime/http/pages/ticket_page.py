"""One ticket: what was asked, the answer as blocks with what it rests on, its handoffs and times as drawings."""

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from aiohttp import web

from actors.documents.template import Document
from actors.evidence.claims import Citation, Resolution
from actors.evidence.places import name_place
from actors.text.normalize import unescape_markdown
from actors.text.source_text import Span, spans
from actors.workflow.outcome import AnswerRound, Child, Handoff, explain_incomplete, say_headline
from actors.workflow.tables import Workflow
from runtime.access.shares import Share
from runtime.engine.node import NoReport
from runtime.engine.service import TicketService
from runtime.families import makes_document, writes_report
from runtime.http.endpoints.desk import DESK, find_ticket, may_act
from runtime.http.endpoints.intake_routes import INTAKE
from runtime.http.endpoints.share_routes import describe_shares, may_share
from runtime.http.files import as_fragment
from runtime.http.pages.page_routes import page, render
from runtime.http.request_bodies import ListedShare
from runtime.observe.span import TraceSpan
from runtime.observe.trace_record import read_trace
from runtime.reports import DOCUMENT_FORMATS, missing
from runtime.storage.damage import JournalDamaged
from runtime.storage.records import StoredRun
from runtime.times import iso
from runtime.user_text import spell_out


class Stage(NamedTuple):
    """Steps of a table at which the same is asked."""

    name: str
    """Of what is asked, such as `ResolveTicket`."""
    mark: Literal["done", "running", "pending"]


def list_stages(flow: Workflow, handoffs: Sequence[Handoff]) -> tuple[Stage, ...]:
    """The stages in the table's order; one that the run went past without entering it is left out."""
    names = list(dict.fromkeys(step.ask.__name__ for step in flow.steps.values()))
    asked = {str(state): step.ask.__name__ for state, step in flow.steps.items()}
    entered = [asked[each.reason] for each in handoffs if each.reason in asked]
    current = names.index(entered[-1]) if entered else -1
    return tuple(
        Stage(name, "running" if place == current else "done" if place < current else "pending")
        for place, name in enumerate(names)
        if place >= current or name in entered
    )


SCALE = 1000
"""Units of the whole time."""
SHORTEST = 3
"""Units: what took no time is seen all the same."""
MOST_BARS = 200
DEEPEST = 6
"""What is deeper stands no further in."""


class Bar(NamedTuple):
    """A span and where its bar stands."""

    span: TraceSpan
    note: str
    """What came of it, or why nothing did; empty: its name says all."""
    depth: int
    x: int
    width: int


class TimeLine(NamedTuple):
    """What a template draws."""

    bars: tuple[Bar, ...]
    seconds: float
    """The whole time."""
    omitted: int
    """Spans for which there was no room."""


def draw_time_line(spans: Sequence[TraceSpan]) -> TimeLine | None:
    """The time line; nothing where nothing is known."""
    if not spans:
        return None
    whole = max(max(each.begin + (each.seconds or 0.0) for each in spans), 1e-3)
    return TimeLine(tuple(_draw(spans[:MOST_BARS], whole)), whole, max(0, len(spans) - MOST_BARS))


def _draw(spans: Sequence[TraceSpan], whole: float) -> Iterator[Bar]:
    depths: dict[str, int] = {}
    for each in spans:
        depth = depths[each.id] = depths.get(each.parent, -1) + 1
        begin = min(SCALE - SHORTEST, round(SCALE * max(0.0, each.begin) / whole))
        goes_on = each.seconds is None and each.status == "running"
        end = SCALE if goes_on else round(SCALE * (each.begin + (each.seconds or 0.0)) / whole)
        yield Bar(each, _describe(each), min(depth, DEEPEST), begin, max(SHORTEST, min(SCALE, end) - begin))


def _describe(span: TraceSpan) -> str:
    if span.status not in {"ok", "running"}:
        return span.why
    match span.kind:
        case "agent":
            return spell_out(span.output.partition(" ")[0])
        case "search" | "claims":
            return span.output
        case "classification":
            return " · ".join(
                filter(None, (spell_out(span.category), f"{span.confidence:.0%}" if span.confidence else ""))
            )
        case "model":
            return f"{span.input} · {span.tokens_in:,} + {span.tokens_out:,}"
        case _:
            return ""


WIDTH, LANE, ROW, TOP = 660, 130, 26, 44
"""Units of the whole at most, between two agents at most, between two handoffs, and above the first."""
NARROWEST = 60
"""Units between two agents where there are many: then it is wider, and scrolls."""
HEAD = 7
"""Length of an arrow's head."""


class Lane(NamedTuple):
    """An agent and where its line stands."""

    name: str
    x: int


class Arrow(NamedTuple):
    """One handoff."""

    number: int
    start: int
    end: int
    y: int
    head: str
    """The points of the arrow's head."""
    middle: int


class Drawing(NamedTuple):
    """What a template draws."""

    width: int
    height: int
    lanes: tuple[Lane, ...]
    arrows: tuple[Arrow, ...]


class DrawnRun(NamedTuple):
    """A run whose handoffs are shown: the outermost, or one within it."""

    workflow: str
    handoffs: tuple[Handoff, ...]
    drawing: Drawing | None


def draw_runs(workflow: str, handoffs: Sequence[Handoff], children: Sequence[Child] = ()) -> tuple[DrawnRun, ...]:
    """A run and those within it that passed control on, each in front of those below it."""
    shown = (DrawnRun(workflow, tuple(handoffs), draw_handoffs(handoffs)),) if handoffs else ()
    below = (drawn for each in children for drawn in draw_runs(each.workflow, each.handoffs, each.children))
    return (*shown, *below)


def draw_handoffs(handoffs: Sequence[Handoff]) -> Drawing | None:
    """The drawing; nothing where control was never passed."""
    if not handoffs:
        return None
    names = dict.fromkeys(name for each in handoffs for name in (each.source, each.target))
    lane = max(NARROWEST, min(LANE, WIDTH // len(names)))
    places = {name: lane // 2 + lane * number for number, name in enumerate(names)}
    arrows = tuple(_draw_arrow(number, each, places) for number, each in enumerate(handoffs, 1))
    lanes = tuple(Lane(name, x) for name, x in places.items())
    return Drawing(lane * len(names), TOP + ROW * len(handoffs) + 8, lanes, arrows)


def _draw_arrow(number: int, handoff: Handoff, places: dict[str, int]) -> Arrow:
    start, end, y = places[handoff.source], places[handoff.target], TOP + ROW * number - ROW // 2
    way = 1 if end > start else -1
    back = end - way * HEAD
    head = f"{end},{y} {back},{y - 4} {back},{y + 4}"
    return Arrow(number, start, back, y, head, min(start, end) + abs(end - start) // 2)


Kind = Literal["statement", "heading", "item", "code", "table", "place", "rule", "given"]

_MARKS = re.compile(r"\s?((?:\[\d{1,3}\])+)")
_NUMBER = re.compile(r"\[(\d{1,3})\]")
_HEADING = re.compile(r"#{1,6}\s+(?=\S)")
_ITEM = re.compile(r"\s*(?:[-*•]|(?P<number>\d{1,3}[.)、]))\s+(?=\S)")
_TABLE_RULE = "| ---"
RULE = "---"
"""Above what is said of an answer as a whole, such as that no lawyer gave it."""


class Mark(NamedTuple):
    """A number in the text that leads to a source."""

    number: int


Part = Span | Mark


class Block(NamedTuple):
    """One block of an answer, with what stands beside it."""

    kind: Kind
    parts: tuple[Part, ...] = ()
    citations: tuple[Citation, ...] = ()
    """What its statements rest on, each where it is named first."""
    rows: tuple[tuple[tuple[Part, ...], ...], ...] = ()
    """Of a table: the first has the headings."""
    mark: str = ""
    """The number of a list's item."""


class Group(NamedTuple):
    """Blocks that stand beside the same sources."""

    blocks: tuple[Block, ...]
    citations: tuple[Citation, ...]
    is_quoted: bool
    """The blocks are the words of the source, so that they need not be shown again."""


def read_groups(resolution: Resolution, *, is_document: bool = False) -> tuple[Group, ...]:
    """
    The blocks of an answer in their order, each group with the sources that it rests on.

    An answer that cites nothing was given by a person, whose words are left as they are.

    :param is_document: it is one of ours, which cites nothing either.
    """
    if not resolution.citations and not is_document:
        return (Group((Block("given", (Span(resolution.text),)),), (), is_quoted=False),)
    groups: list[list[Block]] = []
    for block in _Reader(resolution.citations).read(unescape_markdown(resolution.text)):
        follows = any(each.citations for each in groups[-1]) if groups else True
        if block.kind == "place" or (follows and (block.citations or block.kind == "heading")) or not groups:
            groups.append([])
        groups[-1].append(block)
    return tuple(map(_make_group, groups))


def _make_group(blocks: Sequence[Block]) -> Group:
    cited = tuple(citation for each in blocks for citation in each.citations)
    return Group(tuple(blocks), cited, any(each.kind == "place" for each in blocks))


class _Reader:
    def __init__(self, citations: Sequence[Citation]) -> None:
        self._known = {each.number: each for each in citations}
        self._places = {unescape_markdown(name_place(each)): each for each in citations}
        self._named: set[int] = set()

    def read(self, text: str) -> Iterator[Block]:
        lines = text.split("\n")
        at = 0
        while at < len(lines):
            line = lines[at]
            taken = 1
            if line.startswith("    ") and line.strip():
                taken = _count(lines[at:], "    ")
                yield Block("code", (Span("\n".join(each[4:] for each in lines[at : at + taken])),))
            elif line.startswith("| ") and at + 1 < len(lines) and lines[at + 1].startswith(_TABLE_RULE):
                taken = _count(lines[at:], "|")
                yield self._read_table(lines[at : at + taken])
            elif line.strip():
                yield self._read_line(line)
            at += taken

    def _read_line(self, line: str) -> Block:
        place = self._places.get(line)
        if place is not None:
            self._named.add(place.number)
            name = line.partition("] ")[2]
            return Block("place", (Span(name),), (place,))
        if line == RULE:
            return Block("rule")
        item = _ITEM.match(line)
        bare = line[item.end() :] if item else line.strip()
        heading = _HEADING.match(bare)
        bare = bare[heading.end() :] if heading else bare
        parts, cited = self._read_parts(bare)
        ends = bare.endswith((":", "：")) and not cited
        kind: Kind = "item" if item else "heading" if heading or ends else "statement"
        return Block(kind, parts, cited, mark=(item["number"] or "") if item else "")

    def _read_table(self, lines: Sequence[str]) -> Block:
        rows, cited = [], list[Citation]()
        for line in lines:
            if line.startswith(_TABLE_RULE):
                continue
            cells = [self._read_parts(each.strip()) for each in line.strip().strip("|").split(" | ")]
            rows.append(tuple(parts for parts, _ in cells))
            cited += [each for _, its in cells for each in its]
        return Block("table", citations=tuple(cited), rows=tuple(rows))

    def _read_parts(self, text: str) -> tuple[tuple[Part, ...], tuple[Citation, ...]]:
        parts, cited, end = list[Part](), list[Citation](), 0
        for found in _MARKS.finditer(text):
            numbers = [int(each) for each in _NUMBER.findall(found[1])]
            if not all(number in self._known for number in numbers):
                continue
            parts += spans(text[end : found.start()])
            parts += map(Mark, numbers)
            cited += [self._known[number] for number in numbers if number not in self._named]
            self._named.update(numbers)
            end = found.end()
        parts += spans(text[end:])
        return tuple(parts), tuple(cited)


def _count(lines: Sequence[str], start: str) -> int:
    """How many of these lines begin so."""
    return next((number for number, line in enumerate(lines) if not line.startswith(start)), len(lines))


JUDGED = frozenset({"resolved", "suggested", "not_found"})
FORMATS = (".pdf", ".docx", ".md")
TITLE_CHARACTERS = 150


@page("GET", "/ui/tickets/{id}", access="submit")
async def show_ticket(request: web.Request) -> web.StreamResponse:
    return await show_run(request, await find_ticket(request))


async def show_run(
    request: web.Request, stored: StoredRun, *, share: Share | None = None, link: str = ""
) -> web.Response:
    """
    The page of a ticket, by one of its runs.

    :param share: what opened it to whom is not signed in: nothing can be done there, and nobody's deeds are told.
    :param link: one to it that was just made.
    """
    desk = request.app[DESK]
    record, outcome = await desk.describe(stored), await desk.node.journal.outcome(stored)
    handoffs, state = (outcome.handoffs, outcome.state) if outcome else await _find_standing(desk, stored)
    report, document = await _read_report(desk, stored)
    resolution = outcome.resolution if outcome and report is None else None
    groups = read_groups(resolution, is_document=document is not None) if resolution else ()
    flow = desk.node.flows.get(stored.workflow)
    return render(
        request, "ticket.html", record=record, outcome=outcome, stands_at=state, groups=groups,
        places=[each.citations[0] for each in groups if each.is_quoted],
        runs=draw_runs(stored.workflow, handoffs, outcome.children if outcome else ()),
        stages=list_stages(flow, handoffs) if flow and not outcome else (), cancels=stored.cancel, judged=JUDGED,
        time_line=await _read_time_line(desk, stored), report=report, document=document, title=TITLE_CHARACTERS,
        judgement=await desk.judgement(stored) if stored.status in JUDGED else "",
        formats=[each for each in (FORMATS if report is not None else DOCUMENT_FORMATS) if not missing(each)],
        rounds=_read_answers(desk, stored),
        writings=None if share else await request.app[INTAKE].find_writings(stored),
        shared_until=iso(share.expires) if share else None,
        may_act=not share and await may_act(request, stored), link=link,
        shares=await _list_shares(request, stored) if not share else None,
        share_days=desk.node.settings.server.share_days,
        say_headline=say_headline, explain_incomplete=explain_incomplete,
    )  # fmt: skip


async def _list_shares(request: web.Request, stored: StoredRun) -> tuple[ListedShare, ...] | None:
    """The links to a ticket; nothing for who may not make any."""
    return await describe_shares(request, stored) if await may_share(request, stored) else None


async def _read_report(desk: TicketService, stored: StoredRun) -> tuple[str | None, Document | None]:
    """The report of a research as HTML of our own, or the document of a question of law; often neither."""
    if stored.ended is None:
        return None, None
    if writes_report(stored.workflow):
        with contextlib.suppress(NoReport, JournalDamaged):
            found = await desk.node.report(stored.ref)
            return await as_fragment(found, desk.node.workers), None
    if makes_document(stored.workflow):
        with contextlib.suppress(JournalDamaged):
            return None, await desk.node.document(stored)
    return None, None


def _read_answers(desk: TicketService, stored: StoredRun) -> tuple[AnswerRound, ...]:
    """What a person answered to the questions of the ticket's earlier runs."""
    with contextlib.suppress(JournalDamaged):
        return desk.node.journal.case(stored).answers
    return ()


async def _read_time_line(desk: TicketService, stored: StoredRun) -> TimeLine | None:
    with contextlib.suppress(JournalDamaged):
        return draw_time_line((await read_trace(desk.node, stored)).spans)
    return None


async def _find_standing(desk: TicketService, stored: StoredRun) -> tuple[tuple[Handoff, ...], str]:
    """How far a run has come that has not ended; nothing where what is stored of it cannot be read."""
    with contextlib.suppress(JournalDamaged):
        standing = await desk.node.journal.fold(stored)
        return standing.handoffs, standing.state
    return (), ""
