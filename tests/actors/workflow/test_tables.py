"""Random tables and random agents against the pure rules: nothing exceeds what `verify` promised, and all must end."""

import math

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from actors.workflow.advance import advance, begin, next_due, replay
from actors.workflow.loops import repeating_pattern
from actors.workflow.outcome import EndReason
from actors.workflow.tables import (
    CLOSING_SECONDS,
    MAX_RESUMES,
    ORCHESTRATOR,
    FanOut,
    NotDelivered,
    PendingHandoff,
    Run,
    RunResumed,
    RunStopped,
    TimeUp,
    Workflow,
)
from actors.workflow.transitions import HandOff, Refuse, Terminate, Verdict
from actors.workflow.verify import InvalidWorkflow, verify
from bus import Event
from tests.actors.workflow.tables import BOSS, A, Script, TableCase, as_answer, cases, scripts, workflows

MOST_EVENTS = 2_000


class Play:
    """One run, driven by a script as an Orchestrator would be driven, and watched at each of its moves."""

    def __init__(self, flow: Workflow, case: TableCase) -> None:
        self.flow, self.case = flow, case
        self.promised = verify(flow, every_way=False)
        self.now = 0.0
        self.run, verdict = begin(flow, case)
        self.accepted: list[tuple[Event, str, int, float]] = []
        self.ends: list[Terminate] = []
        self.breached: float | None = None
        self.watch(self.run, verdict)

    def say(self, event: Event, sender: str = "", number: int = 0) -> None:
        before = self.run
        self.run, verdict = advance(self.flow, before, event, sender=sender, number=number, elapsed=self.now)
        if isinstance(verdict, Refuse):
            assert self.run is before, "a refused message changes nothing"
            return
        assert not self.ends, "nothing is accepted after the end"
        self.accepted.append((event, sender, number, self.now))
        self.watch(before, verdict)

    def watch(self, before: Run, verdict: Verdict) -> None:
        run = self.run
        assert len(run.handoffs) <= self.promised
        assert run.handoffs[: len(before.handoffs)] == before.handoffs, "what was made stays"
        if isinstance(verdict, Terminate):
            self.ends.append(verdict)
            assert verdict.by in {"", BOSS}
            assert (run.state, run.open) == (self.flow.final, ())
            return
        assert run.state != self.flow.final
        assert run.open, "somebody is always asked"
        self.watch_exit(before)
        assert self.now <= next_due(self.flow, run) < math.inf
        for opened in self.handed(verdict):
            assert self.now <= opened.due <= max(self.now, self.flow.max_seconds) + CLOSING_SECONDS
            assert opened.role in self.allowed(run)
        if run.breach and self.breached is None:
            self.breached = self.now
        if not isinstance(verdict, Refuse) and run.state == before.state and run.resumed == before.resumed:
            self.watch_team(before)
        for source in run.stage_retries:
            same = [each for each in run.stage_retries if (each.source, each.target) == (source.source, source.target)]
            assert len(same) <= 3
        if not run.breach:
            assert repeating_pattern(run.handovers) is None

    def watch_exit(self, before: Run) -> None:
        """Where a fan-out led, by what became of its members.

        Where it may lead to another fan-out, that one may be over at once with nobody to ask, and what stands in the
        case is then no longer the first one's.
        """
        step, run = self.flow.steps[before.state], self.run
        if run.state == before.state or not isinstance(step, FanOut):
            return
        if any(isinstance(self.flow.steps[name], FanOut) for name in (step.on_all, step.on_some, step.on_none)):
            return
        answered = [each.answer is not None for each in run.case.found]
        exit_ = step.on_none if not any(answered) else step.on_all if all(answered) else step.on_some
        assert run.state == exit_

    def watch_team(self, before: Run) -> None:
        """Who of a team is asked again has no more time for it, and what has settled stays."""
        if not isinstance(self.flow.steps[self.run.state], FanOut) or self.run.breach:
            return
        due = {opened.role: opened.due for opened in before.open}
        assert all(opened.due <= due[opened.role] for opened in self.run.open)
        assert set(before.case.found) <= set(self.run.case.found)

    def handed(self, verdict: Verdict) -> list[PendingHandoff]:
        if not isinstance(verdict, HandOff):
            return []
        opened = {each.number: each for each in self.run.open}
        return [opened[number] for number in verdict.numbers]

    def allowed(self, run: Run) -> set[str]:
        step = self.flow.steps[run.state]
        if run.breach:
            return {BOSS}
        return set(step.team) if isinstance(step, FanOut) else {step.hand_to, *step.peers}

    def act(self, mood: str, roll: int) -> None:
        """One thing happens, but never later than the clock would have rung."""
        what, roll = roll % 16, roll // 16
        if self.ends:
            self.say(as_answer(self.flow, Run("closing", self.case), mood, roll, BOSS), BOSS, len(self.run.handoffs))
            return
        opened = self.run.open[roll % len(self.run.open)]
        if mood != "mixed" and what > 9:
            what = 0 if what < 15 else 8
        if what < 8:
            self.say(as_answer(self.flow, self.run, mood, roll, opened.role), opened.role, opened.number)
        elif what < 10:
            self.now = min(self.now + roll % 7, next_due(self.flow, self.run))
        elif what == 10:
            self.ring()
        elif what == 11:
            self.say(RunStopped())
        elif what == 12:
            self.say(RunResumed())
        elif what == 13:
            self.say(NotDelivered(handoff=opened.number, error="no such"), ORCHESTRATOR)
        elif what == 14:  # late, or for somebody else
            self.say(as_answer(self.flow, self.run, mood, roll, opened.role), opened.role, opened.number - 1)
            self.say(A(fact=1), "r1" if opened.role != "r1" else "r2", opened.number)
        else:
            self.say(TimeUp())

    def ring(self) -> None:
        self.now = max(self.now, next_due(self.flow, self.run))
        self.say(TimeUp(), ORCHESTRATOR)

    def end(self) -> None:
        """Only time passes."""
        for _ in range(MOST_EVENTS):
            if self.ends:
                return
            self.ring()
        pytest.fail("it does not end")


