"""Backups: numbered, checked, few; and nothing outside their folder is read or written."""

import hashlib
from pathlib import Path

import pytest

from runtime.families.research_state.state_file import render_state
from runtime.state_files.backups import add, name_of, valid
from tests.runtime.families.research_state.kit import a_project, files, latest_valid

STAGES = ("planning", "searching", "extracting", "analyzing")


def text(number: int = 0) -> str:
    return render_state(a_project(progress=number))


@pytest.mark.req("PR-33", "PR-34")
def test_a_backup_is_marked_as_the_latest_with_its_checksum(tmp_path: Path) -> None:
    first, second = add(tmp_path, "T-1", "planning", text(1)), add(tmp_path, "T-1", "searching", text(2))

    place = tmp_path / "backups" / "T-1"
    assert (first, second) == (place / "000001-planning.md", place / "000002-searching.md")
    digest = hashlib.sha256(second.read_bytes()).hexdigest()
    assert (place / "latest").read_text() == f"{digest}  000002-searching.md\n"
    assert latest_valid(tmp_path, "T-1") == second


@pytest.mark.req("PR-35")
@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "gone"])
def test_a_damaged_backup_is_passed_over_for_the_next_older_one(tmp_path: Path, damage: str) -> None:
    paths = [add(tmp_path, "T-1", stage, text(number)) for number, stage in enumerate(STAGES)]
    content = paths[-1].read_bytes()

    match damage:
        case "cut":
            paths[-1].write_bytes(content[: len(content) // 2])
        case "changed":
            paths[-1].write_bytes(content.replace(b"250", b"260", 1))
        case "empty":
            paths[-1].write_bytes(b"")
        case _:
            paths[-1].unlink()

    assert latest_valid(tmp_path, "T-1") == paths[-2]
    assert [path for path, _ in valid(tmp_path, "T-1")] == paths[-2::-1]


@pytest.mark.req("PR-35")
def test_a_backup_that_is_sound_but_not_the_one_that_was_marked_is_not_taken_for_it(tmp_path: Path) -> None:
    older, marked = add(tmp_path, "T-1", "planning", text(1)), add(tmp_path, "T-1", "searching", text(2))

    marked.write_text(text(3))

    assert latest_valid(tmp_path, "T-1") == older


@pytest.mark.parametrize("mark", ["", "x", "0" * 64 + "  ../../secret.md\n", "0" * 64 + "  000009-gone.md\n"])
def test_without_a_mark_that_can_be_used_the_highest_number_is_the_latest(tmp_path: Path, mark: str) -> None:
    add(tmp_path, "T-1", "planning", text(1))
    last = add(tmp_path, "T-1", "searching", text(2))
    (tmp_path / "secret.md").write_text(text(9))

    (tmp_path / "backups" / "T-1" / "latest").write_text(mark)

    assert latest_valid(tmp_path, "T-1") == last


def test_no_backup_is_no_error(tmp_path: Path) -> None:
    assert latest_valid(tmp_path, "T-1") is None
    (tmp_path / "backups" / "T-1").mkdir(parents=True)
    assert latest_valid(tmp_path, "T-1") is None


def test_the_last_ten_and_the_last_of_each_stage_are_kept(tmp_path: Path) -> None:
    for number, stage in enumerate(["planning", "searching", "searching", *["extracting"] * 30]):
        last = add(tmp_path, "T-1", stage, text(number))

    left = [path for path in files(tmp_path / "backups" / "T-1") if path != "latest"]
    assert left == [
        "000001-planning.md", "000003-searching.md", *(f"{n:06}-extracting.md" for n in range(24, 34))
    ]  # fmt: skip
    assert last.name == left[-1]


@pytest.mark.parametrize("link", ["backups", "backups/T-1"])
def test_a_link_in_the_place_of_a_folder_leads_nowhere(tmp_path: Path, link: str) -> None:
    # given a folder elsewhere that holds a sound backup
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    add(outside_of(outside), "T-1", "planning", text())
    before = files(outside)
    (inside / link).parent.mkdir(exist_ok=True)
    (inside / link).symlink_to(outside / link)

    # then it is neither read nor written
    assert latest_valid(inside, "T-1") is None
    with pytest.raises(OSError, match="is a link to elsewhere"):
        add(inside, "T-1", "planning", text())
    assert files(outside) == before


def outside_of(path: Path) -> Path:
    path.mkdir()
    return path


def test_a_link_in_the_place_of_a_backup_is_not_followed(tmp_path: Path) -> None:
    first = add(tmp_path, "T-1", "planning", text(1))
    secret = tmp_path / "secret.md"
    secret.write_text(text(2))
    (first.parent / "000002-searching.md").symlink_to(secret)
    (first.parent / "latest").unlink()
    (first.parent / "latest").symlink_to(secret)

    assert latest_valid(tmp_path, "T-1") == first
    add(tmp_path, "T-1", "extracting", text(3))
    assert secret.read_text() == text(2)
    assert not (first.parent / "latest").is_symlink()


@pytest.mark.parametrize(
    "project_id",
    [
        "../../etc/x",
        "/etc",
        "..",
        ".",
        ".hidden",
        "a/b",
        "a\\b",
        "a\0b",
        "",
        "x" * 300,
        "ä",
        "T 1",
        "\ud800",
        "%2E",
        "~me",
    ],
)
def test_no_id_leaves_the_folder_and_no_two_share_a_name(tmp_path: Path, project_id: str) -> None:
    name = name_of(project_id)

    path = add(tmp_path, name_of(project_id), "planning", text())

    assert path.resolve().is_relative_to(tmp_path / "backups" / name)
    assert (tmp_path / f"{name}.md").parent == tmp_path
    assert name_of(f"{project_id}x") != name
    assert len(name) <= 100
    assert not name.startswith(".")


def test_an_id_as_the_program_gives_it_is_the_name_of_its_file() -> None:
    assert [name_of(each) for each in ("T-1", "HD-1.2_3", "inc~7")] == ["T-1", "HD-1.2_3", "inc~7"]
