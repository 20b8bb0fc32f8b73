"""docs/backup.md and docs/upgrade.md: each of their commands runs as it stands there."""

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from runtime.storage.sqlite.schema import NEWEST
from tests.pages import install_command, read_commands, run_command
from tests.runtime.cli.commands.program import QUESTION, Place, silent_server
from tests.runtime.cli.commands.test_serve import daemon
from tests.runtime.storage.sqlite.test_schema import write_version_1


@pytest.fixture
def home(tmp_path: Path) -> Place:
    """A folder in which a shell finds `terminus`."""
    place = Place(tmp_path)
    place.environ = install_command(tmp_path, place.environ)
    return place


def run_section(home: Place, page: str, heading: str = "") -> list[str]:
    """What each command below a heading prints."""
    (home.folder / "other").mkdir(exist_ok=True)
    at = str(home.folder / "other")
    return [
        run_command(command.replace("/mnt/other", at), home.folder, home.environ)
        for command in read_commands(page, heading)
    ]


def statuses(home: Place, folder: str) -> dict[str, str]:
    told: Any = home.run("status", "--json", TERMINUS_STORAGE_FOLDER=str(home.folder / folder)).json
    return {each["ticket"]: each["status"] for each in told["runs"]}


def test_a_backup_of_a_daemon_at_work_brings_back_its_tickets_and_what_was_in_work_goes_on(home: Place) -> None:
    home.article()
    ended = home.run("submit", "--quiet", "--json", "--id", "HD-1", "My printer smokes.").json
    with silent_server() as model, daemon(home, **model) as server:
        assert server.ask("/tickets", {"id": "HD-2", "text": QUESTION})[0] == 202
        run_section(home, "backup.md", "Back up")
        server.stop()
    shutil.rmtree(home.folder / "task-data")

    run_section(home, "backup.md", "Restore")

    assert home.run("status", "HD-1", "--json").json["run"] == ended["run"]
    assert statuses(home, "task-data") == {"HD-1": "suggested", "HD-2": "suggested"}
    assert statuses(home, "tried") == {"HD-1": "suggested", "HD-2": "interrupted"}


def test_an_upgrade_reads_what_the_first_version_wrote_and_there_is_a_way_back(home: Place) -> None:
    (home.folder / "task-data").mkdir()
    stored = home.folder / "task-data" / "terminus.db"
    write_version_1(stored)

    told = run_section(home, "upgrade.md")

    assert "T-1" in told[3]
    with sqlite3.connect(stored) as db:
        db.execute(f"PRAGMA user_version = {NEWEST + 1}")
    db.close()
    assert "use the version of Terminus that wrote it" in home.run("status").err
    run_section(home, "upgrade.md", "Back again")
    assert set(statuses(home, "task-data")) == {"T-1", "T-2"}
