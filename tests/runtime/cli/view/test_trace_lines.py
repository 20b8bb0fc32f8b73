"""A trace on the screen."""

from actors.evidence.trace_steps import Found, SearchStep
from runtime.cli.view.trace_lines import why_lines
from runtime.trace_record import TraceRecord


def test_a_score_just_below_nothing_is_shown_without_a_sign() -> None:
    search = SearchStep("worker", "toner", "documents", (Found("keys.md", words=0.0, meaning=-0.001),))
    trace = TraceRecord(
        ticket="T-1", run="R-1", workflow="helpdesk", status="not_found", searches=(search,), answers=(), calls=(),
        omitted=0, notes=(),
    )  # fmt: skip

    shown = [line.text for line in why_lines(trace, full=True)]

    assert "1. words 0.00, meaning 0.00: keys.md" in shown
