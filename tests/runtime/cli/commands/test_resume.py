"""`resume` when the database is gone: what was interrupted goes on from its backups."""

import time

import pytest

from tests.runtime.cli.commands.program import QUESTION, Place, read_until, silent_server


def killed(place: Place) -> None:
    """A research that waits for a model when its process dies."""
    place.article()
    latest = place.folder / "task-data" / "backups" / "HD-9" / "latest"
    words = ("submit", "--research", "--id", "HD-9", QUESTION)
    with silent_server() as server, place.running(*words, **server) as popen:
        read_until(popen, "planning")
        for _ in range(10_000):
            if latest.exists():
                break
            time.sleep(0.005)
        popen.kill()
        popen.wait(30)


def forget(place: Place) -> None:
    for path in (place.folder / "task-data").glob("terminus.db*"):
        path.unlink()


@pytest.mark.req("PR-10", "PR-35")
def test_an_interrupted_research_is_restored_from_its_backup_when_the_database_is_gone(place: Place) -> None:
    killed(place)
    forget(place)

    done = place.run("resume", "--json")

    (outcome,) = done.json["outcomes"]
    assert (done.status, outcome["ticket"], outcome["why"]) == (0, "HD-9", "completed")
    assert "Ticket HD-9: restored from the backup 0000" in done.err
    assert "status: completed" in (place.folder / "task-data" / "HD-9.md").read_text()
    forget(place)
    assert place.run("resume").out == "Nothing to resume: no run was interrupted.\n"


@pytest.mark.req("PR-35")
def test_a_research_without_a_sound_backup_or_file_is_told_of(place: Place) -> None:
    killed(place)
    forget(place)
    for path in (place.folder / "task-data" / "backups" / "HD-9").iterdir():
        path.write_text("damaged")
    file = place.folder / "task-data" / "HD-9.md"
    file.write_text(file.read_text().replace("createdAt", "created"))

    done = place.run("resume")

    assert "The state file HD-9.md, line 2: " in done.err
    assert done.out == "Nothing to resume: no run was interrupted.\n"
