"""Researches whose model fails: each ends with a report, says what failed, and shows what the sources say."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from actors.research.models import ResearchOptions
from actors.text.catalogue import say
from actors.workflow.outcome import EndReason
from runtime.tickets import Ticket
from tests.fake_openai import FakeOpenAI, Step, cuts, drips, fails, hangs, refuses, resets, says, sends
from tests.patience import HANGS_SECONDS, promised
from tests.runtime.families.modelled import LRU, answers, case_of, honest, research, researched, shapes, thinking
from tests.runtime.families.test_research_runs import QUESTION
from tests.thinking import Asked, answer, claim, thinks

FAULTS: dict[str, Step] = {
    "an error of the server": fails(500, "It broke."),
    "a refused key": fails(401, "Wrong key."),
    "too many requests": fails(429, "Slow down.", headers={"Retry-After": "60"}),
    "a refusal": refuses("I cannot help with that."),
    "a filter": says({}, finish="content_filter"),
    "an answer that is cut": says('{"claims": [', finish="length"),
    "no JSON": says("I would rather not."),
    "other JSON": says({"claims": 7, "questions": {}}),
    "nothing": sends(b""),
    "half an answer": cuts(),
    "a broken connection": resets(),
    "a slow answer": drips(),
    "silence": hangs(),
}
BRIEFLY: dict[str, Any] = {"call_seconds": 0.6, "tries": 1}


def later(step: Step, *, times: int = 1) -> Any:
    """This fault for so many requests, then honesty."""
    left = times

    def how(it: Asked) -> Any:
        nonlocal left
        left -= 1
        return step if left >= 0 else answer(it)

    return how


@pytest.mark.req("PR-1", "PR-7")
@pytest.mark.parametrize("what", FAULTS)
async def test_a_model_that_never_answers_leaves_a_report_of_quotes_that_says_so(what: str, tmp_path: Path) -> None:
    outcome, report = await research(tmp_path, FAULTS[what], **BRIEFLY)

    assert (outcome.status, outcome.why) == ("suggested", EndReason.COMPLETED)
    assert honest(outcome, report)
    assert outcome.resolution is not None
    assert LRU in outcome.resolution.text
    assert outcome.degraded in {"model_failed", "model_slow"}
    assert say(outcome.degraded, "en") in report.notes
    assert report.partial == "", "nothing was left out for it"


@pytest.mark.parametrize("what", ["an error of the server", "no JSON", "silence"])
async def test_without_a_lesser_model_the_passages_are_quoted_all_the_same(what: str, tmp_path: Path) -> None:
    outcome, report = await research(tmp_path, FAULTS[what], **BRIEFLY, fallback=False)

    assert (outcome.status, outcome.why) == ("suggested", EndReason.COMPLETED)
    assert honest(outcome, report)
    assert outcome.degraded in {"model_failed", "model_slow"}
    assert say(outcome.degraded, "en") in report.notes


@pytest.mark.parametrize("shape", ["PlanDraft", "Answer", "Overview"])
async def test_a_model_that_fails_at_one_task_only_is_used_for_the_others(shape: str, tmp_path: Path) -> None:
    async with FakeOpenAI(thinks(**{shape: refuses("No.")})) as server, thinking(tmp_path, server) as node:
        outcome, report = await researched(node, depth=1)

        assert outcome.why is EndReason.COMPLETED
        assert honest(outcome, report)
        assert {"PlanDraft", "Answer", "Overview"} == {*shapes(server)} - {"SecondReading"}
        assert any(say("model_failed", "en") in note for note in report.notes)
        assert (outcome.status == "suggested") == (shape != "Overview"), "what was judged complete stays so"


async def test_an_answer_that_is_no_json_is_asked_for_again_and_then_counts(tmp_path: Path) -> None:
    async with FakeOpenAI(thinks(Answer=later(says("Well, {")))) as server, thinking(tmp_path, server) as node:
        outcome, report = await researched(node)

        assert (outcome.status, outcome.degraded) == ("resolved", "")
        assert shapes(server).count("Answer") == 2
        assert honest(outcome, report)


@pytest.mark.parametrize(
    "step", [fails(500), fails(429, headers={"Retry-After": "1"}), resets(), cuts()], ids=["500", "429", "reset", "cut"]
)
async def test_a_fault_that_passes_is_not_seen_in_the_report(step: Step, tmp_path: Path) -> None:
    outcome, report = await research(tmp_path, thinks(Answer=later(step)))

    assert (outcome.status, outcome.degraded) == ("resolved", "")
    assert honest(outcome, report)


async def test_what_failed_in_the_first_round_is_told_after_a_second_one_that_went_well(tmp_path: Path) -> None:
    def plan(it: Asked) -> Any:
        asked_for = it.material.get("direction") or QUESTION
        return {"questions": [asked_for], "queries": [asked_for], "sides": []}

    def then(it: Asked) -> Any:
        deeper = it.material["question"] != QUESTION
        return answers(*it.claims(9), answered=deeper, directions=() if deeper else ("Metrics of Halyard evictions",))

    def first(it: Asked) -> Any:
        return refuses("No.") if "direction" not in it.material else plan(it)

    async with FakeOpenAI(thinks(PlanDraft=first, Answer=then)) as server, thinking(tmp_path, server) as node:
        outcome, report = await researched(node)

        assert (await case_of(node, outcome)).rounds == 2
        assert outcome.degraded == "model_failed"
        assert outcome.status == "suggested"
        assert say("model_failed", "en") in report.notes


async def test_a_server_that_goes_away_in_the_middle_leaves_a_whole_report(tmp_path: Path) -> None:
    async with FakeOpenAI(thinks(Answer=hangs())) as server, thinking(tmp_path, server, **BRIEFLY) as node:
        handle = await node.submit(Ticket(text=QUESTION, workflow="research", options=ResearchOptions()))
        await server.until(lambda: len(server.bodies) > 1)
        await server.__aexit__(None, None, None)
        outcome = await handle.outcome()

        assert outcome.why is EndReason.COMPLETED
        assert honest(outcome, await node.report(outcome.run))
        assert outcome.degraded in {"model_failed", "model_slow"}


@pytest.mark.req("PR-30", "PR-31")
@pytest.mark.parametrize("shape", ["PlanDraft", "Answer", "Points", "Overview"])
async def test_cancelled_while_the_model_is_silent_it_ends_with_what_it_has(shape: str, tmp_path: Path) -> None:
    question = "Which advantages and limitations has the cache of Halyard, compared with alternatives?"

    def plan(it: Asked) -> Any:
        return {"questions": [QUESTION], "queries": [QUESTION], "sides": []}

    said = {"PlanDraft": plan, shape: hangs()}
    async with FakeOpenAI(thinks(**said)) as server, thinking(tmp_path, server, call_seconds=60.0) as node:
        handle = await node.submit(Ticket(text=question, workflow="research", options=ResearchOptions(depth=1)))
        await server.until(lambda: bool(server.bodies) and shapes(server)[-1] == shape)
        began = time.monotonic()
        handle.cancel()
        outcome = await asyncio.wait_for(handle.outcome(), HANGS_SECONDS)

        assert time.monotonic() - began < promised(2.0)
        assert (outcome.status, outcome.why) == ("cancelled", EndReason.CANCELLED)
        report = await node.report(outcome.run)
        assert report.partial.startswith("It was cancelled.")
        assert honest(outcome, report)
        assert outcome.resolution is not None
        assert (LRU in outcome.resolution.text) == (shape != "PlanDraft"), "what was read is quoted"
        assert len(server.bodies) == len(shapes(server)), "nothing new starts"
        await server.until(lambda: server.hung_up == shapes(server).count(shape))


async def test_sources_that_disagree_are_both_shown_though_the_model_chose_one(tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    async with FakeOpenAI(thinks(Answer=_one_side)) as server, thinking(tmp_path, server) as node:
        for name, number in (("a", 4096), ("b", 2048)):
            text = f"# Limits of Halyard {name}\n\nThe cache of Halyard holds {number} entries by default.\n"
            await asyncio.to_thread((more / f"{name}.md").write_text, text, encoding="utf-8")
        await node.index([str(more)], lambda _: None)

        outcome, _ = await researched(node, "How many entries does the cache of Halyard hold by default?")

        assert outcome.resolution is not None
        assert "4096 entries by default" in outcome.resolution.text
        assert "2048 entries by default" in outcome.resolution.text


def _one_side(it: Asked) -> Any:
    number = next(n for n, text in enumerate(it.passages, 1) if "4096 entries by default" in text)
    return answers(claim("It holds 4096 entries by default.", number, "holds 4096 entries by default"))
