"""What was interrupted goes on from its latest sound backup, else from its file, else from the beginning."""

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from actors.evidence.sources import FailedSource, Page, SearchResult
from actors.research.models import Plan, ResearchOptions
from actors.research.workflow import ResearchCase
from runtime.engine.node import Node
from runtime.families.research_state.recovery import find_unfinished, goes_on, restore, restore_case
from runtime.families.research_state.state_file import Project, parse_state, render_state, save
from runtime.processes.pool import WorkTimedOut
from runtime.settings import Settings, StorageSettings
from runtime.state_files.backups import add
from runtime.tickets import Ticket
from tests.fakes import Trusts
from tests.research import HARBOR, QUAY, QUESTION, a_case, a_page
from tests.runtime.families.research_state.kit import a_project

DAMAGED = "---\nprojectId: T-1\nstatus: analyzing\n---\nhalf a fi"


def found(folder: Path, name: str = "T-1") -> tuple[Project | None, str]:
    again = restore_case(str(folder), name)
    return again.project, again.told


def without_backups(folder: Path) -> None:
    for path in (folder / "backups" / "T-1").iterdir():
        path.unlink()


@pytest.mark.req("PR-35")
def test_the_latest_sound_backup_is_restored(tmp_path: Path) -> None:
    save(str(tmp_path), a_project(status="extracting"))
    save(str(tmp_path), a_project(status="analyzing"))
    (tmp_path / "backups" / "T-1" / "000002-analyzing.md").write_text(DAMAGED)

    assert found(tmp_path) == (a_project(status="extracting"), "the backup 000001-extracting.md")


@pytest.mark.req("PR-35")
def test_without_a_sound_backup_the_state_file_is(tmp_path: Path) -> None:
    save(str(tmp_path), a_project())
    without_backups(tmp_path)

    assert found(tmp_path) == (a_project(), "its state file")


@pytest.mark.req("PR-35")
def test_of_a_file_that_cannot_be_read_the_question_is_asked_from_the_beginning(tmp_path: Path) -> None:
    save(str(tmp_path), a_project())
    without_backups(tmp_path)
    path = tmp_path / "T-1.md"
    path.write_text(path.read_text().replace("## Plan", "## Plans"))

    project, told = found(tmp_path)

    assert project is not None
    assert (project.case.text, project.case.brief.breadth, project.case.pages) == (QUESTION, 3, ())
    line = path.read_text().split("\n").index("## Plans") + 1
    assert told.startswith(f"the beginning (T-1.md, line {line}: there is no section 'Plans'")


def test_what_cannot_be_restored_at_all_is_told(tmp_path: Path) -> None:
    (tmp_path / "T-1.md").write_text(DAMAGED)
    add(tmp_path, "T-2", "planning", "damaged")

    project, told = found(tmp_path)

    assert project is None
    assert told.startswith("The state file T-1.md, line 2: the frontmatter says something else")
    assert told.endswith("Mend that line, or submit it again.")
    assert found(tmp_path, "T-2") == (
        None, "The backups of T-2 are damaged, and it has no state file. Submit it again."
    )  # fmt: skip


def test_only_what_is_not_over_goes_on(tmp_path: Path) -> None:
    for status in ("planning", "reporting", "completed", "cancelled", "failed"):
        save(str(tmp_path), a_project(a_case(ticket_id=f"T-{status}"), status=status))
    save(str(tmp_path), a_project(a_case(ticket_id="a/b")))
    (tmp_path / "README.md").write_text("no state file")
    (tmp_path / "T-planning.edited-1.md").write_text((tmp_path / "T-planning.md").read_text())

    names = find_unfinished(str(tmp_path))

    assert names == ["T-planning", "T-planning.edited-1", "T-reporting", "a%2Fb"]
    assert found(tmp_path, "T-planning.edited-1") == (None, ""), "it is a copy of another"
    assert found(tmp_path, "T-completed") == (None, "")


