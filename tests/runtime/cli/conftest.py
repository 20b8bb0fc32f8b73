"""A folder of its own for each test of a command."""

from pathlib import Path

import pytest

from tests.runtime.cli.commands.program import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def fresh_place(tmp_path: Path) -> Place:
    """Where each command is an interpreter of its own, from its start to its very end."""
    return Place(tmp_path, forks=False)
