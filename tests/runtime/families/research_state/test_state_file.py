"""The state file: nothing is lost in it, and nothing that a page says can write into it."""

import re
from typing import Any

import frontmatter
import hypothesis
import msgspec
import pytest
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from actors.evidence.claims import Resolution
from actors.evidence.sources import Page, SearchResult, Statement
from actors.reporting.markdown import render_markdown
from actors.reporting.report import Report, ReportSection, ReportSentence
from actors.research import searcher
from actors.research.models import Analysis, Section
from actors.research.workflow import ResearchCase
from runtime.families.research_state.state_file import (
    SECTIONS,
    Project,
    Status,
    parse_beginning,
    parse_state,
    render_state,
)
from runtime.state_files.parser import Unreadable, cells, clean, fence, inline, outline, row, unfence
from tests.actors.reporting.test_markdown import EVIL, LINK, TAG, bare
from tests.actors.research import cases
from tests.actors.research.cases import compose
from tests.research import FACT, HARBOR, QUAY, QUESTION, a_case, a_page, a_statement, summarized
from tests.runtime.families.research_state.cases import HOSTILE, UNWRITABLE, projects, record, texts
from tests.runtime.families.research_state.kit import a_project

VIEWER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
VISIBLE = [each for each in HOSTILE if not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u200f\ufeff]", each)]
STRANGE = {"html_block", "blockquote_open", "hr", "code_block", "ordered_list_open"}
KEYS = ["projectId", "title", "status", "progress", "progressMessage", "createdAt", "updatedAt"]


