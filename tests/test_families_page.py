"""docs/families.md: its example is a family, and one line more makes the program run it."""

import importlib
import re
import sys
from pathlib import Path

import pytest

from actors.workflow.outcome import EndReason
from runtime import families
from runtime.engine.node import Node
from runtime.settings import Settings, StorageSettings
from runtime.tickets import Ticket
from tests import ROOT

PAGE = (ROOT / "docs" / "families.md").read_text(encoding="utf-8")


async def test_the_example_is_a_family_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example, line = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "letters.py").write_text(example, encoding="utf-8")
    monkeypatch.setattr(families, "__path__", [*families.__path__, str(tmp_path)])
    names: dict[str, object] = {**vars(families), "letters": importlib.import_module("runtime.families.letters")}
    exec(line, names)  # noqa: S102 - the line of the page

    monkeypatch.setattr(families, "FAMILIES", names["FAMILIES"])
    try:
        async with Node.open(Settings(storage=StorageSettings(folder=str(tmp_path / "data")))) as node:
            outcome = await (await node.submit(Ticket(text="My lamp is dark.", workflow="letters"))).outcome()
    finally:
        del sys.modules["runtime.families.letters"]
        vars(families).pop("letters")  # a module is an attribute of its package

    assert (outcome.workflow, outcome.status, outcome.why) == ("letters", "suggested", EndReason.COMPLETED)
    assert outcome.resolution is not None
    assert outcome.resolution.text == "Thank you for writing to us: My lamp is dark."
