"""The page of the interface: all that is described stands on it, each link leads somewhere, and it runs nothing."""

import re
from html.parser import HTMLParser
from pathlib import Path

from runtime.http.errors import TITLES
from runtime.http.openapi import document, render
from tests.runtime.http.kit import interface

VOID = frozenset({"meta", "br"})


class Reader(HTMLParser):
    """What stands on a page; every element that is opened is closed in its order."""

    def __init__(self) -> None:
        super().__init__()
        self.open, self.tags = list[str](), set[str]()
        self.ids, self.links = list[str](), set[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), name
            if name == "id" and value:
                self.ids.append(value)
            if name == "href" and value:
                self.links.add(value)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read() -> Reader:
    reader = Reader()
    reader.feed(render(document()))
    assert reader.open == []
    return reader


def test_all_that_is_described_stands_on_it() -> None:
    text, ids = render(document()), read().ids
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            assert f">{method.upper()} {path}</h3>" in text
            assert operation["summary"].replace("'", "&#x27;") in text
    assert set(document()["components"]["schemas"]) <= set(ids)
    assert {f"status-{status}" for status in TITLES} <= set(ids)


def test_each_link_leads_somewhere_and_nothing_runs() -> None:
    reader = read()
    assert len(set(reader.ids)) == len(reader.ids)
    assert {link.removeprefix("#") for link in reader.links if link.startswith("#")} <= set(reader.ids)
    assert {link for link in reader.links if not link.startswith("#")} == {"/openapi.json"}
    assert not reader.tags & {"script", "iframe", "object", "embed", "img", "link", "form"}


async def test_it_is_served_to_browsers_which_may_load_nothing_with_it(tmp_path: Path) -> None:
    async with interface(tmp_path) as web, web.client.get("/docs") as response:
        assert (response.status, response.content_type) == (200, "text/html")
        assert re.search(r"default-src 'none'.*frame-ancestors 'none'", response.headers["Content-Security-Policy"])
        assert await response.text() == render(document())
