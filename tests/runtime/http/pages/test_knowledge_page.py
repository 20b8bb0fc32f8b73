"""Documents on their page: uploaded, read and taken out by who may, also without a script; hostile names are words."""

import io
import unicodedata
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from playwright.async_api import FilePayload, expect

from runtime.http.pages.page_routes import FORM_FIELD
from tests.runtime.http.kit import Interface, interface
from tests.runtime.http.pages.browser import browse, find_barriers
from tests.runtime.http.pages.test_page_routes import HTML, read, read_key
from tests.runtime.http.test_access import ROLES, bearer, book
from tests.runtime.http.test_knowledge_routes import VPN, configure, names, wait_for_index

PAGE = "/ui/knowledge"
UPLOAD = f"{PAGE}/documents"
OURS = "multipart/form-data; boundary=x"


def make_file(name: str, body: bytes = VPN) -> FilePayload:
    return {"name": name, "mimeType": "text/markdown", "buffer": body}


@pytest.mark.parametrize("context", [{}, {"java_script_enabled": False, "viewport": {"width": 360, "height": 700}}])
async def test_a_document_is_uploaded_found_and_deleted_with_and_without_a_script(
    tmp_path: Path, context: dict[str, Any]
) -> None:
    async with interface(tmp_path) as web, browse(web, **context) as page:
        configure(web, tmp_path)
        await page.goto(PAGE)
        await page.get_by_label("Document").set_input_files([make_file("vpn guide.md")])
        await page.get_by_role("button", name="Upload").click()
        await page.wait_for_url(f"**{PAGE}")
        await wait_for_index(web)
        if context:
            await page.reload()
        await expect(page.get_by_role("rowheader", name="vpn guide.md")).to_be_visible()
        assert await names(web) == ["uploads/vpn guide.md"]
        if not context:
            assert await find_barriers(page) == []

        row = page.get_by_role("row").filter(has_text="vpn guide.md")
        await row.get_by_text("Remove").click()
        await row.get_by_role("button", name="Delete the document").click()
        await expect(page.get_by_role("rowheader", name="vpn guide.md")).to_have_count(0)
        assert not (tmp_path / "uploads" / "vpn guide.md").exists()
        assert await names(web) == []


async def test_a_folder_of_the_settings_is_read_and_taken_out_and_its_files_stay(tmp_path: Path) -> None:
    async with interface(tmp_path) as web, browse(web) as page:
        configure(web, tmp_path)
        await page.goto(PAGE)
        await page.get_by_label("Folder", exact=True).select_option(str(tmp_path / "manual"))
        await page.get_by_role("button", name="Read").click()
        await expect(page.get_by_role("rowheader", name="manual")).to_be_visible()
        await expect(page.get_by_text("Being read")).to_have_count(0)
        assert await names(web) == ["manual/printer.md"]

        await page.locator("summary").filter(has_text="Remove").press("Enter")
        assert await find_barriers(page) == []
        await page.get_by_role("button", name="Take it out of the index").press("Enter")
        await expect(page.get_by_role("rowheader", name="manual")).to_have_count(0)
        assert (tmp_path / "manual" / "printer.md").exists()
        assert await names(web) == []


async def test_uploads_stand_page_by_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.http.pages.knowledge_page.DOCUMENTS_ON_A_PAGE", 2)
    async with interface(tmp_path) as web, browse(web) as page:
        configure(web, tmp_path)
        for number in range(3):
            await web.ask("PUT", f"/knowledge/documents/{number}%20b.md", data=VPN)
        await web.ask("POST", "/knowledge/index")
        await wait_for_index(web)
        await page.goto(PAGE)
        table = page.get_by_role("group", name="Uploaded documents")
        await expect(table.get_by_role("rowheader")).to_have_count(2)
        await page.get_by_role("link", name="More documents").click()
        await expect(table.get_by_role("rowheader")).to_have_text(["2 b.mdVPN"])


async def send(web: Interface, name: str, body: bytes, path: str = UPLOAD, **fields: str) -> tuple[int, str]:
    """The status and the page after a form with a file, as a browser sends it."""
    form = aiohttp.FormData(
        {FORM_FIELD: await read_key(web, PAGE), **fields}, quote_fields=False, default_to_multipart=True
    )
    form.add_field("document", io.BytesIO(body), filename=name, content_type="text/markdown")
    async with web.client.post(path, data=form, headers=HTML, allow_redirects=False) as response:
        return response.status, await response.text()


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("../manual/printer.md", 400), ("..\\printer.md", 400), ("a/b.md", 400), (".hidden.md", 400), ("a" * 200, 400),
        ("<script>alert(1)</script>.md", 400), ("run.exe", 415), ("vpn.md ", 400), ("a\u202emd.md", 400),
        ("%2e%2e%2fprinter.md", 400),
    ],
)  # fmt: skip
async def test_a_hostile_file_name_is_refused_in_words_and_writes_nothing(
    tmp_path: Path, name: str, status: int
) -> None:
    async with interface(tmp_path) as web:
        configure(web, tmp_path)
        before = (tmp_path / "manual" / "printer.md").read_bytes()
        told, text = await send(web, name, VPN)

    assert (told, 'role="alert"' in text) == (status, True)
    assert 'href="/ui/knowledge" aria-current="page"' in text
    assert 'href="/?lang=ko"' in text  # where the form was sent to, there is no page
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert not (tmp_path / "uploads").exists()
    assert (tmp_path / "manual" / "printer.md").read_bytes() == before


