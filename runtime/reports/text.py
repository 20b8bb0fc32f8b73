"""A report as a Markdown file."""

from actors.research.markdown import rendered
from actors.research.records import Report


def made(report: Report) -> bytes:
    """The file's content."""
    return rendered(report).encode("utf-8", "replace")
