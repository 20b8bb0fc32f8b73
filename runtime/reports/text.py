"""A report as a Markdown file."""

from actors.reporting.markdown import render_markdown
from actors.reporting.report import Report


def render(report: Report) -> bytes:
    """The file's content."""
    return render_markdown(report).encode("utf-8", "replace")
