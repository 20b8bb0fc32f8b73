"""What stands where in a report, whatever format it gets."""

from collections.abc import Iterable

import msgspec
import pytest

from actors.evidence.sources import FailedSource
from actors.reporting import document as o
from actors.reporting.failed_sources import SHOWN
from actors.reporting.report import IN_PART, Report, ReportSection, ReportSentence, SourceEntry, Table

ANSWERED = ReportSection("Q", (ReportSentence("It burns for 9 hours.", (1,), "Nine hours is how long it burns: 9."),))
QUOTED = ReportSection("Q", (ReportSentence("It burns for 9 hours.", (1,)),))
IN_PART_ONLY = msgspec.structs.replace(ANSWERED, note=IN_PART)


def listed(number: int) -> SourceEntry:
    return SourceEntry(number, "T", "https://a.example/", "web", "ab", "2026-01-02T03:04:05Z", 10, 10, cited=number)


def report(*sections: ReportSection, unanswered: int = 0, sources: Iterable[int] = (1,), missed: int = 0) -> Report:
    return Report(
        title="Q",
        question="Q",
        sections=sections,
        unanswered=("?",) * unanswered,
        sources=tuple(map(listed, sources)),
        missed=tuple(
            FailedSource(f"https://b.example/{n}", "dead" if n % 2 else "thin", "Why.") for n in range(missed)
        ),
    )


def shown(of: Report, heading: str) -> list[o.Part]:
    """The parts below a heading of the second level."""
    parts = list(o.outline(of))
    start = parts.index(o.Heading(heading, 2)) + 1
    ends = [n for n, part in enumerate(parts) if n >= start and isinstance(part, o.Heading) and part.level == 2]
    return parts[start : (ends or [len(parts)])[0]]


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (report(ANSWERED), "The question is answered: 1 cited sentence, from the one page that was read."),
        (report(IN_PART_ONLY), "The question is answered in part: 1 cited sentence, from the one page that was read."),
        (
            report(ANSWERED, ANSWERED, sources=(1, 2)),
            "Both questions are answered: 2 cited sentences, from both pages that were read.",
        ),
        (
            report(ANSWERED, IN_PART_ONLY, ANSWERED, sources=(1, 0, 0)),
            "All 3 questions are answered, 1 of them in part: 3 cited sentences, from 1 of 3 pages that were read.",
        ),
        (
            report(IN_PART_ONLY, unanswered=2, sources=(1, 0)),
            "1 of 3 questions is answered in part: 1 cited sentence, from 1 of 2 pages that were read.",
        ),
        (
            report(ANSWERED, ANSWERED, unanswered=1, sources=(1, 0)),
            "2 of 3 questions are answered: 2 cited sentences, from 1 of 2 pages that were read.",
        ),
        (
            report(QUOTED),
            (
                "Quotes on the question were found: 1 cited sentence, from the one page that was read. "
                "Nobody has judged how far they answer it."
            ),
        ),
        (
            report(QUOTED, QUOTED, sources=(1, 0)),
            (
                "Quotes on both questions were found: 2 cited sentences, from 1 of 2 pages that were read. "
                "Nobody has judged how far they answer them."
            ),
        ),
        (
            report(QUOTED, unanswered=2, sources=(1, 0)),
            (
                "Quotes on 1 of 3 questions were found: 1 cited sentence, from 1 of 2 pages that were read. "
                "Nobody has judged how far they answer them."
            ),
        ),
    ],
)
def test_the_summary_counts_what_was_found_and_says_what_is_answered_in_part(of: Report, said: str) -> None:
    assert o.in_short(of) == said


def test_a_question_that_is_the_title_is_not_read_twice() -> None:
    other = msgspec.structs.replace(ANSWERED, title="What does it cost?")

    found = [part.text for part in o.outline(report(ANSWERED, other)) if isinstance(part, o.Heading)]

    assert found == ["Summary", "Answer", "What does it cost?", "Sources"]


@pytest.mark.req("RE-4")
def test_a_few_things_that_were_not_obtained_are_one_list_and_many_are_grouped_by_reason() -> None:
    few, many = shown(report(missed=o.FEW), "Not obtained"), shown(report(missed=3 * SHOWN), "Not obtained")

    assert [len(each.items) for each in few if isinstance(each, o.Points)] == [o.FEW]
    assert len(few) == 1
    assert [each.text for each in many if isinstance(each, o.Heading)] == ["Too little text", "Not there any more"]
    assert [(len(each.items), each.more) for each in many if isinstance(each, o.Points)] == [(SHOWN, 5), (SHOWN, 5)]


def test_a_research_that_read_nothing_says_so_and_where_the_reasons_stand() -> None:
    assert shown(report(sources=()), "Findings") == [
        o.Remark("The searches found no page on this, so none was read.")
    ]  # fmt: skip
    assert shown(report(sources=(), missed=1), "Findings") == [
        o.Remark("No page was read, for the reasons below, so nothing is answered.")
    ]
    assert shown(report(sources=(0,)), "Findings") == [o.Remark("Nothing in what was read answers the question.")]


def test_a_research_that_was_cut_short_does_not_say_that_what_it_read_holds_no_answer() -> None:
    cut = msgspec.structs.replace(report(sources=(0,)), partial="It was cancelled.")

    assert shown(msgspec.structs.replace(cut, sources=()), "Findings") == [
        o.Remark("No page was read before it ended.")
    ]  # fmt: skip
    assert shown(cut, "Findings") == [
        o.Remark("Nothing in what was read has been found to answer the question so far.")
    ]  # fmt: skip


@pytest.mark.parametrize(
    "row",
    [
        (),
        (ReportSentence("Weight"),),
        (
            ReportSentence("Weight"),
            ReportSentence("310 grams.", (1,)),
            ReportSentence("—"),
            ReportSentence("more", (1,)),
        ),
    ],
)
def test_a_table_that_a_person_has_edited_may_lack_cells_or_have_too_many(row: tuple[ReportSentence, ...]) -> None:
    table = Table(("", "A", "B"), (row,), asked=True)

    assert o.in_short(msgspec.structs.replace(report(ANSWERED), comparison=table))