async def test_bounds_of_an_upload_are_told_in_a_sentence(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        configure(web, tmp_path, megabytes=0.4)
        assert (await send(web, "a.md", b"# A\n\n" + b"a " * 190_000))[0] == 303
        for length in (400_001, 2_000_000):
            status, text = await send(web, "b.md", b"a" * length)
            assert (status, "The document is over 0.4 MB." in text) == (413, True)
        status, text = await send(web, "c.md", VPN, note="x" * 5_000)
        assert (status, "A field is over 4,000 bytes." in text) == (413, True)
        status, text = await send(web, "c.md", VPN, **{f"n{number}": "" for number in range(30)})
        assert (status, "more than 20 fields" in text) == (400, True)
        status, text = await send(web, "", b"")
        assert (status, "No file was chosen." in text) == (400, True)
        assert [each.name for each in (tmp_path / "uploads").iterdir()] == ["a.md"]


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/x-www-form-urlencoded", b"document=x", 415),
        ("multipart/form-data", b"--x\r\n\r\n\r\n--x--\r\n", 400),
        (OURS, b"no form at all", 400),
        (OURS, b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\ncut", 400),
        (OURS, b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\n\xff\r\n--x--\r\n", 400),
        (OURS, b"--x\r\nContent-Type: multipart/mixed; boundary=y\r\n\r\n--y--\r\n--x--", 400),
    ],
)
async def test_what_is_no_form_with_a_file_gets_a_sentence(tmp_path: Path, kind: str, body: bytes, status: int) -> None:
    async with interface(tmp_path) as web:
        configure(web, tmp_path)
        async with web.client.post(UPLOAD, data=body, headers={**HTML, "Content-Type": kind}) as response:
            assert (response.status, 'role="alert"' in await response.text()) == (status, True)
    assert not (tmp_path / "uploads").exists()


async def test_an_upload_that_is_no_form_of_ours_does_nothing(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        configure(web, tmp_path)
        form = aiohttp.FormData({FORM_FIELD: "0" * 64})
        form.add_field("document", VPN, filename="vpn.md")
        async with web.client.post(UPLOAD, data=form, headers=HTML) as response:
            assert response.status == 403
    assert not (tmp_path / "uploads").exists()


@pytest.mark.parametrize("name", ["Handbuch \u2013 VPN.md", "it's a&b, too.md", "Bu\u0308ro.md", "\u624b\u518c.md"])
async def test_usual_names_are_taken(tmp_path: Path, name: str) -> None:
    async with interface(tmp_path) as web:
        configure(web, tmp_path)
        told, _ = await send(web, name, VPN)
    assert told == 303
    kept = unicodedata.normalize("NFC", name)
    assert [each.name for each in (tmp_path / "uploads").iterdir()] == [kept]


@pytest.mark.parametrize(
    "body",
    [
        b"--x\r\nno colon\r\n\r\n1\r\n--x--\r\n", b"--x\r\nA: " + b"b" * 9_000 + b"\r\n\r\n1\r\n--x--\r\n",
        b"--x\r\n" + b"A: b\r\n" * 200 + b"\r\n1\r\n--x--\r\n", b"--x\r\nA\0: b\r\n\r\n1\r\n--x--\r\n", b"", b"--y\r\n",
        b'--x\r\nContent-Disposition: form-data; name="_charset_"\r\n\r\nq\r\n--x--\r\n',
    ],
    ids=["header", "long", "many", "nul", "empty", "other", "charset"],
)  # fmt: skip
async def test_a_malformed_form_is_refused_in_words(tmp_path: Path, body: bytes) -> None:
    async with interface(tmp_path) as web:
        configure(web, tmp_path)
        headers = {**HTML, "Content-Type": "multipart/form-data; boundary=x"}
        async with web.client.post(UPLOAD, data=body, headers=headers) as response:
            assert (response.status, 'role="alert"' in await response.text()) == (400, True)


async def test_what_is_no_name_of_a_folder_is_refused_in_words(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        configure(web, tmp_path)
        status, why = await web.refusal("POST", "/knowledge/index", json={"folders": ["\0"]})
    assert status == 400
    assert "is no folder of the settings" in why


@pytest.mark.parametrize("path", [UPLOAD, f"{PAGE}/index", f"{PAGE}/remove"])
async def test_who_is_no_administrator_is_refused(tmp_path: Path, path: str) -> None:
    async with interface(tmp_path) as web:
        configure(web, tmp_path)
        held = {role: bearer(await book(web).create(role, role)) for role in ROLES if role != "admin"}
        for headers in held.values():
            async with web.client.post(path, data={"folder": "manual"}, headers=headers) as response:
                assert response.status == 403


async def test_forms_are_for_administrators_alone(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        configure(web, tmp_path)
        held = {role: bearer(await book(web).create(role, role)) for role in ROLES}
        shown = {role: (await read(web, PAGE, **headers))[1] for role, headers in held.items()}

    assert {role for role, text in shown.items() if "multipart/form-data" in text} == {"admin"}
    assert {role for role, text in shown.items() if f'action="{PAGE}/' in text} == {"admin"}
