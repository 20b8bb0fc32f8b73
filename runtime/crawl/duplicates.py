"""What was read already, and whether something else is the same again. Pure."""

from urllib.parse import urlsplit

import msgspec

from actors.evidence.dedup import alike
from actors.evidence.sources import FailedSource, Page
from actors.text.urls import key_of


class Fetched(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What became of one URL, before it is compared with others."""

    read: Page | FailedSource
    canonical: str = ""
    """What the page names as its own URL."""
    sketch: tuple[int, ...] = ()


class ReadPages:
    """The pages that one research has read."""

    def __init__(self) -> None:
        self._places: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._sketches: list[tuple[tuple[int, ...], str]] = []

    def add(self, fetched: Fetched) -> None:
        page = fetched.read
        if isinstance(page, Page):
            for place in _places(page, fetched.canonical):
                self._places.setdefault(place, page.url)
            self._texts.setdefault(page.sha256, page.url)
            self._sketches.append((fetched.sketch, page.url))

    def judge(self, fetched: Fetched, place: str) -> Page | FailedSource:
        """What was read at a place, unless it is another page's text: then that it is a duplicate, and of what."""
        page = fetched.read
        if isinstance(page, FailedSource):
            return page
        named = (self._places[key] for key in _places(page, fetched.canonical) if key in self._places)
        near = (url for known, url in self._sketches if alike(known, fetched.sketch))
        rules = {
            "It is the page": next(named, None),
            "It has the same text as": self._texts.get(page.sha256),
            "It has nearly the same text as": min(near, default=None),
        }
        for sentence, other in rules.items():
            if other:
                return FailedSource(place, "duplicate", f"{sentence} {other}, which was read already.")
        return page


def _places(page: Page, canonical: str) -> list[str]:
    named = key_of(canonical) if canonical else ""
    if urlsplit(named).path in {"", "/"}:
        named = ""  # many a site says of all its pages that they are its first one
    return list(dict.fromkeys(filter(None, (page.key, key_of(page.url), named))))