def test_of_a_project_without_its_file_the_backups_tell(tmp_path: Path) -> None:
    for status in ("analyzing", "completed"):
        save(str(tmp_path), a_project(a_case(ticket_id=f"T-{status}"), status=status))
        (tmp_path / f"T-{status}.md").unlink()

    assert find_unfinished(str(tmp_path)) == ["T-analyzing"]
    assert found(tmp_path, "T-analyzing")[1] == "the backup 000001-analyzing.md"


def test_a_file_that_says_it_is_another_project_is_none(tmp_path: Path) -> None:
    (tmp_path / "T-1.md").write_text(render_state(a_project(a_case(ticket_id="../T-2"))))
    add(tmp_path, "T-1", "planning", render_state(a_project(a_case(ticket_id="T-2"))))

    assert found(tmp_path) == (None, "")


def test_a_link_is_no_state_file(tmp_path: Path) -> None:
    outside, inside = tmp_path / "out", tmp_path / "in"
    outside.mkdir()
    inside.mkdir()
    save(str(outside), a_project())
    (inside / "T-1.md").symlink_to(outside / "T-1.md")
    (inside / "backups").symlink_to(outside / "backups")

    assert find_unfinished(str(inside)) == []
    assert found(inside)[0] is None


def test_what_goes_on_has_all_that_was_found_and_nothing_of_an_end() -> None:
    case = a_case(max_seconds=3.0, reason="timed_out", shortfall="few", is_complete=True, read_before=1)

    again = goes_on(a_project(case))

    kept = (
        "text",
        "plan",
        "results",
        "pages",
        "read_before",
        "missed",
        "learnings",
        "passages",
        "directions",
        "rounds",
        "unavailable",
        "incomplete",
    )
    assert [getattr(again, name) for name in kept] == [getattr(case, name) for name in kept]
    assert again.sections == case.sections[:1], "what this round answered is answered once more"
    fresh = ResearchCase(ticket_id="T-1", text=QUESTION)
    gone = ("status", "reason", "detail", "resolution", "summary", "max_seconds", "shortfall", "report", "is_complete")
    assert [getattr(again, name) for name in gone] == [getattr(fresh, name) for name in gone]


def test_no_file_orders_more_than_can_be_ordered() -> None:
    brief = ResearchOptions(breadth=10**9, depth=10**9, round=10**9, urls=("https://a.example",) * 1_000)

    again = goes_on(a_project(a_case(brief=brief))).brief

    assert (again.breadth, again.depth, again.round, len(again.urls)) == (50, 5, 5, 50)


class Reads:
    """A web of two pages, which writes down what is fetched of it."""

    def __init__(self) -> None:
        self.read_urls: list[str] = []

    def for_run(self, *_: Any) -> Any:
        return self

    async def read(
        self, results: Sequence[SearchResult], *, done: Callable[[Page | FailedSource], None], **_: Any
    ) -> None:  # fmt: skip
        for result in results:
            self.read_urls.append(result.url)
            done(a_page(result.url, f"Quay was read at {result.url}, and Harbor was compared with Quay there."))

    async def close(self) -> None: ...


class Finds(Trusts):
    """Finds both pages, whatever is asked."""

    names = ("web",)

    def for_run(self, *_: Any) -> Any:
        return self

    async def search(self, source: str, query: str, **_: Any) -> tuple[SearchResult, ...]:
        return tuple(SearchResult("web", "Harbor and Quay", url, quality=0.9) for url in (HARBOR, QUAY))

    async def close(self) -> None: ...


@contextlib.asynccontextmanager
async def node_on(folder: Path) -> AsyncIterator[tuple[Node, Reads]]:
    async with Node.open(Settings(storage=StorageSettings(folder=str(folder)))) as node:
        reads = Reads()
        for name, fake in (("pages", reads), ("sources", Finds())):
            with contextlib.suppress(AttributeError):
                await getattr(node.wiring.runs_of("research"), name).close()
            setattr(node.wiring.runs_of("research"), name, fake)
        yield node, reads


