"""From bytes to main text. Blocking: runs in a worker process."""

from actors.research.identity import hash_of
from actors.research.ports import PAGE_CHARACTERS
from runtime.extract.wire import Extracted


def extract(body: bytes, charset: str, content_type: str, url: str, question: str) -> Extracted:
    """
    The main text of what a server sent.

    :param charset: what the header says; empty when it says nothing.
    :param question: what it is read for, which tells the essential part of a long text.
    """
    text = body.decode(charset or "utf-8", "replace")
    return Extracted(url, text[:PAGE_CHARACTERS], len(text), hash_of(text))
