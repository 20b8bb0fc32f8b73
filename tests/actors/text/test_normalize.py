"""What is made inert for Markdown is shown as it was written where nothing renders Markdown, and stays harmless."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.text.normalize import remove_controls, sanitize_markdown, unescape_markdown
from runtime.user_text import UNSAFE


@pytest.mark.parametrize(
    "written",
    [
        "press <Ctrl> and choose <Reset>", "# of pages", "=> go on", "a [^1] note", "put {key=value} there",
        r"match \[abc\] and \{3\}", "- <b>\n- [^x", "1. Write:\n\n    <VirtualHost *:80>", "x](y", r"C:\<name>",
        "=== is it", "+++ opens it",
    ],
)  # fmt: skip
def test_a_terminal_shows_the_characters_of_the_document(written: str) -> None:
    assert unescape_markdown(sanitize_markdown(written)) == written


def test_code_of_its_own_keeps_its_entities() -> None:
    code = "    echo '&lt;b>'\n    \\# no comment"
    assert unescape_markdown(sanitize_markdown(code)) == code


@given(st.text(st.sampled_from("<&lt;b>\\[]({=})#| -1.\n\x1b\x00\u202e\ud800"), max_size=60))
def test_what_is_shown_has_no_character_that_a_terminal_obeys_and_loses_none_that_it_does_not(text: str) -> None:
    shown = unescape_markdown(sanitize_markdown(text))
    assert not UNSAFE.search(shown.replace("\n", ""))
    assert shown.count("<") >= sanitize_markdown(remove_controls(text)).count("<")


@given(st.lists(st.sampled_from(["<b", "]", "[^", "[", "{a=", "}", "\\", "(", "word", ".", "'"]), max_size=12))
def test_escaping_and_back_is_the_same_line(parts: list[str]) -> None:
    line = " ".join(["so", *parts]).strip()
    assert unescape_markdown(sanitize_markdown(line)) == line
