"""What the tests of the readers share: a document's units as tuples, and whether its offsets hold."""

from runtime.knowledge.readers.parsed_document import Document, Unreadable, pieces
from runtime.knowledge.readers.reader import read


def units(document: Document) -> list[tuple[tuple[str, ...], str, bool]]:
    """(path, words, whether it is code) of each unit."""
    return [(s.path, document.text[u.start : u.end], u.code) for s in document.sections for u in s.units]


def said(document: Document) -> list[str]:
    return [text for _, text, _ in units(document)]


def check_offsets(document: Document) -> None:
    """Units are slices of the document's text, in order; each passage is one, and each unit stands in one of them."""
    cut = pieces(document)
    assert all(0 <= each.start < each.end <= len(document.text) for each in cut)
    at = 0
    for unit in (unit for section in document.sections for unit in section.units):
        assert at <= unit.start < unit.end
        assert any(each.start <= unit.start and unit.end <= each.end for each in cut)
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
