"""Registrar: closes a legal question, and is the only agent that may end a legal run."""

import msgspec

from actors.evidence.claims import Resolution
from actors.legal.merger import merge
from actors.legal.messages import CloseQuestion, QuestionClosed
from actors.ports import Tickets
from actors.text.catalogue import say
from actors.text.truncate import shorten
from actors.workflow.outcome import Status
from bus import Actor, Context

NOTE_CHARACTERS = 200


class Registrar(Actor[CloseQuestion]):
    """Mailbox: CloseQuestion. Once it has closed the question it says that again, whatever it is asked."""

    __slots__ = ("_closed", "_run", "_tickets")

    def __init__(self, tickets: Tickets, run_id: str) -> None:
        self._tickets = tickets
        self._run = run_id
        self._closed: QuestionClosed | None = None

    async def receive(self, message: CloseQuestion, ctx: Context) -> QuestionClosed:  # noqa: ARG002 - it asks nobody
        self._closed = self._closed or close(message)
        await self._tickets.close(
            f"{self._run}:close", message.ticket_id, self._closed.status, self._closed.summary or ""
        )
        return self._closed


def close(message: CloseQuestion) -> QuestionClosed:
    """How a question ends: what was found, with a disclaimer below advice; cut short, with what there is by then."""
    resolution, advice = message.resolution, message.advice
    if resolution is None and any(each.answer for each in message.opinions):
        resolution, advice = merge(message.opinions, message.language).resolution, True
    if resolution is not None and advice:
        resolution = add_disclaimer(resolution, message.language)
    if message.reason == "cancelled":
        return QuestionClosed(status="cancelled", resolution=resolution, summary=message.detail)
    if message.reason == "completed" and message.questions:
        return QuestionClosed(status="needs_input", summary=message.questions[0].ask)
    if message.reason != "completed" or resolution is None:
        why = message.detail or say("legal_nothing", message.language)
        why = f"{why} {say('legal_ask_lawyer', message.language)}"
        status: Status = "not_found" if message.reason == "completed" else "error"
        return QuestionClosed(status=status, resolution=resolution, summary=why, detail=why)
    named = say("joined_by", message.language).join(dict.fromkeys(each.title for each in resolution.citations))
    note = shorten(named or " ".join(resolution.text.split()), NOTE_CHARACTERS)
    return QuestionClosed(status=resolution.grade, resolution=resolution, summary=note)


def add_disclaimer(resolution: Resolution, language: str) -> Resolution:
    """Below the answer, apart from it."""
    return msgspec.structs.replace(resolution, text=f"{resolution.text}\n\n---\n{say('legal_disclaimer', language)}")
