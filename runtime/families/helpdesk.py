"""The helpdesk as this installation runs it: who plays which role, and who answers a ticket that asks for a report."""

from collections.abc import Callable
from typing import Any

import msgspec

from actors.drafting.drafts import Draft
from actors.helpdesk.memory import Memory
from actors.helpdesk.messages import NothingFound, ResolutionObtained, ResolveTicket, TicketAnalyzed
from actors.helpdesk.output_schemas import Analysis, Summary
from actors.helpdesk.summarization import Summarization
from actors.helpdesk.ticketing import Ticketing
from actors.helpdesk.triage import question as find_question
from actors.helpdesk.worker import Worker
from actors.helpdesk.workflow import HELPDESK, RESEARCHER, TicketCase, add_specialists
from actors.text.catalogue import say, say_count
from actors.text.languages import guess_language
from actors.workflow.outcome import Outcome, list_values
from actors.workflow.tables import Case, EarlierMessage, Run
from bus import Actor
from runtime.families import research
from runtime.families.family import ChildRole, Family, FamilyRuns, RunDependencies, SharedPorts
from runtime.observe.run_trace import TracedKnowledge
from runtime.observe.span import FoundIntent
from runtime.settings import Settings
from runtime.tickets import Ticket, whole


class HelpdeskRuns(FamilyRuns):
    """Its runs have no ports of their own."""

    def __init__(self, shared: SharedPorts) -> None:
        roster, twice = shared.roster.of(HELPDESK.name), shared.settings.model.second_reading

        def worker(role: str) -> Callable[[RunDependencies], Actor[Any]]:
            spec, colleagues = roster[role], roster.colleagues_of(role)
            return lambda own: Worker(
                own.model, TracedKnowledge(shared.knowledge, own.trace, role), spec, colleagues, second_reading=twice,
                trace=own.trace,
            )  # fmt: skip

        super().__init__({
            "memory": lambda own: Memory(shared.memory, own.run),
            "ticketing": lambda own: Ticketing(own.model, shared.tickets, roster, own.run),
            "summarization": lambda own: Summarization(own.model, roster["summarization"].instructions),
            **{role: worker(role) for role in roster.workers},
        })  # fmt: skip


def make_case(ticket: Ticket, _: Settings) -> TicketCase:
    text, said_before = _continue(ticket)
    if not said_before:
        language = guess_language(find_question(ticket.whole))
        return TicketCase(ticket_id=ticket.id, text=ticket.whole, language=language)
    first, *others = said_before  # the subject is what the first question was about
    said = (msgspec.structs.replace(first, text=whole(ticket.subject, first.text)), *others)
    language = guess_language(find_question(text)) or guess_language(find_question(said[0].text))
    return TicketCase(
        ticket_id=ticket.id, text=text or ticket.subject, said_before=said, language=language, answers=ticket.answers
    )


def _continue(ticket: Ticket) -> tuple[str, tuple[EarlierMessage, ...]]:
    """What is asked now and what was said before: who answers what we asked goes on with the conversation."""
    text, said = ticket.text, list(ticket.said_before)
    for each in ticket.answers:
        said += [EarlierMessage("customer", "", text), EarlierMessage("terminus", "", "\n".join(each.asked))]
        text = "\n".join(list_values(each))
    return text, tuple(said)


def find_order(case: TicketCase) -> tuple[str, tuple[EarlierMessage, ...]]:
    """What was asked, and said before that, when nothing of ours was answered yet."""
    since = 2 * len(case.answers)  # each a question of ours below the message that it asks about
    return (case.said_before[-since].text, case.said_before[:-since]) if since else (case.text, case.said_before)


def answered_by(case: TicketCase) -> str:
    """The ticket whose answer it was: one from memory only repeats another's."""
    return case.recalled.ticket_id if case.recalled.verdict == "hit" else case.ticket_id


def make_research(request: ResolveTicket, run_id: str, settings: Settings) -> Case:
    """The case of a research that a ticket asks for."""
    question = request.analysis.question if request.analysis and request.analysis.question else request.text
    case = research.make_case(Ticket(id=run_id, text=question), settings)
    return msgspec.structs.replace(case, language=request.language)


def make_answer(where: Run, outcome: Outcome) -> ResolutionObtained | NothingFound:
    """What a research means to the ticket that asked for it."""
    unavailable, degraded, incomplete = outcome.unavailable, outcome.degraded, outcome.incomplete
    if outcome.resolution is not None and outcome.status in {"resolved", "suggested"}:
        return ResolutionObtained(outcome.resolution, unavailable, degraded, incomplete=incomplete)
    pages = where.case.pages
    language = outcome.language
    read = say_count("pages_were_read", language, len(pages)) if pages else say("no_page_could_be_read", language)
    detail = outcome.detail or say("research_found_nothing", language, read=read)
    return NothingFound(detail, unavailable, degraded, incomplete=incomplete)


FAMILY: Family = Family(
    flow=HELPDESK,
    label="ticket of the helpdesk",
    runs=f"{__name__}:{HelpdeskRuns.__name__}",
    make_case=make_case,
    answers=dict.fromkeys((Analysis, Draft, Summary), "actors.helpdesk.extractive_answers"),
    children={RESEARCHER: ChildRole("research", make_research, make_answer, lambda s: s.research.report_seconds)},
    staff=lambda flow, roster: add_specialists(flow, roster.of(flow.name).workers),
    order_of=find_order,
    remembered_text=lambda case: "" if case.said_before else case.text,
    answered_by=answered_by,
    intents={TicketAnalyzed: lambda event: FoundIntent(event.analysis.intent, f"{event.analysis.urgency} urgency")},
)
