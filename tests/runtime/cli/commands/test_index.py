"""Documents from the command line: what was read, what was skipped and why, and how far it is."""

import contextlib
import re
import sqlite3

import pytest

from runtime.embeddings import weights
from runtime.embeddings.model_file import find_model_file
from runtime.settings import EmbeddingsSettings
from tests.runtime.cli.commands.program import Place, silent_server
from tests.runtime.cli.view.terminal import HIDE, SHOW, Terminal, plain
from tests.runtime.embeddings.kit import write_published


def folder(place: Place, name: str = "manual", count: int = 3) -> None:
    (place.folder / name).mkdir()
    for number in range(count):
        text = f"# Topic {number}\n\nThe machine number {number} is switched on with key {number}.\n"
        (place.folder / name / f"{number}.md").write_text(text, encoding="utf-8")


def test_it_reports_what_was_read_on_stdout_and_progress_on_stderr(place: Place) -> None:
    folder(place)

    first, second = place.run("index", "manual"), place.run("index", "manual", "--json").json

    assert first.status == 0
    assert first.out.startswith("3 documents in ")
    assert "        3  read\n" in first.out
    assert first.err.startswith("3 of 3 documents, 3 new passages")
    assert (second["files"], second["read"], second["unchanged"], second["skipped"]) == (3, 0, 3, [])


def test_a_sentence_model_that_is_asked_for_and_not_installed_is_told_once_on_stderr(place: Place) -> None:
    folder(place)

    done = place.run("index", "manual", "--json", TERMINUS_EMBEDDINGS_PROVIDER="builtin")

    assert (done.status, done.json["files"]) == (0, 3)
    assert done.err.count('[embeddings] provider is "builtin", but no sentence model is installed') == 1
    assert done.err.count("model install` takes it") == 1
    assert "no sentence model" not in place.run("index", "manual").err


def test_what_is_skipped_is_named_with_its_reason_and_harmless(place: Place) -> None:
    folder(place)
    (place.folder / "manual" / "big\x1b[2J.md").write_text("word " * 1000, encoding="utf-8")

    done = place.run("index", "manual", TERMINUS_KNOWLEDGE_FILE_MEGABYTES="0.001")

    assert done.status == 0
    assert done.out.startswith("3 documents in "), "those that are in the index"
    assert "Skipped (1)\n  manual/big\\x1b[2J.md: " in done.out
    assert "\x1b" not in done.out + done.err


def test_without_folders_it_takes_those_of_the_settings(place: Place) -> None:
    folder(place)

    assert place.run("index", TERMINUS_KNOWLEDGE_FOLDERS="manual").status == 0
    refused = place.run("index")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err == "Which folders? Name them, or set [knowledge] folders in config.toml.\n"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("gone\x1b", "There is no folder gone\\x1b. Check the name.\n"),
        ("", 'One of the folders has no name. Name each; for the one you are in, that is ".".\n'),
        (" \t", 'One of the folders has no name. Name each; for the one you are in, that is ".".\n'),
        ("manual/0.md", "manual/0.md is a file. Name the folder that it is in.\n"),
    ],
)
def test_what_is_no_folder_is_two(place: Place, name: str, sentence: str) -> None:
    folder(place)

    done = place.run("index", "manual", name)

    assert (done.status, done.out, done.err) == (2, "", sentence)


def test_a_folder_without_documents_is_three(place: Place) -> None:
    folder(place, count=0)

    done = place.run("index", "manual")

    assert done.status == 3
    assert done.out.startswith("There is no Markdown, text, HTML, PDF, Word or reStructuredText in it.")


