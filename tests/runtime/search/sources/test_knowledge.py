"""The own documents as a source."""

from typing import Any

import msgspec
import pytest

from actors.evidence.passages import Passage, SearchHits
from actors.evidence.shortfalls import Shortfall
from actors.ports import PortFailed
from runtime.knowledge import no_index_message
from runtime.search.source import SourcePorts
from runtime.search.sources.knowledge import OwnDocuments
from runtime.settings import Settings


def passage(source: str, text: str, score: float, title: str = "A title") -> Passage:
    return Passage(f"{source}#{score}", source, title, "", text, 0, len(text), score=score)


class Shelf:
    """Finds what it was given."""

    def __init__(self, *passages: Passage, abstain: str = "") -> None:
        self._findings = SearchHits(passages, abstain)
        self.asked: list[dict[str, Any]] = []

    def lacks(self, shortfall: Shortfall) -> None:
        self._findings = msgspec.structs.replace(self._findings, incomplete=(shortfall,))

    async def search(self, question: str, *, within: float, limit: int | None = None, **more: Any) -> SearchHits:
        self.asked.append({"limit": limit, **more})
        return self._findings


async def ask(shelf: Shelf, limit: int = 5) -> Any:
    unused: Any = None
    own = OwnDocuments(SourcePorts(Settings(), shelf, unused, unused))
    return await own.search("tea", limit=limit, within=5)


@pytest.mark.req("PR-11")
async def test_a_document_is_one_result_with_its_best_passage() -> None:
    shelf = Shelf(passage("a.md", "Green tea.", 1.0, "On \x1b[31mtea"), passage("b.md", "Words on tea. " * 50, 0.5, ""))

    first, second = await ask(shelf)

    assert (first.source, first.url, first.title) == ("knowledge", "knowledge:a.md", "On [31mtea")
    assert (first.summary, first.quality) == ("Green tea.", 1.0)
    assert (second.title, second.quality) == ("b.md", 0.5)
    assert len(second.summary) < 200
    assert shelf.asked == [{"limit": 5, "linked": True}]


async def test_that_nothing_is_indexed_is_said_with_the_remedy() -> None:
    with pytest.raises(PortFailed, match=r"No documents are indexed yet: run `python -m runtime index FOLDER`"):
        await ask(Shelf(abstain=no_index_message()))


async def test_no_more_documents_than_wanted_and_none_from_a_search_that_abstains() -> None:
    many = [passage(f"{n}.md", "Tea.", 1.0) for n in range(9)]

    assert len(await ask(Shelf(*many), limit=3)) == 3
    assert await ask(Shelf(*many, abstain="The documents do not speak of tea.")) == ()
    assert await ask(Shelf()) == ()


async def test_nothing_found_by_a_search_that_was_not_complete_is_a_source_that_did_not_answer() -> None:
    shelf = Shelf(abstain="Nothing of it.")
    shelf.lacks(Shortfall("no_meaning", "The sentence model took too long."))

    with pytest.raises(PortFailed, match="not all that is known of them was looked at"):
        await ask(shelf)
    assert await ask(Shelf(abstain="Nothing of it.")) == ()
