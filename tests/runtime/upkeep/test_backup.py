"""A backup is whole whoever is writing meanwhile; what is restored reads the same, and goes on where it stood."""

import asyncio
import contextlib
import errno
import json
import os
import stat
import tarfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.evidence.claims import Resolution
from actors.ports import Completion, ModelRequest, Recall
from actors.research.models import ResearchOptions
from actors.workflow.outcome import Spent
from runtime.engine.node import Node
from runtime.settings import Settings, StorageSettings
from runtime.tickets import Ticket
from runtime.upkeep import backup as restoring
from runtime.upkeep.backup import MANIFEST, BackupFailed, RestoreFailed, back_up, restore
from tests.fakes import Knows, Thinks
from tests.runtime.cli.commands.program import QUESTION, Place
from tests.runtime.upkeep.kit import files_with

TICKETS = 30


class Slow(Thinks):
    """Thinks when it is let to, of tickets that say so."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()

    def for_run(self, *_: Any, **__: Any) -> tuple["Slow", type[Spent]]:
        return self, Spent

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        if "wait" in str(task):
            await self.go.wait()
        await asyncio.sleep(0)
        return await super().fill(shape, task, within=within)

    async def close(self) -> None: ...


@contextlib.asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[tuple[Node, Slow]]:
    async with Node.open(Settings(storage=StorageSettings(folder=str(folder)))) as node:
        model = Slow()
        node.models = model  # type: ignore[assignment] # they are ports
        node.knowledge = Knows()

        async def recall(text: str, *, within: float) -> Recall:
            return Recall("miss")

        node.memory.recall = recall  # type: ignore[method-assign]
        yield node, model


async def stored(node: Node) -> dict[str, Any]:
    """All ended tickets as they read, by id."""
    runs = [each for each in await node.journal.latest(1_000) if each.ended is not None]
    return {
        each.ticket: (each.ended, await node.journal.outcome(each), await node.journal.entries(each)) for each in runs
    }


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
async def filled(tmp_path: Path) -> Path:
    """A storage folder with a ticket, a state file, its backups and a memory."""
    folder = tmp_path / "task-data"
    async with Node.open(Settings(storage=StorageSettings(folder=str(folder)))) as node:
        await (await node.submit(Ticket(id="T-1", text="My VPN drops."))).outcome()
        await (
            await node.submit(
                Ticket(id="T-2", text="What is a VPN?", workflow="research", options=ResearchOptions(1, 1))
            )
        ).outcome()
        await node.memory.store("k", "T-9", "Quallenwurzel", Resolution("A."))
    assert {"T-2.md", "terminus.db"} <= tree(folder).keys()
    return folder


@pytest.mark.parametrize("name", ["kept", "kept.tar", "kept.tar.gz"])
async def test_what_was_kept_while_tickets_ran_reads_the_same_and_the_rest_goes_on(tmp_path: Path, name: str) -> None:
    async with opened(tmp_path / "store") as (node, model):
        waits = await node.submit(Ticket(id="T-waits", text="wait for it: my VPN drops"))
        before = [await node.submit(Ticket(id=f"T-{n}", text=f"My VPN number {n} drops.")) for n in range(TICKETS)]
        await asyncio.gather(*(each.outcome() for each in before))
        surely = await stored(node)

        async def more() -> None:
            for number in range(TICKETS, 2 * TICKETS):
                await (await node.submit(Ticket(id=f"T-{number}", text=f"My VPN number {number} drops."))).outcome()

        meanwhile = asyncio.create_task(more())
        manifest = await asyncio.to_thread(back_up, node.folder, tmp_path / name)
        model.go.set()
        await asyncio.gather(meanwhile, waits.outcome())
        in_the_end = await stored(node)

    restored = await asyncio.to_thread(restore, tmp_path / name, tmp_path / "new", tmp_path / "new" / "owners")

    assert restored.manifest == manifest
    assert restored.aside == ""
    async with opened(tmp_path / "new") as (node, model):
        found = await stored(node)
        assert found.keys() >= surely.keys()
        assert found.items() <= in_the_end.items()
        assert "T-waits" not in found
        model.go.set()
        resumed = await node.resume()
        assert "T-waits" in {each.ticket for each in resumed}
        assert {(await each.outcome()).status for each in resumed} == {"resolved"}
        assert await node.journal.list_open() == []


def test_a_backup_is_private_and_whole_and_the_same_comes_back(filled: Path, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        back_up(filled, tmp_path / "kept")
        back_up(filled, tmp_path / "kept.tar.gz")
        restore(tmp_path / "kept.tar.gz", tmp_path / "new", tmp_path / "new" / "owners")
    finally:
        os.umask(before)

    for place in (tmp_path / "kept", tmp_path / "new"):
        wide = [path for path in (place, *place.rglob("*")) if stat.S_IMODE(path.stat().st_mode) & 0o077]
        assert wide == []
    assert stat.S_IMODE((tmp_path / "kept.tar.gz").stat().st_mode) == 0o600
    kept, new, old = tree(tmp_path / "kept"), tree(tmp_path / "new"), tree(filled)
    assert kept.keys() - {MANIFEST} == new.keys()
    assert {name: old[name] for name in new if not name.endswith(".db")} == {
        name: content for name, content in new.items() if not name.endswith(".db")
    }
    assert {name.split("/")[0] for name in new} == {"terminus.db", "T-2.md", "backups"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "kept.tar.gz", "new", "task-data"]


def test_a_backup_is_not_written_over_what_is_there(filled: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "thesis").write_text("x")
    back_up(filled, tmp_path / "kept")

    for to, replace, sentence in (
        (tmp_path / "kept", False, "is there already.*--force"),
        (tmp_path / "theirs", True, "is no backup, so it is not replaced"),
        (filled / "kept", False, "is in the storage folder itself"),
        (tmp_path / "no" / "kept", False, "There is no folder"),
    ):
        with pytest.raises(BackupFailed, match=sentence):
            back_up(filled, to, replace=replace)
    with pytest.raises(BackupFailed, match="nothing to keep"):
        back_up(tmp_path / "none", tmp_path / "other")
    back_up(filled, tmp_path / "kept", replace=True)
    assert (tmp_path / "theirs" / "thesis").exists()


def test_a_backup_that_could_not_be_written_leaves_nothing(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("runtime.upkeep.backup.copy", full)
    with pytest.raises(OSError, match="No space"):
        back_up(filled, tmp_path / "kept.tar")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["task-data"]


def swap(kept: Path, name: str, content: bytes) -> None:
    """Give the manifest another file of this name, with a checksum that is right."""
    (kept / name).write_bytes(content)
    from runtime.upkeep.backup import verify

    manifest = json.loads((kept / MANIFEST).read_bytes())
    manifest["files"][name] = msgspec.to_builtins(verify(kept / name))
    (kept / MANIFEST).write_text(json.dumps(manifest))


def harm_file(kept: Path) -> None:
    path = kept / "T-2.md"
    path.write_bytes(path.read_bytes()[:-1] + b"?")


def name_outside(kept: Path) -> None:
    text = (kept / MANIFEST).read_text()
    (kept / MANIFEST).write_text(text.replace('"T-2.md"', '"../T-2.md"'))


def newer(kept: Path) -> None:
    import sqlite3

    db = sqlite3.connect(kept / "terminus.db")
    db.execute("PRAGMA user_version = 1000")
    db.close()
    swap(kept, "terminus.db", (kept / "terminus.db").read_bytes())


def cut(kept: Path) -> None:
    swap(kept, "terminus.db", (kept / "terminus.db").read_bytes()[:20_000])


HARM: list[tuple[Callable[[Path], object], str]] = [
    (harm_file, "T-2.md is not as it was kept"),
    (lambda kept: (kept / "T-2.md").unlink(), "T-2.md is missing"),
    (lambda kept: (kept / MANIFEST).unlink(), f"has no {MANIFEST}"),
    (lambda kept: (kept / MANIFEST).write_text("{"), f"its {MANIFEST} cannot be read"),
    (name_outside, "names '../T-2.md', which is none of its files"),
    (newer, "of version 1000"),
    (cut, "terminus.db of the backup is damaged"),
]


@pytest.mark.parametrize(("harm", "sentence"), HARM)
@pytest.mark.parametrize("packed", [False, True])
def test_what_is_not_whole_changes_nothing(
    filled: Path, tmp_path: Path, harm: Callable[[Path], object], sentence: str, packed: bool
) -> None:
    kept = tmp_path / "kept"
    back_up(filled, kept)
    harm(kept)
    if packed:
        with tarfile.open(tmp_path / "kept.tar.gz", "w:gz") as archive:
            for path in kept.rglob("*"):
                archive.add(path, str(path.relative_to(kept)), recursive=False)
        kept = tmp_path / "kept.tar.gz"
    before = tree(filled)

    with pytest.raises(RestoreFailed, match=sentence):
        restore(kept, filled, filled / "owners")

    assert tree(filled) == before
    assert not (tmp_path / "T-2.md").exists()


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08\x00cut"])
def test_a_file_that_is_no_archive_is_told(filled: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "kept.tar.gz").write_bytes(content)
    with pytest.raises(RestoreFailed, match="no backup, or not a whole one"):
        restore(tmp_path / "kept.tar.gz", filled, filled / "owners")


async def test_nothing_is_restored_under_a_living_process(filled: Path, tmp_path: Path) -> None:
    back_up(filled, tmp_path / "kept")
    async with opened(filled):
        before = tree(filled)
        with pytest.raises(RestoreFailed, match=r"A process is using .* stop the daemon"):
            await asyncio.to_thread(restore, tmp_path / "kept", filled, filled / "owners")
        assert tree(filled).keys() == before.keys()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_what_was_there_is_kept_aside_and_other_peoples_files_stay(filled: Path, tmp_path: Path) -> None:
    back_up(filled, tmp_path / "kept")
    async with opened(filled) as (node, _):
        await (await node.submit(Ticket(id="T-3", text="A later one."))).outcome()
    (filled / "thesis.tex").write_text("x")
    old = (filled / "terminus.db").read_bytes()

    restored = restore(tmp_path / "kept", filled, filled / "owners")

    aside = Path(restored.aside)
    assert (aside / "terminus.db").read_bytes() == old
    assert (aside / "T-2.md").exists()
    assert mode(aside) == 0o700
    assert (filled / "thesis.tex").exists()
    async with opened(filled) as (node, _):
        assert {each.ticket for each in await node.journal.latest(10)} == {"T-1", "T-2"}


def test_what_a_person_wrote_since_into_a_file_of_the_backup_is_not_lost(filled: Path, tmp_path: Path) -> None:
    (filled / "README.md").write_text("as it was")
    back_up(filled, tmp_path / "kept")
    (filled / "README.md").write_text("as it is now")

    aside = Path(restore(tmp_path / "kept", filled, filled / "owners").aside)

    assert ((filled / "README.md").read_text(), (aside / "README.md").read_text()) == ("as it was", "as it is now")


def test_a_folder_that_is_a_disk_of_its_own_keeps_the_old_within(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up(filled, tmp_path / "kept")
    old, move = (filled / "terminus.db").read_bytes(), restoring._move

    def within(path: Path, into: Path) -> None:
        if not into.is_relative_to(filled):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        move(path, into)

    monkeypatch.setattr(restoring, "_move", within)
    restored = restore(tmp_path / "kept", filled, filled / "owners")

    assert Path(restored.aside).parent == filled
    assert (Path(restored.aside) / "terminus.db").read_bytes() == old
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "task-data"]


def test_what_a_purge_took_is_in_no_backup_made_after_it(filled: Path, tmp_path: Path) -> None:
    from runtime.upkeep.purge import purge

    purge(filled, ["T-9"], judged=True)
    back_up(filled, tmp_path / "kept")
    assert files_with(tmp_path / "kept", "Quallenwurzel") == []


def test_the_commands_keep_and_bring_back(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.article()
    assert place.run("submit", "--quiet", "--id", "T-1", QUESTION).status == 0
    before = place.run("status", "T-1", "--json").json

    kept = place.run("backup", "kept.tar.gz", "--json")
    again = place.run("backup", "kept.tar.gz")
    missing = place.run("restore", "none")
    brought = place.run("restore", "kept.tar.gz")
    elsewhere = place.run("restore", "kept.tar.gz", "--json", TERMINUS_STORAGE_FOLDER=str(tmp_path / "moved"))

    assert (kept.status, kept.json["files"]) == (0, 2)
    assert (again.status, again.out) == (1, "")
    assert "is there already" in again.err
    assert (missing.status, missing.out, missing.err) == (1, "", "There is no backup none. Check the name.\n")
    assert brought.status == 0, brought.err
    assert brought.out.startswith("Restored 2 files of 20")
    assert "task-data.before-restore-" in brought.out
    assert place.run("status", "T-1", "--json").json == before
    assert elsewhere.json["aside"] == ""
    moved = place.run("submit", "--json", QUESTION, TERMINUS_STORAGE_FOLDER=str(tmp_path / "moved"))
    assert "worker" not in {each["target"] for each in moved.json["handoffs"]}, "memory came with it"
