"""What others add: found in every process, and told in one sentence where it cannot be used."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.knowledge.indexing import index
from runtime.knowledge.knowledge_index import KnowledgeIndex
from runtime.knowledge.readers.reader import GROUP, Reader, list_readers
from runtime.plugins import find_plugins, use_files
from runtime.processes.pool import Workers
from runtime.settings import KnowledgeSettings
from tests.test_readers_page import find_blocks

READER = find_blocks("python")[0]


@pytest.fixture(autouse=True)
def none_in_use() -> Iterator[None]:
    yield
    use_files(())


def write(folder: Path, text: str, name: str = "my_reader.py") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


async def test_a_reader_of_a_file_reads_in_the_worker_processes_too(tmp_path: Path) -> None:
    manual = tmp_path / "manual"
    manual.mkdir()
    (manual / "vpn.faq").write_text("Q: How is the VPN started?\nA: With the key on the desk.\n", encoding="utf-8")
    use_files([write(tmp_path, READER)])
    workers = Workers(1)
    knowledge = KnowledgeIndex(tmp_path / "store", workers)
    try:
        report = await index([manual], tmp_path / "store", workers, KnowledgeSettings())
        hits = await knowledge.search("How is the VPN started?", within=30)
    finally:
        workers.close()
        await knowledge.close()

    assert (report.read, report.skipped, report.ignored) == (1, (), 0)
    assert [each.source for each in hits.passages] == ["manual/vpn.faq"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("def read(:", "line 1: this is not Python (invalid syntax)."),
        ("import gone_away", "line 1: it cannot be loaded (No module named 'gone_away')."),
        ("raise SystemExit", "line 1: it cannot be loaded (SystemExit)."),
        ("def read(): ...", " offers no plugin. See docs/readers.md for what it may hold."),
        (READER.replace('(".faq",)', '".faq"'), "it cannot be loaded (`suffixes` must be texts in lower case"),
    ],
)
def test_a_module_that_cannot_be_used_is_told_in_a_sentence_and_the_others_are_used(
    tmp_path: Path, text: str, sentence: str
) -> None:
    use_files([write(tmp_path, text), str(tmp_path / "gone.py"), write(tmp_path, READER, "good.py")])

    found = find_plugins(Reader, GROUP)

    assert sentence in found.broken[0]
    assert (
        found.broken[1]
        == f"The module that [plugins] modules names, {tmp_path / 'gone.py'}, cannot be read (No such file "
        "or directory). Check the name."
    )
    assert [(where, each.format) for where, each in found.plugins] == [
        (str(tmp_path / "good.py"), "Questions and answers")
    ]


def test_a_package_offers_a_reader_by_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, READER, "faq_of_a_package.py")
    about = tmp_path / "faq_package-1.0.dist-info"
    about.mkdir()
    write(about, "Metadata-Version: 2.1\nName: faq-package\nVersion: 1.0\n", "METADATA")
    points = "faq = faq_of_a_package:READER\nother = faq_of_a_package:decode\ngone = gone_away:READER\n"
    write(about, f"[{GROUP}]\n{points}", "entry_points.txt")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    use_files([write(tmp_path, READER)])  # those that were found before are asked for no more

    found = find_plugins(Reader, GROUP)

    assert [where for where, _ in found.plugins] == [str(tmp_path / "my_reader.py"), "faq-package"]
    assert sorted(found.broken) == [
        "faq_of_a_package:decode of the package faq-package cannot be used (it is no Reader).",
        "gone_away:READER of the package faq-package cannot be used (No module named 'gone_away').",
    ]
    monkeypatch.delitem(sys.modules, "faq_of_a_package")


def test_an_added_reader_goes_before_one_that_ships(tmp_path: Path) -> None:
    use_files([write(tmp_path, READER.replace('".faq"', '".md"'))])

    assert next(each for each in list_readers() if ".md" in each.suffixes).format == "Questions and answers"
