"""A family that is no part of the product: it rents a boat, and asks for what the ticket does not say."""

import os
import signal
from pathlib import Path

import msgspec

from actors.documents.template import Document
from actors.evidence.claims import Resolution
from actors.workflow.outcome import AnswerRound, Question, Status, collect_values, join_texts
from actors.workflow.tables import Case, Step, Workflow
from bus import Actor, Context, Event, Request
from runtime.families.family import Family, FamilyRuns, SharedPorts
from runtime.tickets import Ticket

DIED = Path("died")
"""In the folder of the process that was killed."""
BOATS = ("canoe", "dinghy")
BOAT = Question("boat", "Which boat is it to be?", choices=BOATS)
HOURS = Question("hours", "For how many hours?", example="3")
NAME = Question("name", "On whose name?", optional=True)


class Hired(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a rental."""

    lake: str = "north"


class RentalClosed(Event, frozen=True):
    status: Status
    questions: tuple[Question, ...] = ()
    resolution: Resolution | None = None
    lease: Document | None = None


class RentalCase(Case, frozen=True, kw_only=True, gc=False):
    text: str
    lake: str = ""
    lease: Document | None = None


class CloseRental(Request[RentalClosed], frozen=True):
    reason: str
    text: str
    lake: str
    answers: tuple[AnswerRound, ...]


TABLE = Workflow(
    name="rental",
    case=RentalCase,
    terminator="boatman",
    close=CloseRental,
    closed=RentalClosed,
    final="rented",
    steps={"closing": Step("boatman", CloseRental, {RentalClosed: "rented"})},
)


def die_once() -> None:
    if not DIED.exists():
        DIED.touch()
        os.kill(os.getpid(), signal.SIGKILL)


class Boatman(Actor[CloseRental]):
    async def receive(self, message: CloseRental, ctx: Context) -> RentalClosed:
        if message.reason != "completed":
            return RentalClosed(status="cancelled" if message.reason == "cancelled" else "error")
        known = collect_values(message.answers)
        everything = join_texts(message.text, message.answers)
        if "dies once" in everything:
            die_once()
        missing = tuple(each for each in (BOAT, HOURS, NAME) if each.name not in known)
        if "nonsense" in everything:
            missing = (Question("two words", "Is a name without white space."), Question("x", " "))
        if "forever" not in everything and "all I know" not in everything and {"boat", "hours"} <= known.keys():
            missing = ()
        if "all I know" in everything or not missing:
            said = ", ".join(f"{name} {value}" for name, value in known.items())
            lease = Document(title="Lease", markdown=f"# Lease\n\n**Boat**: {said}\n", language="en", template="lease")
            resolution = Resolution(f"{everything} / {said} / {message.lake}")
            return RentalClosed(status="resolved", resolution=resolution, lease=lease)
        return RentalClosed(status="needs_input", questions=missing or (BOAT,))


class RentalRuns(FamilyRuns):
    def __init__(self, _: SharedPorts) -> None:
        super().__init__({"boatman": lambda _: Boatman()})


def make_case(ticket: Ticket, _: object) -> RentalCase:
    lake = ticket.options.lake if isinstance(ticket.options, Hired) else "north"
    return RentalCase(ticket_id=ticket.id, text=ticket.whole, lake=lake)


RENTAL = Family(
    flow=TABLE,
    label="rental",
    runs=f"{__name__}:{RentalRuns.__name__}",
    make_case=make_case,
    order_of=lambda case: (case.text, case.lake),
    options=Hired,
    document=lambda case: case.lease,
    options_of=lambda case: Hired(case.lake),
)
