"""Tables as a terminal of any width shows them: a heading a row, below it a line a column."""

from collections.abc import Iterator, Sequence

RULE = "| ---"


def unfold_tables(text: str) -> str:
    """The text with each Markdown table row by row: what its first cell names, then each column with its cell."""
    lines = text.split("\n")
    return "\n".join(_unfold(lines))


def _unfold(lines: Sequence[str]) -> Iterator[str]:
    head: list[str] = []
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if not line.startswith("| "):
            head = []
            yield line
        elif below.startswith(RULE):
            head = _split(line)
        elif not head:
            yield line
        elif not line.startswith(RULE):
            name, *cells = _split(line)
            yield name
            yield from (f"  {column}: {cell}" for column, cell in zip(head[1:], cells, strict=False))
            yield ""


def _split(row: str) -> list[str]:
    return [each.strip() for each in row.strip().strip("|").split(" | ")]
