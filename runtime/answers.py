"""Answers to what a run asked: checked against its questions, and kept with the next run of the ticket, each once."""

from collections.abc import Mapping, Sequence

import msgspec
import structlog

from actors.workflow.outcome import EndReason
from actors.workflow.user_input import AnswerRound, GivenAnswer, Question
from runtime.durable_submit import submit_durably
from runtime.families import find as find_family
from runtime.program import command
from runtime.service import TicketService
from runtime.service_error import ServiceError
from runtime.storage.journal import StoredRun
from runtime.tickets import Ticket, too_large
from runtime.user_text import display, nearest, safe, spell_out

log = structlog.get_logger()

MOST_SHOWN = 5
"""How many open questions a sentence names."""


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """What a person answers, as it came in."""

    given: Mapping[str, str] = {}
    """By the questions' names."""
    text: str = ""
    """In free words, beside them or instead of them."""
    key: str = ""
    """The same again is the same; empty: the same words are."""


async def answer_ticket(service: TicketService, asking: StoredRun, answers: Answers, *, named: bool) -> StoredRun:
    """
    Go on with a ticket whose run asks something, once the answers are durable with its next run.

    The same answers again give the same run.

    :param asking: the run that was answered.
    :param named: the caller named this very run, so it is not just the latest of the ticket.
    :returns: the run that goes on, or went on, with these answers.
    :raises ServiceError: the ticket does not wait for answers, or these are none to its questions.
    """
    node = service.node
    latest = await node.journal.latest_of(asking.ticket) or asking
    earlier = node.journal.case(latest).answers
    if _is_repeated(earlier, asking.id if named else "", answers):
        return await service.run(latest.id)
    questions = await _read_questions(service, asking, latest)
    checked = check_answers(questions, answers, node.settings.run.ticket_kilobytes)
    service.require_ready()
    one = AnswerRound(asking.id, checked, answers.text.strip(), answers.key, tuple(each.ask for each in questions))
    ticket = await _make_ticket(service, latest, (*earlier, one))
    handle = await submit_durably(node, ticket, latest.seq)
    stored = await node.journal.run(handle.run)
    if node.journal.case(stored).answers != ticket.answers:
        raise ServiceError(
            f"{asking.ticket} was answered by somebody else at the same moment. "
            f"{command(f'status {asking.ticket}')} shows how it goes on.", "conflict",
        )  # fmt: skip
    log.info("ticket.answered", ticket=asking.ticket, run=stored.id, round=len(ticket.answers))
    return stored


async def _read_questions(service: TicketService, asking: StoredRun, latest: StoredRun) -> tuple[Question, ...]:
    """What a run asks, if it is the one that waits."""
    ticket, shown = latest.ticket, command(f"status {latest.ticket}")
    if latest.ended is None:
        raise ServiceError(f"{ticket} is being worked on and asks nothing now; {shown} shows where it is.", "conflict")
    outcome = await service.node.journal.outcome(latest)
    if outcome is not None and outcome.why is EndReason.ASKED_TOO_OFTEN:
        raise ServiceError(
            f"{ticket} was asked as often as may be. Submit it again, with all that {shown} says is missing.",
            "conflict",
        )
    if outcome is None or outcome.status != "needs_input":
        stands = spell_out(latest.status)
        raise ServiceError(f"{ticket} waits for no answers: it ended as {stands}; {shown} shows how.", "conflict")
    if asking.id != latest.id:
        raise ServiceError(
            f"Run {asking.id} was answered before, with other words; {shown} shows what came.", "conflict"
        )
    return outcome.questions


def _is_repeated(earlier: Sequence[AnswerRound], run: str, answers: Answers) -> bool:
    """
    Whether these answers are kept already.

    :param run: whose questions they answer; empty: the caller does not say, so they may be those of the last round.
    :raises ServiceError: their key came with others.
    """
    if answers.key and (known := next((each for each in earlier if each.key == answers.key), None)):
        if not _are_same(known, answers):
            raise ServiceError(
                "This Idempotency-Key came with other answers before. Use a new key for new answers.", "key_reused"
            )
        return True
    if answers.key and not run:
        return False
    of_run = [each for each in earlier if each.run == run] if run else earlier[-1:]
    return any(_are_same(each, answers) for each in of_run)


def _are_same(known: AnswerRound, answers: Answers) -> bool:
    given = {name: value.strip().casefold() for name, value in answers.given.items() if value.strip()}
    return given == {each.name: each.value.casefold() for each in known.given} and known.text == answers.text.strip()


async def _make_ticket(service: TicketService, latest: StoredRun, rounds: tuple[AnswerRound, ...]) -> Ticket:
    """The ticket as it was, with all that was answered."""
    asked, family = await service.read_question(latest), find_family(latest.workflow)
    options = family.options_of(service.node.journal.case(latest))
    return Ticket(
        text=asked.question, id=latest.ticket, subject=asked.subject, requester=asked.requester,
        workflow=latest.workflow, options=options, answers=rounds,
    )  # fmt: skip


def check_answers(questions: Sequence[Question], answers: Answers, kilobytes: int = 0) -> tuple[GivenAnswer, ...]:
    """
    The answers in the order of the questions; one that was left empty is none.

    :param kilobytes: how large all of them may be; 0: any size.
    :raises ServiceError: one answers nothing that was asked, or nothing answers a question that must be answered.
    """
    asked = {each.name: each for each in questions}
    for name in answers.given:
        if name not in asked:
            raise ServiceError(f"Nobody asked for {display(name)}. {nearest(name, asked)}")
    values = {name: _choose(asked[name], value.strip()) for name, value in answers.given.items() if value.strip()}
    everything = "".join((answers.text, *values.values()))
    if "\0" in everything:
        raise ServiceError("The answers hold the character U+0000, which is in no text. Remove it.")
    if kilobytes and len(everything.encode("utf-8", "surrogatepass")) > kilobytes * 1024:
        raise too_large("What was answered", kilobytes)
    if not answers.text.strip():
        _require_all(questions, values)
        if not answers.given:
            raise ServiceError("No question was answered. Answer one, or say in a text what is known.")
    return tuple(GivenAnswer(name, values[name]) for name in asked if name in values)


def _require_all(questions: Sequence[Question], values: Mapping[str, str]) -> None:
    missing = [each.name for each in questions if not each.optional and each.name not in values]
    if missing:
        more = f" and {len(missing) - MOST_SHOWN} more" if len(missing) > MOST_SHOWN else ""
        raise ServiceError(
            f"Still to be answered: {', '.join(missing[:MOST_SHOWN])}{more}. "
            "Answer each, or say in a text what is known."
        )


def _choose(question: Question, value: str) -> str:
    """An answer as the question has it, where it is one of several."""
    if not question.choices:
        return value
    for choice in question.choices:
        if choice.casefold() == value.casefold():
            return choice
    raise ServiceError(
        f"{display(value)} is none of the answers to {question.name}: {safe(', '.join(question.choices))}."
    )
