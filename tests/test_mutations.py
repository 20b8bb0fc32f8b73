"""The list of mutations does not rot: `python -m tests.mutate` runs them, this looks whether they still can be."""

import re

from tests import ROOT
from tests.mutate import FOLDER, find_faults, read
from tests.proofs import PLACE

MARK = re.compile(r"@pytest\.mark\.req\(([^)]*)\)")


def test_each_text_stands_once_and_each_id_has_two_mutations() -> None:
    assert find_faults(read()) == []


def test_each_id_that_is_proved_has_mutations_and_the_other_way_round() -> None:
    marks = [mark for file in (ROOT / PLACE).glob("*.py") for mark in MARK.findall(file.read_text(encoding="utf-8"))]
    proved = {each for mark in marks for each in re.findall(r'"([A-Z]{2}-[\d.]+)"', mark)}
    documents = tuple(f"{file.stem.upper()}-" for file in FOLDER.glob("*.toml"))

    assert {each for each in proved if each.startswith(documents)} == set(read())
