"""HTML of helpdesks as text, and text as HTML: nothing is lost, and nothing becomes markup."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.intake.html_text import MOST_CHARACTERS, read_text, write_html

LINES = st.lists(st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1), min_size=1)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("", ""),
        ("<div>Hi &amp; <b>hello</b><br>\n again</div>", "Hi & hello\nagain"),
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("<ul><li>a</li><li>b</li></ul>", "a\nb"),
        ("<style>p { color: red }</style><script>alert(1)</script><p>Only this</p>", "Only this"),
        ("<p>New.</p><blockquote>Old.<br>Older.</blockquote>", "New.\n\n> Old.\n> Older."),
        ("<p>5 &lt; 6 <!-- hidden --> </p>", "5 < 6"),
        ("no markup < at all", "no markup < at all"),
        ("</div></blockquote>stray", "stray"),
    ],
)
def test_what_it_shows_is_read(source: str, text: str) -> None:
    assert read_text(source) == text


@pytest.mark.parametrize("tag", ["<a ", "<a b='", "<![<![", "<!--", "<p>", "<blockquote>", "<li>", "&amp", "<b><i>"])
def test_tags_that_never_end_are_read_in_no_time(tag: str) -> None:
    began = time.process_time()

    read_text(tag * (MOST_CHARACTERS // len(tag)))

    assert time.process_time() - began < 2.0


@given(LINES)
def test_a_text_that_is_written_is_read_again(lines: list[str]) -> None:
    text = "\n".join(lines)

    assert read_text(write_html(text)) == text


@given(st.text())
def test_nothing_that_is_written_is_markup(text: str) -> None:
    written = write_html(text).replace("<br>", "")

    assert "<" not in written
    assert ">" not in written
