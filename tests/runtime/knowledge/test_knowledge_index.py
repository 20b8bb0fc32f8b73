"""A place that is named can be opened: sources are found on disk, wherever their folder stands."""

from pathlib import Path

from actors.evidence.claims import Citation, Resolution
from runtime.knowledge import FILE
from runtime.knowledge.indexing import index
from runtime.knowledge.knowledge_index import find_source_files
from runtime.processes.pool import Workers
from runtime.settings import KnowledgeSettings


async def test_a_source_is_found_below_its_folder_while_it_is_there(tmp_path: Path) -> None:
    one, other = tmp_path / "one" / "manual", tmp_path / "other" / "manual"
    for folder in (one, other):
        (folder / "guide").mkdir(parents=True)
        (folder / "guide" / "a b.md").write_text(f"# Breaks\n\nA break in {folder.parent.name} begins a new page.\n")
    storage = tmp_path / "storage"
    workers = Workers(1)
    try:
        await index([one, other], storage, workers, KnowledgeSettings())
    finally:
        workers.close()
    sources = ["manual/guide/a b.md", "other/manual/guide/a b.md", "manual/gone.md", "https://example.org/a"]

    answer = Resolution("", tuple(Citation(n, source, "", "", "", 0, 0) for n, source in enumerate(sources)))
    found = await find_source_files(storage, answer)
    (one / "guide" / "a b.md").unlink()

    assert found == {sources[0]: str(one / "guide" / "a b.md"), sources[1]: str(other / "guide" / "a b.md")}
    assert await find_source_files(storage, answer) == {sources[1]: found[sources[1]]}


async def test_without_an_index_nothing_is_found(tmp_path: Path) -> None:
    answer = Resolution("", (Citation(1, "manual/a.md", "", "", "", 0, 0),))

    assert await find_source_files(tmp_path, answer) == {}
    (tmp_path / FILE).write_bytes(b"no database" * 100)
    assert await find_source_files(tmp_path, answer) == {}
    assert await find_source_files(tmp_path, None) == {}
