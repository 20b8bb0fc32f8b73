"""The keeper follows researches and writes what it sees, one file at a time, and harms no run."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from actors.research import messages as m
from actors.research.models import ResearchOptions
from actors.research.workflow import RESEARCH, ResearchCase
from actors.workflow.outcome import EndReason
from actors.workflow.tables import Limits
from bus import Context
from runtime.engine.run import LiveRun
from runtime.families.research_state import autosave as module
from runtime.families.research_state.autosave import Autosave
from runtime.families.research_state.state_file import Project, parse_state
from runtime.processes.pool import Workers
from runtime.settings import ResearchSettings
from tests.clock import hurried, settle
from tests.fakes import Hangs, Says
from tests.research import QUESTION, a_case
from tests.runtime.families.research_state.kit import Asks, AtOnce, files, roles

CASE = ResearchCase(ticket_id="T-1", text=QUESTION, brief=ResearchOptions(breadth=3))


@pytest.fixture
def workers() -> AtOnce:
    return AtOnce()


@pytest.fixture
async def keeper(tmp_path: Path, workers: AtOnce) -> AsyncIterator[Autosave]:
    keeper = Autosave(tmp_path, workers, 30.0)  # type: ignore[arg-type]  # they are workers in all that is asked of them
    yield keeper
    await keeper.close()


def begun(keeper: Autosave, case: ResearchCase = CASE, run_id: str = "R-1", **replaced: Any) -> LiveRun:
    live = LiveRun(run_id, RESEARCH, case, roles(**replaced))
    keeper.follow(live)
    return live


async def until(true: Callable[[], object]) -> None:
    """Let the loop go on until something is so."""
    for _ in range(10_000):
        if true():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it never came to that")


def stages(workers: AtOnce) -> list[str]:
    return list(dict.fromkeys(project.status for project in workers.saved))


@pytest.mark.req("PR-10", "PR-34")
async def test_each_stage_that_ends_is_written_and_backed_up_at_once(
    tmp_path: Path, keeper: Autosave, workers: AtOnce
) -> None:
    live = begun(keeper)
    await live.outcome()
    await keeper.close()

    assert stages(workers) == ["planning", "searching", "extracting", "analyzing", "reporting", "completed"]
    assert [name.split("-")[-1] for name in files(tmp_path / "backups" / "T-1")] == [
        *(f"{stage}.md" for stage in stages(workers)), "latest"
    ]  # fmt: skip
    found = parse_state((tmp_path / "T-1.md").read_text())
    assert (found.status, found.progress, found.message) == ("completed", 100, "Done")
    assert found.case == live.where.case
    assert found.title == QUESTION


@pytest.mark.req("PR-2")
async def test_a_stage_is_written_with_what_the_ones_before_it_found(keeper: Autosave, workers: AtOnce) -> None:
    await begun(keeper).outcome()
    await keeper.close()

    first = {project.status: project.case for project in reversed(workers.saved)}
    assert first["planning"].plan is None
    assert first["searching"].plan == a_case().plan
    assert (first["extracting"].results, first["extracting"].pages) == (a_case().results, ())
    assert first["analyzing"].pages == a_case().pages
    assert first["reporting"].learnings == a_case().learnings


@pytest.mark.req("PR-33")
async def test_while_a_stage_goes_on_it_is_backed_up_again_and_again(tmp_path: Path, workers: AtOnce) -> None:
    keeper = Autosave(tmp_path, workers, 0.005)  # type: ignore[arg-type]
    live = begun(keeper, planner=Hangs())

    await until(lambda: len(workers.saved) >= 4)
    live.abandon()
    await keeper.close()

    assert stages(workers) == ["planning"]
    assert len(files(tmp_path / "backups" / "T-1")) >= 4


@pytest.mark.req("PR-33")
async def test_pr_33_a_running_research_is_backed_up_every_thirty_seconds(tmp_path: Path, workers: AtOnce) -> None:
    # given a research whose planner never comes to an end, with the configured time
    assert ResearchSettings().backup_seconds == 30.0
    keeper = Autosave(tmp_path, workers, ResearchSettings().backup_seconds)  # type: ignore[arg-type]
    live = begun(keeper, planner=Hangs())
    await until(lambda: workers.saved)
    await settle()
    before = len(workers.saved)
    place = tmp_path / "backups" / "T-1"

    # when a hundred seconds pass
    counts = []
    with hurried():
        for _ in range(10):
            await asyncio.sleep(10.0)
            counts.append(len(workers.saved) - before)

    # then there is one more after 30, after 60 and after 90
    assert counts == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3] or counts == [0, 0, 1, 1, 1, 2, 2, 2, 3, 3]
    names = [name for name in files(place) if name != "latest"]
    assert [name.split("-")[0] for name in names] == [f"{n:06}" for n in range(1, len(workers.saved) + 1)]
    assert (place / "latest").read_text().split()[1] == names[-1]
    assert parse_state((place / names[-1]).read_text()).status == "planning"
    live.abandon()
    await keeper.close()


async def test_a_slow_disk_never_has_two_writes_of_one_project_and_gets_the_newest(
    tmp_path: Path, keeper: Autosave, workers: AtOnce
) -> None:
    # given a disk that hangs
    workers.gate.clear()
    live = begun(keeper)
    await live.outcome()

    # when it goes on, after the end
    workers.gate.set()
    await keeper.close()

    assert workers.most_at_once == 1
    assert workers.saved[-1].status == "completed"
    assert len(workers.saved) <= 1 + len(stages(workers))
    assert parse_state((tmp_path / "T-1.md").read_text()).status == "completed"


async def test_a_full_disk_harms_no_run_and_is_logged_once(keeper: Autosave, workers: AtOnce) -> None:
    workers.broken = "OSError: [Errno 28] No space left on device"

    with capture_logs() as logs:
        outcome = await begun(keeper).outcome()
        await keeper.close()

    assert outcome.status == "suggested"
    assert [(each["event"], each["project"]) for each in logs if each["event"].startswith("project.")] == [
        ("project.unsaved", "T-1")
    ]
    assert "No space left" in next(each["error"] for each in logs if each["event"] == "project.unsaved")


async def test_a_disk_that_never_answers_does_not_hold_up_the_end(
    tmp_path: Path, workers: AtOnce, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CLOSE_SECONDS", 0.02)
    keeper = Autosave(tmp_path, workers, 30.0)  # type: ignore[arg-type]
    workers.gate.clear()

    with capture_logs() as logs:
        assert (await begun(keeper).outcome()).status == "suggested"
        await keeper.close()

    assert [each["event"] for each in logs if each["log_level"] == "error"] == ["project.unsaved"]


@pytest.mark.req("PR-30", "PR-32")
@pytest.mark.parametrize(("presses", "status"), [(2, "cancelled"), (1, "failed")])
async def test_a_research_that_does_not_stop_is_saved_with_what_it_has(
    tmp_path: Path, keeper: Autosave, presses: int, status: str
) -> None:
    # given an agent that hands in nothing, and a person who waits for it or does not
    flow = msgspec.structs.replace(RESEARCH, cancel_seconds=0.02)
    live = LiveRun(
        "R-1", flow, CASE, roles(analyzer=Hangs(), reporter=Says(m.ResearchClosed(status="cancelled")))
    )  # fmt: skip
    keeper.follow(live)
    await until(lambda: live.where.state == "analyzing")

    for _ in range(presses):
        live.cancel()
    outcome = await live.outcome()
    await keeper.close()

    found = parse_state((tmp_path / "T-1.md").read_text())
    assert (found.status, found.message) == (status, outcome.detail)
    assert found.case.pages == a_case().pages


class Late(Says):
    """Says that all is well, but only when it is asked to close because its time is over."""

    async def receive(self, message: Any, ctx: Context) -> Any:
        if message.reason == "completed":
            await asyncio.Event().wait()
        return super().receive(message, ctx)


@pytest.mark.req("PR-24", "PR-32")
@pytest.mark.parametrize(
    ("why", "limits", "stuck"),
    [
        (EndReason.STEP_TIMED_OUT, {"default_limits": Limits(within=0.01, retries=1)}, {"extractor": Hangs()}),
        (EndReason.STEP_TIMED_OUT, {"limits": {"reporter": Limits(within=0.01, retries=0)}}, {"reporter": "late"}),
        (EndReason.TIMED_OUT, {"max_seconds": 0.05}, {"analyzer": Hangs()}),
        (EndReason.TIMED_OUT, {"max_seconds": 0.05}, {"analyzer": Hangs(), "reporter": Hangs()}),
        (EndReason.CANCEL_FORCED, {"cancel_seconds": 0.01}, {"extractor": Hangs()}),
    ],
)
async def test_a_research_that_ran_out_of_time_has_failed_whatever_its_reporter_says(
    tmp_path: Path, keeper: Autosave, why: EndReason, limits: dict[str, Any], stuck: dict[str, Any]
) -> None:
    # given
    reporter = Late(m.ResearchClosed(status="suggested", report=a_case().report))
    actors: dict[str, Any] = {role: reporter if actor == "late" else actor for role, actor in stuck.items()}
    live = LiveRun("R-1", msgspec.structs.replace(RESEARCH, **limits), CASE, roles(**actors))
    keeper.follow(live)

    # when
    if why is EndReason.CANCEL_FORCED:
        await until(lambda: live.where.state == "extracting")
        live.cancel()
    outcome = await live.outcome()
    await keeper.close()

    # then
    found = parse_state((tmp_path / "T-1.md").read_text())
    assert outcome.why is why
    assert (found.status, found.message) == ("failed", outcome.detail)
    assert outcome.detail


@pytest.mark.req("PR-30")
async def test_a_research_that_closes_when_it_is_cancelled_is_cancelled(tmp_path: Path, keeper: Autosave) -> None:
    reporting = asyncio.Event()

    async def report(message: m.CloseResearch) -> m.ResearchClosed:
        if message.reason == "completed":
            reporting.set()
            await asyncio.Event().wait()
        return m.ResearchClosed(status="cancelled")

    live = begun(keeper, reporter=Asks(report))
    await reporting.wait()

    live.cancel()
    outcome = await live.outcome()
    await keeper.close()

    found = parse_state((tmp_path / "T-1.md").read_text())
    assert outcome.why == "cancelled"
    assert (found.status, found.case.learnings) == ("cancelled", a_case().learnings)


async def test_a_run_that_is_left_stays_unfinished_in_its_file(tmp_path: Path, keeper: Autosave) -> None:
    live = begun(keeper, analyzer=Hangs())
    await until(lambda: live.where.state == "analyzing")

    live.abandon()
    await keeper.close()

    assert parse_state((tmp_path / "T-1.md").read_text()).status == "analyzing"


async def test_while_a_round_below_goes_on_its_case_is_the_one_that_is_written(
    tmp_path: Path, keeper: Autosave, workers: AtOnce
) -> None:
    # given a round that waits for a deeper one, which reads a page more
    deeper = a_case(ticket_id="R-1.9", text=QUESTION, report=None)
    analyzed = m.DirectionsFound(
        sections=(), learnings=(), passages=(), directions=("limits",), analysis=a_case().analysis,  # type: ignore[arg-type]
        is_complete=False, partial="", degraded="",
    )  # fmt: skip
    outer = begun(keeper, analyzer=Says(analyzed), round=Hangs())
    await until(lambda: outer.where.state == "deepening")
    child = LiveRun("R-1.9", RESEARCH, deeper, roles(analyzer=Hangs()))
    keeper.deeper(child)
    await until(lambda: child.where.state == "analyzing" and workers.saved[-1].status == "analyzing")

    # then the file tells of both, under the id of the first
    found = parse_state((tmp_path / "T-1.md").read_text())
    assert (found.id, found.run, found.case.brief.round, found.case.rounds) == ("T-1", "R-1", 2, 2)
    assert found.case.pages == deeper.pages
    assert found.message.startswith("Round 2 of 2")

    # and when the first is cut short, what the deeper one read is not lost
    child.abandon()
    outer.cancel()
    outer.cancel()
    await outer.outcome()
    await keeper.close()
    last = parse_state((tmp_path / "T-1.md").read_text())
    assert last.case.pages == deeper.pages
    assert last.id == "T-1"


async def test_what_a_person_changed_is_logged(tmp_path: Path, keeper: Autosave, workers: AtOnce) -> None:
    live = begun(keeper, analyzer=Hangs())
    await until(lambda: workers.saved and workers.saved[-1].status == "analyzing" and (tmp_path / "T-1.md").exists())
    await settle()
    path = tmp_path / "T-1.md"
    path.write_text(path.read_text().replace("title: How", "title: Why"))

    with capture_logs() as logs:
        live.abandon()
        await keeper.close()

    (edited,) = (each for each in logs if each["event"] == "project.edited")
    assert "title: Why" in (tmp_path / edited["kept"]).read_text()


async def test_a_round_of_a_run_that_nobody_follows_is_not_kept(keeper: Autosave, workers: AtOnce) -> None:
    child = LiveRun("R-9.9", RESEARCH, CASE, roles())

    keeper.deeper(child)
    await child.outcome()

    assert workers.saved == []


async def test_a_worker_process_writes_the_same(tmp_path: Path) -> None:
    workers = Workers(1)
    keeper = Autosave(tmp_path, workers, 30.0)
    try:
        live = begun(keeper)
        await live.outcome()
        await keeper.close()
    finally:
        workers.close()

    found = parse_state((tmp_path / "T-1.md").read_text())
    assert isinstance(found, Project)
    assert not found.edited
    assert found.case == live.where.case
    assert msgspec.structs.replace(found.case, report=None) != CASE
