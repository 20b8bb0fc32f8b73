"""Parts of a report, made of supported statements: for the reports of any family. Pure."""

from collections.abc import Iterable, Sequence

import msgspec

from actors.evidence.sources import Page, Statement
from actors.reporting.citations import CitationIndex
from actors.reporting.report import ReportSection, ReportSentence, SourceEntry
from actors.text.catalogue import say
from actors.text.normalize import normalize
from actors.text.truncate import shorten

TITLE_CHARACTERS = 100
HEADING_CHARACTERS = 200
OWN = "knowledge"
"""Own documents are in the index from end to end, whatever part of one the case holds."""


def make_title(text: str, language: str) -> str:
    """The first line of a task as the title of its report."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    title = shorten(first, TITLE_CHARACTERS).rstrip(" .,;:-") or say("research", language)
    return title[0].upper() + title[1:]


def make_section(title: str, found: Sequence[Statement], register: CitationIndex, note: str = "") -> ReportSection:
    """A section of supported statements, in their order."""
    return ReportSection(shorten(title, HEADING_CHARACTERS), name_headings_once(title, map(register.line, found)), note)


def name_headings_once(title: str, lines: Iterable[ReportSentence]) -> tuple[ReportSentence, ...]:
    """A heading of the source that is ours as well, or that of the line before, is not named again."""
    below: list[ReportSentence] = []
    above = normalize(title)[0]
    for line in lines:
        under = normalize(line.under)[0]
        below.append(msgspec.structs.replace(line, under="") if under == above else line)
        above = under
    return tuple(below)


def list_sources(
    pages: Sequence[Page], register: CitationIndex, lines: Sequence[ReportSentence]
) -> tuple[SourceEntry, ...]:
    """Those that are cited, by number, then those that were read for nothing, without one."""
    cited = [number for line in lines for number in line.numbers]
    order = {key: place for place, key in enumerate(register.numbers)}
    unique = {page.key: page for page in pages}.values()
    anchors = _find_anchors(register)
    return tuple(
        SourceEntry(
            register.numbers.get(page.key, 0), shorten(page.title or page.url, HEADING_CHARACTERS), page.url,
            page.source, page.sha256, page.read_at, page.full_length if page.source == OWN else len(page.text),
            page.full_length, page.published, cited.count(register.numbers.get(page.key, -1)), page.file,
            anchors.get(register.numbers.get(page.key, -1), "") if page.file else "",
        )
        for page in sorted(unique, key=lambda page: order.get(page.key, len(order)))
    )  # fmt: skip


def _find_anchors(register: CitationIndex) -> dict[int, str]:
    """The section of each source that all its citations stand in, by number."""
    named: dict[int, set[str]] = {}
    for each in register.citations:
        named.setdefault(each.number, set()).add(each.anchor)
    return {number: min(anchors) for number, anchors in named.items() if len(anchors) == 1}
