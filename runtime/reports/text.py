"""A report as a Markdown file."""

from actors.research.records import Report
from actors.research.report.markdown import rendered


def made(report: Report) -> bytes:
    """The file's content."""
    return rendered(report).encode("utf-8", "replace")
