"""Reads folders of laws, in a worker process: files that did not change are taken from what was read before."""

import hashlib
import os
from pathlib import Path

from actors.statutes.jurisdiction import load_jurisdictions
from runtime.processes import array_file
from runtime.statutes.law_reader import NoLaw, ReadArticle, parse_law, read_file
from runtime.statutes.statute_file import FILE, LawRecord, StatuteFile, write
from runtime.statutes.statute_index import StatuteReport

FILES = 100_000
SKIPPED = 20
"""So many files that hold no law are named."""


def index_statutes(storage: str, folder: str) -> StatuteReport:
    """
    Put the laws of a folder into the store; what the folder does not hold any more goes.

    The laws of other folders stay. Who calls it sees to it that only one does so at a time.
    """
    path, root = Path(storage) / FILE, str(Path(folder).resolve())
    jurisdiction = load_jurisdictions()[0]
    before, others = _known(path, root)
    kept: list[tuple[LawRecord, list[ReadArticle]]] = []
    skipped: list[tuple[str, str]] = []
    read = 0
    for file in _list(Path(root)):
        name = str(file.relative_to(root))
        try:
            content = read_file(file)
            digest = hashlib.blake2b(content, digest_size=16).hexdigest()
            if (known := before.get((name, digest))) is not None:
                kept.append(known)
                continue
            read += 1
            law = parse_law(content, file.stem, jurisdiction)
        except NoLaw as error:
            skipped.append((name, str(error)))
            continue
        kept.append((LawRecord(law.law, root, name, digest, len(law.articles)), list(law.articles)))
    names = {record.file for record, _ in kept}
    gone = len({name for name, _ in before} - names)
    if read or gone or not before:
        write(path, [*others, *kept])
    return StatuteReport(
        len(kept), sum(len(articles) for _, articles in kept), read, gone, tuple(skipped[:SKIPPED]),
        max(0, len(skipped) - SKIPPED),
    )  # fmt: skip


Known = dict[tuple[str, str], tuple[LawRecord, list[ReadArticle]]]


def _known(path: Path, root: str) -> tuple[Known, list[tuple[LawRecord, list[ReadArticle]]]]:
    """What the store holds of this folder, by file and digest, and of others."""
    try:
        file = StatuteFile(path)
    except (FileNotFoundError, array_file.Damaged):
        return {}, []
    before: Known = {}
    others: list[tuple[LawRecord, list[ReadArticle]]] = []
    for place, record in enumerate(file.laws):
        if record.folder == root:
            before[record.file, record.digest] = (record, file.articles_of(place))
        else:
            others.append((record, file.articles_of(place)))
    return before, others


def _list(root: Path) -> list[Path]:
    found = [
        Path(folder) / name
        for folder, _, names in os.walk(root)
        for name in names
        if name.lower().endswith((".md", ".markdown")) and not name.startswith(".")
    ]
    return sorted(found)[:FILES]
