"""What tests of real helpdesks share: nobody waits longer than a helpdesk needs, and a model has been asked."""

import pytest

from actors.workflow.outcome import Spent
from runtime.intake import intake, sender
from tests.runtime.http import kit


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "AGAIN_SECONDS", 0.5)
    monkeypatch.setattr(sender, "WORD_SECONDS", 0.5)
    monkeypatch.setattr(intake, "TICK_SECONDS", 0.05)
    monkeypatch.setattr(kit.OneModel, "for_run", lambda self, *_, **__: (self._model, lambda: Spent(calls=3)))
