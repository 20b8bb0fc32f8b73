"""
The trace of a run: its steps go into the database with the event that they led to, in the same transaction.

A run keeps so many bytes of it and no more; the runs within it share its trace. Secrets and personal data are taken out
before a step is kept.
"""

import asyncio
from asyncio import get_running_loop
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from actors.evidence.passages import SearchHits
from actors.evidence.sources import Page
from actors.evidence.trace_steps import (
    QUERY_CHARACTERS,
    AnswerStep,
    CallStep,
    OmittedSteps,
    SearchStep,
    ToolStep,
    TraceStep,
    clip,
    make_search_step,
)
from actors.ports import Entry, Knowledge, PortFailed, Reading, Trace
from actors.text.redaction import RedactionRule, apply_rules, find_rules
from runtime.observe.meters import meters
from runtime.storage.packing import unpack
from runtime.storage.port import RunStore
from runtime.storage.records import Record

Step = TypeVar("Step", bound=TraceStep)

KIND = "trace"
KILOBYTES = 36
"""What a run may keep of it, as JSON; on the disk that is a third or less."""
ROOM = {SearchStep: 16 << 10, AnswerStep: 10 << 10, CallStep: 6 << 10, ToolStep: 4 << 10}
"""Of that each kind has its own share: many searches are not to hide why a claim was dropped."""
LATEST = 1000
"""More parts than a run has events."""

_NO_SECRETS = b'"tokens_'
"""How the names of a step's own fields begin: none of them is a secret."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[TraceStep | OmittedSteps]).decode


class RunTrace:
    """`actors.ports.Trace` of an outermost run."""

    __slots__ = ("_fresh", "_left", "_loop", "_omitted", "_redact", "_started")

    def __init__(
        self, elapsed: float = 0.0, known: Iterable[TraceStep | OmittedSteps] = (), *, redact: bool = True
    ) -> None:
        """
        :param elapsed: seconds since the run began.
        :param known: what earlier processes kept of it.
        :param redact: secrets and personal data are taken out of what is kept.
        """
        self._redact = redact
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time() - elapsed
        self._left = dict(ROOM)
        self._fresh: list[bytes] = []
        self._omitted = 0
        for step in known:
            if not isinstance(step, OmittedSteps):
                self._left[type(step)] -= len(_encode(step))

    def note(self, step: TraceStep) -> None:
        """Keep a step; shorter where there is little room, and only that there was one where there is none."""
        meters.count_step(step)
        step = msgspec.structs.replace(step, at=round(self._loop.time() - self._started, 3))
        if self._redact:
            step = redact_step(step)
        for each in (step, step.abridge()):
            body = _encode(each)
            if len(body) <= self._left[type(step)]:
                self._left[type(step)] -= len(body)
                self._fresh.append(body)
                return
        self._omitted += 1

    def take(self) -> bytes:
        """What was noted since this was called last; empty when nothing was."""
        if self._omitted:
            self._fresh.append(_encode(OmittedSteps(self._omitted)))
        body = b"[%s]" % b",".join(self._fresh) if self._fresh else b""
        self._fresh, self._omitted = [], 0
        return body

    def steps(self) -> list[TraceStep | OmittedSteps]:
        """What was noted and not taken yet."""
        return _decode(b"[%s]" % b",".join(self._fresh))


class Traces:
    """Those of the runs that go on in this process, by the id of the outermost run."""

    def __init__(self, *, redact: bool = True) -> None:
        self._open: dict[str, RunTrace] = {}
        self._redact = redact

    def begin(self, run: str, elapsed: float = 0.0, known: Sequence[TraceStep | OmittedSteps] = ()) -> RunTrace:
        """The trace of a run that begins, or goes on."""
        trace = self._open[run] = RunTrace(elapsed, known, redact=self._redact)
        return trace

    def end(self, run: str) -> None:
        """The run is over: what is noted from now on belongs to nothing."""
        self._open.pop(run, None)

    def take(self, entry: Entry) -> Sequence[Record]:
        """What is to be kept in one transaction with an event of a run."""
        outermost = find_outermost(entry.run)
        trace = self._open.get(outermost)
        body = trace.take() if trace else b""
        if not body:
            return ()
        name = f"{entry.run}#{entry.n:03}"
        return (Record(kind=KIND, id=name, run=outermost, body=body, replaces=True, packed=True),)

    def list_pending(self, run: str) -> list[TraceStep | OmittedSteps]:
        """What a run noted that is not durable yet."""
        trace = self._open.get(find_outermost(run))
        return trace.steps() if trace else []


def redact_step(step: Step) -> Step:
    """The same, without secrets and personal data; the very same where there are none."""
    rules = find_rules(_encode(step).replace(_NO_SECRETS, b""))
    if not rules:
        return step
    value = msgspec.to_builtins(step)
    kept = _redact_within(rules, value)
    return step if kept == value else msgspec.convert(kept, type(step))


def _redact_within(rules: Sequence[RedactionRule], value: Any) -> Any:
    if isinstance(value, str):
        return apply_rules(rules, value)
    if isinstance(value, dict):
        return {key: _redact_within(rules, each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_redact_within(rules, each) for each in value]
    return value


def find_outermost(run: str) -> str:
    """The run that a run is within; of an outermost one itself."""
    return run.partition(".")[0]


async def load_steps(store: RunStore, run: str) -> list[TraceStep | OmittedSteps]:
    """What is durable of a run's trace, in the order in which it was noted."""
    parts = await store.records(KIND, run=find_outermost(run), most=LATEST)
    steps = [step for part in parts for step in read_part(part.body)]
    return sorted(steps, key=lambda step: 0.0 if isinstance(step, OmittedSteps) else step.at)


