"""What a run got from the world is kept for as long as the run may have to go on, and no longer."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from actors.ports import Completion, ModelRequest
from actors.workflow.outcome import Outcome, Spent
from runtime.engine.node import Node
from runtime.settings import Settings, StorageSettings
from runtime.storage.effects import Effects, ModelAccount
from runtime.tickets import Ticket
from tests.clock import settle
from tests.fakes import Knows, Thinks

TICKETS = 20


class Costly(Thinks):
    """Writes down what each of its answers cost, as a model of a provider does; the last one after the end."""

    def __init__(self) -> None:
        super().__init__()
        self.accounts: list[ModelAccount] = []

    def for_run(self, run_id: str, account: ModelAccount, **_: Any) -> tuple["Costly", type[Spent]]:
        self.accounts.append(account)
        return self, Spent

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        for account in self.accounts:
            account.note(Spent(1, 100, 10))
        return await super().fill(shape, task, within=within)

    async def close(self) -> None: ...


@contextlib.asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[tuple[Node, Costly]]:
    async with Node.open(Settings(storage=StorageSettings(folder=str(folder)))) as node:
        model = Costly()
        node.models = model  # type: ignore[assignment] # it is a port
        node.knowledge = Knows()
        yield node, model


async def rows(node: Node) -> list[tuple[str, int]]:
    """Runs with what is kept of them, when all is written."""
    await node.database.run()
    return node.database.rows("SELECT run, count(*) FROM effect GROUP BY run ORDER BY run")


async def test_after_tickets_have_ended_nothing_is_kept_of_what_they_spent(tmp_path: Path) -> None:
    async with opened(tmp_path) as (node, model):
        ended: list[Outcome] = []
        for number in range(TICKETS):
            handle = await node.submit(Ticket(id=f"T-{number}", text=f"My VPN drops every {number + 2} hours."))
            ended.append(await handle.outcome())
        assert {outcome.status for outcome in ended} == {"resolved"}
        assert len(model.tasks) >= TICKETS
        model.accounts[0].note(Spent(1, 100, 10))  # an answer that nobody waits for any more
        await settle()
        assert await rows(node) == []


async def test_what_a_dead_process_left_of_ended_runs_goes_at_the_next_start_and_the_rest_stays(tmp_path: Path) -> None:
    async with opened(tmp_path) as (node, _):
        handle = await node.submit(Ticket(id="T-1", text="My VPN drops every hour."))
        await handle.outcome()
        begun = "INSERT INTO run (id, ticket, workflow, initial, started, owner, ended) VALUES (?, ?, '', '', 0, '', ?)"
        await node.database.run(*((begun, each) for each in [("R-open", "T-2", None), ("R-open.3", "R-open.3", 1.0)]))
        await node.database.run((begun, (f"{handle.run}.9", "R", None)))  # it was sealed with its parent
        for run in (handle.run, f"{handle.run}.9", "R-open", "R-open.3", "R-open.5", "R-unknown"):
            await Effects(node.effects, run).put("page", "a", "what was read")

    async with opened(tmp_path) as (node, _):
        assert await rows(node) == [("R-open", 1), ("R-open.5", 1)]


async def test_the_end_of_a_run_takes_what_the_runs_within_it_have_with_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as (node, _):
        handle = await node.submit(Ticket(id="T-1", text="My VPN drops every hour."))
        await handle.outcome()
        effects = Effects(node.effects, handle.run)
        for run in (handle.run, f"{handle.run}.9", f"{handle.run}9", "R-other"):
            await Effects(node.effects, run).put("page", "a", "what was read")

        await effects.load()
        assert effects.get("page", "a", str) == "what was read"
        effects.forget()
        assert await rows(node) == sorted([(f"{handle.run}9", 1), ("R-other", 1)])


async def test_what_an_open_run_got_is_not_forgotten(tmp_path: Path) -> None:
    async with opened(tmp_path) as (node, _):
        begun = "INSERT INTO run (id, ticket, workflow, initial, started, owner) VALUES ('R-1', 'T-1', '', '', 0, '')"
        await node.database.run((begun, ()))
        effects = Effects(node.effects, "R-1")
        await effects.put("page", "a", "what was read")

        effects.forget()  # its end could not be recorded: somebody goes on with it

        assert await rows(node) == [("R-1", 1)]
