"""The Reporter ends the run: with a model when there is time, without one when there is none."""

import asyncio
import time
from typing import Any

import msgspec
import pytest

from actors.drafting.drafts import SecondReading, StatementVerdict
from actors.evidence.claims import Claim
from actors.evidence.passages import SearchHits
from actors.ports import BudgetSpent, Completion, ModelFailed, ModelRequest
from actors.reporting.report import Report, body
from actors.research.messages import CloseResearch, ResearchClosed
from actors.research.models import ResearchOptions, Section
from actors.research.output_schemas import Overview
from actors.research.reporter import SUMMARY_CHARACTERS, Reporter
from actors.text.catalogue import say
from actors.workflow.outcome import EndReason
from runtime.agent_folder import load_roster
from runtime.families import extractive
from runtime.settings import Settings
from tests.actors.research import cases as c
from tests.fakes import TicketTable, approve


class Turn:
    """The part of a bus that the Reporter sees in one turn."""

    address = "reporter"

    def __init__(self, seconds: float = 100.0) -> None:
        self._seconds = seconds

    def remaining_seconds(self) -> float:
        return self._seconds


class Writes:
    """A model that writes these claims, or fails with this error; (text, quote) of the passage that has the quote."""

    def __init__(self, *claims: tuple[str, str], error: Exception | None = None, judged: bool = True) -> None:
        self.claims, self.error, self.judged = claims, error, judged
        self.tasks: list[tuple[type[Any], ModelRequest, float]] = []

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        if shape is SecondReading:
            return Completion(approve(task), judged=True)
        self.tasks.append((shape, task, within))
        await asyncio.sleep(0)
        if self.error:
            raise self.error
        passages = (task.findings or SearchHits()).passages
        claims = [
            Claim(text, next((n for n, p in enumerate(passages, 1) if quote in p.text), 1), quote)
            for text, quote in self.claims
        ]
        return Completion(Overview(tuple(claims)), passages, judged=self.judged)


class Hangs:
    """A model that does not keep to its time."""

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        await asyncio.Event().wait()
        raise AssertionError


WRITTEN = ("One charge of the Glim lamp lasts 18 hours.", c.GLIM.text)
QUOTED = c.case(analysis=None)


async def close(
    message: CloseResearch, model: Any = None, *, seconds: float = 100.0, tickets: Any = None
) -> ResearchClosed:
    reporter = Reporter(model or Writes(WRITTEN), tickets or TicketTable(), "Write.", "R-1")
    return await reporter.receive(message, Turn(seconds))  # type: ignore[arg-type]


def overview(closed: ResearchClosed) -> list[str]:
    assert closed.report is not None
    return [line.text for line in closed.report.overview]


@pytest.mark.req("PR-7")
async def test_the_overview_is_the_models_and_the_text_is_the_markdown_of_the_report() -> None:
    closed = await close(c.case(is_complete=True))

    assert overview(closed) == [WRITTEN[0]]
    assert closed.status == "resolved"
    assert closed.resolution is not None
    assert closed.resolution.text.startswith("# Which lamp lasts longer, and what does it cost?\n")
    assert closed.resolution.grade == "resolved"
    assert {each.number for each in closed.resolution.citations} == {1, 2, 3, 4}
    assert closed.summary == WRITTEN[0]


@pytest.mark.req("PR-19")
async def test_the_model_is_shown_the_summary_the_learnings_and_the_passages_of_the_case() -> None:
    model = Writes(WRITTEN)
    analysis = msgspec.structs.replace(c.ANALYSIS, summary="## Overview\nTwo lamps.")

    await close(c.case(analysis=analysis), model)

    shape, task, within = model.tasks[0]
    assert shape is Overview
    assert task.material.summary == "## Overview\nTwo lamps."
    assert task.material.learnings == (c.HOURS.text, c.GLIM.text)
    assert task.findings is not None
    assert [each.source for each in task.findings.passages[:2]] == [c.LAMP, c.SHOP], "those of the learnings first"
    assert task.instructions == "Write."
    assert 0 < within < 100, "there is time left for rendering"


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The Glim lamp lasts 80 hours.", c.GLIM.text),
        ("The Glim lamp explodes.", "The Glim lamp explodes at night."),
        ("The Glim lamp does not burn for 18 hours.", c.GLIM.text),
    ],
)
async def test_a_claim_that_does_not_stand_is_not_told(text: str, quote: str) -> None:
    closed = await close(c.case(), Writes((text, quote)))

    assert overview(closed) == [c.REWORDED.text], "the overview of the analysis stands instead"
    assert closed.resolution is not None
    assert text not in closed.resolution.text


