"""A folder of its own for each test of a command."""

from pathlib import Path

import pytest

from tests.runtime.cli.commands.program import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)
