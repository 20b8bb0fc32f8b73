"""A quote is found without what its author put around it, and never with another word in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.text.quote_matching import find_quote

TEXT = (
    "# Gate\n\nOpen the *settings*, choose `Sensor mode`, and set it to **slow & safe**.\n\n"
    "> The gate must not be oiled. Wipe it dry.\n\n- Call the porter [3] after 22:00.\n- It's unlikely to rust.\n"
)


def words(quote: str) -> str | None:
    found = find_quote(quote, TEXT)
    return TEXT[slice(*found)] if found else None


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ('"The gate must not be oiled."', "The gate must not be oiled."),
        ("“The gate must not be oiled”", "The gate must not be oiled"),
        ("> > The gate must not be oiled. Wipe it dry.", "The gate must not be oiled. Wipe it dry."),
        ("choose Sensor mode, and set it to slow & safe", "choose `Sensor mode`, and set it to **slow & safe"),
        ("set it to slow &amp; safe.", "set it to **slow & safe**."),
        ("**Wipe it dry.**", "Wipe it dry."),
        ("[2] Wipe it dry. [2]", "Wipe it dry."),
        ("* Call the porter [3] after 22:00.", "Call the porter [3] after 22:00."),
        ("The gate must not be oiled, ", "The gate must not be oiled"),
        ("must not be oiled!", "must not be oiled"),
        ("...must not be oiled...", "must not be oiled"),
        ("choose Sensor mode … slow & safe", "choose `Sensor mode`, and set it to **slow & safe"),
        ("The gate must [...] be oiled.", "The gate must not be oiled."),
        ("Open the settings, choose Sensor mode. Wipe it dry.", None),
    ],
)  # fmt: skip
def test_marks_around_and_within_a_quote_do_not_count(quote: str, found: str | None) -> None:
    if found is None:
        assert (words(quote) or "").startswith("Open the *settings*")
    else:
        assert words(quote) == found


@pytest.mark.parametrize(
    "quote",
    [
        "The gate must be oiled.",
        "The gate must now be oiled.",
        "likely to rust",
        "set it to slow & saf",
        "Wipe it dry. The gate must not be oiled.",
        "Wipe it dry … Open the settings",
        "Open … choose Sensor mode",
        "",
        "...",
        '""',
        "[4]",
    ],
)
def test_another_word_half_a_word_or_another_order_is_no_match(quote: str) -> None:
    assert words(quote) is None


def test_fragments_that_lie_far_apart_are_no_quote() -> None:
    text = f"The gate is old. {'It stands. ' * 300}The gate is new."

    assert find_quote("The gate is old … The gate is new.", text) is None


@given(st.text(max_size=80), st.text(max_size=200))
def test_whatever_is_quoted_is_a_stretch_of_the_text(quote: str, text: str) -> None:
    found = find_quote(quote, text)
    assert found is None or 0 <= found[0] < found[1] <= len(text)
