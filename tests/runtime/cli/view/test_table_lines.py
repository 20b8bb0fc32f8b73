"""A table on a terminal: row by row, whatever its width; what is no table stays as it is."""

from runtime.cli.view.result import unfold_tables

TABLE = """Above.

| On | A | B |
| --- | --- | --- |
| Size | big [1] | not stated |
| Age | &#124; old | new |

Below | it."""


def test_each_row_is_a_heading_with_a_line_for_each_column() -> None:
    assert unfold_tables(TABLE).split("\n") == [
        "Above.", "", "Size", "  A: big [1]", "  B: not stated", "", "Age", "  A: &#124; old", "  B: new", "", "",
        "Below | it.",
    ]  # fmt: skip


def test_a_line_with_bars_that_is_no_table_stays() -> None:
    assert unfold_tables("| a | b |\nc") == "| a | b |\nc"