def test_the_folders_of_the_index_are_listed_with_what_was_left_out_and_removed_by_name(place: Place) -> None:
    folder(place)
    (place.folder / "manual" / "logo.png").write_bytes(b"x")
    (place.folder / "manual" / "empty.md").write_text("")
    none = place.run("index", "--list")
    assert (none.status, none.out[:28]) == (3, "No documents are indexed yet")
    place.run("index", "manual")

    listed = place.run("index", "--list")
    assert listed.status == 0
    assert f"manual\n  {place.folder / 'manual'}\n  3 documents, 3 passages, read 20" in listed.out
    assert re.search(r"read \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n", listed.out), "as `status` shows a moment"
    assert "manual/empty.md: empty" in listed.out
    assert "1 .png: logo.png" in listed.out

    assert place.run("index", "--remove", "nowhere").status == 3
    removed = place.run("index", "--remove", "manual")
    assert (removed.status, removed.out) == (0, "manual is out of the index (3 documents).\n")
    nothing: dict[str, object] = {"folders": [], "statutes": [], "cases": [], "meaning": None}
    assert place.run("index", "--list", "--json").json == nothing


def test_a_folder_that_is_out_of_reach_keeps_its_documents_until_it_is_removed(place: Place) -> None:
    folder(place)
    place.run("index", "manual")
    (place.folder / "manual").rename(place.folder / "moved")

    done = place.run("index", "manual")

    assert done.status == 3
    assert (
        "manual is not there, or shows no document: what was read from it stays in the index (3 documents)." in done.out
    )
    assert "index --remove" in done.out
    assert place.run("index", "--list", "--json").json["folders"][0]["documents"] == 3


def test_a_terminal_gets_a_bar_and_is_given_back(place: Place) -> None:
    folder(place, count=20)

    with Terminal(["-m", "runtime", "index", str(place.folder / "manual")], place.environ) as terminal:
        assert terminal.end() == 0

    assert "20/20" in plain(terminal.drawn)
    assert terminal.drawn.count(HIDE) == terminal.drawn.count(SHOW) == 1
    assert "20 documents in " in plain(terminal.drawn)


def test_ctrl_c_stops_it_with_a_whole_index_and_gives_the_terminal_back(place: Place) -> None:
    folder(place, count=5000)

    with Terminal(["-m", "runtime", "index", str(place.folder / "manual")], place.environ) as terminal:
        terminal.until(lambda drawn: "/5000" in plain(drawn))
        terminal.press(b"\x03")
        assert terminal.end() == 130
    after = place.run("index", "manual", "--json").json

    assert terminal.drawn.count(HIDE) == terminal.drawn.count(SHOW) == 1
    assert plain(terminal.drawn).rstrip().endswith("Stopped.")
    assert (after["files"], after["skipped"]) == (5000, [])
    assert after["read"] + after["unchanged"] == 5000
    assert after["unchanged"] > 0


def test_it_can_leave_the_meaning_of_texts_to_a_daemon_and_the_next_goes_on(place: Place) -> None:
    folder(place)
    model = find_model_file(EmbeddingsSettings(folder=str(place.folder)))
    weights.convert(*write_published(place.folder), model)
    place.environ["TERMINUS_EMBEDDINGS_FOLDER"] = str(place.folder)

    left, listed = place.run("index", "manual", "--no-wait"), place.run("index", "--list")
    made, again = place.run("index", "manual"), place.run("index", "manual", "--json").json

    assert (left.status, made.status) == (0, 0)
    assert "3 passages can be found by words only. A daemon on this folder prepares their meaning, too." in left.out
    assert "0 of 3 texts can be found by meaning; " in listed.out
    assert made.out.endswith("3 passages more can be found by meaning now.\n")
    assert "The meaning of 3 texts is prepared now: Ctrl-C stops that and keeps what is made." in made.err
    assert (again["vectors"], again["without_vectors"]) == (0, 0)
    assert place.run("index", "--list", "--json").json["meaning"] == {"texts": 3, "ready": 3}


def test_ctrl_c_while_meaning_is_prepared_keeps_the_index_and_says_what_is_left(place: Place) -> None:
    folder(place)
    with silent_server() as server:
        silent = {
            "TERMINUS_EMBEDDINGS_PROVIDER": "server", "TERMINUS_EMBEDDINGS_MODEL": "silent",
            "TERMINUS_EMBEDDINGS_BASE_URL": server["OPENAI_BASE_URL"],
        }  # fmt: skip
        with Terminal(["-m", "runtime", "index", str(place.folder / "manual")], place.environ | silent) as terminal:
            terminal.until(lambda drawn: "0/3" in plain(drawn))
            terminal.press(b"\x03")
            assert terminal.end() == 130

    assert "3 documents in " in plain(terminal.drawn)
    assert "3 passages can be found by words only." in plain(terminal.drawn)
    assert place.run("index", "manual", "--json").json["unchanged"] == 3


