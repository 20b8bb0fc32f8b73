"""A trace on the screen."""

from actors.evidence.trace_steps import Found, SearchStep, ToolStep
from runtime.cli.view.trace_lines import why_lines
from runtime.observe.trace_record import TraceRecord


def test_a_score_just_below_nothing_is_shown_without_a_sign() -> None:
    search = SearchStep("worker", "toner", "documents", (Found("keys.md", meaning=-0.001),))
    trace = TraceRecord(
        ticket="T-1", run="R-1", workflow="helpdesk", status="not_found", searches=(search,), answers=(), calls=(),
        omitted=0, notes=(),
    )  # fmt: skip

    shown = [line.text for line in why_lines(trace, full=True)]

    assert "1. meaning 0.00: keys.md" in shown


def test_each_call_of_a_tool_is_shown_with_what_came_of_it() -> None:
    tools = (
        ToolStep("printing", "find_printer", '{"floor": 3}', "By the lift.", 1, 0.25, at=1.5),
        ToolStep("printing", "web_search", '{"query": "toner"}', seconds=2.0, failed="Its time was up."),
    )
    trace = TraceRecord(
        ticket="T-1", run="R-1", workflow="helpdesk", status="resolved", searches=(), answers=(), calls=(),
        tools=tools, omitted=0, notes=(),
    )  # fmt: skip

    shown = [line.text for line in why_lines(trace, full=False)]

    assert "Tools (2)" in shown
    assert '1.50 s  printing called find_printer with “{"floor": 3}”: 0.25 s; 1 passage' in shown
    assert "It said: “By the lift.”" in shown
    assert "Done without: Its time was up." in shown
