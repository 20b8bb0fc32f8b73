"""Reporter: the terminator. Renders the report from verified statements, and ends the run."""

from typing import Literal

from actors.evidence import Resolution
from actors.outcome import Status
from actors.ports import Model, Tickets
from actors.research.compose import citations, compose
from actors.research.markdown import rendered
from actors.research.messages import CloseResearch, ResearchClosed
from bus import Actor, Context

SUMMARY_CHARACTERS = 500


class Reporter(Actor[CloseResearch]):
    """Mailbox: CloseResearch. Told another reason than "completed", it asks no model and answers at once."""

    __slots__ = ("_instructions", "_model", "_run", "_tickets")

    def __init__(self, model: Model, tickets: Tickets, instructions: str, run: str) -> None:
        self._model = model
        self._tickets = tickets
        self._instructions = instructions
        self._run = run

    async def receive(self, message: CloseResearch, ctx: Context) -> ResearchClosed:
        status = _status(message)
        if message.brief.round > 1:
            return ResearchClosed(status=status)  # the first round's Reporter tells all
        report = compose(message)
        said = rendered(report)
        grade: Literal["resolved", "suggested"] = "resolved" if status == "resolved" else "suggested"
        summary = " ".join(line.text for line in report.overview)[:SUMMARY_CHARACTERS]
        await self._tickets.close(f"{self._run}:{ctx.number}", message.ticket_id, status, summary)
        return ResearchClosed(
            status=status,
            report=report,
            resolution=Resolution(said, citations(message, report), grade),
            summary=summary,
        )


def _status(message: CloseResearch) -> Status:
    if message.reason == "cancelled":
        return "cancelled"
    if message.reason != "completed":
        return "error"
    if not any(section.statements for section in message.sections):
        return "not_found"
    return "resolved" if message.is_complete else "suggested"
