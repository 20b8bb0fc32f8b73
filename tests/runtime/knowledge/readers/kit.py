"""What the tests of the readers share: a document's units as tuples, and whether its offsets hold."""

from runtime.knowledge.readers.parsed_document import Document, Unreadable, pieces
from runtime.knowledge.readers.reader import read


def units(document: Document) -> list[tuple[tuple[str, ...], str, bool]]:
    """(path, words, whether it is code) of each unit."""
    return [(s.path, document.text[u.start : u.end], u.code) for s in document.sections for u in s.units]


def said(document: Document) -> list[str]:
    return [text for _, text, _ in units(document)]


def check_offsets(document: Document) -> None:
    """Every passage is a slice of the document's text, every unit one of its passage, in order."""
    for piece in pieces(document):
        assert 0 <= piece.start < piece.end <= len(document.text)
        at = 0
        for unit in piece.units:
            assert at <= unit.start < unit.end <= piece.end - piece.start
            at = unit.end


def check_read_or_refused(name: str, data: bytes) -> None:
    """A file becomes whole passages, or is refused with a reason; nothing else may be raised."""
    try:
        document = read(name, data)
    except Unreadable as error:
        reason = str(error)
    else:
        check_offsets(document)
        return
    assert reason
