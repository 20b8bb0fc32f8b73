"""Columns of a terminal: wide characters take two, combining ones none, and a cut line never takes more than it may."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from runtime.cli.view.width import columns, fit, pad


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("VPN", 3),
        ("打印机", 6),
        ("프린터", 6),
        ("ＶＰＮ", 6),
        ("e\u0301", 1),
        ("a\u200bb", 2),
        ("", 0),
        ("🖨", 1),
        ("🙁", 2),
    ],
)
def test_columns_are_what_a_terminal_gives(text: str, width: int) -> None:
    assert columns(text) == width == cell_len(text)


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [
        ("My VPN drops", 12, "My VPN drops"),
        ("My VPN drops", 11, "My VPN dro…"),
        ("My  VPN\n\tdrops", 12, "My VPN drops"),
        ("打印机卡纸了", 12, "打印机卡纸了"),
        ("打印机卡纸了", 11, "打印机卡纸…"),
        ("打印机卡纸了", 10, "打印机卡…"),
        ("red \x1b[31m", 40, "red \\x1b[31m"),
        ("x", 1, "x"),
        ("xy", 1, "…"),
        ("", 5, ""),
    ],
)
def test_a_text_is_cut_to_its_room(text: str, most: int, shown: str) -> None:
    assert fit(text, most) == shown


@given(st.text(max_size=80), st.integers(1, 40))
def test_whatever_it_is_it_fits_and_harms_nothing(text: str, most: int) -> None:
    shown = fit(text, most)

    assert columns(shown) <= most
    assert not any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in shown)


def test_a_long_text_is_not_read_to_its_end() -> None:
    assert fit("VPN " * 10_000_000, 10) == "VPN VPN V…"


def test_padding_counts_columns() -> None:
    assert (pad("打印", 6), pad("VPN", 6)) == ("打印  ", "VPN   ")
