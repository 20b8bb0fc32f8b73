"""From a case to a report: only what stands, each sentence once, each source with one number."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.sources import FailedSource, Statement
from actors.reporting.markdown import render_markdown
from actors.reporting.report import Report, body
from actors.reporting.sections import TITLE_CHARACTERS
from actors.research.compose import render_report
from actors.research.models import Analysis, Competitor, Contradiction, Plan, Profile, Section, Swot
from actors.text.catalogue import say
from actors.text.normalize import normalize, remove_controls
from tests.actors.research import cases as c
from tests.actors.research.cases import compose

NOT_FOUND = "Not found in the sources."


def texts(report: Report) -> list[str]:
    return [line.text for line in body(report)]


def only(*statements: Statement) -> tuple[Section, ...]:
    return (Section("How long does the Lumo lamp burn?", statements, answered=True),)


@pytest.mark.req("PR-7", "RE-5")
def test_every_number_leads_to_a_source_with_title_address_hash_and_time_of_reading() -> None:
    report = compose(c.case())

    listed = {each.number: each for each in report.sources if each.number}
    cited = [number for line in body(report) for number in line.numbers]
    assert set(cited) == set(listed) == {1, 2, 3, 4}
    assert list(dict.fromkeys(cited)) == [1, 2, 3, 4], "numbers are given in the order of reading"
    assert listed[1].url == c.LAMP
    assert listed[1].title == "Lumo, the lamp"
    assert listed[1].sha256 == "ab" * 32
    assert listed[1].read_at == "2026-03-01T10:20:30Z"
    assert (listed[1].characters, listed[1].full_length) == (len(c.TEXTS[c.LAMP]), 45_120)
    assert all(line.numbers for line in body(report))


def test_what_was_read_for_nothing_is_listed_without_a_number() -> None:
    assert [each.url for each in compose(c.case()).sources if not each.number] == [c.IDLE]


def test_a_source_says_how_many_sentences_rest_on_it() -> None:
    report = compose(c.case())

    lines = set(body(report))
    for each in report.sources:
        assert each.cited == sum(each.number in line.numbers for line in lines)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (c.said("The Lumo lamp burns for 90 hours.", c.LAMP), "the quote is invented"),
        (c.said("The Lumo lamp burns for 90 hours.", c.LAMP, c.HOURS.text), "the number is another one"),
        (c.said("The Lumo lamp does not burn for 40 hours.", c.LAMP, c.HOURS.text), "the negation is invented"),
        (msgspec.structs.replace(c.HOURS, page=c.SHOP), "its passage is of another page"),
        (msgspec.structs.replace(c.HOURS, passage="nowhere#1"), "its passage is not there"),
        (msgspec.structs.replace(c.HOURS, page="https://unread.example/"), "nobody read its page"),
    ],
)  # fmt: skip
def test_a_statement_that_does_not_stand_is_left_out_and_counted(wrong: Statement, why: str) -> None:
    report = compose(c.case(sections=only(wrong, c.PLUG), learnings=(), analysis=None))

    assert texts(report) == [c.PLUG.text], why
    assert "1 statement was left out, because no source bears it out." in report.notes


def test_a_statement_whose_page_is_not_in_the_case_never_appears_in_any_part() -> None:
    pages = tuple(each for each in c.case().pages if each.key != c.SHOP)

    report = compose(c.case(pages=pages))

    gone = {c.GLIM.text, c.STAND.text, c.GLIM_WEIGHS.text, c.FEWER.text}
    assert not gone & set(texts(report))
    assert report.contradictions == ()
    assert "Two lamps" not in render_markdown(report)


def test_a_sentence_is_said_once() -> None:
    said = [normalize(text)[0] for text in texts(msgspec.structs.replace(compose(c.case()), contradictions=()))]

    assert len(said) == len(set(said))


def test_a_sentence_that_stands_within_another_one_is_not_repeated() -> None:
    both = c.said(f"{c.HOURS.text} It was first sold in 2015.", c.LAMP)

    assert texts(compose(c.case(sections=only(both, c.SOLD), analysis=None, learnings=()))) == [both.text]


def test_a_sentence_that_two_sources_say_has_both_numbers() -> None:
    text = c.TEXTS[c.LAMP]
    other = msgspec.structs.replace(c.HOURS, page=c.IDLE, passage=f"{c.IDLE}#1")
    case = c.case(
        pages=(c.page(c.LAMP), c.page(c.IDLE, text)), passages=(c.passage(c.LAMP), c.passage(c.IDLE, text)),
        sections=only(c.HOURS, other), learnings=(), analysis=None,
    )  # fmt: skip

    report = compose(case)

    assert [(line.text, line.numbers) for line in body(report)] == [(c.HOURS.text, (1, 2))]


@pytest.mark.req("DR-1")
def test_the_rounds_of_one_question_are_one_section() -> None:
    sections = (*only(c.HOURS), Section("how long does the Lumo lamp burn?", (c.PLUG,), round=2))

    report = compose(c.case(sections=sections, analysis=None, learnings=()))

    assert [(block.title, len(block.lines)) for block in report.sections] == [("How long does the Lumo lamp burn?", 2)]


def test_a_question_without_a_sentence_is_not_answered_and_no_section() -> None:
    report = compose(c.case())

    assert report.unanswered == ("What does it cost? The sources do not speak of prices.",)
    assert all(block.title != "What does it cost?" for block in report.sections)


def test_questions_that_nobody_came_to_are_not_answered() -> None:
    plan = Plan(("Why?", "How?"), ("lamp",), ("web",))

    report = compose(c.case(plan=plan, sections=(), analysis=None, learnings=(), reason="cancelled"))

    assert report.unanswered == ("Why?", "How?")


def test_a_section_all_of_which_stands_elsewhere_says_so() -> None:
    sections = (*only(c.HOURS), Section("Which other lamps are there?", (c.GLIM,), answered=True))
    rivals = Analysis(profile=Profile("Lumo", ("competitors",), competitors=(Competitor("Glim", (c.GLIM,)),)))
    report = compose(c.case(text="Competitors of the Lumo lamp", sections=sections, analysis=rivals, learnings=()))

    assert [bool(block.lines) for block in report.sections] == [True, False]
    assert report.sections[1].note == "What comes closest to this stands elsewhere in this report."


REWORDED = msgspec.structs.replace(c.HOURS, text="On one charge the Lumo lamp burns for 40 hours.")


def test_the_only_question_needs_no_section_when_the_overview_says_it_all() -> None:
    report = compose(c.case(sections=only(REWORDED), analysis=Analysis(overview=(REWORDED,)), learnings=()))

    assert report.sections == ()
    assert texts(report) == [REWORDED.text]


def test_quotes_stay_where_their_question_is_answered() -> None:
    report = compose(c.case(sections=only(c.HOURS), analysis=Analysis(overview=(c.HOURS,)), learnings=()))

    assert report.overview == ()
    assert [line.text for block in report.sections for line in block.lines] == [c.HOURS.text]


def test_the_question_as_a_whole_needs_no_section_when_the_overview_says_it_all() -> None:
    task = Section("Which lamp lasts longer?", (REWORDED,), answered=True)
    case = c.case(
        text="Which lamp lasts longer?", sections=(task, *only(c.PLUG)), analysis=Analysis(overview=(REWORDED,)),
        learnings=(),
    )  # fmt: skip

    assert [block.title for block in compose(case).sections] == ["How long does the Lumo lamp burn?"]


def test_a_heading_that_is_the_title_of_its_section_is_not_named_again() -> None:
    passages = (c.passage(c.LAMP, heading="Lumo > Charging"),)
    case = c.case(sections=(Section("Charging", (c.PLUG,)),), passages=passages, analysis=None, learnings=())

    assert [line.under for line in body(compose(case))] == [""]


@pytest.mark.req("PR-7")
def test_competitors_features_and_swot_only_stand_where_there_is_something() -> None:
    report = compose(c.case())

    assert [block.title for block in report.competitors] == ["Glim"]
    assert report.features is None, "nobody asked for a product analysis"
    assert [(b.title, len(b.lines), b.note) for b in report.swot] == [
        ("Strengths", 0, NOT_FOUND), ("Weaknesses", 1, ""), ("Opportunities", 1, ""), ("Threats", 0, NOT_FOUND),
    ]  # fmt: skip


def test_places_that_nobody_has_sorted_stand_in_no_quadrant() -> None:
    swot = Swot(weaknesses=(said_below(c.PLUG, "Known limitations"),), unsorted=(c.HINGE,))
    profile = Profile("Lumo", ("strengths", "weaknesses"), swot=swot)

    report = compose(c.case(sections=only(c.HOURS), analysis=Analysis(profile=profile), learnings=()))

    assert [(block.title, [line.text for line in block.lines]) for block in report.swot] == [
        ("Weaknesses", [c.PLUG.text]), ("Not sorted", [c.HINGE.text]),
    ]  # fmt: skip
    assert report.swot[0].lines[0].under == "Known limitations"


def said_below(said: Statement, heading: str) -> Statement:
    return msgspec.structs.replace(said, heading=heading)


@pytest.mark.parametrize("judged", [True, False])
def test_a_product_question_is_told_what_was_not_found(judged: bool) -> None:
    profile = Profile("Lumo", ("competitors", "features", "strengths"))
    sections = only(REWORDED if judged else c.HOURS)

    report = compose(c.case(sections=sections, analysis=Analysis(profile=profile), learnings=()))

    note = NOT_FOUND if judged else say("not_headed", "en")
    assert [block.note for block in (*report.competitors, report.features, *report.swot) if block] == [note] * 3
    assert render_markdown(report).count(note) == 3


def test_a_competitor_of_whom_nothing_stands_is_not_named() -> None:
    invented = c.said("Blaze is cheaper than Lumo.", c.NOTE)
    profile = Profile("Lumo", ("competitors",), competitors=(Competitor("Blaze", (invented,)),))
    analysis = Analysis(profile=profile)

    assert "Blaze" not in render_markdown(compose(c.case(analysis=analysis)))


def test_a_contradiction_shows_both_sides_and_needs_two_sources() -> None:
    same = Contradiction("Lumo", c.HOURS, c.PLUG)
    analysis = Analysis(contradictions=(*c.ANALYSIS.contradictions, same))

    report = compose(c.case(analysis=analysis))

    assert [(one.text, other.text) for one, other in report.contradictions] == [(c.HOURS.text, c.FEWER.text)]


def test_a_reworded_sentence_carries_the_words_of_its_source() -> None:
    report = compose(c.case())

    assert report.overview[0].quote == c.HOURS.text
    assert not any(line.quote for block in report.sections for line in block.lines)


def test_a_quote_stands_under_its_heading_unless_it_says_it_itself() -> None:
    passages = (c.passage(c.LAMP, heading="Lumo > Charging"), c.passage(c.NOTE, heading="The hinge"))

    report = compose(c.case(sections=only(c.PLUG, c.HINGE), passages=passages, analysis=None, learnings=()))

    assert [line.under for line in body(report)] == ["Charging", ""]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("which lamp lasts longer?", "Which lamp lasts longer?"),
        ("\n  # Lamps.\nMore on that.", "# Lamps"),
        ("   ", "Research"),
        ("...", "Research"),
        ("lamp " * 60, "Lamp" + " lamp" * 18 + " lamp…"),
    ],
)
def test_the_title_is_the_first_line_of_the_question(text: str, title: str) -> None:
    assert compose(c.case(text=text)).title == title


@given(st.text(max_size=300))
def test_a_title_is_short_and_one_line_whatever_is_asked(text: str) -> None:
    title = compose(c.case(text=text)).title

    assert 0 < len(title) <= TITLE_CHARACTERS
    assert len(title.splitlines()) == 1
    assert title == remove_controls(title)


def test_a_case_of_nothing_makes_a_report_of_nothing() -> None:
    report = compose(c.case(pages=(), sections=(), learnings=(), passages=(), analysis=None, plan=None, missed=()))

    assert texts(report) == []
    assert report.sources == ()
    assert report.charts == ()
    assert "The searches found no page on this, so none was read." in render_markdown(report)


def test_citations_name_the_place_of_each_quote() -> None:
    report, citations = render_report(c.case())

    for each in citations:
        assert c.TEXTS[next(k for k in c.TEXTS if k in each.source)][each.start : each.end] == each.quote
    assert {each.number for each in citations} == {n for line in body(report) for n in line.numbers}


def test_an_overview_of_a_model_takes_the_place_of_the_one_of_the_analysis() -> None:
    own = c.said("It is charged through a plug at the foot.", c.LAMP, c.PLUG.text)

    assert [line.text for line in compose(c.case(), (own,)).overview] == [own.text]


def test_the_same_case_makes_the_same_report() -> None:
    assert compose(c.case()) == compose(c.case())


def test_a_report_survives_being_stored() -> None:
    report = compose(c.case(missed=(FailedSource("rss", "source_failed", "The feed did not answer."),)))

    assert msgspec.json.decode(msgspec.json.encode(report), type=Report) == report


def test_the_heading_of_the_line_before_is_not_named_again() -> None:
    passages = (c.passage(c.LAMP, heading="Lumo > Charging"),)
    case = c.case(sections=only(c.PLUG, c.HOURS), passages=passages, analysis=None, learnings=())

    assert [line.under for block in compose(case).sections for line in block.lines] == ["Charging", ""]
