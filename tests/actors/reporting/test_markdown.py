"""Markdown that any viewer renders: its structure is ours, whatever the sources say."""

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from actors.evidence.sources import FailedSource
from actors.reporting.document import Heading, Quotes, outline
from actors.reporting.failed_sources import SHOWN
from actors.reporting.markdown import escape, render_markdown
from actors.reporting.report import Chart, Report, ReportSection, ReportSentence, SourceEntry, Table
from actors.text.normalize import remove_controls
from actors.text.source_text import flat, pieces
from tests.actors.research import cases as c
from tests.actors.research.cases import compose

VIEWER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[click](javascript:alert(1))", "![x](http://e.example/x)",
    "<javascript:alert(1)>", "<https://e.example>", "# Heading", "Title\n=====", "Title\n---", "- [x] done", "1. one",
    "> quote", "```\ncode", "~~~\ncode\n~~~", "| a | b |\n|---|---|\n| 1 | 2 |", "[1]: https://e.example", "[^1]: note",
    "**bold** _em_ ~~gone~~ `code`", "&lt;b&gt; &#106;", "<!-- comment", "a\\", "\\*", "    code", "---", "***",
    "``` x `y", "+ plus",
    "https://e.example/ www.e.example a@e.example", "$x$ and $$y$$", "::: note", "<details open>", "]( [1][2]",
)  # fmt: skip
MARKS = st.text(alphabet=st.sampled_from("ab1 `~#>-*_|.\n\t[]()<>!&;\\=+:/$\"'@{}"), max_size=60)
TEXTS = st.one_of(st.sampled_from(HOSTILE), MARKS, st.text(max_size=40))


def report(said: str, **more: Any) -> Report:
    """A report each part of which says the same."""
    line, block = ReportSentence(said, (1,), said, said), ReportSection(said, (ReportSentence(said, (1,)),), said)
    known: dict[str, Any] = {
        "title": said,
        "question": said,
        "overview": (line,),
        "sections": (block,),
        "comparison": Table(("", said), ((ReportSentence(said), line),)),
        "competitors": (block,),
        "features": block,
        "swot": (block,),
        "contradictions": ((line, line),),
        "unanswered": (said,),
        "further": (said,),
        "missed": (FailedSource(said, "dead", said),),
        "sources": (
            SourceEntry(1, said, said, said, said, said, 1, 2, said, 1),
            SourceEntry(0, said, said, said, said, said, 1, 2),
        ),
        "charts": (Chart("pie", said, ((said, 1),)), Chart("timeline", said, ((said, 2020),))),
        "partial": said,
        "notes": (said,),
    }
    return Report(**(known | more))


def tokens(text: str) -> list[Token]:
    return [each for token in VIEWER.parse(text) for each in (token, *(token.children or ()))]


def headings(text: str) -> list[tuple[str, str]]:
    found = VIEWER.parse(text)
    return [(token.tag, found[n + 1].content) for n, token in enumerate(found) if token.type == "heading_open"]


def shown(text: str) -> str:
    """What a reader of the rendered text sees."""
    return "".join(
        each.content
        for token in VIEWER.parse(text)
        for each in token.children or ()
        if each.type in {"text", "code_inline"}
    )


def own(said: Report) -> list[str]:
    """The tags of the headings that we write."""
    tags = ["h1"]
    for part in outline(said):
        tags += [f"h{part.level}"] if isinstance(part, Heading) else ["h2"] if isinstance(part, Quotes) else []
    return tags


def hold(said: Report) -> None:
    text = render_markdown(said)
    found = tokens(text)
    assert not [each.content for each in found if each.type in {"html_block", "html_inline", "image"}]
    assert [tag for tag, _ in headings(text)] == own(said)
    for each in found:
        if each.type == "link_open":
            assert str(each.attrs["href"]).startswith(("https://", "http://"))
        assert each.type not in {"s_open", "hr"}
    assert [each.info for each in found if each.type == "fence" and each.info] == ["mermaid"] * len(said.charts)


@pytest.mark.parametrize("said", HOSTILE)
def test_nothing_that_a_source_says_becomes_structure(said: str) -> None:
    hold(report(said))


TAG = re.compile(r"<[A-Za-z/!?]")
LINK = re.compile(r"(?<!\\)\]\((?!#)")
EVIL = (*HOSTILE, "[[c]](javascript:alert(1))", "\\<script>alert(1)</script>", "\\\\<script>", "`a`<script>",
        "``<script>`", "`<script>```<script>``", "`` ` <script>", "```\n<script>a</script>\n\n<script>b</script>\n```",
        "```\n\n[x](javascript:alert(1))\n\n```", "https://e.example/[c](javascript:alert(1))",
        "x { onclick=alert(1) }", "[x](java&#115;cript:alert(1))",
        "<https://e.example/\"onmouseover=alert(1)>", "- a\n\n    <script>",
        "`<b>` `` ` <script> ```\n`<script>\n``<img>")  # fmt: skip


