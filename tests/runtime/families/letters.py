"""A family that is no part of the product: it asks the helpdesk, then writes a letter that two read over at once."""

from typing import Any, Literal

import msgspec

from actors.evidence.claims import Resolution
from actors.helpdesk.workflow import TicketCase
from actors.ports import Completion, Model, ModelRequest
from actors.workflow.outcome import Outcome, Status
from actors.workflow.tables import Case, FanOut, MemberResult, Run, Step, Workflow
from bus import Actor, Context, Event, Request
from runtime.families.family import ChildRole, Family, FamilyRuns, SharedPorts
from runtime.settings import Settings
from runtime.tickets import Ticket

Tone = Literal["kind", "curt"]


class LetterOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tone: Tone = "kind"


class Known(Event, frozen=True):
    known: str


class Written(Event, frozen=True):
    letter: str


class Reviewed(Event, frozen=True):
    remark: str


class LetterClosed(Event, frozen=True):
    status: Status
    resolution: Resolution | None = None


class LetterCase(Case, frozen=True, kw_only=True, gc=False):
    text: str
    tone: Tone = "kind"
    known: str = ""
    letter: str = ""
    reviews: tuple[MemberResult[Reviewed], ...] = ()


class AskDesk(Request[Known], frozen=True):
    text: str


class WriteLetter(Request[Written], frozen=True):
    text: str
    tone: Tone


class ReviewLetter(Request[Reviewed], frozen=True):
    letter: str


class CloseLetter(Request[LetterClosed], frozen=True):
    reason: str
    letter: str
    reviews: tuple[MemberResult[Reviewed], ...]


TABLE = Workflow(
    name="letters",
    case=LetterCase,
    terminator="clerk",
    close=CloseLetter,
    closed=LetterClosed,
    final="sent",
    steps={
        "asking": Step("desk", AskDesk, {Known: "writing"}),
        "writing": Step("writer", WriteLetter, {Written: "reviewing"}),
        "reviewing": FanOut(("law", "style"), ReviewLetter, Reviewed, "reviews", "closing", "closing", "closing"),
        "closing": Step("clerk", CloseLetter, {LetterClosed: "sent"}),
    },
)


class Letter(msgspec.Struct, frozen=True):
    body: str


class LetterRequest(msgspec.Struct, frozen=True):
    text: str
    tone: Tone


class Writer(Actor[WriteLetter]):
    def __init__(self, model: Model, instructions: str) -> None:
        self._model, self._instructions = model, instructions

    async def receive(self, message: WriteLetter, ctx: Context) -> Written:
        material = LetterRequest(message.text, message.tone)
        task = ModelRequest(agent=ctx.address, instructions=self._instructions, material=material)
        filled = await self._model.fill(Letter, task, within=ctx.remaining_seconds())
        return Written(letter=filled.value.body)


class Reviewer(Actor[ReviewLetter]):
    async def receive(self, message: ReviewLetter, ctx: Context) -> Reviewed:
        return Reviewed(remark=f"{ctx.address}: {len(message.letter)} characters")


class Clerk(Actor[CloseLetter]):
    async def receive(self, message: CloseLetter, ctx: Context) -> LetterClosed:
        if message.reason != "completed":
            return LetterClosed(status="error")
        remarks = [each.answer.remark for each in message.reviews if each.answer]
        return LetterClosed(status="resolved", resolution=Resolution("\n".join((message.letter, *remarks))))


def write(task: ModelRequest) -> Completion:
    asked: LetterRequest = task.material
    return Completion(Letter(("Dear you, " if asked.tone == "kind" else "") + asked.text))


ANSWERS = {Letter: write}


class LetterRuns(FamilyRuns):
    def __init__(self, _: SharedPorts) -> None:
        super().__init__(
            {
                "writer": lambda own: Writer(own.model, "Write a letter."),
                "law": lambda _: Reviewer(),
                "style": lambda _: Reviewer(),
                "clerk": lambda _: Clerk(),
            }
        )


def make_case(ticket: Ticket, _: Settings) -> LetterCase:
    options: Any = ticket.options or LetterOptions()
    return LetterCase(ticket_id=ticket.id, text=ticket.whole, tone=options.tone)


def make_ticket(request: AskDesk, run_id: str, _: Settings) -> TicketCase:
    return TicketCase(ticket_id=run_id, text=request.text)


def make_known(_: Run, outcome: Outcome) -> Known:
    return Known(known=outcome.status)


LETTERS = Family(
    flow=TABLE,
    label="letter",
    runs=f"{__name__}:{LetterRuns.__name__}",
    make_case=make_case,
    order_of=lambda case: (case.text, case.tone),
    options=LetterOptions,
    answers={Letter: __name__},
    children={"desk": ChildRole("helpdesk", make_ticket, make_known)},
)