@pytest.mark.req("PR-22", "PR-35")
async def test_a_restored_research_keeps_its_plan_and_reads_no_page_twice(tmp_path: Path) -> None:
    # given a research that was interrupted after one of its two pages, and no database
    plan = Plan(("What does it cost?",), ("harbor quay",), ("web",))
    case = ResearchCase(
        ticket_id="T-1", text=QUESTION, brief=ResearchOptions(breadth=2, depth=1), plan=plan,
        results=(SearchResult("web", "Harbor", HARBOR, quality=0.9),), pages=(a_page(HARBOR),),
    )  # fmt: skip
    save(str(tmp_path), a_project(case, status="extracting"))

    # when it is taken up again
    async with node_on(tmp_path) as (node, reads):
        with capture_logs() as logs:
            handles, told = await restore(node)
            outcome = await handles[0].outcome()
        again = await restore(node)

    # then
    assert told == ["Ticket T-1: restored from the backup 000001-extracting.md, with 1 page and 0 learnings"]
    assert [each["source"] for each in logs if each["event"] == "project.restored"] == [
        "the backup 000001-extracting.md"
    ]
    assert HARBOR not in reads.read_urls
    assert QUAY in reads.read_urls
    assert (outcome.ticket, outcome.why) == ("T-1", "completed")
    last = parse_state((tmp_path / "T-1.md").read_text())
    assert (last.status, last.created, last.run) == ("completed", a_project().created, outcome.run)
    assert last.case.pages[0] == a_page(HARBOR)
    assert last.case.plan is not None
    assert last.case.plan.questions == plan.questions
    assert again == ([], [])


async def test_what_the_database_knows_is_not_restored(tmp_path: Path) -> None:
    async with node_on(tmp_path) as (node, _):
        handle = await node.submit(
            Ticket(id="T-1", text=QUESTION, workflow="research", options=ResearchOptions(depth=1))
        )
        await handle.outcome()
    save(str(tmp_path), a_project())

    async with node_on(tmp_path) as (node, _):
        assert await restore(node) == ([], [])


async def test_of_two_who_restore_the_same_only_one_does(tmp_path: Path) -> None:
    case = goes_on(a_project())
    ticket = Ticket(id=case.ticket_id, text=case.text, workflow="research", options=case.brief)
    async with node_on(tmp_path) as (one, _), node_on(tmp_path) as (other, _):
        first, second = await one.runs.restore(ticket, case, "R-1"), await other.runs.restore(ticket, case, "R-1")

        assert first is not None
        assert second is None
        await first.outcome()


async def test_a_file_that_no_worker_can_read_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(str(tmp_path), a_project())
    save(str(tmp_path), a_project(a_case(ticket_id="T-2")))

    async with node_on(tmp_path) as (node, _):
        usual = node.workers.call

        async def chokes(function: str, *arguments: Any, **more: Any) -> Any:
            if arguments[-1] == "T-1":
                raise WorkTimedOut("it took longer than it may")
            return await usual(function, *arguments, **more)

        monkeypatch.setattr(node.workers, "call", chokes)
        handles, told = await restore(node)
        await handles[0].outcome()

    assert [handle.ticket for handle in handles] == ["T-2"]
    assert "project T-1 could not be read: it took longer than it may." in told[0]


def test_numbers_that_cannot_be_are_not_taken_from_a_file(tmp_path: Path) -> None:
    text = (
        render_state(a_project())
        .replace("rounds: 2", "rounds: 999999999999")
        .replace("breadth: 3", "breadth: 999999999")
    )

    for quality, meant in (("nan", 0.0), ("inf", 1.0), ("-1", 0.0)):
        project = parse_state(text.replace("| 0.9 |", f"| {quality} |"))
        case = goes_on(project)
        assert case.results[0].quality == meant
        assert (case.rounds, case.brief.breadth) == (2, 50)


async def test_a_folder_without_state_files_needs_no_worker(tmp_path: Path) -> None:
    async with node_on(tmp_path) as (node, _):
        assert await restore(node) == ([], [])
        assert not node.workers._idle
