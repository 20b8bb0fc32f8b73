"""Text of sources taken apart for showing."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.reporting.links import link, publisher
from actors.text.normalize import remove_controls
from actors.text.source_text import flat, pieces, spans


def kinds(text: str) -> list[tuple[str, str]]:
    return [(piece.kind, piece.text) for piece in pieces(text)]


def test_wrapped_lines_are_one_paragraph_and_an_empty_line_ends_it() -> None:
    assert kinds("One sentence\nin two lines.\n\nAnother.") == [
        ("prose", "One sentence in two lines."),
        ("prose", "Another."),
    ]


def test_list_items_are_told_apart_and_one_by_itself_is_a_sentence() -> None:
    assert kinds("Do:\n- this\n  at once\n2. that") == [("prose", "Do:"), ("item", "this at once"), ("item", "that")]
    assert [piece.mark for piece in pieces("- a\n2. b\n3) c")] == ["", "2.", "3)"]
    assert kinds("- only this") == [("prose", "only this")]
    assert kinds("4. only this") == [("prose", "4. only this")]
    assert flat("Do:\n1. a\n2. b") == "Do: 1. a 2. b"


def test_headings_quote_marks_rules_and_table_lines_lose_their_marks() -> None:
    text = "# Top\nText.\n\n> quoted\n---\n| a | b |\n|---|---|\n| 1 | 2 |"

    assert kinds(text) == [
        ("prose", "Top"),
        ("prose", "Text."),
        ("prose", "quoted"),
        ("item", "a | b"),
        ("item", "1 | 2"),
    ]


def test_code_keeps_its_lines_fenced_or_indented() -> None:
    assert kinds("Run:\n```sh\na  b\n\n  c\n```\nThen.") == [
        ("prose", "Run:"),
        ("code", "a  b\n\n  c"),
        ("prose", "Then."),
    ]
    assert kinds("Run:\n\n    def f():\n        pass\n\nThen.") == [
        ("prose", "Run:"), ("code", "def f():\n    pass"), ("prose", "Then."),
    ]  # fmt: skip


def test_a_shorter_fence_inside_code_does_not_end_it() -> None:
    assert kinds("````\n```\nx\n```\n````\nThen.") == [("code", "```\nx\n```"), ("prose", "Then.")]


def test_an_indented_line_within_a_paragraph_is_no_code() -> None:
    assert kinds("A sentence\n    that goes on.") == [("prose", "A sentence that goes on.")]


def test_links_and_images_are_their_words_and_emphasis_is_gone() -> None:
    said = spans(
        "See [the **manual**](javascript:alert(1)) and ![a picture](https://evil.example/x.png), *now*, 2 * 3 * 4."
    )

    assert [(span.text, span.code) for span in said] == [("See the manual and a picture, now, 2 * 3 * 4.", False)]


def test_stars_that_stand_for_anything_are_no_emphasis() -> None:
    for said in ("Give *.*.bak for it.", "--exclude 'home/*/.cache/*' /home", "All *.txt and *.md files.", "a/**/b/**"):
        assert flat(said) == said
    assert flat('**Note:** it *is* so, **"truly"**.') == 'Note: it is so, "truly".'


def test_code_within_a_sentence_is_kept_as_it_is() -> None:
    assert [tuple(span) for span in spans("Set `a[1]` and ``b ` c``.")] == [
        ("Set ", False), ("a[1]", True), (" and ", False), ("b ` c", True), (".", False),
    ]  # fmt: skip


def test_a_number_in_brackets_cannot_pass_for_a_citation() -> None:
    assert flat("It is so [3] and so [4, 5].") == "It is so [ 3 ] and so [ 4, 5 ]."


def test_characters_that_command_or_turn_the_text_are_gone() -> None:
    assert remove_controls("a\x1b[31mb\u202ec\u200bd\ufffe\ud800e\r\nf\tg") == "a[31mbcde\nf   g"


@given(st.text(alphabet=st.sampled_from("ab `~#>-*|.\n\t[]()1\x00\u202e"), max_size=120))
def test_no_letter_of_a_text_is_lost_whatever_marks_stand_around_it(text: str) -> None:
    said = "".join(piece.text for piece in pieces(text))

    assert not any(unicodedata.category(each) in {"Cc", "Cf"} and each != "\n" for each in said)
    if not set(text) & set("`~()["):  # a fence takes its language with it, a link its address
        assert [each for each in said if each in "ab"] == [each for each in text if each in "ab"]


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://a.example/x?y=1#z", "https://a.example/x?y=1#z"),
        ("http://A.example:8080/a b<c>", "http://a.example:8080/a%20b%3Cc%3E"),
        ("https://müller.example/ö", "https://xn--mller-kva.example/%C3%B6"),
        ("https://[::1]:80/", "https://[::1]:80/"),
        ("https://a.example/100%", "https://a.example/100%25"),
        ("https://a.example/%41", "https://a.example/%41"),
        ("javascript:alert(1)", ""),
        ("JaVaScRiPt://a.example/%0aalert(1)", ""),
        ("data:text/html,<b>", ""),
        ("file:///etc/passwd", ""),
        ("knowledge:manual/a.md", ""),
        ("https://bank.example@evil.example/", ""),
        ("https://a.example:99999999/", ""),
        ("https:///nowhere", ""),
        ("https://a..example/", ""),
        ('https://a".example/', ""),
        ("https://a.example/" + "x" * 3000, ""),
        ("//a.example/", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_only_a_plain_web_address_is_a_link(url: str, target: str) -> None:
    assert link(url) == target


@given(st.text(max_size=80))
def test_no_address_leaves_its_place_in_a_document(rest: str) -> None:
    target = link(f"https://a.example/{rest}")

    assert target == "" or target.startswith("https://a.example")
    assert target.isascii()
    assert not set(target) & set('<>"`\\ \n|{}^')


def test_the_publisher_is_the_host_or_oneself() -> None:
    assert publisher("https://www.a.example/x", "en") == "a.example"
    assert publisher("knowledge:manual/a.md", "en") == "own documents"


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/" + "x" * 3000,
        "https://a..example/",
        "https://a!.example/",
        "https://own documents/",
        "x",
        "",
    ],
)
def test_a_page_that_cannot_be_linked_does_not_pass_for_an_own_document(url: str) -> None:
    assert link(url) == ""
    assert publisher(url, "en") not in {"own documents", ""}
