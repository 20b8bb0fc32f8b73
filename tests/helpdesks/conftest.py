"""What tests of real helpdesks share: nobody waits longer than a helpdesk needs, and a model has been asked."""

from collections import Counter

import pytest

from actors.workflow.outcome import Spent
from runtime.intake import adapter, intake, sender
from runtime.intake.events import HelpdeskTicket
from tests.runtime.http import kit


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "AGAIN_SECONDS", 0.5)
    monkeypatch.setattr(sender, "WORD_SECONDS", 0.5)
    monkeypatch.setattr(intake, "TICK_SECONDS", 0.05)
    monkeypatch.setattr(kit.OneModel, "for_run", lambda self, *_, **__: (self._model, lambda: Spent(calls=3)))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each ticket was read by us."""
    counts, fetch = Counter[str](), adapter.Adapter.fetch

    async def fetch_and_count(self: adapter.Adapter, ticket: str) -> HelpdeskTicket:
        found = await fetch(self, ticket)
        counts[ticket] += 1
        return found

    monkeypatch.setattr(adapter.Adapter, "fetch", fetch_and_count)
    return counts