def started(flow: Workflow, case: TableCase) -> Play:
    try:
        verify(flow, every_way=False)
    except InvalidWorkflow as error:
        assume("when all goes well" not in str(error))
        raise
    return Play(flow, case)


@pytest.mark.req("HD-1.2", "HD-1.3", "HD-3.3", "HD-4.6", "SY-2", "SY-3")
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(workflows(), cases(), scripts)
def test_every_run_of_every_table_ends_once_in_time_within_its_promise(
    flow: Workflow, case: TableCase, script: Script
) -> None:
    play = started(flow, case)

    for roll in script.rolls:
        play.act(script.mood, roll)
    play.end()
    for roll in script.rolls[:10]:
        play.act(script.mood, roll)

    assert len(play.ends) == 1
    assert play.now <= flow.max_seconds + 2.0
    if play.breached is not None:
        assert play.now - play.breached <= 2.0 * (1 + play.run.resumed), (
            "each resume gives the terminator its time anew"
        )
    (end,) = play.ends
    if end.why is EndReason.COMPLETED:
        assert end.by == BOSS
    assert play.run.resumed <= MAX_RESUMES + 1
    again, verdict = replay(flow, case, play.accepted)
    assert again == play.run
    assert verdict == end


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(workflows(), cases(), scripts, st.integers(0, 79))
def test_a_run_that_is_rebuilt_in_the_middle_goes_on_the_same(
    flow: Workflow, case: TableCase, script: Script, cut: int
) -> None:
    play, other = started(flow, case), Play(flow, case)
    for roll in script.rolls[:cut]:
        play.act(script.mood, roll)

    for event, sender, number, at in play.accepted:
        other.now = at
        other.say(event, sender, number)
    other.now = play.now
    assert other.run == play.run
    for roll in script.rolls[cut:]:
        play.act(script.mood, roll)
        other.act(script.mood, roll)

    assert other.run == play.run
    assert other.ends == play.ends


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(workflows(), cases(), st.integers(1, 40))
def test_a_process_that_dies_again_and_again_with_a_run_does_not_do_so_for_ever(
    flow: Workflow, case: TableCase, seconds: int
) -> None:
    play = started(flow, case)
    deaths = 0
    while not play.ends:
        play.now += seconds * 1e-3
        if next_due(flow, play.run) <= play.now:
            play.ring()
            continue
        play.say(RunResumed())
        deaths += 1
        assert deaths <= 2 * MAX_RESUMES

    assert play.ends[0].why in {EndReason.CRASHED_REPEATEDLY, EndReason.STEP_TIMED_OUT, EndReason.TIMED_OUT}


@given(st.lists(st.sampled_from("abc"), max_size=40))
def test_the_pattern_that_is_found_is_the_shortest_that_comes_three_times(path: list[str]) -> None:
    found = repeating_pattern(path)

    slow = [n for n in range(1, len(path) + 1) if len(path) >= 3 * n and path[-3 * n :] == path[-n:] * 3]
    assert found == (tuple(path[-slow[0] :]) if slow else None)
