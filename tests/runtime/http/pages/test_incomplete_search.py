"""A search that was not complete is told to who reads a page and to programs; nobody hears that nothing is there."""

from pathlib import Path
from typing import Any, cast

import pytest

from actors.drafting.drafts import Draft
from actors.evidence.passages import SearchHits
from actors.evidence.shortfalls import Shortfall
from tests.actors.helpdesk.test_worker import Drafts, Finds
from tests.runtime.http.kit import TEXT, interface

SLOW = Shortfall("no_meaning", "The sentence model took too long.")


@pytest.mark.parametrize(
    ("language", "headline"),
    [("en", "Nothing found, but the search was not complete"), ("zh", "未找到，但搜索不完整"), ("ko", "찾지 못했지만")],
)
async def test_a_page_and_the_interface_tell_it(tmp_path: Path, language: str, headline: str) -> None:
    knowledge: Any = Finds(SearchHits((), "The documents hold nothing on this.", incomplete=(SLOW,)))
    async with interface(tmp_path, model=Drafts(Draft()), memory=True) as web:
        web.node.knowledge = cast("Any", knowledge)
        _, outcome = await web.ask("POST", "/tickets?wait=20", json={"text": TEXT, "id": "T-1"})
        async with web.client.get(f"/ui/tickets/T-1?lang={language}") as got:
            page = await got.text()

    assert (outcome["status"], outcome["incomplete"]) == (
        "not_found",
        [{"code": "no_meaning", "detail": "The sentence model took too long."}],
    )
    assert headline in page
    assert "hold nothing on this" not in page
    assert "Not found in the sources" not in page
