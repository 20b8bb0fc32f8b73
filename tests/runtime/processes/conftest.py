"""Here worker processes are started as the product starts them."""

import subprocess

import pytest

from runtime.processes import pool


@pytest.fixture(autouse=True)
def real_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "subprocess", subprocess)
