"""No text from outside holds the process: every regular expression, and what texts go through, against hostile ones."""

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.text.safe_patterns import find_problem
from actors.text.unicode_forms import ALWAYS, MOST_GROWTH, fold_forms
from actors.text.word_patterns import MOST_BLANKS, compile_words
from bench.hostile.doors import DOORS, FILES, MIDDLES, try_door
from bench.hostile.growth import DidNotEnd, Growth, Killable
from bench.hostile.patterns import FINDITER, Pattern, find_patterns, try_pattern
from bench.hostile.strings import list_recipes

IMPORTED_WITHIN = 300.0
TRIED_WITHIN = 60.0
"""Seconds on a crowded machine; what does not end takes for ever."""
SIZES, SIZES_OF_FILES = (2_000, 8_000), (500, 2_000)
"""Characters. DOCX and PDF are laid out letter by letter, by libraries: `bench.hostile` has more of them."""
SLOW = {*FILES, "fields of documents"}
"""Doors that take a minute."""


@pytest.fixture
def process() -> Iterator[Killable]:
    one = Killable()
    yield one
    one.close()


def tried(process: Killable, pattern: Pattern, seconds: float = TRIED_WITHIN) -> Growth:
    try:
        _, worst = process.call(try_pattern, pattern, seconds=seconds)
    except DidNotEnd:
        return Growth(math.inf, math.inf, 0, "it did not end")
    assert isinstance(worst, Growth)
    return worst


@pytest.mark.whole  # it takes minutes
def test_no_pattern_grows_faster_than_its_text(process: Killable) -> None:
    patterns = process.call(find_patterns, seconds=IMPORTED_WITHIN)
    process.close()  # there `re` is watched, which takes time

    suspects = [each for each in patterns if tried(process, each).is_bad]
    # What grows does so each time; beside other programs a core's memory may be slower for once.
    bad = [f"{each.place}: {worst}" for each in suspects if (worst := tried(process, each)).is_bad]

    assert bad == []
    assert len(patterns) > 800, "each rule that goes takes its own along"


@pytest.mark.parametrize(
    "door", [pytest.param(each.name, marks=pytest.mark.whole if each.name in SLOW else ()) for each in DOORS]
)
def test_what_a_text_goes_through_takes_it_whatever_it_is(process: Killable, door: str) -> None:
    most = next(each.most for each in DOORS if each.name == door)
    sizes = SIZES_OF_FILES if door in FILES else SIZES

    found = {middle: process.call(try_door, door, middle, sizes, seconds=TRIED_WITHIN) for middle in MIDDLES}
    fast = [middle for middle, each in found.items() if each.is_fast]
    again = {
        each: process.call(try_door, door, each, [2 * size for size in sizes], seconds=TRIED_WITHIN) for each in fast
    }

    assert {middle: each for middle, each in found.items() if each.milliseconds > most} == {}
    assert {middle: each for middle, each in again.items() if each.is_fast} == {}, "chance does not come twice"


@pytest.mark.parametrize(
    "hostile",
    [
        r"\s*(?:[.:;]|[-–—])?\s*\b(?:focus\s+on|cover)\s*:?\s+(?P<aspects>[^?]{3,200}?)[.?]?$",
        r"\n-{2,}[^\n]{3,60}-{2,}\s*\n",
        r"\s+x",
        r"(?:a|aa)+$",
        r"<[^>]*>",
        r"\b(?:[a-z]+\.)+x",
        r"a(?=[^b]*c)",
    ],
)
def test_a_pattern_that_grows_faster_is_found(process: Killable, hostile: str) -> None:
    assert tried(process, Pattern("here", hostile, 0, FINDITER), seconds=10).is_bad  # one of them does not end


@pytest.mark.parametrize(
    "hostile",
    [r"Content-Disposition: [^\n]*;x", r"begin \[[^\n]*\]x", r"https://[^\s]*\.pdf"],
)
def test_a_square_that_is_small_at_first_is_found_at_larger_sizes(process: Killable, hostile: str) -> None:
    """At 2,000 characters, each takes less than a millisecond."""
    assert tried(process, Pattern("here", hostile, 0, FINDITER)).is_fast


@pytest.mark.parametrize(
    "harmless", [r"(?<!\s)\s++x", r"\s{0,20}x", r"<[^<>]*>", r"\b[a-z]++\b", r"[a-z]+", r"a.{0,60}b"]
)
def test_a_pattern_that_grows_with_its_text_is_let_in(process: Killable, harmless: str) -> None:
    assert not tried(process, Pattern("here", harmless, 0, FINDITER)).is_bad


def test_texts_are_made_of_what_a_pattern_repeats() -> None:
    made = {each.middle for each in list_recipes(r"From: (?:[a-z]\s)+>", 0)}

    assert {"a ", "From: "} <= made


def test_blanks_between_words_are_bounded() -> None:
    pattern = compile_words(r"a\s+b\s*c")

    assert pattern.search(f"a{' ' * MOST_BLANKS}bc")
    assert not pattern.search(f"a{' ' * (MOST_BLANKS + 1)}bc")


def test_forms_of_unicode_are_folded_unless_the_text_grows_by_it() -> None:
    assert fold_forms("ﬁve ①②") == "five 12"
    assert fold_forms("\ufdfa") != "\ufdfa"
    for text in ("\ufdfa" * 60_000, "\u3316" * 60_000):
        assert len(fold_forms(text)) <= MOST_GROWTH * len(text) + ALWAYS


@pytest.mark.parametrize("word", [r"reset", r"pass\w+", r"(?:vpn|wifi)\b", r"print(?:er|ing)?s?"])
def test_what_a_person_may_write_as_a_word_ends(process: Killable, word: str) -> None:
    assert find_problem(word) == ""
    assert not tried(process, Pattern("a word", rf"\b(?:{word})\b", re.IGNORECASE, FINDITER)).is_fast


def test_each_place_of_the_tree_gives_its_pattern(tmp_path: Path, process: Killable) -> None:
    places = {each.place for each in process.call(find_patterns, seconds=IMPORTED_WITHIN)}

    for file, words in (
        ("runtime/intake/html_text.py", r're.sub(r"\s+"'),  # within a function
        ("actors/research/comparison.py", "_LEADS = "),  # of a module, by way of the helper
        ("actors/legal/intent_rules.py", "re.compile(f"),  # of data
        ("runtime/agent_files.py", "Meta(pattern="),  # of a type
    ):
        lines = Path(file).read_text(encoding="utf-8").splitlines()
        assert any(f"{file}:{n}" in places for n, line in enumerate(lines, 1) if words in line), file
