"""docs/readers.md: its example, in a folder outside of the package, reads what `index` and `doctor` are shown."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from runtime.knowledge.readers.reader import GROUP
from tests import ROOT
from tests.runtime.cli.commands.program import Place

PAGE = (ROOT / "docs" / "readers.md").read_text(encoding="utf-8")


def find_blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for name, language in (("my_reader.py", "python"), ("config.toml", "toml")):
        (tmp_path / name).write_text(find_blocks(language)[0], encoding="utf-8")
    manual = tmp_path / "manual"
    manual.mkdir()
    (manual / "vpn.faq").write_text("Q: How is the VPN started?\nA: With the key on the desk.\n", encoding="utf-8")
    (manual / "guide.adoc").write_text("= The guide\n\nOpen it.\n", encoding="utf-8")
    return Place(tmp_path)


def test_the_example_is_named_by_doctor_and_its_files_are_read(place: Place) -> None:
    done = place.run("index", "--no-wait", "manual")
    found = place.run("doctor", "--json")

    assert (done.status, "my_reader.py" in done.err) == (0, False)
    assert "1 document in" in done.out
    assert "1 .adoc, not read (see docs/readers.md): guide.adoc" in done.out
    assert "1 .adoc, not read (see docs/readers.md): guide.adoc" in place.run("index", "--list").out
    (plugins,) = [each for each in json.loads(found.out)["checks"] if each["name"] == "Plugins"]
    assert plugins["state"] == "ok"
    assert plugins["found"] == f"Questions and answers is read by {place.folder / 'my_reader.py'}"


def test_one_that_is_broken_is_told_and_stops_nothing(place: Place) -> None:
    file = place.folder / "my_reader.py"
    file.write_text("1 / 0\n", encoding="utf-8")
    (place.folder / "manual" / "vpn.md").write_text("# VPN\n\nWith the key on the desk.\n", encoding="utf-8")

    done = place.run("index", "--no-wait", "manual")
    answered = place.run("submit", "How is the VPN started?", "--json")
    (plugins,) = [each for each in json.loads(place.run("doctor", "--json").out)["checks"] if each["name"] == "Plugins"]

    told = f"{file}, line 1: it cannot be loaded (division by zero)."
    assert (done.status, done.err.splitlines()[0]) == (0, told)
    assert "1 document in" in done.out
    assert (answered.status, answered.json["resolution"]["citations"][0]["source"]) == (0, "manual/vpn.md")
    assert (plugins["state"], plugins["found"]) == ("warning", told)


def test_the_entry_point_of_the_page_is_one_that_is_asked_for() -> None:
    assert tomllib.loads(find_blocks("toml")[1])["project"]["entry-points"][GROUP]
