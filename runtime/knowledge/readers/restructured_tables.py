"""The two kinds of tables that are drawn in reStructuredText, as rows of cells."""

import re

_BORDER = re.compile(r"\+[-=+]+\+$")
_RULE = re.compile(r"[=-]+(?: +[=-]+)*$")


def read_grid(lines: list[str], at: int) -> tuple[list[list[str]], int]:
    """The rows of a table with borders that begins at a line, and where it ends."""
    rows: list[list[str]] = []
    row: list[str] = []
    while at < len(lines) and lines[at].startswith(("+", "|")):
        line = lines[at]
        if _BORDER.match(line):
            rows.append(row)
            row = []
        else:
            cells = line.strip("|+").split("|")
            if len(cells) == len(row):
                row = [f"{cell} {more.strip()}" for cell, more in zip(row, cells, strict=True)]
            elif not row:
                row = [cell.strip() for cell in cells]
            else:
                row[-1] += f" {' '.join(cells).strip()}"
        at += 1
    rows.append(row)
    return [row for row in rows if any(cell.strip() for cell in row)], at


def read_simple(lines: list[str], at: int) -> tuple[list[list[str]], int]:
    """The rows of a table whose columns stand below a line of equals signs, and where it ends."""
    columns = [match.start() for match in re.finditer(r"=+", lines[at])]
    rows: list[list[str]] = []
    border, rules = lines[at], 1
    at += 1
    while at < len(lines):
        line = lines[at]
        at += 1
        if line == border:
            rules += 1
            if rules == 3 or at >= len(lines) or not lines[at]:
                break
        elif line and not _RULE.match(line):
            ends = [*columns[1:], len(line)]
            cells = [line[a:b].strip() for a, b in zip(columns, ends, strict=True)]
            if cells[0] or not rows:
                rows.append(cells)
            else:
                rows[-1] = [f"{cell} {more}".rstrip() for cell, more in zip(rows[-1], cells, strict=True)]
    return rows, at