@pytest.mark.parametrize("error", [ModelFailed("The server is down."), BudgetSpent("The budget is used up.")])
async def test_when_no_model_answers_the_analysis_has_the_overview_and_the_report_says_why(error: ModelFailed) -> None:
    closed = await close(c.case(), Writes(error=error))

    assert overview(closed) == [c.REWORDED.text]
    assert closed.report is not None
    assert f"No model wrote the overview: {say(error.code, 'en')}" in closed.report.notes
    assert str(error) not in " ".join(closed.report.notes), "that is for the log"


async def test_a_model_that_does_not_keep_to_its_time_is_left_and_the_report_is_written() -> None:
    closed = await close(c.case(), Hangs(), seconds=2.05)

    assert overview(closed) == [c.REWORDED.text]
    assert closed.report is not None
    assert closed.report.notes[-1].endswith("it took too long.")


async def test_without_a_model_nothing_is_said_of_one() -> None:
    closed = await close(QUOTED, extractive())

    assert closed.report is not None
    assert "OPENAI_API_KEY" not in " ".join(closed.report.notes)
    assert closed.status == "suggested"


async def test_quotes_of_a_model_say_no_more_than_the_overview_of_the_analysis() -> None:
    closed = await close(c.case(), Writes((c.GLIM.text, c.GLIM.text)))

    assert overview(closed) == [c.REWORDED.text]


@pytest.mark.parametrize(
    ("more", "model", "status"),
    [
        ({"is_complete": True}, Writes(WRITTEN), "resolved"),
        ({"is_complete": False}, Writes(WRITTEN), "suggested"),
        ({"is_complete": True, "degraded": "The server is down."}, Writes(WRITTEN), "suggested"),
        ({"is_complete": True, "analysis": None}, Writes(error=ModelFailed("No.")), "suggested"),
        ({"is_complete": True, "analysis": None}, Writes(judged=False), "suggested"),
        ({"sections": (), "learnings": (), "analysis": None}, Writes(), "not_found"),
        ({"reason": "cancelled"}, Writes(), "cancelled"),
        ({"reason": "timed_out"}, Writes(), "error"),
    ],
)
async def test_only_what_a_model_judged_complete_is_resolved(more: dict[str, Any], model: Any, status: str) -> None:
    closed = await close(c.case(**more), model)

    assert closed.status == status
    assert closed.resolution is not None
    assert closed.resolution.grade == ("resolved" if status == "resolved" else "suggested")


async def test_a_report_of_statements_that_do_not_stand_found_nothing() -> None:
    invented = c.said("The Lumo lamp flies.", c.LAMP)

    closed = await close(c.case(sections=(Section("Q?", (invented,)),), learnings=(), analysis=None), Writes())

    assert closed.status == "not_found"


@pytest.mark.req("PR-30", "PR-31")
@pytest.mark.parametrize("reason", [why for why in EndReason if why is not EndReason.COMPLETED])
async def test_told_to_end_early_it_asks_no_model_and_tells_what_was_found(reason: str) -> None:
    model = Writes(WRITTEN)

    closed = await close(c.case(reason=reason, partial="One page was not read."), model)

    assert model.tasks == []
    assert closed.report is not None
    assert closed.report.partial.endswith("One page was not read.")
    assert c.HOURS.text in [line.text for line in body(closed.report)]


