"""Searches that a research case tells are kept from secrets in a trace as those are that were noted."""

from pathlib import Path

import pytest

from actors.evidence.trace_steps import SearchStep
from actors.research import search_steps
from runtime.engine.node import Node
from runtime.observe.trace_record import read_trace
from runtime.settings import Settings, StorageSettings, TraceSettings
from tests.runtime.cli.commands.test_research import dug


@pytest.mark.parametrize(("redact", "query"), [(True, "mail [e-mail]"), (False, "mail jo@example.org")])
async def test_a_told_search_has_no_personal_data_where_that_is_taken_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, redact: bool, query: str
) -> None:
    await dug(tmp_path)
    step = SearchStep("searcher", "mail jo@example.org", "web")
    monkeypatch.setattr(search_steps, "list_searches", lambda _: (step,))
    settings = Settings(storage=StorageSettings(folder=str(tmp_path)), trace=TraceSettings(redact=redact))
    async with Node.open(settings) as node:
        trace = await read_trace(node, await node.journal.find("RS-1"))
    assert [each.query for each in trace.searches] == [query]
