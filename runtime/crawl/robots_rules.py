"""What a robots.txt says of a URL. One of half a megabyte would hold up the loop: runs in a worker process."""

import functools
from typing import Any


@functools.lru_cache(maxsize=16)
def _parse(body: bytes) -> Any:
    from protego import Protego

    return Protego.parse(body.decode("utf-8-sig", "replace"))


def verdict(body: bytes, agent: str, url: str) -> tuple[bool, float]:
    """Whether this agent may read a URL, and the seconds that it should leave between two pages."""
    rules = _parse(body)
    return bool(rules.can_fetch(url, agent)), float(rules.crawl_delay(agent) or 0.0)