def bare(text: str) -> str:
    """What is left of Markdown without code within a line and without our own links: what any viewer may obey."""
    kept = re.sub(r"(?<![\\`])(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", text)
    return re.sub(r"<https?://[^\s<>\[\]]*>", "", kept)


@pytest.mark.parametrize("said", EVIL)
def test_a_viewer_that_knows_neither_fences_nor_a_backslash_before_a_tag_obeys_nothing(said: str) -> None:
    for text in (said, f"{said} {said}", f"{said}\n\n{said}"):
        left = bare(render_markdown(report(text)))
        assert not TAG.findall(left), left
        assert not LINK.findall(left), left
        assert not re.findall(r"(?<!\\)\{[^}\n]*=", left), left


@given(TEXTS)
def test_nor_does_it_whatever_stands_in_the_report(said: str) -> None:
    assert not TAG.findall(bare(render_markdown(report(said))))


def test_what_is_less_than_something_is_shown_so() -> None:
    assert escape("a <b> && c &lt; 3 < 4 <= 5") == "a &lt;b> && c &amp;lt; 3 < 4 <= 5"


def test_code_with_tags_keeps_its_lines() -> None:
    said = "Write:\n```\n<a>\n\n  x = [1](2)\n```"
    text = render_markdown(report("plain", sections=(ReportSection("S", (ReportSentence(said, (1,)),)),)))

    assert "- Write: [1]\n\n  `<a>`  \n  `x = [1](2)`" in text


@given(TEXTS)
def test_the_headings_are_exactly_ours_whatever_stands_in_the_report(said: str) -> None:
    hold(report(said))


@settings(max_examples=50)
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_lines_side_by_side_do_not_become_structure_together(said: list[str]) -> None:
    block = ReportSection("Findings", tuple(ReportSentence(each, (1,)) for each in said))

    hold(report("plain", sections=(block,), overview=block.lines))


@given(TEXTS)
def test_the_reader_sees_the_words_of_the_source(said: str) -> None:
    plain = " ".join(remove_controls(said).split())

    assert "".join(shown(escape(plain)).split()) == "".join(plain.split())


@settings(max_examples=50)
@given(TEXTS)
def test_no_link_of_a_source_is_a_link(said: str) -> None:
    known = SourceEntry(1, "T", "https://good.example/", "web", "ab", "2026", 1, 1)

    links = {
        each.attrs["href"]
        for each in tokens(render_markdown(report(said, sources=(known,))))
        if each.type == "link_open"
    }

    assert links == {"https://good.example/"}


def test_addresses_in_prose_are_not_linked_by_viewers_that_link_what_looks_like_one() -> None:
    text = escape("See https://e.example/, www.e.example and a@e.example.")

    assert text == "See https\\://e.example/, www\\.e.example and a\\@e.example."


def test_code_stands_in_a_fence_longer_than_any_inside() -> None:
    text = render_markdown(
        report("plain", sections=(ReportSection("S", (ReportSentence("````\n```\nx\n```\n````", (1,)),)),))
    )

    fence = next(each for each in tokens(text) if each.type == "fence" and not each.info)
    assert fence.markup == "````"
    assert fence.content == "```\nx\n```\n"


@given(st.text(alphabet=st.sampled_from("a`~ \n-"), max_size=60))
def test_code_is_shown_as_it_is_and_stays_inside(code: str) -> None:
    quote = f"~~~~~~~~~~\n{code}\n~~~~~~~~~~\nAfter."
    block = ReportSection("S", (ReportSentence(quote, (1,)), ReportSentence("The next.", (2,))))
    said = [piece.text for piece in pieces(quote) if piece.kind == "code"]

    text = render_markdown(Report(title="T", question="T", sections=(block,)))

    fences = [each.content for each in tokens(text) if each.type == "fence"]
    assert fences == [f"{each}\n" for each in said]
    assert shown(text).endswith("The next. [2]")


def test_lists_of_a_quote_stand_below_it() -> None:
    text = render_markdown(compose(c.case(sections=(c.SECTIONS[2],), analysis=None, learnings=())))

    assert (
        "- To reset the lamp: [1]\n\n  - hold the button for 10 seconds\n  - wait until it blinks\n\n  Then run this:"
        in text
    )
    assert "  ```\n  lumo reset --all\n  lumo status\n  ```" in text


def test_numbered_steps_keep_their_numbers() -> None:
    text = render_markdown(
        report("plain", sections=(ReportSection("S", (ReportSentence("Do this.\n2. b\n3. c", (1,)),)),))
    )

    assert "- Do this. [1]\n\n  2. b\n  3. c" in text
    assert [each.attrs["start"] for each in tokens(text) if each.type == "ordered_list_open" and each.attrs] == [2]


