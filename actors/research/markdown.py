"""A report as Markdown. Pure."""

from collections.abc import Iterator

from actors.research.records import Line, Report


def rendered(report: Report) -> str:
    """The whole report as Markdown that any viewer renders."""
    return "\n".join(_lines(report)).strip() + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# {report.title}"
    for block in report.sections:
        yield from ("", f"## {block.title}", "")
        yield from (f"- {_line(each)}" for each in block.lines)
        if not block.lines:
            yield f"_{block.note}_"
    yield from ("", "## Sources", "")
    for each in report.sources:
        yield f"{each.number}. {each.title} — {each.url} (read {each.read_at}, SHA-256 {each.sha256})"


def _line(line: Line) -> str:
    return line.text + " " + "".join(f"[{number}]" for number in line.numbers)