def test_cases_are_read_listed_and_taken_out_and_documents_stay_as_they_are(place: Place) -> None:
    folder(place)
    case = '{"id": "X 1/2", "summary": "The keeper of the harbour owed the salvage reward."}\n'
    (place.folder / "cases.jsonl").write_text(case + "{\n", encoding="utf-8")
    place.run("index", "manual")

    first = place.run("index", "--cases", "cases.jsonl")
    listed = place.run("index", "--list").out

    assert first.status == 0
    assert first.out.startswith(
        "1 case\n        1  read, for they are new or changed\nSkipped (1)\n  line 2: it is no case: "
    )
    assert first.err.endswith("bytes, 1 case\n")
    assert place.run("index", "--cases", "cases.jsonl", "--json").json["read"] == 0
    assert "manual" in listed
    assert f"{place.folder / 'cases.jsonl'}: 1 case\n" in listed
    (place.folder / "cases.jsonl").unlink()
    assert place.run("index", "--cases", "cases.jsonl", "--remove").out == "cases.jsonl is out of the index (1 case).\n"
    assert place.run("index", "--cases", "cases.jsonl", "--remove").status == 3
    assert place.run("index", "--list", "--json").json["cases"] == []
    assert place.run("index", "manual", "--json").json["unchanged"] == 3


def test_laws_are_read_listed_and_taken_out_as_cases_are(place: Place) -> None:
    (place.folder / "laws").mkdir()
    (place.folder / "laws" / "lease.md").write_text("# 租赁法\n\n第一条　甲。\n\n第二条　乙。\n", encoding="utf-8")
    (place.folder / "laws" / "note.md").write_text("# 通知\n", encoding="utf-8")

    first = place.run("index", "--statutes", "laws")
    report = place.run("index", "--statutes", "laws", "--json").json
    listed = place.run("index", "--list", "--json").json["statutes"]

    assert first.status == 0
    assert first.out.startswith(
        "1 law\n        1  read, for they are new or changed\nSkipped (1)\n  note.md: it has no "
    )
    assert (report["documents"], report["read"]) == (1, 0)
    assert listed == [{"path": str(place.folder / "laws"), "laws": 1}]
    assert place.run("index", "--statutes", "laws/lease.md").status == 2
    assert place.run("index", "--statutes", "laws", "--remove").out == "laws is out of the index (1 law).\n"
    assert place.run("index", "--statutes", "laws", "--remove").status == 3


def test_laws_of_another_version_do_not_keep_the_documents_from_being_listed(place: Place) -> None:
    folder(place)
    place.run("index", "manual")
    (place.folder / "laws").mkdir()
    (place.folder / "laws" / "lease.md").write_text("# 租赁法\n\n第一条　出租人应当提前通知。\n", encoding="utf-8")
    place.run("index", "--statutes", "laws")
    with contextlib.closing(sqlite3.connect(next(place.folder.rglob("statutes.db")))) as db:
        db.execute("PRAGMA user_version = 3")

    listed = place.run("index", "--list")

    assert (listed.status, listed.out.startswith("manual\n")) == (0, True)
    assert "The laws were indexed by another version of Terminus. Run " in listed.err


def test_a_file_of_cases_that_is_none_is_refused_with_a_sentence(place: Place) -> None:
    folder(place)
    (place.folder / "empty.jsonl").write_text("", encoding="utf-8")

    missing, is_folder = place.run("index", "--cases", "gone.jsonl"), place.run("index", "--cases", "manual")

    assert (missing.status, missing.err) == (2, "There is no file gone.jsonl. Check the name.\n")
    assert (is_folder.status, is_folder.err[:19]) == (2, "manual is no file. ")
    assert place.run("index", "--cases", "empty.jsonl").status == 3
    assert place.run("index", "manual", "--cases", "empty.jsonl").status == 2
