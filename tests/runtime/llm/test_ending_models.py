"""A model that says that it ends the run, or hands over to nobody: the ticket is answered all the same."""

from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from actors.drafting.drafts import Draft
from actors.helpdesk.output_schemas import Analysis, Summary
from actors.workflow.outcome import EndReason, Outcome
from runtime.llm.output_schema import ends_run, says_nothing
from runtime.tickets import Ticket
from tests.fake_openai import FakeOpenAI, says
from tests.runtime.families.modelled import thinking

END = {"type": "TERMINATE_WORKFLOW"}
TEXT = "How does Halyard evict entries of its cache?"
QUOTE = "Halyard evicts the entry that was used least recently."
SOURCE = "docs/eviction.md"


async def asked(folder: Path, said: Any, **model: Any) -> tuple[Outcome, list[Any], int]:
    """What became of a ticket, what was logged, and how often the model was asked."""
    with capture_logs() as lines:
        async with FakeOpenAI(says(said)) as server, thinking(folder, server, **model) as node:
            handle = await node.submit(Ticket(id="T-1", text=TEXT))
            outcome = await handle.outcome()
            return outcome, list(lines), len(server.bodies)


def refused(lines: list[Any]) -> list[str]:
    return [each["agent"] for each in lines if each["event"] == "termination.refused"]


@pytest.mark.req("HD-5.4")
@pytest.mark.parametrize("said", [END, f"```json\n{END}\n```".replace("'", '"')], ids=["plain", "in a block"])
async def test_a_model_that_says_nothing_but_that_it_ends_the_run_is_asked_again_and_then_done_without(
    tmp_path: Path, said: Any
) -> None:
    outcome, lines, calls = await asked(tmp_path, said)

    assert (outcome.why, outcome.by, outcome.status) == (EndReason.COMPLETED, "ticketing", "suggested")
    assert outcome.resolution is not None
    assert outcome.resolution.citations[0].source == SOURCE
    assert outcome.degraded
    assert refused(lines) == ["ticketing"] * 2 + ["worker"], "then nobody asks it any more"
    assert calls == 3
    assert {each["log_level"] for each in lines if each["event"] == "termination.refused"} == {"warning"}
    assert not [each for each in lines if each["event"] == "handoff.repeated"], "it cost no retry"


@pytest.mark.req("HD-5.4")
async def test_what_it_says_besides_is_used(tmp_path: Path) -> None:
    claims = [{"text": QUOTE, "passage": n, "quote": QUOTE} for n in range(1, 4)]
    everything = {**END, "claims": claims, "pass_on": None, "intent": "question", "urgency": "low", "question": TEXT,
                  "language": "en", "summary": QUOTE,
                  "verdicts": [{"number": n, "verdict": "entailed"} for n in range(1, 4)]}  # fmt: skip

    outcome, lines, calls = await asked(tmp_path, everything)

    assert (outcome.status, outcome.degraded, calls) == ("resolved", "", 4)
    assert refused(lines) == ["ticketing", "worker", "worker", "summarization"]


async def test_a_model_that_hands_over_to_nobody_loses_no_ticket(tmp_path: Path) -> None:
    everything = {"claims": [], "pass_on": {"to": "nobody", "reason": "?"}, "intent": "question", "urgency": "low",
                  "question": TEXT, "language": "en", "summary": QUOTE}  # fmt: skip

    outcome, lines, _ = await asked(tmp_path, everything)

    assert (outcome.why, outcome.status) == (EndReason.COMPLETED, "suggested")
    assert outcome.resolution is not None
    assert outcome.resolution.citations[0].source == SOURCE
    assert outcome.degraded == "model_failed"
    assert len([each for each in lines if each["event"] == "handover.dropped"]) == 2


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ('{"type": "TERMINATE_WORKFLOW"}', True),
        ('<think>{}</think>{"type": "TERMINATE_WORKFLOW", "claims": []}', True),
        ('{"summary": "It said: TERMINATE_WORKFLOW"}', False),
        ('{"type": "WORKFLOW_COMPLETE", "summary": "TERMINATE_WORKFLOW"}', False),
        ('{"type": ["TERMINATE_WORKFLOW"]}', False),
        ("TERMINATE_WORKFLOW", False),
        ('{"draft": {"type": "TERMINATE_WORKFLOW"}}', False),
    ],
)
def test_no_text_is_searched_for_the_marker(text: str, *, ends: bool) -> None:
    assert ends_run(text) is ends


def test_an_answer_says_nothing_when_all_in_it_is_what_it_would_be_anyway() -> None:
    assert says_nothing(Draft())
    assert not says_nothing(Summary(""))
    assert not says_nothing(Analysis("other", "low", ""))
