"""A report as a Markdown file."""

from actors.reporting.markdown import rendered
from actors.reporting.report import Report


def made(report: Report) -> bytes:
    """The file's content."""
    return rendered(report).encode("utf-8", "replace")
