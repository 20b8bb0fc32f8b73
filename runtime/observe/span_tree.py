"""The spans of a run, of what is kept of it anyway: its journal, those of the runs within it, noted steps. Pure."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from actors.evidence.trace_steps import BY_MODEL, AnswerStep, CallStep, SearchStep, ToolStep, TraceStep, clip
from actors.ports import Entry
from actors.workflow.outcome import EndReason, Outcome
from actors.workflow.tables import InvalidAnswer, PendingHandoff, Run, TimeUp
from actors.workflow.transitions import make_request
from bus import Failed
from runtime.observe.span import FoundIntent, SpanKind, SpanStatus, TraceSpan, make_span_id
from runtime.storage.journal import Course, ReadIntent
from runtime.storage.records import StoredRun
from runtime.user_text import pluralize

KINDS: Mapping[type[TraceStep], SpanKind] = {
    SearchStep: "search", CallStep: "model", ToolStep: "tool", AnswerStep: "claims",
}  # fmt: skip
TAG = re.compile(r'^\{"type":"[^"]*",?')
"""How the JSON of an event begins: its name stands before it anyway."""
READ_CHARACTERS = 2_000
"""Of what an agent was asked and answered: more is shortened anyway."""
LATE = 0.05
"""Seconds by which the clocks of a step and of the event that followed from it may differ."""


class TracedRun(NamedTuple):
    """One run of a trace: the outermost, or one within it."""

    stored: StoredRun
    course: Course
    outcome: Outcome | None
    question: str = ""


class SpanTree:
    """The spans of one outermost run in the making."""

    def __init__(
        self, trace: str, find_intent: ReadIntent, price: Callable[[int, int], float | None],
        hide: Callable[[str], str],
    ) -> None:  # fmt: skip
        """
        :param trace: its id; with it all ids of spans are given.
        :param find_intent: in an event that tells one.
        :param price: what tokens in and out cost; None: unknown.
        :param hide: takes secrets and personal data out of a text.
        """
        self._trace, self._find_intent, self._price, self._hide = trace, find_intent, price, hide
        self._spans: dict[str, TraceSpan] = {}
        self._agents: dict[tuple[str, int], str] = {}
        """The ids of their spans, by run and number of the handoff."""
        self._root = ""
        self._by_model: list[str] = []
        """Searches that a model made, until it is known by which tool."""

    def build(self, runs: Sequence[TracedRun], steps: Sequence[TraceStep]) -> tuple[TraceSpan, ...]:
        """
        All spans, each behind its parent, in the order in which they began.

        :param runs: the outermost first.
        :param steps: as noted, in their order.
        """
        for run in sorted(runs, key=lambda each: each.stored.id.count(".")):
            self._add_run(run)
        for number, step in enumerate(steps):
            self._add_step(number, step)
        return tuple(self._sort())

    def _add_run(self, run: TracedRun) -> None:
        parent, _, number = run.stored.id.rpartition(".")
        above = self._agents.get((parent, int(number) if number.isdigit() else 0), self._root)
        begin = self._spans[above].begin if above else 0.0
        outcome = run.outcome
        answer = outcome.resolution.text if outcome and outcome.resolution else ""
        span = self._make(
            "run", run.stored.workflow, begin, outcome.seconds if outcome else None, run.stored.id, parent=above,
            input=self._shorten(run.question), output=self._shorten(answer), status=_judge_end(outcome),
            why=self._shorten(outcome.detail) if outcome else "",
        )  # fmt: skip
        self._root = self._root or span
        self._add_agents(run, span, begin)

    def _add_agents(self, run: TracedRun, above: str, offset: float) -> None:
        """A span from each handoff to an agent until its answer, or until nobody waited for it any more."""
        (_, entries, stood), before = run.course, run.course.stood[0]
        for pending in before.open:
            self._open_agent(run, before, pending, above, offset)
        for entry, now in zip(entries, stood[1:], strict=True):
            was_open = {each.number for each in before.open}
            for pending in before.open:
                if all(each.number != pending.number for each in now.open):
                    self._close_agent(run, pending, entry, _judge_answer(entry, before, now), offset)
            for pending in now.open:
                if pending.number not in was_open:
                    self._open_agent(run, now, pending, above, offset)
            found, place = self._find_intent(entry.event), (run.stored.id, entry.number)
            if found and place in self._agents:
                self._add_intent(found, place, [each.role for each in now.open], entry.at + offset)
            before = now

    def _open_agent(self, run: TracedRun, where: Run, pending: PendingHandoff, above: str, offset: float) -> None:
        begin = where.handoffs[pending.number - 1].at + offset
        place = (run.stored.id, pending.number)
        asked = self._describe(make_request(run.course.flow, where, pending))
        self._agents[place] = self._make(
            "agent", pending.role, begin, None, *place, parent=above, status="running", input=asked
        )

    def _close_agent(
        self, run: TracedRun, pending: PendingHandoff, entry: Entry, judged: tuple[SpanStatus, str], offset: float
    ) -> None:
        span = self._spans[self._agents[run.stored.id, pending.number]]
        answered = entry.number == pending.number and entry.sender == pending.role
        status, why = judged if answered else _judge_silence(entry)
        self._change(
            span.id, seconds=_round(entry.at + offset - span.begin), status=status, why=self._shorten(why),
            output=self._describe(entry.event) if answered else "",
        )  # fmt: skip

    def _add_intent(self, found: FoundIntent, place: tuple[str, int], chosen: list[str], at: float) -> None:
        """What a ticket asks for is a span of who found it, and to whom it went therefore is another."""
        agent = self._spans[self._agents[place]]
        self._make(
            "classification", found.name, agent.begin, agent.seconds, *place, "intent", parent=agent.id,
            input=agent.input, output=found.name, by="rules", category=found.category, confidence=found.confidence,
        )  # fmt: skip
        if names := ", ".join(chosen):
            self._make("routing", names, at, 0.0, *place, "to", parent=agent.id, input=found.name, output=names)

    def _add_step(self, number: int, step: TraceStep) -> None:
        agent = self._find_agent(step)
        begin = step.at - step.seconds if step.at else agent.begin if agent else 0.0
        seconds = step.seconds if step.at else None
        name, said = _describe_step(step)
        if isinstance(step, CallStep):
            said["cost"] = self._price(step.tokens_in, step.tokens_out)
        span = self._make(KINDS[type(step)], name, begin, seconds, "step", number,
                          parent=agent.id if agent else self._root, **said)  # fmt: skip
        match step:
            case SearchStep(by=by) if by == BY_MODEL:
                self._by_model.append(span)
            case ToolStep():
                for each in self._by_model:
                    if self._spans[each].begin >= begin - LATE:
                        own = {} if self._spans[each].seconds else {"begin": _round(begin), "seconds": step.seconds}
                        self._change(each, parent=span, **own)
                self._by_model = []
            case CallStep(failed="") if agent:
                for found in [each for each in self._spans.values() if each.kind == "classification"]:
                    if found.parent == agent.id:
                        self._change(found.id, by="model")

    def _find_agent(self, step: TraceStep) -> TraceSpan | None:
        """Who worked on it: of that name, asked last by then; else whoever was asked last and is at it still."""
        agents = [self._spans[each] for each in self._agents.values()]
        named = [each for each in agents if each.name == step.by] or [
            each for each in agents if step.at <= _find_end(each)
        ]
        begun = [each for each in named if each.begin <= step.at]
        return max(begun, key=lambda each: each.begin) if begun else named[0] if named else None

    def _make(self, kind: SpanKind, name: str, begin: float, seconds: float | None, *place: object, **more: Any) -> str:
        """:param place: what tells it from all others of the trace."""
        span = TraceSpan(
            id=make_span_id(self._trace, *place), kind=kind, name=name, begin=_round(begin),
            seconds=None if seconds is None else _round(seconds), **more,
        )  # fmt: skip
        self._spans[span.id] = span
        return span.id

    def _change(self, span: str, **changed: Any) -> None:
        self._spans[span] = msgspec.structs.replace(self._spans[span], **changed)

    def _describe(self, said: object) -> str:
        body = msgspec.json.encode(said)[:READ_CHARACTERS].decode("utf-8", "ignore")
        return self._shorten(f"{type(said).__name__} {TAG.sub('{', body, count=1)}")

    def _shorten(self, text: str) -> str:
        return clip(self._hide(text[:READ_CHARACTERS]))

    def _sort(self) -> Iterator[TraceSpan]:
        below: dict[str, list[TraceSpan]] = {}
        for each in self._spans.values():
            below.setdefault(each.parent, []).append(each)

        def walk(parent: str) -> Iterator[TraceSpan]:
            for each in sorted(below.get(parent, ()), key=lambda each: each.begin):
                yield each
                yield from walk(each.id)

        yield from walk("")


def _describe_step(step: TraceStep) -> tuple[str, dict[str, Any]]:
    """What it is called, and what else is said of its span."""
    match step:
        case SearchStep():
            said = {"input": step.query, "output": _count_hits(step), "why": step.failed or step.abstain}
            return step.where, said | {"status": "failed" if step.failed else "ok"}
        case CallStep():
            said = {"input": step.shape, "why": step.failed or step.repaired}
            tokens = {"tokens_in": step.tokens_in, "tokens_out": step.tokens_out}
            return step.model, said | tokens | {"status": "failed" if step.failed else "ok"}
        case ToolStep():
            output = step.result or (pluralize(step.passages, "passage") if step.passages else "")
            said = {"input": step.arguments, "output": output, "why": step.failed}
            return step.tool, said | {"status": "failed" if step.failed else "ok"}
        case AnswerStep():
            return "claims", {"input": step.asked, "output": _count_fates(step)}


def _judge_end(outcome: Outcome | None) -> SpanStatus:
    if outcome is None:
        return "running"
    return {"error": "failed", "cancelled": "cancelled"}.get(outcome.status, "ok")  # type: ignore[return-value]


def _judge_answer(entry: Entry, before: Run, now: Run) -> tuple[SpanStatus, str]:
    """How an agent's answer was taken, and why it was no good."""
    match entry.event:
        case Failed(error=error):
            return "failed", error
        case InvalidAnswer(what=what):
            return "refused", what
    reasons = {each.reason for each in now.handoffs[len(before.handoffs) :]}
    return ("refused" if EndReason.ANSWERS_REFUSED in reasons else "ok"), ""


def _judge_silence(entry: Entry) -> tuple[SpanStatus, str]:
    return ("timed_out", "It did not answer in time.") if isinstance(entry.event, TimeUp) else ("cancelled", "")


def _find_end(span: TraceSpan) -> float:
    return math.inf if span.seconds is None else span.begin + span.seconds + LATE


def _count_hits(step: SearchStep) -> str:
    found = len(step.found) + step.more
    return f"{found} found"


def _count_fates(step: AnswerStep) -> str:
    fates = [each.fate for each in step.claims]
    counts = [f"{fates.count(fate)} {fate}" for fate in ("kept", "rewritten", "dropped") if fate in fates]
    return ", ".join([*counts, *([f"{step.more} more"] if step.more else [])]) or "none"


def _round(seconds: float) -> float:
    return round(max(0.0, seconds), 3)
