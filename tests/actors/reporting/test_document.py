"""What stands where in a report, whatever format it gets."""

from collections.abc import Iterable

import msgspec
import pytest

from actors.evidence.sources import FailedSource
from actors.reporting import document as o
from actors.reporting.failed_sources import SHOWN
from actors.reporting.report import Report, ReportSection, ReportSentence, SourceEntry, Table

ANSWERED = ReportSection("Q", (ReportSentence("It burns for 9 hours.", (1,), "Nine hours is how long it burns: 9."),))
QUOTED = ReportSection("Q", (ReportSentence("It burns for 9 hours.", (1,)),))
IN_PART_ONLY = msgspec.structs.replace(ANSWERED, note="This is answered only in part.")


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


WRITTEN = "Written by a model, each sentence checked against its quote · read 2026-01-02"
WORDS = "A reading list in the words of the sources · read 2026-01-02"
UNJUDGED = "nobody has judged how far they answer"
SAID_ABOVE = ReportSection("P", note="Nothing else was found on this than what stands under “Q”.")


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (report(ANSWERED), f"{WRITTEN} · 1 of 1 page cited · answered"),
        (report(IN_PART_ONLY), f"{WRITTEN} · 1 of 1 page cited · answered in part"),
        (report(ANSWERED, ANSWERED, sources=(1, 2)), f"{WRITTEN} · 2 of 2 pages cited · 2 of 2 questions answered"),
        (
            report(ANSWERED, IN_PART_ONLY, ANSWERED, sources=(1, 0, 0)),
            f"{WRITTEN} · 1 of 3 pages cited · 3 of 3 questions answered, 1 of them in part",
        ),
        (
            report(IN_PART_ONLY, unanswered=2, sources=(1, 0)),
            f"{WRITTEN} · 1 of 2 pages cited · 1 of 3 questions answered, 1 of them in part",
        ),
        (report(QUOTED), f"{WORDS} · 1 of 1 page cited · the closest passages · {UNJUDGED}"),
        (
            report(QUOTED, unanswered=2, sources=(1, 0)),
            f"{WORDS} · 1 of 2 pages cited · the closest passages for 1 of 3 questions · {UNJUDGED}",
        ),
        (
            report(QUOTED, SAID_ABOVE),
            f"{WORDS} · 1 of 1 page cited · the closest passages for 1 of 2 questions · {UNJUDGED}",
        ),
    ],
)
def test_one_line_says_who_speaks_how_old_it_is_and_how_many_questions_have_an_answer_of_their_own(
    of: Report, said: str
) -> None:
    assert o.in_short(of) == said


def headings(of: Report) -> list[tuple[str, int]]:
    return [(part.text, part.level) for part in o.outline(of) if isinstance(part, o.Heading)]


APPENDIX = ("Appendix: SHA-256 of what was read", 2)


def test_without_an_overview_the_best_passage_of_each_question_stands_at_the_top_and_the_others_below() -> None:
    best, more = ReportSentence("It burns for 9 hours.", (1,)), ReportSentence("A full charge takes an hour.", (1,))
    of = report(ReportSection("Q", (best, more)), ReportSection("What does it cost?", (more,)))

    top = shown(of, "What was found")
    rest = shown(of, "Further passages")

    assert headings(of) == [
        ("What was found", 2), ("Q", 3), ("What does it cost?", 3), ("Further passages", 2), ("Q", 3), ("Sources", 2),
        APPENDIX,
    ]  # fmt: skip
    assert [part.lines for part in top if isinstance(part, o.Passages)] == [(best,), (more,)]
    assert [part.lines for part in rest if isinstance(part, o.Passages)] == [(more,)]


def test_an_overview_is_a_paragraph_at_the_top_and_the_question_of_the_title_is_not_read_twice() -> None:
    other = msgspec.structs.replace(ANSWERED, title="What does it cost?")
    of = msgspec.structs.replace(report(ANSWERED, other), overview=ANSWERED.lines)

    assert shown(of, "What was found") == [o.Passages(ANSWERED.lines, running=True)]
    assert headings(of) == [("What was found", 2), ("Answer", 2), ("What does it cost?", 2), ("Sources", 2), APPENDIX]


def test_what_leads_on_from_the_question_stands_beside_it_and_answers_nothing() -> None:
    aside = ReportSection("Charging", (ReportSentence("It is charged at its foot.", (1,)),), aside=True)
    of = report(QUOTED, aside)

    assert headings(of) == [
        ("What was found", 2),
        ("Beside the question", 2),
        ("Charging", 3),
        ("Sources", 2),
        APPENDIX,
    ]
    assert "the closest passages · " in o.in_short(of)


def test_the_hashes_of_what_was_read_stand_at_the_end() -> None:
    assert list(o.outline(report(QUOTED)))[-2:] == [o.Heading(*APPENDIX), o.Points(("1: ab",))]


@pytest.mark.req("RE-4")
def test_a_few_things_that_were_not_obtained_are_one_list_and_many_are_grouped_by_reason() -> None:
    few, many = shown(report(missed=o.FEW), "Not obtained"), shown(report(missed=3 * SHOWN), "Not obtained")

    assert [len(each.items) for each in few if isinstance(each, o.Points)] == [o.FEW]
    assert len(few) == 1
    assert [each.text for each in many if isinstance(each, o.Heading)] == ["Too little text", "Not there any more"]
    assert [(len(each.items), each.more) for each in many if isinstance(each, o.Points)] == [(SHOWN, 5), (SHOWN, 5)]


def test_a_research_that_read_nothing_says_so_and_where_the_reasons_stand() -> None:
    assert shown(report(sources=()), "What was found") == [
        o.Remark("The searches found no page on this, so none was read.")
    ]  # fmt: skip
    assert shown(report(sources=(), missed=1), "What was found") == [
        o.Remark("No page was read, for the reasons below, so nothing is answered.")
    ]
    assert shown(report(sources=(0,)), "What was found") == [
        o.Remark("Nothing in what was read was found to answer the question.")
    ]


def test_a_research_that_was_cut_short_does_not_say_that_what_it_read_holds_no_answer() -> None:
    cut = msgspec.structs.replace(report(sources=(0,)), partial="It was cancelled.")

    assert shown(msgspec.structs.replace(cut, sources=()), "What was found") == [
        o.Remark("No page was read before it ended.")
    ]  # fmt: skip
    assert shown(cut, "What was found") == [
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
    table = Table(("", "A", "B"), (row,))

    assert o.in_short(msgspec.structs.replace(report(ANSWERED), comparison=table))
