"""Outcomes and progress to be shown, as runs produce them."""

from typing import Any

from actors.evidence.claims import Citation, Resolution
from actors.workflow.outcome import EndReason, Handoff, HandoffMade, Outcome, RunBegan, RunEnded, RunEvent, Spent

HOSTILE = "red \x1b[31m, title \x1b]0;x\x07, c1 \x9b2J, turned \u202e, \x08\x08, [bold]markup[/bold] :smile:"
"""What would harm a terminal, or be taken for markup."""

PATH = (
    ("orchestrator", "memory", "memory_check_pending"),
    ("memory", "orchestrator", "ResolutionRecalled"),
    ("orchestrator", "ticketing", "memory_checked"),
    ("ticketing", "orchestrator", "TicketAnalyzed"),
    ("orchestrator", "worker", "ticket_analyzed"),
)


def outcome(**more: Any) -> Outcome:
    """A resolved ticket, or what `more` makes of it."""
    citation = Citation(1, "manual/vpn.md", "VPN", "VPN > Drops", "Set keepalive\n   to 25.", 10, 40, "drops")
    known: dict[str, Any] = {
        "run": "R-1", "ticket": "T-1", "workflow": "helpdesk", "status": "resolved", "why": EndReason.COMPLETED,
        "by": "ticketing", "state": "summary_complete",
        "resolution": Resolution("Set keepalive to 25. [1]", (citation,), "resolved"),
        "summary": "VPN drops; keepalive.", "seconds": 1.25, "spent": Spent(2, 1200, 80, estimated=True),
        "handoffs": tuple(Handoff(*each, at=number / 10) for number, each in enumerate(PATH)), "refused": 1,
    }  # fmt: skip
    return Outcome(**{**known, **more})


def progress(last: Outcome | None = None) -> list[RunEvent]:
    """The events of a run, up to its end if there is one."""
    began = RunBegan(run="R-1", ticket="T-1", workflow="helpdesk", agent="memory")
    states = ["memory_check_pending"] * 2 + ["memory_checked"] * 2 + ["ticket_analyzed"]
    made = [
        HandoffMade(number=n, source=source, target=target, reason=reason, state=state, seconds=(n - 1) / 10)
        for n, ((source, target, reason), state) in enumerate(zip(PATH, states, strict=True), 1)
    ]
    return [began, *made, *([RunEnded(outcome=last)] if last else [])]