def read_part(body: bytes) -> list[TraceStep | OmittedSteps]:
    """The steps of one record; none where it is damaged, or of a version that wrote others."""
    try:
        return _decode(unpack(body))
    except msgspec.MsgspecError:
        return []


DOCUMENTS, PAGES = "documents", "pages"


class TracedKnowledge:
    """`actors.ports.Knowledge` as one agent of one run asks it."""

    __slots__ = ("_by", "_knowledge", "_trace")

    def __init__(self, knowledge: Knowledge, trace: Trace, by: str) -> None:
        self._knowledge = knowledge
        self._trace = trace
        self._by = by

    async def search(
        self, question: str, *, within: float, limit: int | None = None, sources: Sequence[str] | None = None,
        linked: bool = False,
    ) -> SearchHits:  # fmt: skip
        """As `actors.ports.Knowledge`."""
        begun = get_running_loop().time()
        try:
            hits = await self._knowledge.search(question, within=within, limit=limit, sources=sources, linked=linked)
        except PortFailed as error:
            seconds = round(get_running_loop().time() - begun, 3)
            failed = SearchStep(
                self._by, clip(question, QUERY_CHARACTERS), DOCUMENTS, failed=clip(str(error)), seconds=seconds
            )
            self._trace.note(failed)
            raise
        seconds = get_running_loop().time() - begun
        self._trace.note(make_search_step(self._by, question, DOCUMENTS, hits, seconds))
        return hits


class TracedReading:
    """`actors.ports.Reading` as one agent of one run asks it."""

    __slots__ = ("_by", "_reading", "_trace")

    def __init__(self, reading: Reading, trace: Trace, by: str) -> None:
        self._reading = reading
        self._trace = trace
        self._by = by

    async def passages(
        self, questions: Sequence[str], pages: Sequence[Page], *, within: float
    ) -> tuple[SearchHits, ...]:
        """As `actors.ports.Reading`."""
        begun = get_running_loop().time()
        found = await self._reading.passages(questions, pages, within=within)
        seconds = get_running_loop().time() - begun
        for question, hits in zip(questions, found, strict=True):
            self._trace.note(make_search_step(self._by, question, PAGES, hits, seconds))
        return found
