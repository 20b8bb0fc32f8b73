"""The knowledge search: runs in a worker process, which keeps the index open between questions."""

from pathlib import Path

from actors.evidence import Findings, Passage, Slice
from runtime.knowledge.gate import abstain, confidence, missing_pair
from runtime.knowledge.question import understand
from runtime.knowledge.quotes import Window, windows
from runtime.knowledge.ranking import Page, rank
from runtime.knowledge.shelf import Shelf, Stored

NO_INDEX = "No documents are indexed yet: run `python -m runtime index FOLDER` on a folder of Markdown, text or HTML."
QUOTES_OF_A_PASSAGE = 3
QUOTED = 4
"""So many quotes are likely to be shown."""

_shelves: dict[str, tuple[tuple[int, int], Shelf]] = {}


def find(database: str, question: str, limit: int) -> Findings:
    """Search an index. Blocking; keeps it open for the next call."""
    shelf = _shelf(Path(database))
    if shelf is None:
        return Findings(abstain=NO_INDEX)
    try:
        shelf.begin()
        return _find(shelf, question, limit) if shelf.passages else Findings(abstain=NO_INDEX)
    finally:
        shelf.end()


def read(database: str, source: str) -> str:
    """The text of an indexed document as it was read, which offsets of its passages refer to."""
    shelf = _shelf(Path(database))
    text = shelf.text(source) if shelf else None
    if text is None:
        raise LookupError(f"{source} is not in the index any more")
    return text


def _find(shelf: Shelf, text: str, limit: int) -> Findings:
    question = understand(text, shelf)
    pages = rank(shelf, question)
    why = abstain(shelf, question, pages)
    quotable = windows(shelf, question, pages) if pages else []
    if not why:
        why = missing_pair(shelf, question, quotable[:QUOTED]) or (
            "" if quotable else "The documents hold no sentence on this."
        )
    sure = 0.0 if why else confidence(question, pages, quotable)
    return Findings(tuple(_passages(shelf, pages, quotable, limit)), why, sure)


def _passages(shelf: Shelf, pages: list[Page], quotable: list[Window], limit: int) -> list[Passage]:
    """Page by page, those with the best quotes first; then the best of what is quoted from no more."""
    quoted: dict[int, list[Window]] = {}
    for window in quotable:
        quoted.setdefault(window.passage.id, []).append(window)
    share = max(1, -(-limit // 3))
    chosen: list[Stored] = []
    for page in pages[:limit]:
        of_page = [w[0].passage for w in quoted.values() if w[0].passage.document == page.document]
        chosen += of_page[:share] or shelf.stored([page.hits[0].id])
    ranks = {page.document: page.score for page in pages}
    return [_passage(each, quoted.get(each.id, []), ranks[each.document]) for each in chosen[:limit]]


def _passage(stored: Stored, quoted: list[Window], score: float) -> Passage:
    slices = (Slice(w.start, w.end, round(w.score, 4)) for w in quoted[:QUOTES_OF_A_PASSAGE])
    return Passage(
        id=f"{stored.source}#{stored.ordinal}",
        source=stored.source,
        title=stored.title,
        heading=stored.heading,
        text=stored.text,
        start=stored.start,
        end=stored.end,
        anchor=stored.anchor,
        score=round(score, 4),
        quotes=tuple(slices),
    )


def _shelf(path: Path) -> Shelf | None:
    """The open index, opened again when the file is another one; None when there is none."""
    known = _shelves.get(str(path))
    try:
        found = path.stat()
    except OSError:
        found = None
    identity = (found.st_dev, found.st_ino) if found else None
    if known is not None:
        if known[0] == identity:
            return known[1]
        known[1].close()
        del _shelves[str(path)]
    if identity is None:
        return None
    shelf = Shelf(path)
    _shelves[str(path)] = (identity, shelf)
    return shelf


def close() -> None:
    """Close this process's indexes. A worker process need not: it ends with them."""
    for _, shelf in _shelves.values():
        shelf.close()
    _shelves.clear()