def test_a_long_quote_is_kept_whole() -> None:
    quote = "word " * 2000 + "end"

    assert quote in render_markdown(report("plain", sections=(ReportSection("S", (ReportSentence(quote, (1,)),)),)))


def test_a_bar_in_a_table_makes_no_cell() -> None:
    text = render_markdown(
        report(
            "plain", comparison=Table(("", "A | B"), ((ReportSentence("x | y"), ReportSentence("`a|b` \\| c", (1,))),))
        )
    )

    assert sum(each.type in {"th_open", "td_open"} for each in tokens(text)) == 4
    assert "a|b \\| c [1]" in [each.content for each in tokens(text) if each.type == "text"]


def test_an_absent_cell_is_a_dash() -> None:
    table = Table(
        ("", "A", "B"), ((ReportSentence("Weight"), ReportSentence("310 grams.", (1,)), ReportSentence("—")),)
    )

    assert "| Weight | 310 grams. [1] | — |" in render_markdown(report("plain", comparison=table))


@pytest.mark.req("PR-7")
def test_a_report_has_all_its_parts_in_order() -> None:
    found = [text for tag, text in headings(render_markdown(compose(c.case()))) if tag == "h2"]

    assert found == [
        "What was found", "How long does the Lumo lamp burn?", "Which other lamps are there?", "Beside the question",
        "Comparison", "Competitors", "SWOT", "Sources disagree", "Not answered", "Further exploration needed",
        "Figures", "Not obtained", "Sources", "Words behind the sentences", "How this report was made",
        "Appendix: SHA-256 of what was read",
    ]  # fmt: skip


@pytest.mark.req("RE-5")
def test_a_source_is_listed_with_all_that_is_needed_to_check_it() -> None:
    text = render_markdown(compose(c.case()))

    assert (
        f"1. **Lumo, the lamp** — lamps.example, <https://lamps.example/lumo>  \n"
        f"   Read 2026-03-01 10:20 UTC; first {len(c.TEXTS[c.LAMP])} of 45,120 characters; cited 5 times.\n"
    ) in text
    assert "3. **Lumo manual** — own documents, `manuals/lumo.md`" in text
    assert f"## Appendix: SHA-256 of what was read\n\n- 1: {'ab' * 32}\n" in text


def test_an_own_document_is_a_link_that_opens_it_and_no_other_place_on_this_machine_is() -> None:
    pages = tuple(
        msgspec.structs.replace(each, file="/srv/our manuals/lumo.md" if each.key == c.MANUAL else "")
        for each in c.case().pages
    )

    text = render_markdown(compose(c.case(pages=pages)))

    assert "own documents, [`manuals/lumo.md`](<file:///srv/our%20manuals/lumo.md>)" in text
    assert text.count("file:") == 1


@pytest.mark.req("RE-4")
def test_what_was_not_obtained_is_grouped_by_reason_and_bounded() -> None:
    missed = tuple(FailedSource(f"https://a.example/{n}", "dead", "It is gone.") for n in range(25))

    text = render_markdown(
        report("plain", missed=(*missed, *missed, FailedSource("rss", "source_failed", "The feed rss is down.")))
    )

    assert text.count("It is gone.") == SHOWN
    assert f"- and {25 - SHOWN} more" in text
    assert "### A source did not answer\n\n- rss: A source did not answer" in text
    assert "The feed rss is down." not in text, "that is for the log"


def test_a_contradiction_stands_as_a_pair() -> None:
    text = render_markdown(compose(c.case()))

    assert f"- {c.HOURS.text} [1]\n\n  _Against that:_ {c.FEWER.text} [2]" in text


def test_a_reworded_sentence_has_its_quote_in_the_report() -> None:
    assert f"{c.REWORDED.text} [1]\n\n> “{c.HOURS.text}”" in render_markdown(compose(c.case()))


def test_the_question_stands_below_a_title_that_cuts_it() -> None:
    long = "which lamp " * 30

    assert f"_Question: {long.strip()}_" in render_markdown(compose(c.case(text=long)))
    assert "Question:" not in render_markdown(compose(c.case(text="Which lamp?")))


def test_raw_text_stays_readable() -> None:
    plain = 'Set max_connections to 100 (the default is 10-20%), i.e. 3 * 4 > 5: it\'s "fine", C:\\pg & more; $5!'

    assert escape(plain) == plain


def test_no_control_character_reaches_the_file() -> None:
    text = render_markdown(report("a\x1b]0;evil\x07\u202eb\x00"))

    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)


@settings(max_examples=50)
@given(TEXTS)
def test_a_heading_shows_the_words_of_its_title(said: str) -> None:
    text = render_markdown(
        msgspec.structs.replace(report("plain"), sections=(ReportSection(f"x {said}", (ReportSentence("l", (1,)),)),))
    )

    assert "".join(flat(f"x {said}").split()) in ["".join(shown(f"# {each}").split()) for _, each in headings(text)]
