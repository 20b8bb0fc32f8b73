"""Which words of a passage can stand alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.passages import Passage, Span
from actors.extractive.standalone import LONGEST, fit, parts, refers, standalone_parts


def passage(text: str) -> Passage:
    return Passage("p#1", "p", "P", "P > Q", text, 0, len(text))


def stands(text: str, words: str, about: str = "") -> str:
    """What stands of a text at some of its words."""
    at = text.index(words)
    source = passage(text)
    found = standalone_parts(source, Span(at, at + len(words)), lambda said: about in said)
    return found.of(source) if found else ""


@pytest.mark.parametrize(
    "said",
    [
        "multi-node mills so that gates open at once.", "The gate, which", "See Section 4 for more on tide gates.",
        "For more information on gates see Section 25.1.5.", "Table 5 lists all gates of the mill.",
        "The gates of the mill are shown below.", "The options of the gate are as follows.",
        "Gate | Height | Width | Colour",
        "The gate (of the mill opens at night.", "Gates open.", "Suppose the gate of your mill is open.",
    ],
)  # fmt: skip
def test_fragments_pointers_and_rows_are_no_sentences(said: str) -> None:
    assert not fit(said)


@pytest.mark.parametrize(
    "said",
    [
        "The gate opens at six metres of water.", "gate_height sets how far the gate opens.",
        "潮汐磨坊在水位六米时打开闸门。",
        "Some gates (see Section 4) open by themselves at night.",
    ],
)  # fmt: skip
def test_whole_sentences_are(said: str) -> None:
    assert fit(said)


@pytest.mark.parametrize(
    "said",
    [
        "This opens the gate at night.", "It opens at night.", "For example, the gate opens at night.",
        "However, the gate stays shut.", "In this case the gate stays shut.", "The latter opens at night.",
        "When this happens the gate is shut.", "As you see, it opens.",
    ],
)  # fmt: skip
def test_a_sentence_that_leans_on_the_one_before_it_is_known(said: str) -> None:
    assert refers(said)
    assert not refers("It is possible to open the gate at night.")


def test_a_sentence_that_points_back_takes_the_one_before_it_along() -> None:
    text = "The gate opens at six metres. This keeps the wheel turning at night."
    assert stands(text, "This keeps the wheel") == text


def test_a_sentence_whose_antecedent_is_in_another_paragraph_is_left_out() -> None:
    assert stands("The gate opens at six metres.\n\nThis keeps the wheel turning at night.", "This keeps") == ""


def test_what_says_nothing_of_the_question_is_cut_from_the_end() -> None:
    boiler = (
        "The colour of the paint on the door can be changed by whoever has a brush, some time, and the will to do so."
    )
    text = f"The gate opens at six metres of water. {boiler}"
    assert stands(text, text, about="gate") == "The gate opens at six metres of water."


def test_code_comes_with_the_sentence_that_introduces_it_and_never_alone() -> None:
    text = "Open the gate of the mill with this line:\n\n    mill gate --open\n\nThe wheel turns when it is open."
    assert stands(text, "Open the gate of the mill with this line:\n\n    mill gate --open").endswith(
        "mill gate --open"
    )
    assert stands(text, "Open the gate of the mill with this line:") == ""
    assert stands(text, "    mill gate --open") == ""


def test_long_code_is_left_to_those_who_read_the_page() -> None:
    text = "Open the gate of the mill so:\n\n" + "\n".join(f"    line {n}" for n in range(9))
    assert stands(text, text) == ""


@given(st.text(alphabet="ab. \n-|:()T#", max_size=300), st.integers(0, 300), st.integers(0, 300))
def test_whatever_stands_is_a_slice_of_bounded_length_within_one_paragraph(text: str, one: int, other: int) -> None:
    source = passage(text)
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    found = standalone_parts(source, Span(start, end), lambda said: bool(said))
    if found is not None:
        assert 0 <= found.start < found.end <= len(text)
        assert "\n\n" not in found.of(source)
        assert found.of(source) == found.of(source).strip()


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    text = " ".join(f"The gate number {n} of the tide mill opens at six metres of water." for n in range(40))
    found = stands(text, text)
    assert found.endswith(".")
    assert len(found) <= LONGEST + 70


def test_list_items_are_parts_of_their_own() -> None:
    text = "- The first gate opens at night.\n- The second gate opens at noon."
    assert [text[part.start : part.end] for part in parts(text)] == [
        "The first gate opens at night.", "The second gate opens at noon.",
    ]  # fmt: skip
