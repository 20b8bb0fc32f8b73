"""Random workflow tables that must end, and the messages they are made of."""

from typing import Any

import msgspec
from hypothesis import strategies as st

from actors.workflow.outcome import Status
from actors.workflow.tables import (
    Case,
    FanOut,
    Handover,
    InvalidAnswer,
    Limits,
    MemberResult,
    RetryStage,
    Run,
    RunStopped,
    Step,
    Workflow,
)
from actors.workflow.verify import find_dead_states
from bus import Event, Failed, Request


class A(Event, frozen=True):
    fact: int


class TableCase(Case, frozen=True, kw_only=True, gc=False):
    fact: int = 0
    pick: str = ""
    team: tuple[str, ...] = ()
    found: tuple[MemberResult[A], ...] = ()


class B(Event, frozen=True):
    fact: int


class C(Event, frozen=True):
    """Adds nothing."""


class End(Event, frozen=True):
    status: Status


class Ask(Request[A], frozen=True):
    fact: int


class AskB(Request[B], frozen=True):
    fact: int


class AskC(Request[C], frozen=True):
    fact: int


class AskAB(Request[A | B], frozen=True):
    fact: int


class AskAC(Request[A | C], frozen=True):
    fact: int


class AskBC(Request[B | C], frozen=True):
    fact: int


class AskABC(Request[A | B | C], frozen=True):
    fact: int


ASKING: dict[frozenset[type[Event]], type[Request[Any]]] = {
    frozenset({A}): Ask, frozenset({B}): AskB, frozenset({C}): AskC, frozenset({A, B}): AskAB,
    frozenset({A, C}): AskAC, frozenset({B, C}): AskBC, frozenset({A, B, C}): AskABC,
}  # fmt: skip
"""Requests by the answers that they declare."""


class Close(Request[End], frozen=True):
    reason: str
    detail: str


BOSS = "boss"
ROLES = ("r1", "r2", "r3", "r4")
KINDS: tuple[type[Event], ...] = (A, B, C)
FINAL = "final"


@st.composite
def limits(draw: st.DrawFn) -> Limits:
    return Limits(draw(st.sampled_from([0.5, 3.0, 20.0, 500.0, float("inf")])), draw(st.integers(0, 3)))


@st.composite
def steps(draw: st.DrawFn, n: int, count: int) -> Step | FanOut:
    """A step that goes on to later ones, or back by a declared repetition."""
    later = [f"s{m}" for m in range(n + 1, count)] + ["closing"]
    if draw(st.integers(0, 3)) == 0:
        team = draw(st.lists(st.sampled_from(ROLES), min_size=1, unique=True))
        on_all, on_some, on_none = (draw(st.sampled_from(later)) for _ in range(3))
        return FanOut(
            tuple(team), Ask, A, "found", on_all, on_some, on_none, draw(st.sampled_from(["", "team"])),
            Limits(draw(st.sampled_from([2.0, 30.0])), draw(st.integers(0, 3))), draw(st.booleans()),
            draw(st.integers(0, 3)),
        )  # fmt: skip
    then: dict[type[Event], str | RetryStage] = {}
    for kind in draw(st.lists(st.sampled_from(KINDS), min_size=1, unique=True)):
        onward = draw(st.sampled_from(later))
        if draw(st.integers(0, 2)) == 0:
            back = draw(st.sampled_from([*(f"s{m}" for m in range(count)), "closing"]))
            then[kind] = RetryStage(back, draw(st.integers(1, 3)), onward)
        else:
            then[kind] = onward
    role = draw(st.sampled_from([*ROLES, BOSS]))
    ask = ASKING[frozenset(then)]
    if role == BOSS and draw(st.booleans()):
        return Step(BOSS, ask, {**then, End: FINAL})
    peers = frozenset(draw(st.lists(st.sampled_from(ROLES), max_size=4)))
    pick = draw(st.sampled_from(["", "pick"])) if peers else ""
    on_failed = draw(st.sampled_from(["", *later]))
    return Step(role, ask, then, peers, pick, draw(st.none() | limits()), draw(st.booleans()), on_failed)


@st.composite
def workflows(draw: st.DrawFn) -> Workflow:
    count = draw(st.integers(1, 5))
    table: dict[str, Step | FanOut] = {f"s{n}": draw(steps(n, count)) for n in range(count)}
    flow = Workflow(
        name="table", case=TableCase, terminator=BOSS, close=Close, closed=End, final=FINAL,
        steps={**table, "closing": Step(BOSS, Close, {End: FINAL})},
        max_handoffs=draw(st.sampled_from([20, 30, 60])), max_seconds=draw(st.sampled_from([5.0, 60.0, 600.0])),
        cancel_seconds=draw(st.sampled_from([0.0, 1.0, 30.0])), default_limits=draw(limits()),
        limits={role: draw(limits()) for role in draw(st.lists(st.sampled_from(ROLES), unique=True))},
    )  # fmt: skip
    dead = find_dead_states(flow)
    return msgspec.structs.replace(flow, steps={name: step for name, step in flow.steps.items() if name not in dead})


@st.composite
def cases(draw: st.DrawFn) -> TableCase:
    return TableCase(
        ticket_id="T-1", pick=draw(st.sampled_from(["", "nobody", *ROLES])),
        team=tuple(draw(st.lists(st.sampled_from([*ROLES, "nobody"]), max_size=3))),
    )  # fmt: skip


class Script(msgspec.Struct):
    """What happens, one number each; when it is used up, only time passes."""

    mood: str
    rolls: list[int]


MOODS = ("mixed", "right", "hand over", "in a circle")
scripts: st.SearchStrategy[Script] = st.builds(
    Script, st.sampled_from(MOODS), st.lists(st.integers(0, 999), min_size=5, max_size=90)
)


def as_answer(flow: Workflow, run: Run, mood: str, roll: int, role: str) -> Event:
    """An answer of this role to its step: right, wrong, a lie, or the task handed over."""
    step = flow.steps[run.state]
    right = [step.answer] if isinstance(step, FanOut) else list(step.then)
    if role == BOSS and run.breach:
        right = [End]
    choices: list[Event] = [made(kind, roll) for kind in right]
    peers = sorted(step.peers) if isinstance(step, Step) and role != BOSS else []
    if peers and mood == "in a circle":  # the next one of the ring
        later = [each for each in peers if each > role]
        return Handover(to=(later or peers)[0], reason="round")
    if peers and mood == "hand over":
        choices = [Handover(to=to, reason="?", context=str(roll % 3)) for to in peers]
    elif mood == "mixed":
        choices += [A(fact=roll % 5), C(), End(status="resolved"), Failed(request="", error="?"), RunStopped()]
        choices += [Handover(to=to, reason="?") for to in (*ROLES, BOSS, "nobody")]
        choices += [InvalidAnswer(what="str"), *(made(kind, roll) for kind in right * 6)]
    return choices[roll % len(choices)]


def made(kind: type[Event], roll: int) -> Event:
    if kind is End:
        return End(status="resolved")
    return kind() if kind is C else kind(fact=roll % 3)