@pytest.mark.req("PR-31")
async def test_a_partial_report_of_a_hundred_pages_takes_less_than_a_second() -> None:
    keys = [f"https://h{n}.example/" for n in range(100)]
    said = [f"Lamp number {n} burns for {n + 2} hours, and nobody has seen it burn longer." for n in range(100)]
    filler = "Nothing in this sentence of the page bears on 1 lamp or on 2 of them. " * 20
    pages = tuple(c.page(key, text + filler * 14) for key, text in zip(keys, said, strict=True))
    passages = tuple(c.passage(key, f"{text} {filler}") for key, text in zip(keys, said, strict=True))
    reworded = [f"One charge of lamp number {n} lasts {n + 2} hours." for n in range(100)]
    statements = [c.said(a, key, b) for a, key, b in zip(reworded, keys, said, strict=True)]
    statements += [c.said(b, key) for key, b in zip(keys, said, strict=True)]
    sections = tuple(Section(f"Question {n}?", tuple(statements[n::20]), answered=True) for n in range(20))
    message = c.case(pages=pages, passages=passages, sections=sections, analysis=None, reason="cancelled")

    started = time.process_time()
    closed = await close(message)

    assert time.process_time() - started < 1.0
    assert closed.report is not None
    assert len([each for each in closed.report.sources if each.number]) == 100


async def test_a_deeper_round_closes_at_once_and_leaves_the_report_to_the_first() -> None:
    model, tickets = Writes(WRITTEN), TicketTable()

    closed = await close(c.case(brief=ResearchOptions(round=2)), model, tickets=tickets)

    assert (closed.report, closed.resolution, closed.summary) == (None, None, None)
    assert model.tasks == []
    assert tickets.rows == {}


async def test_the_ticket_gets_the_status_and_a_short_summary() -> None:
    tickets = TicketTable()
    long = c.said("The Lumo lamp " + "is a lamp " * 90 + "and nothing else.", c.LAMP)
    case = c.case(
        pages=(c.page(c.LAMP, long.text),), passages=(c.passage(c.LAMP, long.text),), learnings=(),
        sections=(Section("What is it?", (long,)),), analysis=None,
    )  # fmt: skip

    await close(case, Writes(), tickets=tickets)

    status, note = tickets.rows["T-1"]
    assert status == "suggested"
    assert note.startswith("The Lumo lamp is a lamp")
    assert len(note) <= SUMMARY_CHARACTERS


async def test_asked_again_it_gives_the_same_answer_and_closes_the_ticket_once() -> None:
    model, tickets = Writes(WRITTEN), TicketTable()
    reporter = Reporter(model, tickets, "", "R-1")

    first = await reporter.receive(c.case(), Turn())  # type: ignore[arg-type]
    again = await reporter.receive(c.case(reason="cancelled"), Turn())  # type: ignore[arg-type]

    assert again == first
    assert tickets.closed == ["R-1:close"]
    assert len(model.tasks) == 1


async def test_interrupted_while_a_model_writes_it_closes_without_one() -> None:
    tickets = TicketTable()
    reporter = Reporter(Hangs(), tickets, "", "R-1")
    turn = asyncio.create_task(reporter.receive(c.case(), Turn()))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    turn.cancel()
    await asyncio.wait([turn])

    closed = await reporter.receive(c.case(reason="cancelled"), Turn(1.5))  # type: ignore[arg-type]

    assert closed.status == "cancelled"
    assert tickets.rows["T-1"][0] == "cancelled"


def test_its_prompt_declares_it() -> None:
    declared = load_roster(Settings())["reporter"]

    assert declared.tools == ()
    assert "quote" in declared.instructions


async def test_the_end_of_a_run_can_be_stored() -> None:
    closed = await close(c.case())

    stored = msgspec.json.decode(msgspec.json.encode(closed), type=ResearchClosed)
    assert stored == closed
    assert isinstance(stored.report, Report)


@pytest.mark.parametrize("verdict", ["not_said", "contradicted"])
async def test_an_overview_that_a_reader_refuses_is_not_shown(verdict: Any) -> None:
    class Refuses(Writes):
        async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
            if shape is SecondReading:
                verdicts = (StatementVerdict(each.number, verdict) for each in task.material.statements)
                return Completion(SecondReading(tuple(verdicts)), judged=True)
            return await super().fill(shape, task, within=within)

    closed = await close(c.case(is_complete=True), Refuses(WRITTEN))

    assert WRITTEN[0] not in overview(closed)
    assert overview(closed), "the first sentences of the answers stand there instead"