def cleaned(value: Any) -> Any:
    """The value without what no file may hold."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, tuple):
        return tuple(map(cleaned, value))
    if isinstance(value, msgspec.Struct):
        return type(value)(**{name: cleaned(getattr(value, name)) for name in value.__struct_fields__})
    return value


@pytest.mark.req("PR-13", "PR-16")
@hypothesis.settings(max_examples=150, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(projects)
def test_any_project_is_parsed_as_it_was_written(project: Project) -> None:
    assert parse_state(render_state(project)) == cleaned(project)


@hypothesis.given(texts, texts)
def test_any_text_comes_back_from_one_line_and_from_a_cell(one: str, other: str) -> None:
    line = inline(one)

    assert "\n" not in line
    assert "\r" not in line
    assert outline(line) == clean(one)
    assert [outline(each) for each in cells(row([inline(one), inline(other)]))] == [clean(one), clean(other)]


@hypothesis.given(st.lists(st.sampled_from((*HOSTILE, *UNWRITABLE)), max_size=12).map("".join))
def test_no_text_of_a_page_can_write_into_the_rest_of_the_file(text: str) -> None:
    # given a page whose text, title and address are somebody else's Markdown
    hostile = a_page(text=text, title=text, key=text, summary=text, why=(text, text))
    project = a_project(ResearchCase(ticket_id="T-1", text=QUESTION, pages=(hostile, a_page())))

    found = parse_state(render_state(project))

    # then only that page holds it
    assert found == cleaned(project)
    assert (found.id, found.status, found.case.text) == ("T-1", "analyzing", QUESTION)
    assert frontmatter.loads(render_state(project))["projectId"] == "T-1"


@pytest.mark.req("PR-13", "PR-14", "PR-15")
def test_the_file_has_the_parts_that_people_and_programs_look_for() -> None:
    text = render_state(a_project())

    assert list(frontmatter.loads(text).metadata)[:7] == KEYS
    assert "| Source | Title | URL | Quality | Crawled |" in text
    outside = re.sub(r"^( *`{3,})text\n.*?\n\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert re.findall("^## (.+)$", outside, re.MULTILINE) == [*SECTIONS, "Remarks", "Report"]
    content = text.split("## Extracted content")[1].split("\n## Learnings")[0]
    assert re.findall("^### (.+)$", content, re.MULTILINE) == ["Limits", r"\# Overview"]
    rows = [line for line in text.splitlines() if line.startswith(("| tavily", "| web"))]
    assert [cells(line)[4] for line in rows] == ["yes", "yes"]


@pytest.mark.req("PR-12", "PR-18")
def test_beside_the_text_of_a_page_stand_its_original_and_its_entities() -> None:
    content = render_state(a_project()).split("## Extracted content")[1].split("\n### ")[1]
    head, _, text = content.partition("```text")

    assert (
        "- **Entities:**\n  - **Features:**\n    - replication\n  - **Competitors:**\n    - Quay\n"
        "  - **Tech stack:**\n    - Go\n"
    ) in head
    assert f"- **Original:** {'ab' * 32}\n  - **Content type:** text/html\n" in head
    assert "Entities" not in text


@pytest.mark.req("PR-16", "PR-19")
def test_the_summary_is_markdown_with_overview_features_competitors_and_swot() -> None:
    case = a_case()
    assert case.analysis is not None
    summary = case.analysis.summary

    text = render_state(a_project(case))

    # then a viewer shows it as headings and items, and nothing of it stands in a block of code
    stands = text.split("\n## Summary\n")[1].split("\n## ")[0]
    tokens = VIEWER.parse(stands)
    after = [(tokens[n].tag, shown(tokens[n + 1])) for n in range(len(tokens)) if tokens[n].type == "heading_open"]
    swot = [("h4", each) for each in ("Strengths", "Weaknesses", "Opportunities", "Threats")]
    assert after == [("h3", "Overview"), ("h3", "Features"), ("h3", "Competitors"), ("h3", "SWOT"), *swot]
    assert not [each for each in tokens if each.type in {"fence", "code_block"}]
    assert len(stands.split("### Overview\n\n")[1].split("\n\n###")[0]) < 500
    assert [shown(tokens[n + 1]) for n in range(len(tokens)) if tokens[n].type == "paragraph_open"][:2] == [FACT, FACT]
    # and it comes back as it was, as does what a person writes into it
    assert parse_state(text) == a_project(case)
    mended = parse_state(text.replace("### Competitors\n", "### Competitors\n\n- **Pier**: It is new.\n")).case
    assert mended.analysis == msgspec.structs.replace(
        case.analysis, summary=summary.replace("## Competitors\n", "## Competitors\n\n- **Pier**: It is new.\n")
    )
    assert parse_state(render_state(a_project(mended))).case == mended


@hypothesis.settings(max_examples=50, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(record(Analysis).map(summarized))
def test_any_summary_comes_back_and_none_writes_into_the_rest_of_the_file(analysis: Analysis) -> None:
    case = ResearchCase(ticket_id="T-1", text=QUESTION, analysis=analysis, directions=("licensing",))

    text = render_state(a_project(case))

    assert "\n## Summary\n" in text
    assert parse_state(text).case == cleaned(case)


@pytest.mark.req("PR-17", "PR-15")
def test_compressed_results_are_a_table_of_five_things_and_a_hostile_text_cannot_break_it() -> None:
    # given what a search that found over 50 results leaves of them
    found = [
        SearchResult(
            "web", f"Title {n}", f"https://a.example/{n}", "a | b\n| c | [x](javascript:1) <b> " + "word " * 60,
            tuple("abcdefg"), n / 100, "q", "2026-01-01",
        )
        for n in range(51)
    ]  # fmt: skip
    case = ResearchCase(ticket_id="T-1", text=QUESTION, results=searcher.results(found))

    # when
    section = render_state(a_project(case)).split("\n## Search results\n\n")[1]
    head, _, *rows = [cells(line) for line in section.splitlines() if line.startswith("|")]

    # then
    shown = [dict(zip(head, row, strict=True)) for row in rows]
    assert len(shown) == 51
    assert [float(each["Quality"]) for each in shown] == [n / 100 for n in range(50, -1, -1)]
    assert shown[0]["URL"] == "<https://a.example/50>"
    assert all(0 < len(outline(each["Summary"])) < 200 for each in shown)
    assert {each["Key points"] for each in shown} == {"a<br>b<br>c<br>d"}
    assert {each["Published"] for each in shown} == {""}


@pytest.mark.req("DR-2", "DR-3")
@pytest.mark.parametrize("status", ["completed", "cancelled", "failed", "analyzing"])
def test_dr_3_the_state_file_says_when_further_exploration_is_needed(status: Status) -> None:
    openly, complete = (
        render_state(a_project(a_case(is_complete=each, report=None, resolution=None), status=status))
        for each in (False, True)
    )

    assert frontmatter.loads(openly)["isComplete"] is False
    assert ("\nFurther exploration needed.\n" in openly) == (status != "analyzing")
    assert frontmatter.loads(complete)["isComplete"] is True
    assert "Further exploration needed" not in complete


@pytest.mark.req("PR-15")
def test_the_table_says_what_was_not_crawled() -> None:
    case = a_case(pages=(a_page(),))

    table = [cells(line) for line in render_state(a_project(case)).splitlines() if line.startswith("| ")]

    assert [row[4] for row in table if row[0] in {"tavily", "web"}] == ["yes", "no"]


@pytest.mark.req("PR-16")
def test_a_viewer_shows_the_words_themselves() -> None:
    # given what a viewer would take for markup
    case = a_case(
        learnings=(), directions=("<b>bold</b> & *more* of [this](x)", "# 1", "1. one", "https://a.example/b_c")
    )

    text = render_state(a_project(case))

    # then it is escaped the way that Markdown defines, and an address is a link
    assert (
        "- &lt;b>bold&lt;/b> \\& \\*more\\* of \\[this\\](x)\n- \\# 1\n- 1\\. one\n- <https://a.example/b_c>\n" in text
    )


def test_what_a_person_changes_is_parsed_and_noticed() -> None:
    text = render_state(a_project())

    mine = text.replace("\n- licensing\n", "\n- licensing\n- *prices* of both\n- R&D\n")
    mine = mine.replace("title: Harbor and Quay", "title: 12")
    found = parse_state(mine)

    assert not parse_state(text).edited
    assert found.edited
    assert found.case.directions == ("licensing", "*prices* of both", "R&D")
    assert found.title == "12"


def test_an_editor_that_turns_the_line_ends_or_adds_a_mark_loses_nothing() -> None:
    text = render_state(a_project())

    found = parse_state("\ufeff" + text.replace("\n", "\r\n"))

    assert found.edited
    assert msgspec.structs.replace(found, edited=False) == a_project()


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("---\n", "", "line 1: the file must begin with ---"),
        ("status: analyzing", "status: flying", "line 2: the frontmatter says something else than it should"),
        ("title: Harbor", "title: *Harbor", "the frontmatter refers to another part of itself"),
        ("title: Harbor and Quay", "title: [[[x]]]", "the frontmatter is nested too deeply"),
        ("title: Harbor", 'title: "Harbor', "the frontmatter is not valid YAML"),
        ("## Directions", "## Whatever", "there is no section 'Whatever'"),
        ("- licensing", "licensing", "this is neither an item of a list nor a block"),
        ("- licensing", "      - licensing", "this item is indented too far"),
        ("- **Full length:** 79", "- **Full length:** many", "Expected `int`, got `str`"),
        ("- **Full length:** 79\n", "", '"Full length" is missing here'),
        ("- **Answered:** yes", "- **Answer:** yes", '"Answer" is not known here'),
        ("| dead |", "| dead", "this row must have 3 cells"),
        ("| Place |", "| Where |", "the table has no column Place"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named_with_its_line(before: str, after: str, says: str) -> None:
    text = render_state(a_project())
    assert before in text

    with pytest.raises(Unreadable) as caught:
        parse_state(text.replace(before, after, 1))

    assert says in str(caught.value)
    number = int(re.match(r"line (\d+): ", str(caught.value))[1])  # type: ignore[index]
    assert 1 <= number <= text.count("\n") + 2


def test_the_line_that_is_named_is_the_one_that_is_wrong() -> None:
    text = render_state(a_project()).replace("- licensing", "- licensing\nand so on")

    with pytest.raises(Unreadable) as caught:
        parse_state(text)

    line = int(str(caught.value).split()[1].rstrip(":"))
    assert text.split("\n")[line - 1] == "and so on"


def test_a_block_without_an_end_is_named_where_it_begins() -> None:
    text = render_state(a_project(a_case(passages=())))
    cut = text[: text.index("Rules are checked hourly.")]

    with pytest.raises(Unreadable, match="the block that begins here has no end"):
        parse_state(cut)


def test_a_bomb_in_the_frontmatter_is_refused_before_it_goes_off() -> None:
    bomb = "---\na: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n---\n"

    with pytest.raises(Unreadable, match="line 3: the frontmatter refers to another part of itself"):
        parse_state(bomb)
    with pytest.raises(Unreadable, match="nested too deeply"):
        parse_state("---\na: " + "[" * 100_000 + "\n---\n")


def test_of_a_file_whose_sections_are_broken_the_order_is_still_known() -> None:
    text = render_state(a_project()).replace("## Plan", "## Plans")

    found = parse_beginning(text)

    assert found.edited
    assert (found.id, found.case.text) == ("T-1", QUESTION)
    assert (found.case.brief.breadth, found.case.brief.round, found.case.brief.direction) == (3, 1, "")
    assert found.case.pages == ()


@pytest.mark.parametrize("points", [("a<br>b", "c"), ("a\\", "<br>"), ("", ""), ("",), ("|", "\\|", "\\\\<br>|")])
def test_several_texts_in_a_cell_stay_several(points: tuple[str, ...]) -> None:
    result = SearchResult("web", "t", HARBOR, key_points=points)
    project = a_project(ResearchCase(ticket_id="T-1", text=QUESTION, results=(result,)))

    assert parse_state(render_state(project)).case.results == (result,)


@pytest.mark.req("PR-16")
def test_the_report_stands_at_the_end_as_people_read_it_and_once() -> None:
    # given a research that has ended, whose resolution is its report
    report = compose(cases.case())
    case = a_case(report=report, resolution=Resolution(render_markdown(report), (), "suggested"))

    text = render_state(a_project(case))

    # then its headings are below ours, and nothing of it stands there twice
    assert "The [report](#report) stands at the end.\n" in text
    last = text.split("\n## Report\n")[1]
    assert last.replace("\n##", "\n#").strip() == render_markdown(report).partition("\n")[2].strip()
    assert text.count("Not answered\n") == 1
    assert parse_state(text) == a_project(case)


@pytest.mark.parametrize("evil", ["```text\n## Plan\n- x", "## Plan", "---\nstatus: failed\n---", "````text"])
def test_nothing_that_a_report_quotes_is_parsed(evil: str) -> None:
    lines = (
        ReportSentence(f"~~~~~\n{evil}\n~~~~~", (1,)),
        ReportSentence(evil, (1,)),
        ReportSentence(f"- {evil}\n- {evil}", (1,)),
    )
    case = a_case(report=Report(title=evil, question=evil, sections=(ReportSection(evil, lines, evil),)))

    assert parse_state(render_state(a_project(case))) == a_project(case)


def test_words_quoted_as_they_are_stand_there_once() -> None:
    said = Statement("Ships wait.", "Ships wait.", "p#0", "p")
    case = ResearchCase(
        ticket_id="T-1", text=QUESTION, learnings=(said, msgspec.structs.replace(said, text="They do."))
    )

    text = render_state(a_project(case))

    assert text.count("**Quote:**") == 1
    assert parse_state(text).case.learnings == case.learnings


def test_a_case_with_nothing_in_it_is_a_short_file() -> None:
    project = a_project(ResearchCase(ticket_id="T-1", text=QUESTION), status="planning")

    text = render_state(project)

    assert parse_state(text) == project
    assert "##" not in text


def test_a_person_may_write_a_result_by_hand() -> None:
    header = "| URL | Title | Source | Quality | Summary | Key points | Query | Published |"
    mine = f"\n## Search results\n\n{header}\n{'|---' * 8}|\n| {HARBOR} | My page | urls | 1 | | | | |\n"

    found = parse_state(render_state(a_project(ResearchCase(ticket_id="T-1", text=QUESTION))) + mine)

    assert found.case.results == (SearchResult("urls", "My page", HARBOR, quality=1.0),)


@pytest.mark.parametrize("evil", EVIL)
def test_a_viewer_that_knows_neither_fences_nor_frontmatter_obeys_nothing(evil: str) -> None:
    case = a_case(
        text=evil, results=(SearchResult("web", evil, HARBOR, summary=evil),), directions=(evil,),
        pages=(a_page(text=evil, title=evil),), report=Report(title=evil, question=evil),
        analysis=summarized(Analysis(overview=(a_statement(evil),))),
    )  # fmt: skip
    project = a_project(case, title=evil, message=evil)

    text = render_state(project)

    assert parse_state(text) == project
    assert not TAG.findall(bare(text))
    assert not LINK.findall(bare(text))


@hypothesis.given(st.text(alphabet="&<>[](){}:=#;ampltx9123 \n\\"))
def test_a_block_says_what_it_was_made_of(text: str) -> None:
    _, *lines, _ = fence(text)

    assert unfence("\n".join(lines)) == text


def test_the_text_of_a_page_stands_there_as_it_was_read() -> None:
    text = render_state(a_project())

    assert f"\n{a_page().text}\n" in text
    assert FACT in parse_state(text).case.pages[0].text
    assert isinstance(parse_state(text).case.pages[1], Page)
    assert parse_state(text).case.pages[1].url == QUAY


def shown(token: Token) -> str:
    """What a viewer shows of a line, white space folded; markup in it would be left out."""
    said = ("\n" if each.type == "softbreak" else each.content for each in token.children or ())
    return " ".join("".join(said).split())


@pytest.mark.req("PR-16")
@hypothesis.given(st.lists(st.sampled_from(VISIBLE), min_size=1, max_size=6).map("".join).filter(str.strip))
def test_a_viewer_shows_every_text_itself_and_our_sections_alone(text: str) -> None:
    result = SearchResult("web", text, HARBOR, summary=text)
    section = Section(text, note=text)
    case = ResearchCase(
        ticket_id="T-1", text=text, results=(result,), pages=(a_page(text=text, title=text),), sections=(section,),
        directions=(text,),
    )  # fmt: skip

    tokens = VIEWER.parse(frontmatter.loads(render_state(a_project(case, title=text))).content)

    # then there are our headings and no others, one table, one list of ours
    after = [(tokens[n].tag, shown(tokens[n + 1])) for n in range(len(tokens)) if tokens[n].type == "heading_open"]
    words = " ".join(text.split())
    sections = [("h2", each) for each in ("Search results", "Extracted content", "Answers", "Directions")]
    assert after == [("h1", words), *sections[:2], ("h3", words), *sections[2:]]
    assert {each.type for each in tokens}.isdisjoint(STRANGE)
    cells_of = [shown(tokens[n + 1]) for n in range(len(tokens)) if tokens[n].type == "td_open"]
    assert cells_of == ["web", words, HARBOR, "0.0", "yes", words, "", "", ""]
    # and the text of the page and of each item is what it is
    blocks = [each for each in tokens if each.type == "fence"]
    assert [unfence(each.content).rstrip("\n") for each in blocks if not each.level] == [text.rstrip("\n")]
    inside = [" ".join(unfence(each.content).split()) for each in blocks if each.level]
    items = [shown(tokens[n + 1]) for n in range(len(tokens)) if tokens[n].type == "paragraph_open" and tokens[n].level]
    assert [*inside, *items].count(words) + items.count(f"Note: {words}") == 3, "a question, its note, a direction"
