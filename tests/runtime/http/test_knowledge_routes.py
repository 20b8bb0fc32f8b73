"""Documents over HTTP: what can be searched is shown, searched, read anew, uploaded and taken out; nothing else is."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from runtime.knowledge.indexing import make_vectors
from runtime.settings import KnowledgeSettings
from tests.patience import HANGS_SECONDS
from tests.runtime.http.kit import Interface, interface
from tests.runtime.knowledge.meaning_kit import WordEmbedder

MANUAL = "# Printer\n\n## Paper jams\n\nOpen the rear cover and pull the jammed paper out.\n"
VPN = b"# VPN\n\nRestart the client when the VPN drops every hour.\n"


def configure(web: Interface, folder: Path, *, megabytes: float = 20.0) -> None:
    """Folders of documents, as the settings would name them."""
    (folder / "manual").mkdir()
    (folder / "manual" / "printer.md").write_text(MANUAL, encoding="utf-8")
    knowledge = KnowledgeSettings(
        folders=(str(folder / "manual"),), uploads=str(folder / "uploads"), file_megabytes=megabytes
    )
    web.node.settings = msgspec.structs.replace(web.node.settings, knowledge=knowledge)
    web.node.knowledge = web.node.documents


async def wait_for_index(web: Interface) -> Any:
    """How reading ended."""
    async with asyncio.timeout(HANGS_SECONDS):
        while (state := (await web.ask("GET", "/knowledge"))[1]["indexing"])["state"] == "running":
            pass
    return state


async def names(web: Interface) -> list[str]:
    _, page = await web.ask("GET", "/knowledge/documents")
    return [each["name"] for each in page["documents"]]


async def test_folders_are_read_shown_searched_and_taken_out(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        configure(web, tmp_path)
        assert (await web.ask("GET", "/knowledge"))[1]["folders"] == []
        status, begun = await web.ask("POST", "/knowledge/index", json={})
        assert (status, begun["state"]) == (202, "running")
        ended = await wait_for_index(web)
        _, known = await web.ask("GET", "/knowledge")
        _, page = await web.ask("GET", "/knowledge/documents?limit=1")
        _, found = await web.ask("GET", "/knowledge/search?q=How+do+I+clear+a+paper+jam%3F")
        removed = await web.ask("DELETE", "/knowledge/folders/manual")

        assert (ended["state"], ended["read"], ended["total"]) == ("done", 1, 1)
        assert known["folders"][0]["name"] == "manual"
        assert known["folders"][0]["record"]["indexed"]
        assert known["megabytes"] > 0
        assert (page["documents"][0]["name"], page["next"]) == ("manual/printer.md", "")
        assert page["documents"][0]["bytes"] == len(MANUAL)
        assert "rear cover" in found["passages"][0]["text"]
        assert found["passages"][0]["score"] > 0
        assert removed == (200, {"folder": "manual", "documents": 1})
        assert (tmp_path / "manual" / "printer.md").exists()
        assert await names(web) == []


async def test_how_far_documents_can_be_found_by_their_meaning_is_told_and_why_not_further(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        configure(web, tmp_path)
        await web.ask("POST", "/knowledge/index", json={})
        await wait_for_index(web)
        _, without = await web.ask("GET", "/knowledge")
        web.node.embedder = WordEmbedder()
        _, lacking = await web.ask("GET", "/knowledge")
        await make_vectors(web.node.folder, web.node.workers, web.node.embedder)
        _, ready = await web.ask("GET", "/knowledge")
        async with web.client.get("/ui/knowledge") as page:
            shown = await page.text()

    assert without["meaning"] is None
    assert (lacking["meaning"], ready["meaning"]) == ({"texts": 1, "ready": 0}, {"texts": 1, "ready": 1})
    assert "1 of 1 texts can be found by what they mean" in shown


async def test_documents_are_listed_page_by_page(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        configure(web, tmp_path)
        for number in range(5):
            (tmp_path / "manual" / f"{number}.md").write_text(f"# Page {number}\n\nText {number}.\n", encoding="utf-8")
        await web.ask("POST", "/knowledge/index")
        await wait_for_index(web)
        path, found = "/knowledge/documents?limit=4", list[list[str]]()
        while path:
            _, page = await web.ask("GET", path)
            found.append([each["name"] for each in page["documents"]])
            path = page["next"]

    assert found == [[f"manual/{n}.md" for n in range(4)], ["manual/4.md", "manual/printer.md"]]


async def test_a_document_is_uploaded_found_replaced_and_deleted_even_as_the_last(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        configure(web, tmp_path)
        for body in (b"# Old\n\nNothing.\n", VPN):
            assert (await web.ask("PUT", "/knowledge/documents/vpn.md", data=body))[0] == 202
        assert (await wait_for_index(web))["state"] == "done"
        _, found = await web.ask("GET", "/knowledge/search?q=VPN+drops")
        stored = (tmp_path / "uploads" / "vpn.md").read_bytes()
        status, _ = await web.ask("DELETE", "/knowledge/documents/vpn.md")

        assert stored == VPN
        assert (tmp_path / "uploads" / "vpn.md").exists() is False
        assert found["passages"][0]["source"] == "uploads/vpn.md"
        assert (status, await names(web)) == (204, [])
        assert (await web.refusal("DELETE", "/knowledge/documents/vpn.md"))[0] == 404


@pytest.mark.parametrize(
    "name", ["..%2Fmanual%2Fprinter.md", "%2e%2e", ".hidden.md", "a%2Fb.md", "a%00.md", "a%0A.md", "-x.md", "a" * 200]
)
async def test_no_name_leads_out_of_the_folder_of_uploads(tmp_path: Path, name: str) -> None:
    async with interface(tmp_path) as web:
        configure(web, tmp_path)
        for method, refused in (("PUT", 400), ("DELETE", 404)):
            status, _ = await web.refusal(method, f"/knowledge/documents/{name}", data=b"x")
            assert status in {refused, 404, 405}

    assert (tmp_path / "manual" / "printer.md").read_text(encoding="utf-8") == MANUAL
    assert not (tmp_path / "uploads").exists()


async def test_what_is_no_document_or_too_large_is_refused(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        configure(web, tmp_path, megabytes=0.4)
        status, sentence = await web.refusal("PUT", "/knowledge/documents/run.exe", data=b"MZ")
        assert (status, sentence.startswith("Documents are Markdown")) == (415, True)
        assert (await web.ask("PUT", "/knowledge/documents/a.md", data=b"# A\n\n" + b"a " * 190_000))[0] == 202
        status, sentence = await web.refusal("PUT", "/knowledge/documents/b.md", data=b"a" * 400_001)
        assert (status, "over 0.4 MB" in sentence) == (413, True)
        await wait_for_index(web)

    assert sorted(each.name for each in (tmp_path / "uploads").iterdir()) == ["a.md"]


async def test_only_folders_of_the_settings_and_of_the_index_are_read(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        configure(web, tmp_path)
        (tmp_path / "private").mkdir()
        for folder in (str(tmp_path / "private"), "private", "/etc", ".."):
            status, sentence = await web.refusal("POST", "/knowledge/index", json={"folders": [folder]})
            assert (status, "is no folder of the settings" in sentence) == (400, True)
        assert (await web.refusal("DELETE", "/knowledge/folders/private"))[0] == 404


async def test_without_a_folder_of_uploads_none_is_taken(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        status, sentence = await web.refusal("PUT", "/knowledge/documents/a.md", data=VPN)
        assert (status, "[knowledge] uploads" in sentence) == (409, True)
        status, sentence = await web.refusal("POST", "/knowledge/index", json={})
        assert (status, "[knowledge] folders" in sentence) == (400, True)


@pytest.mark.parametrize("query", ["", "q=", "q=+", f"q={'a' * 4_001}", "q=a&limit=0", "q=a&limit=51", "question=a"])
async def test_a_search_that_cannot_be_meant_gets_a_sentence(tmp_path: Path, query: str) -> None:
    async with interface(tmp_path) as web:
        assert (await web.refusal("GET", f"/knowledge/search?{query}"))[0] == 400


async def test_agents_are_listed_with_what_they_work_by(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        _, listed = await web.ask("GET", "/agents")

    agents = {(each["workflow"], each["name"]): each for each in listed["agents"]}
    assert {workflow for workflow, _ in agents} == set(web.node.families)
    assert {each["model"] for each in listed["agents"]} == {""}
    assert agents["helpdesk", "ticketing"]["seconds"] > 0


async def test_memory_says_what_it_would_recall_and_why_not(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True) as web:
        _, before = await web.ask("GET", "/memory?text=My+VPN+drops.")
        await web.submit("My VPN drops.", wait=20, id="T-1")
        await web.ask("POST", "/tickets/T-1/feedback", json={"answer": "Restart the client."})
        _, after = await web.ask("GET", "/memory?text=My+VPN+drops.")

        assert (before["verdict"], before["ticket"]) == ("miss", "")
        assert before["why"]
        assert (after["verdict"], after["ticket"]) == ("hit", "T-1")
        assert after["resolution"]["text"] == "Restart the client."
        assert (await web.refusal("GET", "/memory"))[0] == 400


async def test_a_ticket_whose_process_died_goes_on_when_it_is_asked_to(tmp_path: Path) -> None:
    from tests.runtime.http.kit import Held

    model = Held()
    async with interface(tmp_path, model=model) as web:
        ticket = await web.submit(id="T-1")
        await model.asked.wait()
    async with interface(tmp_path) as web:
        status, receipt = await web.ask("POST", "/tickets/T-1/resume")
        _, ended = await web.ask("POST", "/tickets?wait=20", json={"text": "My VPN drops every hour.", "id": "T-1"})

        assert (status in {200, 202}, receipt["run"]) == (True, ticket["run"])
        assert ended["status"] == "resolved"
        assert (await web.ask("POST", "/tickets/T-1/resume"))[0] == 200
        assert (await web.refusal("POST", "/tickets/T-404/resume"))[0] == 404
