"""Passages of what was read, own documents and pages of the web together."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.evidence.passages import Meaning, Passage, SearchHits
from runtime.knowledge.indexing import index
from runtime.knowledge.knowledge_index import KnowledgeIndex
from runtime.knowledge.page_reader import PASSAGES, Reader, ReadingFailed, merge_hits
from runtime.processes.pool import Workers
from runtime.settings import KnowledgeSettings
from tests.runtime.knowledge.kit import VPN, library
from tests.runtime.knowledge.pages_kit import HARBOUR, PAGES, page, pages

WITHIN = 20.0
MILL = "https://harbour.example/mill"


@pytest.fixture
def workers() -> Iterator[Workers]:
    pool = Workers(2)
    yield pool
    pool.close()


@pytest.fixture
async def reader(tmp_path: Path, workers: Workers) -> Reader:
    await index([library(tmp_path / "library")], tmp_path, workers, KnowledgeSettings())
    return Reader(KnowledgeIndex(tmp_path, workers), workers)


def test_what_both_know_the_meaning_of_is_put_in_order_by_it() -> None:
    own, web = hits("own", 0.4, 0.9), hits("web", 0.6, 0.2)

    found = merge_hits(own, web)

    assert [each.id for each in found.passages] == ["own#1", "web#0", "own#0", "web#1"]
    assert found.meaning == Meaning(0.9, (0.9, 0.6, 0.4, 0.2))


def test_what_only_one_knows_the_meaning_of_is_told_in_turns() -> None:
    found = merge_hits(hits("own", 0.4, 0.9), hits("web", None))
    assert [each.id for each in found.passages] == ["own#0", "web#0", "own#1"]


def hits(source: str, *cosines: float | None) -> SearchHits:
    known = [each for each in cosines if each is not None]
    found = tuple(Passage(f"{source}#{n}", source, "", "", "said", 0, 4) for n in range(len(cosines)))
    return SearchHits(found, meaning=Meaning(max(known), cosines) if known else None)


async def test_each_question_has_its_findings_in_order_from_both_kinds_of_pages(reader: Reader) -> None:
    read = [*pages(), page("library/vpn.md", "VPN handbook", VPN, source="knowledge")]
    questions = ["How do I renew the VPN session?", "Who built the tidal mill of Orrin Harbour?", "How do I cook rice?"]

    vpn, mill, rice = await reader.passages(questions, read, within=WITHIN)

    assert (vpn.abstain, vpn.passages[0].source) == ("", "library/vpn.md")
    assert (mill.abstain, mill.passages[0].source) == ("", MILL)
    assert rice.abstain.endswith(".")
    assert max(len(each.passages) for each in (vpn, mill, rice)) <= PASSAGES


async def test_own_documents_that_were_not_read_are_not_looked_into(reader: Reader) -> None:
    printer = page("library/printer.txt", "Printer guide", "", source="knowledge")

    (found,) = await reader.passages(["How do I renew the VPN session key?"], [printer], within=WITHIN)

    assert found.abstain
    assert {passage.source for passage in found.passages} <= {"library/printer.txt"}


async def test_passages_come_from_the_pages_read_and_stand_in_them(reader: Reader) -> None:
    read = {each.key: each for each in pages(MILL, "https://kitchen.example/coffee")}

    for found in await reader.passages(
        ["How does the mill work?", "Can I freeze coffee?"], [*read.values()], within=WITHIN
    ):
        assert found.passages
        for passage in found.passages:
            assert passage.text == read[passage.source].text[passage.start : passage.end]


async def test_nothing_read_and_nothing_asked_are_answered_too(reader: Reader) -> None:
    assert await reader.passages([], pages(), within=WITHIN) == ()
    (found,) = await reader.passages(["Who built the mill?"], [], within=WITHIN)
    assert found.abstain == "Nothing was read."


async def test_halves_of_characters_do_not_stop_a_page_from_being_read(reader: Reader) -> None:
    read = [page(MILL, "The mill\ud800", HARBOUR + "\udfff\0 the end")]

    (found,) = await reader.passages(["Who built the tidal mill\ud83d?"], read, within=WITHIN)

    assert "Maren Tollefsen" in found.passages[0].text


async def test_time_that_is_up_is_a_sentence(reader: Reader, workers: Workers) -> None:
    with pytest.raises(ReadingFailed, match=r"^Searching the pages that were read took longer than .* s\.$"):
        await reader.passages(["Who built the mill?"], pages(), within=0.000001)
    assert (await reader.passages(["Who built the mill?"], pages(), within=WITHIN))[0].passages


@pytest.mark.parametrize("key", list(PAGES))
async def test_a_page_alone_is_enough(reader: Reader, key: str) -> None:
    (found,) = await reader.passages([f"What is said of {PAGES[key][0].split(' | ')[0]}?"], pages(key), within=WITHIN)
    assert all(passage.source == key for passage in found.passages)
